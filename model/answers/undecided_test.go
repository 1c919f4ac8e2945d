package answers_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// With more tied pods than can be arranged, victims that some order leads to are
// still admitted, and others are not called wrong.
func TestBeyondTheBound(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "10"))
	for i := range 10 {
		c.Pods = append(c.Pods, mk.Pod(fmt.Sprintf("v%d", i), 0, mk.On("n"), mk.CPU(fmt.Sprintf("%dm", 1000+i-9*(i/9)))))
	}
	c.Nodes[0].Status.Allocatable = mk.Resources("cpu", "10100m", "pods", "100")
	d, err := answers.Decide(c, answers.Documented())
	require.NoError(t, err)
	exact, _ := d.Exact()
	require.False(t, exact)

	observe := func(victims ...string) *model.Observation {
		return &model.Observation{
			Filters:  map[string]model.Verdict{"n": {Plugin: "NodeResourcesFit"}},
			Eligible: &model.Eligibility{OK: true}, PotentialNodes: []string{"n"},
			DryRuns:    map[string]model.DryRun{"n": {Victims: victims}},
			Candidates: []string{"n"}, Pick: &model.Pick{Node: "n", Victims: victims},
		}
	}
	assert.Nil(t, d.Admits(observe("default/v7")), "any of the pods may be the one")
	dis := d.Admits(observe("default/v7", "default/v8"))
	if assert.NotNil(t, dis) {
		assert.True(t, dis.Undecided)
	}
	assert.False(t, d.Admits(&model.Observation{Filters: map[string]model.Verdict{}}).Undecided)
}
