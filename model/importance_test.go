package model_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// The units are those of upstream's TestMoreImportantVictim
// (preemption/util_test.go:266@v1.37.1).
func TestMoreImportant(t *testing.T) {
	u := func(priority int32, kind unit.Kind, size, start int) *unit.Unit {
		return &unit.Unit{Priority: priority, Kind: kind, Pods: make([]*filter.Pod, size), Start: time.Unix(int64(start), 0)}
	}
	for _, tt := range []struct {
		name       string
		more, less *unit.Unit
	}{
		{"higher priority", u(20, unit.Pod, 1, 0), u(10, unit.Pod, 1, 0)},
		{"a group and a pod", u(10, unit.PodGroup, 1, 0), u(10, unit.Pod, 1, 0)},
		{"two pods, one older", u(10, unit.Pod, 1, 500), u(10, unit.Pod, 1, 1000)},
		{"two groups, one larger", u(10, unit.PodGroup, 2, 0), u(10, unit.PodGroup, 1, 0)},
		{"two groups, one older", u(10, unit.PodGroup, 2, 500), u(10, unit.PodGroup, 2, 1000)},
		{"a group of groups and a pod", u(10, unit.Composite, 1, 0), u(10, unit.Pod, 1, 0)},
		{"a group of groups and a group", u(10, unit.Composite, 1, 0), u(10, unit.PodGroup, 1, 0)},
		{"priority before kind", u(20, unit.PodGroup, 1, 0), u(10, unit.Composite, 1, 0)},
		{"kind before size", u(10, unit.Composite, 1, 0), u(10, unit.PodGroup, 2, 0)},
		{"kind before start", u(10, unit.Composite, 1, 1000), u(10, unit.PodGroup, 1, 500)},
		{"two groups of groups, one larger", u(10, unit.Composite, 2, 0), u(10, unit.Composite, 1, 0)},
		{"size before start", u(10, unit.Composite, 2, 1000), u(10, unit.Composite, 1, 500)},
		{"two groups of groups, one older", u(10, unit.Composite, 1, 500), u(10, unit.Composite, 1, 1000)},
	} {
		assert.Negative(t, model.MoreImportant(tt.more, tt.less), tt.name)
		assert.Positive(t, model.MoreImportant(tt.less, tt.more), tt.name)
	}
	assert.Zero(t, model.MoreImportant(u(10, unit.PodGroup, 2, 500), u(10, unit.PodGroup, 2, 500)))
}

// Equal outcomes are told apart by no criterion.
func TestCompareEqual(t *testing.T) {
	a, same := model.Documented(), &model.Outcome{Pods: []*filter.Pod{{}}}
	c, at := a.Compare(same, same)
	require.Zero(t, c)
	require.Equal(t, len(a.Criteria), at)
}

// The first of the victims with the highest priority counts, in whatever order an extender tells them.
func TestEarliestStart(t *testing.T) {
	victim := func(priority int32, start int) *filter.Pod {
		return &filter.Pod{Priority: priority, Start: time.Unix(int64(start), 0)}
	}
	at := func(start int) int64 { return time.Unix(int64(start), 0).UnixNano() }
	for _, tt := range []struct {
		pods []*filter.Pod
		want int64
	}{
		{[]*filter.Pod{victim(5, 30)}, at(30)},
		{[]*filter.Pod{victim(5, 30), victim(5, 20), victim(5, 40)}, at(20)},
		{[]*filter.Pod{victim(5, 30), victim(1, 10)}, at(30)},
		{[]*filter.Pod{victim(1, 10), victim(5, 30), victim(5, 20)}, at(20)},
	} {
		o := &model.Outcome{Pods: tt.pods}
		assert.Equal(t, tt.want, o.EarliestStart())
	}
}

// Each criterion decides where those before it see no difference (preemption.go:324@v1.37.1). Where all see none, any may be taken.
func TestCriteria(t *testing.T) {
	outcome := func(violations int, pods ...*filter.Pod) *model.Outcome {
		return &model.Outcome{Violations: violations, Pods: pods}
	}
	victim := func(priority int32, start int) *filter.Pod {
		return &filter.Pod{Priority: priority, Start: time.Unix(int64(start), 0)}
	}
	for _, tt := range []struct {
		name          string
		better, worse *model.Outcome
	}{
		{"fewest budget violations", outcome(0, victim(9, 1)), outcome(1, victim(5, 9))},
		{"lowest highest-priority victim", outcome(0, victim(5, 1), victim(5, 1)), outcome(0, victim(6, 9))},
		{"smallest sum of priorities", outcome(0, victim(5, 1), victim(1, 1)), outcome(0, victim(5, 9), victim(2, 9))},
		{"fewest victims", outcome(0, victim(5, 1)), outcome(0, victim(5, 9), victim(math.MinInt32, 9))},
		{"latest start of the highest-priority victims", outcome(0, victim(5, 9), victim(1, 1)), outcome(0, victim(5, 8), victim(1, 9))},
	} {
		for better, worse := range map[string]string{"a": "b", "b": "a"} {
			nodes, by := model.Documented().Pick(map[string]*model.Outcome{better: tt.better, worse: tt.worse})
			assert.Equal(t, []string{better}, nodes, tt.name)
			assert.Equal(t, tt.name, by)
		}
		nodes, by := model.Documented().Pick(map[string]*model.Outcome{"a": tt.better, "b": tt.better})
		assert.Equal(t, []string{"a", "b"}, nodes, tt.name)
		assert.Equal(t, model.Tie, by, tt.name)
	}
}
