// Package known recognises the known findings of timelines in a trace.
//
// It says nothing about what is promised: package lifetime asks it what explains that a promise was
// broken.
package known

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// The known findings that show in timelines, by their ids in the ledger.
const (
	// VainPreemption: the victims are gone before the preemption that keeps its pod gated
	// comes to them, and nothing wakes the pod up.
	VainPreemption = "gated-by-vain-preemption"
	// GateMeetsDeletion: the deletion of a victim is met by the gate, and no later event helps.
	GateMeetsDeletion = "victim-deletion-met-by-gate"
	// NominationComesBack: a withdrawn nomination is restored by a late update.
	NominationComesBack = "withdrawn-nomination-comes-back"
	// VictimsEndUnnoticed: a pod waits for its victims, and is not tried when they are gone.
	VictimsEndUnnoticed = "end-of-victims-wakes-nobody"
	// ChanceUnnoticed: preemption has become possible, and no plugin takes notice.
	ChanceUnnoticed = "preemption-chance-unnoticed"
	// SecondPreemption: a pod preempts again before the scheduler has seen its own
	// nomination of it.
	SecondPreemption = "preempts-before-nomination-is-seen"
	// SynchronousFailure: a synchronous preemption fails, or deletes nothing, and nothing tries it again.
	SynchronousFailure = "failed-synchronous-preemption-waits"
	// StaleNomination: the write that clears a nomination fails, and is not repeated.
	StaleNomination = "failed-write-leaves-nomination"
	// Namesake: the victim is gone, and another pod that was created under its name is
	// evicted in its place.
	Namesake = "evicts-namesake"
	// VictimBack: the victim was on its way to the node, its binding failed before it was
	// evicted, and its deletion is no event that wakes the preemptor up.
	VictimBack = "victim-back-in-queue-wakes-nobody"
	// FirstUnnoticed: the last pod is gone that a pod has to be with, which may go anywhere
	// now as the first of its kind, and the plugin that rejected it takes no notice.
	FirstUnnoticed = "first-of-its-kind-unnoticed"
	// NodeForShunned: a node comes on which a pod fits that pods on the other nodes shun, and the
	// plugin that rejected it takes no notice.
	NodeForShunned = "node-for-shunned-pod-unnoticed"
	// SpreadEased: a pod terminates that a topology spread constraint counted until then, and the
	// plugin that rejected another one for it takes no notice.
	SpreadEased = "spread-eased-unnoticed"
	// SkippedUnnoticed: a nominated pod that terminates is skipped when it is its turn. It is in
	// no queue then, and the room that was kept for it is free without an event.
	SkippedUnnoticed = "skipped-pod-frees-room-unnoticed"
	// KeptRoomFreed: a nominated pod goes to another node, or it is deleted or loses its nomination
	// before that was written, and those that it kept from the node are not told.
	KeptRoomFreed = "kept-room-freed-unnoticed"
	// BoundElsewhere: a pod is bound, and not to the node on which the scheduler had assumed it, or to which it was nominated. Those
	// that it kept from that node are not told.
	BoundElsewhere = "bound-elsewhere-wakes-nobody"
	// OldCopy: a pod is in two attempts at once, and the end of the first puts a copy of it into
	// the queue that nothing keeps up to date.
	OldCopy = "old-copy-stays-in-queue"
	// EarlierOpensGate: a pod preempts while the goroutine of its preemption before is still on, and
	// that one opens the gate for it.
	EarlierOpensGate = "earlier-preemption-opens-gate"
	// NoPause: a pod is tried again past its backoff when its preemption has failed, or a victim
	// was preempted in memory, and preempts again.
	NoPause = "preempts-again-without-pause"
	// RecreatedAsUpdate: a pod that was deleted and created again while the watch was down comes
	// as one update, and the scheduler takes the two for one pod.
	RecreatedAsUpdate = "recreated-pod-seen-as-update"
	// GateOutlives: a pod is still gated when its preemption is over, and an event that would
	// help is met by the gate, as it is no deletion of a pod; or such an event was met while the
	// preemption went on, and the pod has not been tried on that node since.
	GateOutlives = "gate-outlives-preemption"
	// StaleDeletion: a new list shows that a pod is gone that was on a node, or assumed there, of
	// which the informer had not stored that, and its deletion does not wake those that wait for
	// its room.
	StaleDeletion = "stale-deletion-wakes-nobody"
	// BoundPreempts: a pod preempts that is bound by the version of it which the preemption has
	// looked up.
	BoundPreempts = "preempts-for-bound-pod"
	// NamesakePreempts: a pod that is gone preempts as the one that was created under its name.
	NamesakePreempts = "preempts-as-namesake"
	// UnitInPart: an eviction fails, or the scheduler dies, in the middle of a group that can only be evicted
	// as a whole, and its preemptor fits by then.
	UnitInPart = "unit-evicted-in-part"
	// MemberGone: a pod of a group is deleted that alone kept the group out of the queue, or that alone was rejected
	// by a plugin whose events could bring the group back.
	MemberGone = "deleted-member-keeps-group-out"
	// RejectionsForgotten: a composite group preempts, and which plugins rejected its pods is lost.
	RejectionsForgotten = "composite-group-forgets-rejections"
	// FirstRejection: a group preempts, and the pods of it that were rejected wait for something else than the end of its victims.
	FirstRejection = "first-rejection-stands-for-group"
	// CycleCutShort: a pod without a group is put back while a group is in its cycle, and pods of the group come back as if it was in none.
	CycleCutShort = "failed-binding-cuts-group-cycle"
	// LateDeletion: a pod is deleted in the cycle of its group, and keeps the room that it is given at the end of that.
	LateDeletion = "late-deletion-holds-room"
	// NominationOutlives: a pod is created again in the cycle of its group, and nominated as the one before it was.
	NominationOutlives = "recreated-member-keeps-nomination"
	// Relabelled: the labels of a pod are changed on its way to a node. That counts when it is bound, and
	// the plugin that rejected another pod for the old ones takes no notice.
	Relabelled = "relabelled-on-its-way-unnoticed"
	// Resized: a pod that is nominated, or on its way to a node, comes to ask for less, and nobody else is told.
	Resized = "resized-on-its-way-unnoticed"
	// MemberAtOnce: the binding of a member of a group fails, and the group is tried again at once.
	MemberAtOnce = "failed-member-does-not-back-off"
	// MemberTwice: a pod of a group is changed as its binding fails, and is in its group twice, once more than its deletion takes out.
	MemberTwice = "member-queued-twice"
	// GoneCounts: a pod of a group is deleted while it waits for permission, and counts in its group for ever.
	GoneCounts = "deleted-member-still-counts"
	// SpreadIgnored: a pod goes where a nominated pod does not fit beside it for its spread constraints, and is preempted for that.
	SpreadIgnored = "nominated-spread-ignored"
)

// Those that only older releases have.
const (
	// Meanwhile: a pod preempts its victims once more while the call that deletes the last one is
	// not answered.
	Meanwhile = "second-preemption-meanwhile"
	// StaysInFlight: a pod is deleted and created again in its cycle, and that never counts as over.
	StaysInFlight = "recreated-pod-stays-in-flight"
	// NominationKept: a pod whose binding fails stays nominated.
	NominationKept = "failed-binding-keeps-nomination"
	// DeletedStays: a pod that is deleted on its way to a node counts there until its binding has
	// failed.
	DeletedStays = "deleted-pod-stays-assumed"
	// VictimRejected: a pod that is preempted while it waits for permission counts as rejected, and
	// no event makes it be tried again.
	VictimRejected = "victim-in-permit-waits"
	// ShunnerGone: a pod that shuns another one is gone, and the plugin that rejected that one takes no notice.
	ShunnerGone = "shunning-pod-gone-unnoticed"
	// NamesakeGated: a pod is deleted in its cycle and created again, and the new one is gated as if
	// it preempted.
	NamesakeGated = "recreated-preemptor-stays-gated"
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
		nodes := l.nodesOf(f.Entry)
		anyNode := func(is func(pod, node string) bool, pod string) bool {
			return slices.ContainsFunc(nodes, func(node string) bool { return is(pod, node) })
		}
		for _, p := range l.Trace.Quiet.Pods {
			keeps := slices.ContainsFunc(nodes, func(node string) bool { return slices.Contains(p.NominatedTo, node) })
			if p.Name != f.Pod && together.TriedAs(l.Trace, p.Name) != f.Pod && !keeps {
				continue
			}
			ids = append(ids, l.gatedBy(p.Name)...)
			if anyNode(l.staleDeletion, p.Name) {
				ids = append(ids, StaleDeletion)
			}
			if anyNode(l.boundElsewhere, p.Name) {
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
			if l.victimsEndUnnoticed(p.Name) {
				ids = append(ids, VictimsEndUnnoticed)
			}
		}
		if together.LeftBehind(l.Trace, f.Pod) {
			ids = append(ids, CycleCutShort)
		}
		roomOfDeletedLate := func(node string) bool { return together.RoomOfDeletedLate(l.Trace, node) }
		if slices.ContainsFunc(nodes, roomOfDeletedLate) || f.Kind == string(timeline.Fits) && together.PartnersLackedRoom(l.Trace, f.Entry) || l.peersDeletedLate(f.Pod, f.Kind == string(timeline.Decided)) {
			ids = append(ids, LateDeletion)
		}
		// What its last attempt came to was about a pod as it was before.
		for _, g := range l.Cycles {
			if g.Pod == f.Pod && l.ofOldCopy(&g) && l.isLastAttempt(g.Entry) {
				ids = append(ids, OldCopy)
			}
		}
		if len(ids) == 0 && anyNode(l.keptRoomFreed, f.Pod) {
			ids = append(ids, KeptRoomFreed)
		}
		if len(ids) == 0 && f.Kind == string(timeline.Decided) && (l.chanceUnnoticed(f.Pod) || l.unitsChanged(f.Pod)) {
			ids = append(ids, ChanceUnnoticed)
		}
		if l.victimRejected(f.Pod) {
			ids = append(ids, VictimRejected)
		}
		if l.firstUnnoticed(f.Pod) {
			ids = append(ids, FirstUnnoticed)
		}
		if l.nodeForShunned(f.Pod, f.Kind == string(timeline.Decided)) {
			ids = append(ids, NodeForShunned)
		}
		if l.shunnerGone(f.Pod, f.Kind == string(timeline.Decided)) {
			ids = append(ids, ShunnerGone)
		}
		if l.spreadEased(f.Pod, f.Kind == string(timeline.Decided)) {
			ids = append(ids, SpreadEased)
		}
		if l.changedOnItsWay(f.Pod, f.Kind == string(timeline.Decided), relabelled) {
			ids = append(ids, Relabelled)
		}
		if l.changedOnItsWay(f.Pod, f.Kind == string(timeline.Decided), resized) {
			ids = append(ids, Resized)
		}
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
	if then.staleDeletion(f.Pod, f.Node) {
		ids = append(ids, StaleDeletion)
	}
	if then.boundElsewhere(f.Pod, f.Node) {
		ids = append(ids, BoundElsewhere)
	}
	if len(ids) == 0 && then.keptRoomFreed(f.Pod, f.Node) {
		ids = append(ids, KeptRoomFreed)
	}
	if then.firstUnnoticed(f.Pod) {
		ids = append(ids, FirstUnnoticed)
	}
	if then.nodeForShunned(f.Pod, false) {
		ids = append(ids, NodeForShunned)
	}
	if then.shunnerGone(f.Pod, false) {
		ids = append(ids, ShunnerGone)
	}
	if then.spreadEased(f.Pod, false) {
		ids = append(ids, SpreadEased)
	}
	if then.changedOnItsWay(f.Pod, false, relabelled) {
		ids = append(ids, Relabelled)
	}
	if then.changedOnItsWay(f.Pod, false, resized) {
		ids = append(ids, Resized)
	}
	return ids
}

// staleDeletion tells whether, since a pod was last tried, a new list has shown that a pod is gone
// that was on a node, or assumed there, and that was last known as pending.
func (l *Life) staleDeletion(pod, node string) (stale bool) {
	on := map[types.UID]string{} // by pod: one of the same name may be created before the list
	for i := range l.Trace.Entries[:l.end()] {
		e := &l.Trace.Entries[i]
		is, _ := e.Is.(*v1.Pod)
		switch was, _ := e.Was.(*v1.Pod); {
		case e.What == timeline.TakenOver, e.What == timeline.Popped && e.Pod() == pod:
			stale = false
		case e.What == timeline.Fits && is != nil:
			on[is.UID] = e.Node
		case e.What == timeline.Requeued && is != nil:
			delete(on, is.UID) // its binding has failed, if it had one
		case e.What == timeline.Called && e.Call == timeline.Bind && e.TookEffect():
			on[e.UID] = e.BindsTo()
		case e.What == timeline.Handled && e.Listed && e.Text == "deleted" && was != nil && was.Spec.NodeName == "":
			stale = stale || on[was.UID] == node
		}
	}
	return stale
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
