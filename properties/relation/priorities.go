package relation

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// shiftingPriorities: who may be preempted and in which order only depends on
// comparisons. So do the first two criteria. The third does not: it adds up
// priorities, each counted from the lowest possible, so that a shift by d adds d
// for each victim. Counted from there, victims {3, 3} lose to {3, 1, 1} by 6 to 5;
// shifted by 10 they win by 26 to 35. If a was picked before and b after, then
// sum(a) <= sum(b) and sum(b)+d|b| <= sum(a)+d|a|, so d(|b|-|a|) <= 0; with equally
// many victims a and b tie.
var shiftingPriorities = relation{
	name: "shifting-priorities",
	promise: "Only the order of priorities counts: with all of them shifted by a constant, the same is preempted on each node. " +
		"Another node may be picked only if it ties on violations and highest priority, and then one with fewer victims if priorities went up, with more if they went down.",
	source: "doc comment of pickOneNodeForPreemption (preemption.go:324@v1.37.1)",
	lies:   []string{"the priority itself counts", "pods of odd priority pick most victims", "nobody of a positive priority preempts"},
	vary: func(s *properties.Subject, random *rand.Rand) *variation {
		all := priorities(s.Cluster)
		low, high := int64(math.MinInt32)-int64(all[0]), int64(math.MaxInt32)-int64(all[len(all)-1])
		shifts := slices.DeleteFunc([]int64{low, high, -1, 1, 10, low + random.Int64N(high-low+1)},
			func(d int64) bool { return d == 0 || d < low || d > high })
		if len(shifts) == 0 {
			return nil
		}
		d := shifts[random.IntN(len(shifts))]
		return &variation{
			cluster: withPriorities(s.Cluster, func(priority int32) int32 { return int32(int64(priority) + d) }),
			mayPick: func(before, after *outcome) bool {
				fewer := int64(len(before.priorities) - len(after.priorities))
				return before.tiesOnHighest(after) && d*fewer > 0
			},
		}
	},
}

// rankingPriorities: see shiftingPriorities for the limit. Under any monotone
// mapping the sum of a is at most that of b if a has no more victims and each is of
// no higher priority than its counterpart in b: then a stays at least as good.
var rankingPriorities = relation{
	name: "ranking-priorities",
	promise: "Only the order of priorities counts: with each replaced by another so that their order stays, the same is preempted on each node. " +
		"Another node may be picked only if it ties on violations and highest priority, and neither node's victims are, pair by pair, at most as important as the other's.",
	source: "doc comment of pickOneNodeForPreemption (preemption.go:324@v1.37.1)",
	lies:   []string{"pods of odd priority pick most victims", "the priority itself counts"},
	vary: func(s *properties.Subject, random *rand.Rand) *variation {
		ranks := slices.Compact(priorities(s.Cluster))
		start := []int64{math.MinInt32, 0, math.MaxInt32 - int64(len(ranks))}[random.IntN(3)]
		step := []int64{1, 1000}[random.IntN(2)]
		if start > 0 {
			step = 1
		}
		return &variation{
			cluster: withPriorities(s.Cluster, func(priority int32) int32 {
				rank, _ := slices.BinarySearch(ranks, priority)
				return int32(start + step*int64(rank))
			}),
			mayPick: func(before, after *outcome) bool {
				return before.tiesOnHighest(after) && !before.dominates(after) && !after.dominates(before)
			},
		}
	},
}

// priorities are the priorities of all pods, sorted.
func priorities(c *model.Cluster) []int32 {
	all := []int32{model.Priority(c.Preemptor)}
	for _, p := range c.Pods {
		all = append(all, model.Priority(p))
	}
	slices.Sort(all)
	return all
}

func withPriorities(c *model.Cluster, to func(int32) int32) *model.Cluster {
	out, pods := copyOf(c)
	for _, p := range pods {
		priority := to(model.Priority(p))
		p.Spec.Priority = &priority
	}
	return out
}

var settingStartTimes = relation{
	name: "setting-start-times",
	promise: "A pod without a start time starts now. So it makes no difference if it has one that is later than all others, and the same for all such pods; " +
		"provided that no pod starts in the future.",
	source: "doc comment of GetPodStartTime (util/utils.go:51@v1.37.1)",
	lies:   []string{"pods without a start are counted"},
	vary: func(s *properties.Subject, _ *rand.Rand) *variation {
		latest, missing := metav1.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), false
		for _, p := range s.Cluster.Pods {
			switch {
			case p.Spec.NodeName == "":
			case p.Status.StartTime == nil:
				missing = true
			case latest.Before(p.Status.StartTime):
				latest = *p.Status.StartTime
			}
		}
		if !missing || latest.After(time.Now().Add(-2*time.Hour)) {
			return nil
		}
		start := metav1.NewTime(latest.Add(time.Hour))
		out, pods := copyOf(s.Cluster)
		for _, p := range pods {
			if p.Spec.NodeName != "" && p.Status.StartTime == nil {
				p.Status.StartTime = &start
			}
		}
		return &variation{cluster: out}
	},
}
