package lifetime

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/cycles"
)

// ChooseDifferently tells whether two lives part by a choice that documents leave open: the first
// thing that the scheduler does in one and not in the other is a preemption for the same pod, and
// the model allows in both states what it did in each. So it is if some victims are equal, or some
// candidates. From then on the lives may go different ways.
func ChooseDifferently(a, b *Life) bool {
	ofA, ofB := a.acts(), b.acts()
	for i := range min(len(ofA), len(ofB)) {
		x, y := ofA[i], ofB[i]
		same := model.Key(x.Pod) == model.Key(y.Pod)
		if same && x.Result.What == y.Result.What && x.Result.Node == y.Result.Node && slices.Equal(x.Result.Victims, y.Result.Victims) {
			continue
		}
		return same && len(x.Result.Victims) > 0 && len(y.Result.Victims) > 0 && cycles.Allows(x, y.Result, a.Release()) && cycles.Allows(y, x.Result, b.Release())
	}
	return false
}

// acts are the cycles before the flush that change something: a pod is to be bound, or others are
// preempted for it.
func (l *Life) acts() []*account.Cycle {
	return slices.DeleteFunc(account.Cycles(l.Timeline, l.Trace), func(c *account.Cycle) bool {
		return c.Ended >= l.Trace.FlushedAt || c.Result.What != timeline.Fits && len(c.Result.Victims) == 0
	})
}
