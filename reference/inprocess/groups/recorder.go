package groups

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model"
)

// Recorder writes down the cycle of one pod group.
type Recorder struct {
	Cycle *model.GroupCycle
	// Progress is called at each step.
	Progress func()
	// Tell, if it is not nil, is called when something more was written down: see Seen.
	Tell func()

	// mu guards Cycle and what follows: an asynchronous preemption, and members that are being bound, tell
	// too, and a cycle that never ends is looked at from elsewhere.
	mu       sync.Mutex
	shares   map[types.UID]types.UID
	reserves bool                                // the member that was tried last is about to reserve
	second   bool                                // the pass after all potential victims were taken away
	domains  map[fwk.PodGroupCycleState]*domains // of each group that is tried
	in       fwk.PlacementCycleState             // of the domain in which a member is tried
	// filtered: a member was asked about the last of Tried, so that what is added next belongs
	// to another unit.
	filtered bool
	picked   preemption.Candidate // what a victim is preempted for; nil if none is
	// held are the members that are about to be bound, and wait for their turn; passed are those that
	// had it.
	held   map[string]chan struct{}
	passed map[string]bool
}

// NewRecorder is a recorder of an empty cycle.
func NewRecorder(progress func()) *Recorder {
	return &Recorder{Cycle: &model.GroupCycle{Members: map[string]model.MemberEnd{}}, Progress: progress,
		shares: map[types.UID]types.UID{}, domains: map[fwk.PodGroupCycleState]*domains{}, held: map[string]chan struct{}{}, passed: map[string]bool{}}
}

// note lets f write down what was seen.
func (r *Recorder) note(f func(c *model.GroupCycle)) {
	r.mu.Lock()
	f(r.Cycle)
	r.mu.Unlock()
	if r.Tell != nil {
		r.Tell()
	}
}

// Seen is what was seen up to now, to which nothing that comes later is added.
func (r *Recorder) Seen() *model.GroupCycle {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Cycle.Seen()
}

// Member records that a member was tried. Of nodes outside the domain nothing is known.
func (r *Recorder) Member(try model.MemberTry) {
	if at := r.current(r.in); at != nil {
		try.Domains = r.path(r.in)
		maps.DeleteFunc(try.Filters, func(node string, _ model.Verdict) bool {
			return !slices.ContainsFunc(at.Nodes, func(n fwk.NodeInfo) bool { return n.Node().Name == node })
		})
	}
	r.note(func(c *model.GroupCycle) {
		if r.second {
			c.Second = append(c.Second, try)
		} else {
			c.First = append(c.First, try)
		}
		r.reserves = try.Node != ""
	})
}

// Reserved records what the claims of the member that was tried last get. What is reserved later is reserved once more.
func (r *Recorder) Reserved(member *v1.Pod, devices map[string]string) {
	r.note(func(c *model.GroupCycle) {
		tries := c.First
		if r.second {
			tries = c.Second
		}
		if r.reserves && len(tries) > 0 && tries[len(tries)-1].Pod == model.Key(member) {
			tries[len(tries)-1].Devices, r.reserves = devices, false
		}
	})
}

// Share is a name of a share of a device, instead of the one that upstream draws.
func (r *Recorder) Share(id types.UID) *types.UID {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shares[id] == "" {
		r.shares[id] = types.UID(fmt.Sprintf("share-%d", len(r.shares)+1))
	}
	return new(r.shares[id])
}

// Failed records what the failure handler is told of a member.
func (r *Recorder) Failed(pod *v1.Pod, status *fwk.Status, info *fwk.NominatingInfo) {
	end := model.MemberEnd{Nomination: model.NominationKept, Code: status.Code().String(), Message: status.Message()}
	if info.Mode() == fwk.ModeOverride {
		end.Nomination, end.NominatedNode = model.NominationSet, info.NominatedNodeName
		if end.NominatedNode == "" {
			end.Nomination = model.NominationCleared
		}
	}
	r.note(func(c *model.GroupCycle) { c.Members[model.Key(pod)] = end })
}

// never is what upstream says of a group that may not preempt
// (podgrouppreemption.go:384@v1.37.1, preemptorEligibleToPreemptOthers): no other name leads to it.
const never = "not eligible due to preemptionPolicy=Never."

// inOrder puts members in the order in which they were tried: those of several groups come group by group, in the order of a map.
func (r *Recorder) inOrder(placed []fwk.ProposedAssignment) {
	tried := func(a fwk.ProposedAssignment) int {
		return slices.IndexFunc(r.Cycle.Second, func(try model.MemberTry) bool { return try.Pod == model.Key(a.GetPod()) })
	}
	slices.SortStableFunc(placed, func(a, b fwk.ProposedAssignment) int { return cmp.Compare(tried(a), tried(b)) })
}

// PostFilter runs the plugins that may preempt for the group, and records what they decide.
func (r *Recorder) PostFilter(ctx context.Context, next framework.Framework, state *framework.CycleState, group fwk.PodGroupInfo, schedule fwk.PodGroupSchedulingFunc) (*fwk.PodGroupPostFilterResult, *fwk.Status) {
	second := 0
	result, status := next.RunPodGroupPostFilterPlugins(ctx, state, group, func(ctx context.Context) (*fwk.PodGroupAssignments, *fwk.Status) {
		second++
		r.note(func(c *model.GroupCycle) { c.SecondCalls = second })
		r.second = true
		assignments, status := schedule(ctx)
		r.second = false
		if status.IsSuccess() && assignments != nil {
			r.inOrder(assignments.ProposedAssignments)
			r.note(func(c *model.GroupCycle) {
				c.Placed, c.PlacedTo = nil, nil
				for _, a := range assignments.ProposedAssignments {
					if a.GetNodeName() != "" {
						c.Placed, c.PlacedTo = append(c.Placed, model.Key(a.GetPod())), append(c.PlacedTo, a.GetNodeName())
					}
				}
			})
		}
		return assignments, status
	})
	r.note(func(c *model.GroupCycle) {
		c.Code, c.Message = status.Code().String(), status.Message()
		switch {
		case second > 0:
			c.Eligible = &model.Eligibility{OK: true}
		case status.IsSuccess():
			c.Eligible, c.Ongoing = &model.Eligibility{OK: true}, true
		case strings.Contains(c.Message, never):
			c.Eligible = &model.Eligibility{Reason: never}
		case status.IsRejected():
			c.Eligible = &model.Eligibility{OK: true} // there is nobody to preempt
		}
	})
	return result, status
}

// Turn holds a member that is about to be bound until Next lets it go. Upstream binds each in a goroutine
// of its own, whose API calls and events would come in any order, and between those of the cycle.
func (r *Recorder) Turn(member *v1.Pod) {
	key := model.Key(member)
	r.mu.Lock()
	if r.passed[key] {
		r.mu.Unlock()
		return
	}
	r.passed[key], r.held[key] = true, make(chan struct{})
	turn := r.held[key]
	r.mu.Unlock()
	<-turn
}

// Next lets the first of the members go that are held, by name; false if there is none.
func (r *Recorder) Next() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(r.held)) {
		close(r.held[key])
		delete(r.held, key)
		return true
	}
	return false
}

// Binds tells whether some member has gone on to be bound.
func (r *Recorder) Binds() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.passed) > 0
}

// Preempts records the candidate whose victims are preempted, which is told once for each of
// them.
func (r *Recorder) Preempts(c preemption.Candidate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.picked = c
}

// End completes the cycle, once nothing of it goes on. held is for which node the scheduler
// holds a member as nominated.
func (r *Recorder) End(held func(key string) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.Cycle
	preempts := c.Code == fwk.Success.String() && !c.Ongoing
	for i := range c.Tried {
		u := &c.Tried[i]
		slices.Sort(u.Pods)
		if u.GivenBack = u.Failed == ""; !u.GivenBack && preempts {
			c.Victims, c.Violations, c.Disruptions = append(c.Victims, u.Pods...), -1, -1
		}
	}
	if r.picked != nil {
		c.Victims = nil
		for _, p := range r.picked.Victims().Pods {
			c.Victims = append(c.Victims, model.Key(p))
		}
		c.Violations, c.Disruptions = int(r.picked.Victims().NumPDBViolations), r.picked.NumPodGroupDisruptions()
	}
	for key, end := range c.Members {
		end.Held = held(key)
		c.Members[key] = end
	}
}

// Watch is the handle of an evaluator that is watched: it tells the recorder of the cycle that
// runs, if there is one.
type Watch struct {
	Ordered
	Recorder func() *Recorder
}

// RunPreFilterExtensionAddPod is called for each pod of a unit that is given back, once for
// each member that is placed.
func (w *Watch) RunPreFilterExtensionAddPod(ctx context.Context, state fwk.CycleState, member *v1.Pod, added fwk.PodInfo, node fwk.NodeInfo) *fwk.Status {
	if r := w.Recorder(); r != nil {
		r.Progress()
		r.note(func(c *model.GroupCycle) {
			if len(c.Tried) == 0 || r.filtered {
				c.Tried, r.filtered = append(c.Tried, model.UnitTry{}), false
			}
			last := &c.Tried[len(c.Tried)-1]
			if key := model.Key(added.GetPod()); !slices.Contains(last.Pods, key) {
				last.Pods = append(last.Pods, key)
			}
		})
	}
	return w.Ordered.RunPreFilterExtensionAddPod(ctx, state, member, added, node)
}

// RunFilterPluginsWithNominatedPods is called for one placed member after the other, until
// one does not fit beside the unit.
func (w *Watch) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, member *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	status := w.Ordered.RunFilterPluginsWithNominatedPods(ctx, state, member, node)
	if r := w.Recorder(); r != nil && len(r.Cycle.Tried) > 0 {
		r.Progress()
		r.filtered = true
		if !status.IsSuccess() {
			v := Verdict(status)
			r.note(func(c *model.GroupCycle) {
				last := &c.Tried[len(c.Tried)-1]
				last.Failed, last.Node, last.Verdict = model.Key(member), node.Node().Name, &v
			})
		}
	}
	return status
}
