package answers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// TestAdmitsVisible: what users see of an answer is compared, and how the scheduler
// came to it is not.
func TestAdmitsVisible(t *testing.T) {
	waiting := mk.Pod("low", 1, mk.Nominated("a"))
	c := mk.Cluster(mk.Pod("p", 9, mk.CPU("2"), mk.Nominated("b")), mk.Node("a", "2"), mk.Node("b", "2"), waiting,
		mk.Pod("v1", 1, mk.CPU("1"), mk.On("a")), mk.Pod("v2", 1, mk.CPU("1"), mk.On("a"), mk.Terminating), mk.Pod("w1", 2, mk.CPU("1"), mk.On("b")), mk.Pod("w2", 2, mk.CPU("1"), mk.On("b")))
	answer := func(change func(o *model.Observation)) *model.Observation {
		o := &model.Observation{
			Pick: &model.Pick{Node: "a", Victims: []string{"default/v1", "default/v2"}},
			Actuation: &model.Actuation{
				Deleted: []string{"default/v1"}, DisruptionTarget: []string{"default/v1"}, Cleared: []string{"default/low"},
				Nomination: model.NominationSet, NominatedNode: "a",
			},
		}
		change(o)
		return o
	}
	for _, test := range []struct {
		name   string
		change func(o *model.Observation)
		want   *answers.Contrast
	}{
		{"as it should be", func(*model.Observation) {}, nil},
		{"another order", func(o *model.Observation) { o.Pick.Victims = []string{"default/v2", "default/v1"} }, nil},
		{"violations", func(o *model.Observation) { o.Pick.Violations = 2 }, nil},
		{"filters", func(o *model.Observation) { o.Filters = map[string]model.Verdict{"a": {Plugin: "None"}} }, nil},
		{"an error", func(o *model.Observation) { o.CycleError = "oops" }, &answers.Contrast{Aspect: answers.AspectOutcome, Want: answers.VisiblePreempts, Got: answers.VisibleError}},
		{"fits", func(o *model.Observation) { o.ScheduledTo, o.Pick = "a", nil }, &answers.Contrast{Aspect: answers.AspectOutcome, Want: answers.VisiblePreempts, Got: answers.VisibleFit}},
		{"nothing", func(o *model.Observation) { o.Pick = nil }, &answers.Contrast{Aspect: answers.AspectOutcome, Want: answers.VisiblePreempts, Got: answers.VisibleNothing}},
		{"node", func(o *model.Observation) {
			o.Pick = &model.Pick{Node: "b", Victims: []string{"default/w1", "default/w2"}}
		}, &answers.Contrast{Aspect: answers.AspectNode}},
		{"fewer victims", func(o *model.Observation) { o.Pick.Victims = o.Pick.Victims[:1] }, &answers.Contrast{Aspect: answers.AspectVictims, Want: answers.VisibleMore, Got: answers.VisibleFewer}},
		{"deletes", func(o *model.Observation) { o.Actuation.Deleted = o.Pick.Victims }, &answers.Contrast{Aspect: answers.AspectDeleted, Want: answers.VisibleFewer, Got: answers.VisibleMore}},
		{"marks", func(o *model.Observation) { o.Actuation.DisruptionTarget = nil }, &answers.Contrast{Aspect: answers.AspectMarked, Want: answers.VisibleMore, Got: answers.VisibleFewer}},
		{"withdraws", func(o *model.Observation) { o.Actuation.Cleared = nil }, &answers.Contrast{Aspect: answers.AspectWithdrawn, Want: answers.VisibleMore, Got: answers.VisibleFewer}},
		{"others", func(o *model.Observation) { o.Actuation.Cleared = []string{"default/x"} }, &answers.Contrast{Aspect: answers.AspectWithdrawn, Want: answers.VisibleOther, Got: answers.VisibleOther}},
		{"writes", func(o *model.Observation) { o.Actuation.Other = []string{"patch"} }, &answers.Contrast{Aspect: answers.AspectOther, Want: answers.VisibleFewer, Got: answers.VisibleMore}},
		{"claims", func(o *model.Observation) { o.Actuation.Deallocated = []string{"default/c"} }, &answers.Contrast{Aspect: answers.AspectClaims}},
		{"keeps", func(o *model.Observation) { o.Actuation.Nomination = model.NominationKept }, &answers.Contrast{Aspect: answers.AspectNomination, Want: "set", Got: "kept"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := answers.Decide(c, answers.Documented())
			require.NoError(t, err)
			o := answer(test.change)
			assert.Equal(t, test.want, d.AdmitsVisible(o))
			if test.want != nil {
				assert.False(t, answers.SameVisibly(c, o, answer(func(*model.Observation) {})))
			}
		})
	}
}

// TestVisibleNomination: to clear the nomination that a pod does not have is to keep
// it.
func TestVisibleNomination(t *testing.T) {
	cleared := &model.Observation{Actuation: &model.Actuation{Nomination: model.NominationCleared}}
	kept := &model.Observation{Actuation: &model.Actuation{Nomination: model.NominationKept}}
	helpless := mk.Cluster(mk.Pod("p", 9, mk.CPU("2")), mk.Node("n", "1"))
	nominee := mk.Cluster(mk.Pod("p", 9, mk.CPU("2"), mk.Nominated("n")), mk.Node("n", "1"))
	// Without any plugin that it could ask, a profile does the same, though there were somebody to preempt.
	unasked := mk.Cluster(mk.Pod("p", 9, mk.CPU("2"), mk.Nominated("n")), mk.Node("n", "2"), mk.Pod("v", 1, mk.CPU("2"), mk.On("n")),
		model.Settings{Configuration: []byte(`{"profiles": [{"plugins": {"postFilter": {"disabled": [{"name": "*"}]}}}]}`)})
	mustClear := &answers.Contrast{Aspect: answers.AspectNomination, Want: "cleared", Got: "kept"}
	for _, test := range []struct {
		cluster *model.Cluster
		want    *answers.Contrast
	}{{helpless, nil}, {nominee, mustClear}, {unasked, mustClear}} {
		d, err := answers.Decide(test.cluster, answers.Documented())
		require.NoError(t, err)
		assert.Nil(t, d.AdmitsVisible(cleared))
		assert.Equal(t, test.want, d.AdmitsVisible(kept))
		assert.Equal(t, test.want == nil, answers.SameVisibly(test.cluster, cleared, kept))
	}
}

// TestVisibleFit: any of the nodes that the pod fits on will do, and no other.
func TestVisibleFit(t *testing.T) {
	d, err := answers.Decide(mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("a", "1"), mk.Node("b", "1"), mk.Node("c", "0")), answers.Documented())
	require.NoError(t, err)
	assert.Nil(t, d.AdmitsVisible(&model.Observation{ScheduledTo: "a"}))
	assert.Nil(t, d.AdmitsVisible(&model.Observation{ScheduledTo: "b"}))
	assert.Equal(t, &answers.Contrast{Aspect: answers.AspectNode}, d.AdmitsVisible(&model.Observation{ScheduledTo: "c"}))
}

// TestVisibleManyOrders: where there are too many orders of equally important pods,
// an answer that one of them leads to is admitted all the same, and of any other
// it is not known.
func TestVisibleManyOrders(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "9"))
	for i := range 9 {
		c.Pods = append(c.Pods, mk.Pod(string(rune('a'+i)), 1, mk.CPU("1"), mk.On("n"), mk.App(string(rune('a'+i)))))
		c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, mk.Budget(string(rune('a'+i)), 1, mk.ForApp(string(rune('a'+i)))))
	}
	d, err := answers.Decide(c, answers.Documented())
	require.NoError(t, err)
	exact, _ := d.Exact()
	require.False(t, exact)
	answer := func(victims ...string) *model.Observation {
		return &model.Observation{Pick: &model.Pick{Node: "n", Victims: victims}}
	}
	assert.Nil(t, d.AdmitsVisible(answer("default/a")))
	assert.Nil(t, d.AdmitsVisible(answer("default/f")))
	assert.Equal(t, &answers.Contrast{Aspect: answers.AspectVictims, Want: answers.VisibleFewer, Got: answers.VisibleMore, Undecided: true}, d.AdmitsVisible(answer("default/a", "default/i")))
}
