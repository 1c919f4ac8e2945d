package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// With more tied pods than can be arranged, victims that some order leads to are
// still admitted, and others are not called wrong.
func TestBeyondTheBound(t *testing.T) {
	c := aCluster(aPod("p", 9, cpu("1")), aNode("n", "10"))
	for i := range 10 {
		c.Pods = append(c.Pods, aPod(fmt.Sprintf("v%d", i), 0, on("n"), cpu(fmt.Sprintf("%dm", 1000+i-9*(i/9)))))
	}
	c.Nodes[0].Status.Allocatable = list("cpu", "10100m", "pods", "100")
	d, err := Decide(c, Documented())
	require.NoError(t, err)
	exact, _ := d.Exact()
	require.False(t, exact)

	observe := func(victims ...string) *Observation {
		return &Observation{
			Filters:  map[string]Verdict{"n": {Plugin: "NodeResourcesFit"}},
			Eligible: &Eligibility{OK: true}, PotentialNodes: []string{"n"},
			DryRuns:    map[string]DryRun{"n": {Victims: victims}},
			Candidates: []string{"n"}, Pick: &Pick{Node: "n", Victims: victims},
		}
	}
	assert.Nil(t, d.Admits(observe("default/v7")), "any of the pods may be the one")
	dis := d.Admits(observe("default/v7", "default/v8"))
	if assert.NotNil(t, dis) {
		assert.True(t, dis.Undecided)
	}
	assert.False(t, d.Admits(&Observation{Filters: map[string]Verdict{}}).Undecided)
}
