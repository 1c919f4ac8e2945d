package answers_test

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// tied is a cluster of two nodes, of which any may be taken.
func tied() *model.Cluster {
	return mk.Cluster(mk.Pod("urgent", 9, mk.CPU("1")),
		mk.Node("a", "1"), mk.Pod("on-a", 1, mk.CPU("1"), mk.On("a"), mk.Started(0)),
		mk.Node("b", "1"), mk.Pod("on-b", 1, mk.CPU("1"), mk.On("b"), mk.Started(0)))
}

func ExampleDecide() {
	set, err := answers.Decide(tied(), answers.Documented())
	if err != nil {
		fmt.Println(err) // what the model does not cover
		return
	}
	for _, c := range set.Choices() {
		fmt.Println(c.Node, c.Outcome.Victims, c.DecidedBy)
	}
	// Output:
	// a [default/on-a] tie
	// b [default/on-b] tie
}

// A scheduler that takes one of the nodes is right. One that deletes the pod of the
// other node is wrong.
func ExampleSet_Admits() {
	set, _ := answers.Decide(tied(), answers.Documented())
	deletes := func(pod string) *model.Observation {
		return &model.Observation{
			Pick: &model.Pick{Node: "b", Victims: []string{"default/on-b"}},
			Actuation: &model.Actuation{Deleted: []string{pod}, DisruptionTarget: []string{"default/on-b"},
				Nomination: model.NominationSet, NominatedNode: "b"},
		}
	}
	fmt.Println(set.Admits(deletes("default/on-b")) == nil)
	fmt.Println(set.Admits(deletes("default/on-a")))
	// Output:
	// true
	// actuate: want delete [default/on-b], got [default/on-a]
}
