package together

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// The ways in which a group that has to go as a whole goes in part.
const (
	DecidedInPart = "decided in part"
	EvictedInPart = "evicted in part"
)

// Whole looks at the groups in mode All that are preempted: whether all their pods are victims, and whether, at rest, all
// are evicted of which one was, unless whoever preempts them waits still, and may try again.
//
// Nothing is claimed where it cannot be told which pod is meant, or what the group is: where pods are created again under
// their names, or the group is changed or deleted meanwhile; nor if whoever preempts is deleted.
func Whole(t *timeline.Timeline, trace *timeline.Trace) (broken []Broken) {
	fickle := changedGroups(trace)
	popped := map[string]book{} // as the cycle of each began that is in one
	follow(trace, func(i int, e *timeline.Entry, b *book) {
		if e.What == timeline.Popped && e.Group == "" {
			clear(popped) // one is in its cycle at a time
			popped[e.Object] = b.copy()
		}
		if e.What != timeline.Decided || len(e.Victims) == 0 || e.OfGroup() && !isPodGroup(e.Preemptor()) {
			return
		}
		began := popped[e.Object]
		var done []string
		for _, v := range e.Victims {
			group := GroupOf(began.pods[v])
			g := began.groups[group]
			if g == nil || g.Spec.DisruptionMode == nil || g.Spec.DisruptionMode.All == nil || g.Spec.ParentCompositePodGroupName != nil ||
				fickle[group] || slices.Contains(done, group) {
				continue
			}
			done = append(done, group)
			var whole []string // that the scheduler had been told are on nodes, and go on
			for _, m := range began.members(group) {
				was, is := began.pods[m], b.pods[m]
				if was.Spec.NodeName == "" || was.DeletionTimestamp != nil || is == nil || is.DeletionTimestamp != nil || t.Recreated(trace, m) {
					continue
				}
				whole = append(whole, m)
				if !slices.Contains(e.Victims, m) {
					broken = append(broken, Broken{m, DecidedInPart, fmt.Sprintf("%s preempts %s of %s, whose pods can only be disrupted together, and not %s",
						e.Object, v, model.GroupTitle(group), m), i})
				}
			}
			if f := inPart(trace, i, group, whole); f != nil {
				broken = append(broken, *f)
			}
		}
	})
	return broken
}

// copy is the book as it is now.
func (b *book) copy() book {
	return book{maps.Clone(b.groups), maps.Clone(b.pods), maps.Clone(b.assumed), maps.Clone(b.fits), maps.Clone(b.again)}
}

// inPart tells whether pods of a group that a decision preempts as a whole are evicted, and others are not, though
// whoever preempts them waits no longer; nil if not.
func inPart(trace *timeline.Trace, decided int, group string, whole []string) *Broken {
	if trace.Quiet == nil || trace.Flushed == nil {
		return nil
	}
	by, at := &trace.Entries[decided], -1
	evicted, inMemory := map[string]bool{}, map[string]bool{}
	for i := decided; i < trace.FlushedAt; i++ {
		switch e := &trace.Entries[i]; {
		case e.What == timeline.Called && e.Call == timeline.Evict && e.TookEffect() && slices.Contains(whole, e.Pod()):
			evicted[e.Pod()] = true
			if at < 0 && e.By == by.Preemptor() {
				at = i
			}
		case e.PreemptsInMemory():
			inMemory[e.Pod()] = true
		}
	}
	if at < 0 || !over(trace, by) {
		return nil
	}
	for _, m := range whole {
		if p := trace.Quiet.Pod(m); p.Exists && p.Node != "" && !p.Terminating && !evicted[m] && !inMemory[m] {
			return &Broken{m, EvictedInPart, fmt.Sprintf("%s of %s, whose pods can only be disrupted together, is evicted for %s, which runs now, and %s is not",
				trace.Entries[at].Pod(), model.GroupTitle(group), strings.ToLower(by.Object[:1])+by.Object[1:], m), trace.FlushedAt}
		}
	}
	return nil
}

// over tells whether whoever decided so runs at rest: a pod, or a group of which no pod waits.
func over(trace *timeline.Trace, decided *timeline.Entry) bool {
	runs := false
	for _, p := range trace.Quiet.Pods {
		if decided.Pod() != "" && p.Name != decided.Pod() || decided.Pod() == "" && !isIn(trace, p.Name, decided.Preemptor()) {
			continue
		}
		if p.Exists && p.Node == "" && !p.Terminating {
			return false
		}
		runs = runs || p.Exists && p.Node != ""
	}
	return runs
}

// isIn tells whether a pod is one of a group that was tried in its cycle.
func isIn(trace *timeline.Trace, pod, group string) bool {
	return slices.ContainsFunc(trace.Entries, func(e timeline.Entry) bool { return e.Group == group && e.Pod() == pod })
}

// changedGroups are the groups whose specification somebody changes, or that somebody deletes.
func changedGroups(trace *timeline.Trace) map[string]bool {
	changed := map[string]bool{}
	for i := range trace.Entries {
		if e := &trace.Entries[i]; (e.What == timeline.Updated || e.What == timeline.Removed) && isPodGroup(e.Preemptor()) {
			changed[e.Preemptor()] = true
		}
	}
	return changed
}
