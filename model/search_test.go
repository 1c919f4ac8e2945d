package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/preemptcheck/preemptcheck/model"
)

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
