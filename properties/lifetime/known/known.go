// Package known recognises the known findings of timelines in a trace.
//
// It says nothing about what is promised: package lifetime asks it what explains that a promise was
// broken.
package known

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// Life is a timeline and what was seen of it.
type Life struct {
	Timeline *timeline.Timeline
	Trace    *timeline.Trace
	// Release is the one whose scheduler was run.
	Release release.Release
	// Cycles are the promises that were broken in single cycles.
	Cycles []Broken

	// cycles are those of pods; nil if nobody has asked.
	cycles []*account.Cycle
	// until is how many entries are looked at; 0 is all before the flush.
	until int
}

// end is the index after the last entry that is looked at.
func (l *Life) end() int {
	if l.until > 0 {
		return l.until
	}
	return l.Trace.FlushedAt
}

// Broken is a broken promise.
type Broken struct {
	// Property is the name of the promise, Kind the way in which it was broken.
	Property, Kind string
	// Pod is the pod that it was broken to, as "default/a"; "" if to none.
	Pod string
	// Node is the node that it is about; "" if none.
	Node string
	// Entry is the index of the entry of the trace where it shows, Since where it began, of what goes on for ever.
	Entry, Since int
	// Known are the ids of the known findings that are found to explain it already.
	Known []string
}

// Explain are the ids of the known findings that explain a broken promise, whatever the release,
// apart from those that it has.
func (l *Life) Explain(f *Broken) (ids []string) {
	switch f.Property {
	case "important-first":
		if l.namesakeGated(f.Pod, f.Entry) {
			ids = append(ids, NamesakeGated)
		}
	case "the-gone-are-not-tried":
		if together.TornOff(l.Trace, f.Pod, f.Entry) {
			ids = append(ids, CycleCutShort)
		}
		if together.OutlivesItself(l.Trace, f.Pod, f.Entry) {
			ids = append(ids, MemberTwice)
		}
	case "tried-as-told":
		if l.ofOldCopy(f) {
			ids = append(ids, OldCopy)
		}
	case "no-namesake-is-evicted":
		ids = append(ids, Namesake)
	case "group-goes-whole":
		if f.Kind == together.EvictedInPart && l.evictionInterrupted(f.Pod) {
			ids = append(ids, UnitInPart)
		}
	case "one-queue":
		if f.Kind == "in flight" && l.Timeline.Recreated(l.Trace, f.Pod) {
			ids = append(ids, StaysInFlight)
		}
		if f.Kind == "in flight" && together.OnlyDeletedLate(l.Trace, f.Pod, func(p timeline.PodState) bool { return p.InFlight }) {
			ids = append(ids, LateDeletion)
		}
		if f.Kind == "twice" && together.QueuedTwice(l.Trace, f.Pod) || f.Kind == "kept" && together.OutlivesItself(l.Trace, f.Pod, l.Trace.FlushedAt) {
			ids = append(ids, MemberTwice)
		}
		if (f.Kind == "left pending" || f.Kind == "kept") && together.LeftBehind(l.Trace, f.Pod) {
			ids = append(ids, CycleCutShort)
		}
	case "failed-binding-ends-nomination":
		ids = append(ids, NominationKept)
	case "no-second-preemption":
		ids = append(ids, Meanwhile)
		if l.preemptionsOverlap(f.Pod, f.Entry) {
			ids = append(ids, EarlierOpensGate)
		}
		if l.preemptsBesides(f.Pod, f.Entry) {
			ids = append(ids, OldCopy)
		}
	case "preemption-leads-somewhere":
		ids = append(ids, l.replacementsBoundAgainst(f)...)
	case "marked-before-evicted":
		if slices.Contains(l.Trace.HitNamesakes(), f.Entry) {
			ids = append(ids, Namesake)
		}
	case "gets-through":
		if l.Trace.Endless != "" && l.noPause() {
			ids = append(ids, NoPause)
		}
		if l.Trace.Endless != "" && l.noPauseOfMember() {
			ids = append(ids, MemberAtOnce)
		}
	case "group-backs-off-after-errors":
		if bindings, others := together.Failed(l.Trace, f.Entry); len(bindings) > 0 && len(others) == 0 {
			ids = append(ids, MemberAtOnce)
		}
		if together.CycleCutShort(l.Trace, f.Pod, f.Entry) {
			ids = append(ids, CycleCutShort)
		}
	case "group-is-tried-complete":
		if f.Kind == together.Incomplete && together.GoneCount(l.Trace, f.Pod, f.Entry) {
			ids = append(ids, GoneCounts)
		}
	case "group-is-bound-together":
		if f.Kind == together.TooFew && together.GoneAreBound(l.Trace, f.Pod, f.Entry) {
			ids = append(ids, GoneCounts)
		}
	case "group-is-not-kept-out":
		ids = append(ids, l.gatedBy(f.Pod)...)
	case "gate-opens":
		switch {
		case f.Kind != "gated":
		case f.Entry < l.Trace.FlushedAt:
			then := *l
			then.until = f.Entry + 1
			ids = append(ids, then.opensNever(f.Pod)...)
		default:
			ids = append(ids, l.gatedBy(f.Pod)...)
		}
	case "no-wait-for-the-flush":
		// A pod that is stuck keeps room for itself, so others are stuck that want this room.
		nodes, changes := l.nodesOf(f.Entry), l.unnoticed()
		anyNode := func(is func(pod, node string) bool, pod string) bool {
			return slices.ContainsFunc(nodes, func(node string) bool { return is(pod, node) })
		}
		for _, p := range l.Trace.Quiet.Pods {
			keeps := slices.ContainsFunc(nodes, func(node string) bool { return slices.Contains(p.NominatedTo, node) })
			if p.Name != f.Pod && together.TriedAs(l.Trace, p.Name) != f.Pod && !keeps {
				continue
			}
			ids = append(ids, l.gatedBy(p.Name)...)
			if anyNode(changes.StaleDeletion, p.Name) {
				ids = append(ids, StaleDeletion)
			}
			if anyNode(changes.BoundElsewhere, p.Name) {
				ids = append(ids, BoundElsewhere)
			}
			if slices.Contains(p.NominatedTo, together.OutlivedNominations(l.Trace)[p.Name]) { // until the one of its name that is there is bound, if the pod itself is gone
				ids = append(ids, NominationOutlives)
			}
			if !p.Exists || len(p.NominatedTo) == 0 {
				continue
			}
			if l.nominationCameBack(p.Name) {
				ids = append(ids, NominationComesBack)
			}
			if p.Terminating && len(p.Queues) == 0 {
				ids = append(ids, SkippedUnnoticed)
			}
			if changes.EndOfVictims(p.Name) {
				ids = append(ids, VictimsEndUnnoticed)
			}
		}
		if together.LeftBehind(l.Trace, f.Pod) {
			ids = append(ids, CycleCutShort)
		}
		roomOfDeletedLate := func(node string) bool { return together.RoomOfDeletedLate(l.Trace, node) }
		if slices.ContainsFunc(nodes, roomOfDeletedLate) || f.Kind == string(timeline.Fits) && together.PartnersLackedRoom(l.Trace, f.Entry) || changes.PeersDeletedLate(f.Pod, f.Kind == string(timeline.Decided)) {
			ids = append(ids, LateDeletion)
		}
		// What its last attempt came to was about a pod as it was before.
		for _, g := range l.Cycles {
			if g.Pod == f.Pod && l.ofOldCopy(&g) && l.isLastAttempt(g.Entry) {
				ids = append(ids, OldCopy)
			}
		}
		if len(ids) == 0 && anyNode(changes.KeptRoomFreed, f.Pod) {
			ids = append(ids, KeptRoomFreed)
		}
		if len(ids) == 0 && f.Kind == string(timeline.Decided) && (changes.ChanceToPreempt(f.Pod) || changes.UnitsChanged(f.Pod)) {
			ids = append(ids, ChanceUnnoticed)
		}
		if l.victimRejected(f.Pod) {
			ids = append(ids, VictimRejected)
		}
		ids = append(ids, l.missedByPlugins(f.Pod, f.Kind == string(timeline.Decided))...)
		ids = append(ids, l.leftToChance(f.Pod)...)
		// What the flush made it try would not have come out so but for a finding of its cycle.
		for _, g := range l.Cycles {
			if g.Pod == f.Pod && g.Entry == f.Entry {
				ids = append(ids, g.Known...)
			}
		}
		for _, p := range l.Trace.Quiet.Pods {
			if p.Exists && p.Node == "" && (l.failedSynchronously(p.Name) || l.rejectedInVain(p.Name)) {
				ids = append(ids, SynchronousFailure)
				break
			}
		}
	case "event-makes-tryable":
		ids = l.leftBy(f)
	case "waits-for-its-victims":
		if l.nominationUnseen(f.Pod, f.Entry) {
			ids = append(ids, SecondPreemption)
		}
		if l.decidedForNamesake(f.Entry) {
			ids = append(ids, NamesakePreempts)
		}
	case "nominations-are-decided":
		if l.nominationCameBack(f.Pod) {
			ids = append(ids, NominationComesBack)
		}
		if l.lastWriteFailed(f.Pod) {
			ids = append(ids, StaleNomination)
		}
	case "cache-agrees":
		if f.Kind == "assumed" && together.OnlyDeletedLate(l.Trace, f.Pod, func(p timeline.PodState) bool { return p.Assumed }) {
			ids = append(ids, LateDeletion)
		}
	case "nominations-agree", "no-ghost-nominations":
		if f.Property == "nominations-agree" && l.lastWriteFailed(f.Pod) {
			ids = append(ids, StaleNomination)
		}
		if together.NominationOutlived(l.Trace, f.Pod) {
			ids = append(ids, NominationOutlives)
		}
	}
	if !slices.ContainsFunc(slices.Concat(f.Known, ids), l.has) && l.tookForAnother(f) {
		ids = append(ids, RecreatedAsUpdate)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// has tells whether the release has a known finding.
func (l *Life) has(id string) bool {
	e, ok := ledger.LookUp(id)
	return ok && l.Release.In(e.Releases)
}

// nodesOf are the nodes that an entry says a pod goes to, or has room made on: of a group that preempts, those that its members are
// placed on.
func (l *Life) nodesOf(entry int) []string {
	e := &l.Trace.Entries[entry]
	if e.What == timeline.Fits || !e.OfGroup() {
		return []string{e.Node}
	}
	began := l.Trace.Began(entry)
	for _, c := range l.Trace.Courses {
		if c.Entry == began {
			return c.PlacedTo
		}
	}
	return nil
}

// evictionInterrupted tells whether a call that marks or deletes a victim of the preemption of a pod failed, or the
// scheduler died, after that preemption was decided.
func (l *Life) evictionInterrupted(pod string) bool {
	victims := map[string]bool{}
	for i := range l.Trace.Entries[:l.end()] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Decided && slices.Contains(e.Victims, pod):
			for _, v := range e.Victims {
				victims[v] = true
			}
		case e.What == timeline.TakenOver && victims[pod]:
			return true
		case e.What == timeline.Called && (e.Call == timeline.Evict || e.MarksVictim()) && e.By != "" && e.Error != "" && victims[e.Pod()]:
			return true
		}
	}
	return false
}

// leftBy are the known findings by which an event leaves a pod unschedulable that fits.
func (l *Life) leftBy(f *Broken) (ids []string) {
	then := *l
	then.until = f.Entry + 1
	e := &l.Trace.Entries[f.Entry]
	was, _ := e.Was.(*v1.Pod)
	freesRoom := e.What == timeline.Handled && e.Text == "deleted" && hadNode(was)
	switch gated := slices.ContainsFunc(e.Left, func(left timeline.Left) bool { return left.Pod == f.Pod && left.Gated }); {
	case f.Kind == StillGated:
		ids = append(ids, then.metMeanwhile(f.Pod, f.Since)...)
	case gated && !freesRoom && then.preemptionOver(f.Pod):
		ids = append(ids, GateOutlives)
	case gated && freesRoom:
		ids = append(ids, then.endMetByGate(f.Pod)...)
		if then.nodeMetByGate(f.Pod, f.Node) {
			ids = append(ids, GateOutlives)
		}
	}
	if l.twiceAtOnce(f.Pod, f.Entry) {
		ids = append(ids, OldCopy)
	}
	changes := then.unnoticed()
	if changes.StaleDeletion(f.Pod, f.Node) {
		ids = append(ids, StaleDeletion)
	}
	if changes.BoundElsewhere(f.Pod, f.Node) {
		ids = append(ids, BoundElsewhere)
	}
	if len(ids) == 0 && changes.KeptRoomFreed(f.Pod, f.Node) {
		ids = append(ids, KeptRoomFreed)
	}
	return append(ids, then.missedByPlugins(f.Pod, false)...)
}

// failedSynchronously tells whether the last preemption for a pod was synchronous, and one of
// its calls failed.
func (l *Life) failedSynchronously(pod string) (failed bool) {
	if l.Timeline.Cluster.Settings.AsyncPreemption() {
		return false
	}
	for i := range l.Trace.Entries[:l.end()] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Popped && e.Pod() == pod:
			failed = false
		case e.What == timeline.Called && e.By == pod:
			failed = e.Error != "" && !strings.Contains(e.Error, "not found")
		}
	}
	return failed
}

// evictedNamesake tells whether another pod was deleted in the place of a victim of the last
// preemption for a pod: no deletion of that victim wakes it up.
func (l *Life) evictedNamesake(pod string) bool {
	last := 0
	for i := range l.Trace.Entries[:l.end()] {
		if e := &l.Trace.Entries[i]; e.What == timeline.Decided && e.Preemptor() == pod && len(e.Victims) > 0 {
			last = i
		}
	}
	return slices.ContainsFunc(l.Trace.HitNamesakes(), func(at int) bool {
		return at > last && l.Trace.Entries[at].By == pod && at < l.end()
	})
}

func pod(obj any) *v1.Pod {
	p, _ := obj.(*v1.Pod)
	return p
}
