package account

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// GroupCycle is the scheduling cycle of a pod group and what the scheduler may have known in it.
type GroupCycle struct {
	// Group is the group, as model.PodGroupKey names it.
	Group string
	// Began and Ended are the indices of the entries at which it was popped, and by which it is known what becomes of all members.
	Began, Ended int
	// Members are the pods that are tried, as they were popped.
	Members []*v1.Pod
	// Course is what was seen of it.
	Course *model.GroupCycle
	// Binds are the members that are about to be bound, as "default/a to n".
	Binds []string

	over   bool               // what it comes to is decided
	late   bool               // it is about a pod of which the scheduler was told only meanwhile that it is bound
	ended  map[types.UID]bool // the members for which it is known what it comes to
	placed map[types.UID]bool // the members that were placed on a node while they may have been gone already when that was taken back
	second bool               // it was tried without the potential victims
	cycle  *Cycle
	own    map[types.UID]*nominated // of the members
}

// GroupCycles are the cycles of groups in a trace that came to an end, in turn, but for those of pods that turned out to be bound.
func GroupCycles(t *timeline.Timeline, trace *timeline.Trace) (ended []*GroupCycle) {
	courses := map[int]*model.GroupCycle{}
	for _, c := range trace.Courses {
		courses[c.Entry] = c.GroupCycle
	}
	for _, g := range follow(t, trace, func(int, *account) {}).groups {
		if g.Course = courses[g.Began]; g.Course != nil && len(g.Members) > 0 && !g.late {
			ended = append(ended, g)
		}
	}
	return ended
}

// beginGroup is the start of the cycle of a group: its members are popped next.
func (a *account) beginGroup(i int, e *timeline.Entry) {
	a.group = &GroupCycle{Group: e.Preemptor(), Began: i, own: map[types.UID]*nominated{}, ended: map[types.UID]bool{}, placed: map[types.UID]bool{}}
	a.groups = append(a.groups, a.group)
}

// member adds a pod to the group that was popped.
func (a *account) member(i int, pod *v1.Pod) {
	g := a.group
	if g == nil {
		return
	}
	if g.cycle == nil {
		g.cycle = a.newCycle(i, pod)
		g.cycle.see(a)
	}
	g.Members = append(g.Members, pod)
	own := &nominated{as: []*v1.Pod{pod}, to: one(pod.Status.NominatedNodeName)}
	if w := a.waiting[pod.UID]; w != nil {
		own.to = w.nominated
	}
	own.to = union(own.to, union(statusOf(pod), statusOf(a.stored[model.Key(pod)])))
	g.own[pod.UID] = own
	g.cycle.nominations = slices.DeleteFunc(g.cycle.nominations, func(n *nominated) bool { return n.as[0].UID == pod.UID })
}

// see adds what listers show now.
func (g *GroupCycle) see(a *account) {
	if g == nil || g.over {
		return
	}
	g.cycle.see(a)
	for _, m := range g.Members {
		n := g.own[m.UID]
		if p := a.stored[model.Key(m)]; p != nil && p.UID == m.UID {
			n.to = union(n.to, statusOf(p))
		}
	}
}

// nominated adds what a pod may be nominated to.
func (g *GroupCycle) nominated(w *waiting, stored *v1.Pod) {
	if g == nil || g.over {
		return
	}
	if n := g.own[w.pod.UID]; n != nil {
		n.to = union(n.to, w.nominated)
		return
	}
	g.cycle.nominated(w, stored)
}

// bound is that the scheduler is told of a pod that is on a node.
func (g *GroupCycle) bound(pod *v1.Pod) {
	if g != nil && slices.ContainsFunc(g.Members, func(m *v1.Pod) bool { return m.UID == pod.UID && !g.ended[m.UID] }) {
		g.late = true
	}
}

// tried is that a member was placed on a node, or on none. A group is tried a second time without the potential victims, and where its pods
// were placed the first time has been taken back by then.
func (g *GroupCycle) tried(e *timeline.Entry, waiting map[types.UID]*waiting) {
	if g == nil {
		return
	}
	if e.Second && !g.second {
		g.second = true
		maps.DeleteFunc(g.placed, func(uid types.UID, _ bool) bool { return waiting[uid] != nil })
	}
	for _, m := range g.Members {
		if model.Key(m) == e.Pod() && e.Node != "" {
			g.placed[m.UID] = true
		}
	}
}

// isNominatedAgain tells whether a member that is gone is nominated again as it was: it was placed, and that is taken back
// (schedule_one.go:381@v1.37.1, unreserveAndForget).
func (g *GroupCycle) isNominatedAgain(member *v1.Pod) bool {
	return g != nil && g.placed[member.UID] && member.Status.NominatedNodeName != ""
}

// outlived has each of some nominations that is of a pod with the name of a member, which is gone, count as that of the member from
// where that is nominated again, if it is.
func (g *GroupCycle) outlived(nominations []*nominated) {
	for i, n := range nominations {
		for _, m := range g.Members {
			if model.Key(m) == model.Key(n.as[0]) && g.isNominatedAgain(m) {
				also := *n
				also.to = union(n.to, one(m.Status.NominatedNodeName))
				nominations[i] = &also
			}
		}
	}
}

// decided is that it is known at an entry what it comes to, and what it comes to for a member, if one is named.
func (g *GroupCycle) decided(at int, member *v1.Pod) {
	if g == nil {
		return
	}
	g.over, g.Ended = true, at
	if member != nil {
		g.ended[member.UID] = true
	}
}

// Namesakes tells whether two pods of one name were on nodes: an entry does not tell which of them it means.
func (g *GroupCycle) Namesakes() bool { return g.cycle.Namesakes() }

// States visits the states that the scheduler may have been in, the likeliest first, until visit returns false. all is false if
// there are too many.
func (g *GroupCycle) States(bugs Bugs, visit func(s *State) bool) (all bool) {
	c := *g.cycle
	c.Result = &timeline.Entry{What: timeline.Unfit}
	c.Pod, c.stored, c.own, c.group = nominatedTo(c.Pod, ""), nil, one(""), g.Group
	c.nominations = slices.Clone(c.nominations)
	if bugs.NominationOutlives {
		g.outlived(c.nominations)
	}
	var own []*nominated
	for _, m := range g.Members {
		n := *g.own[m.UID]
		own, c.nominations = append(own, &n), append(c.nominations, &n)
	}
	return c.States(bugs, func(s *State) bool {
		s.Preemptor, s.PreemptorGroup = nil, g.Group
		for _, n := range own { // those that are nominated are there already
			if !slices.ContainsFunc(s.Pods, func(p *v1.Pod) bool { return p.UID == n.as[0].UID }) {
				s.Pods = append(s.Pods, nominatedTo(n.as[0], ""))
			}
		}
		return visit(s)
	})
}
