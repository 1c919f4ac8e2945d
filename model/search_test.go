package model_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// The only candidate is taken.
func TestOnlyCandidate(t *testing.T) {
	r := model.Documented().Decide(mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Pod("v", 0, mk.CPU("1"), mk.On("n")))).Preempt()
	assert.Equal(t, "n", r.Node)
	assert.Equal(t, model.OnlyCandidate, r.DecidedBy)
	assert.NotNil(t, r.Actuation)
}

// The search for candidates ends as soon as there are enough: 100 of few nodes (docs: reference/config-api/kube-scheduler-config.v1,
// DefaultPreemptionArgs).
func TestSearchEnds(t *testing.T) {
	var objects []any
	for i := range 103 {
		node := fmt.Sprintf("n-%03d", i)
		objects = append(objects, mk.Node(node, "1"), mk.Pod("v-"+node, 0, mk.CPU("1"), mk.On(node)))
	}
	r := model.Documented().Decide(mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), objects...)).Preempt()
	assert.Len(t, r.DryRuns, 100)
	assert.Len(t, r.Candidates, 100)
}

// The default falls from all of 100 nodes to 5 % of very many (docs: concepts/scheduling-eviction/scheduler-perf-tuning).
func TestNodesToFind(t *testing.T) {
	for _, tt := range []struct {
		percentage *int32
		nodes      int
		want       int
	}{
		{nil, 99, 99},
		{nil, 100, 100},
		{nil, 1000, 420},
		{nil, 5000, 500},
		{nil, 20000, 1000},
		{new(int32(0)), 1000, 420},
		{new(int32(30)), 1000, 300},
		{new(int32(3)), 1000, 100},
		{new(int32(100)), 1000, 1000},
	} {
		assert.Equal(t, tt.want, model.NodesToFind(tt.percentage, tt.nodes), "%+v", tt)
	}
}
