package model_test

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// The stages of one cycle, one after another. On node cheap a pod of priority 1 has
// to go, on node dear one of priority 2.
func Example() {
	c := mk.Cluster(mk.Pod("urgent", 9, mk.CPU("1")),
		mk.Node("cheap", "2"), mk.Pod("low", 1, mk.CPU("1"), mk.On("cheap")), mk.Pod("high", 9, mk.CPU("1"), mk.On("cheap")),
		mk.Node("dear", "1"), mk.Pod("middle", 2, mk.CPU("1"), mk.On("dear")),
		mk.Node("small", "500m"))

	d := model.Documented().Decide(c)
	for _, n := range c.Nodes {
		fmt.Println("filter:", n.Name, "fails", d.Verdicts[n.Name])
	}
	fmt.Println("eligible:", d.Eligible.OK)
	fmt.Println("potential nodes:", d.PotentialNodes)

	r := d.Preempt()
	for _, name := range d.PotentialNodes {
		fmt.Println("dry run:", name, "costs", r.DryRuns[name].Listed.Victims)
	}
	fmt.Println("candidates:", len(r.Candidates))
	fmt.Println("pick:", r.Node, "by", r.DecidedBy)
	fmt.Println("actuate: delete", r.Deleted, "nominate", r.NominatedNode)
	// Output:
	// filter: cheap fails NodeResourcesFit
	// filter: dear fails NodeResourcesFit
	// filter: small fails NodeResourcesFit (unresolvable)
	// eligible: true
	// potential nodes: [cheap dear]
	// dry run: cheap costs [default/low]
	// dry run: dear costs [default/middle]
	// candidates: 2
	// pick: cheap by lowest highest-priority victim
	// actuate: delete [default/low] nominate cheap
}
