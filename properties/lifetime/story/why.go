package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// metByGate says for which pods the event of entry i, that a pod is gone, comes while their
// preemption keeps them gated: their goroutine was decided on, and has not begun.
func (t teller) metByGate(i int) string {
	e := &t.Trace.Entries[i]
	var text strings.Builder
	for _, pod := range t.tried() {
		p := t.Trace.LastPreemption(pod, i)
		if p == nil || !slices.Contains(p.Victims, e.Pod()) || !t.gated(pod, p, i) {
			continue
		}
		fmt.Fprintf(&text, " This is the event that %s waits for.", pod)
		if t.inFlight(pod, i) {
			fmt.Fprintf(&text, " %s is still in its scheduling cycle, so the event counts when that is over.", pod)
		} else {
			fmt.Fprintf(&text, " But PreEnqueue keeps %s out of the queue, as %s.", pod, t.goesOn(p))
		}
	}
	return text.String()
}

// gated tells whether a preemption surely keeps its pod gated at entry i: it is asynchronous, its
// goroutine has not begun, and the pod is not tried before it does.
func (t teller) gated(pod string, p *timeline.Preemption, i int) bool {
	if p.Began >= 0 || !t.Timeline.Cluster.Settings.AsyncPreemption() {
		return false
	}
	for j := range t.Trace.Entries[p.Decided:] {
		switch e := &t.Trace.Entries[p.Decided+j]; {
		case e.Pod() != pod:
		case e.What == timeline.Removed && p.Decided+j < i:
			return false
		case e.What == timeline.Begins:
			return true
		case e.What == timeline.Popped:
			return false
		}
	}
	return true
}

// goesOn says why a preemption keeps its pod gated.
func (t teller) goesOn(p *timeline.Preemption) string {
	text := fmt.Sprintf("the preemption of %s for it counts as going on since %s", words.Some(p.Victims, 3), t.clock(p.Decided))
	if p.Began < 0 {
		text += ", though its goroutine has not begun"
	}
	return text
}

// inFlight tells whether a pod is in a scheduling cycle at entry i.
func (t teller) inFlight(pod string, i int) bool {
	for i--; i >= 0; i-- {
		switch e := &t.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			return false
		case e.Pod() == pod && e.What == timeline.Popped:
			return true
		case e.Pod() == pod && e.What == timeline.Requeued:
			return false
		}
	}
	return false
}

// metInFlight are the pods of whose deletion the scheduler was told while the pod of entry i,
// the end of a cycle, was in that cycle.
func (t teller) metInFlight(i int) (gone []string) {
	for j := i - 1; j >= 0; j-- {
		e := &t.Trace.Entries[j]
		if e.What == timeline.Popped && e.Object == t.Trace.Entries[i].Object {
			break
		}
		if e.What == timeline.Handled && e.Text == "deleted" && e.Pod() != "" {
			gone = append(gone, e.Pod())
		}
	}
	slices.Reverse(gone)
	return gone
}

// clock is the time of an entry, as the story writes it.
func (t teller) clock(i int) string { return fmt.Sprintf("%.3fs", t.Trace.Entries[i].At.Seconds()) }

// why are the sentences that say what the known findings have come from.
func (t teller) why(findings []lifetime.Finding) (all []string) {
	for _, f := range findings {
		for _, id := range f.Known {
			if text := t.whyKnown(id, f); text != "" && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}

// whyKnown says what a finding has come from by a known one.
func (t teller) whyKnown(id string, f lifetime.Finding) string {
	if id == known.VainPreemption {
		return t.whyVain()
	}
	if text, ok := reasons[id]; ok {
		return strings.NewReplacer("{pod}", f.Pod, "{node}", cmp.Or(f.Node, t.node(f.Entry))).Replace(text)
	}
	if e, ok := ledger.LookUp(id); ok { // one that single clusters show, too
		return fmt.Sprintf("Why, of pod %s: %s", f.Pod, e.Happens)
	}
	return ""
}

// node is the node of an entry, if it has one.
func (t teller) node(i int) string {
	if i >= len(t.Trace.Entries) {
		return ""
	}
	return t.Trace.Entries[i].Node
}

// reasons say what findings of timelines come from, {pod} being the pod and {node} the node.
var reasons = map[string]string{
	known.GateMeetsDeletion: "Why {pod} waits: it was told that a pod is gone from its node, or from its way there, while the preemption for it was on, and PreEnqueue kept it out of the queue. " +
		"The end of a later one does not help by what the plugins say that rejected the pod. The goroutine ended as a success, and nobody put the pod back into the queue.",
	known.BoundElsewhere: "Why {pod} waits: the scheduler had another pod on {node}, and was told that it is bound elsewhere. It moved that pod in its memory, and told those that wait only " +
		"that a pod was added. The binding that it had begun itself failed, and as the pod counts as bound by then, that freed nothing either.",
	known.NominationComesBack: "Why the nomination stays: the pod was tried again before the scheduler was told of the nomination that it had written, and this cycle withdrew it. " +
		"What clears it in the status was worked out against a status without it, so nothing was cleared. The late update then restored it in memory, too.",
	known.VictimsEndUnnoticed: "Why the nomination stays: the pod that has it was tried while its victims still terminated, and was rejected by a plugin that their end does not concern. " +
		"When they were gone, nothing made it be tried again.",
	known.ChanceUnnoticed: "Why {pod} waits: the plugin that rejected it on the nodes as they are takes no interest in what has happened since. What kept preemption from helping is over, and nothing asks for that.",
	known.SecondPreemption: "Why {pod} preempts again: whether its victims still terminate is looked up on the node that its status nominates it to, as the informer has the status. " +
		"The update that writes this nomination had not been handled when the cycle began, so the victims on that node did not count.",
	known.BoundPreempts:    "Why it preempts: {pod} was popped as it was before it was bound. The preemption looks up its latest version, by which it is bound, and makes room for it on its own node.",
	known.NamesakePreempts: "Why it preempts so: the pod of the cycle was deleted, and another one created under the name {pod}. The preemption looks up the name, and takes the other one for the latest version of the pod.",
	known.Relabelled: "Why {pod} waits: a pod that kept it from its node got other labels while it was on its way there. The scheduler took them over as that pod was bound, " +
		"and the plugin that had rejected {pod} asked only whether a pod with the new labels helps.",
	known.Resized: "Why {pod} waits: a pod that kept it from its node came to ask for less while it was nominated there, or on its way. An update of such a pod is told to nobody else, " +
		"and its binding comes as the addition of a pod.",
	known.SynchronousFailure: "Why it waits: the preemption is part of the scheduling cycle, an API call of it failed, or its victim was bound already, and the pod was put back as one that does not fit. Nothing was deleted, so no event came that would make it be tried again.",
	known.StaleNomination:    "Why they differ: the scheduler has withdrawn the nomination of {pod} in its memory, the API call that writes this to the status failed, and it is not repeated.",
	known.StaleDeletion: "Why {pod} waits: a pod was bound and deleted, and the scheduler was told of neither before the watch ended. The new list showed that it is gone, with its last known state, in which it is pending. " +
		"The scheduler frees its room, but to those that wait the event is of a pod that was on no node.",
	known.RecreatedAsUpdate: "Why it breaks: the scheduler was told in one update of a pod that is gone and of another one of its name, as an informer does after a new list. " +
		"It does not compare their UIDs, and goes on as if the two were one pod.",
	known.Namesake: "Why another pod is hit: the calls of a preemption name the victim, and say nothing of its UID. The victim was gone by then, and another pod had been created under its name.",
	known.VictimBack: "Why it waits: the victim was on its way to the node when the preemptor's cycle began. Its binding failed, which gave the room back, and that event came while the preemptor was in its cycle or gated. " +
		"The victim was then deleted as a pod on no node, which is no event that makes the preemptor be tried again.",
	known.SkippedUnnoticed: "Why {pod} waits: room was kept for a nominated pod that terminates, and is pending. When it was that pod's turn, the scheduler skipped it. Since then it is in no queue, " +
		"and its nomination counts without its requests. The room is free, and no event says so.",
	known.FirstUnnoticed: "Why {pod} waits: while there were pods like it, its affinity let it go only where these are. The last of them is gone, and as the first of its kind it may go anywhere. " +
		"The plugin that rejected it asks of a pod that is deleted, or that gets other labels, only whether this helps against anti-affinity.",
	known.NodeForShunned: "Why {pod} waits: pods on the nodes shunned it when it was tried, and now there is a node without such pods. " +
		"The plugin that rejected it asks of a node only whether the pod's own affinity or anti-affinity is about it, and the pod has none.",
	known.ShunnerGone: "Why {pod} waits: a pod on the node shunned it when it was tried, and is gone now. The plugin that rejected it asks only whether {pod} itself shuns the pod that is gone.",
	known.SpreadEased: "Why {pod} waits: when it was tried, its topology spread constraints counted a pod that has started to terminate since then, and does not count any more. " +
		"The plugin that rejected it is interested in deletions of pods and changes of their labels, and an update that says that a pod terminates is neither.",
	known.SpreadIgnored: "Why {pod} preempts again and again: what replaces its victim was tried before it, and placed where {pod} is nominated. Topology spread constraints are asked of the pod that is tried, " +
		"so those of a nominated pod keep nobody away: {pod} does not fit beside the other one, and preempts it.",
	known.KeptRoomFreed: "Why {pod} waits: when it was tried, room on {node} was kept for a nominated pod. That pod went to another node, or was deleted or lost its nomination before that was written. " +
		"The room is kept no more, and no event says so.",
	known.OldCopy: "Why {pod} is in the queue as it was before: it was changed as its binding failed, so it was in two attempts at once. The end of the first put a copy of it into the queue, " +
		"and what changed while the second had it assumed did not come to this copy.",
	known.MemberTwice: "Why {pod} is in the queue twice, or still: it was changed as its binding failed, when the scheduler did not count it as on its way any more. The change put it into its group in the queue, and so did the end of its attempt. " +
		"Its deletion takes it out once.",
	known.GoneCounts: "Why a group is tried with too few pods: pods of it were deleted while they waited for permission. The scheduler rejected them there, and then forgot that they were on their way, as of pods that exist. " +
		"They count in the group still.",
	known.MemberGone: "Why {pod} waits: a pod of its group was deleted that kept the whole group out of the queue, or that alone did not fit when the group was tried. " +
		"It was taken out of the group in the queue, and nobody asked whether the group may come in now. No event concerns the pods that are left.",
	known.CycleCutShort: "Why {pod} waits: while its group was in its cycle, a pod without a group was put back into the queue, which forgot then that the group was. Pods of the group that came back after that made a new one in the queue, " +
		"and the others were left where they wait for the end of the cycle.",
	known.LateDeletion: "Why {pod} waits: a pod of a group was deleted while the group was in its cycle, so that it was not on its way to a node yet. At the end of the cycle it was sent on its way all the same, " +
		"and waits there for others of its group, which it does not belong to any more. Its room is taken until the time for that is over.",
	known.NominationOutlives: "Why room is kept so: a nominated pod was deleted while its group was in its cycle, which withdrew its nomination, and another one was created under its name. The cycle had placed the first, took that back, and nominated it again. " +
		"Whether it is still there was looked up by its name.",
	known.RejectionsForgotten: "Why {pod} waits: its group counts as scheduled, as other pods of it run, so the result of the composite group took the place of its own when no pod could be placed. " +
		"Which plugins had rejected {pod} was lost with it. The end of the victims is left to them, so that no event brings the group back.",
	known.FirstRejection: "Why {pod} waits: when its group was tried beside its victims, a pod of it was rejected as others of the group were in its way. With the victims gone the group has room. But PreEnqueue has kept it out while they were evicted, " +
		"and since then only the plugins that rejected that pod are asked whether the end of the victims helps it, which does not help with what they look for.",
	known.GateOutlives: "Why {pod} waits: PreEnqueue kept it out of the queue while its preemption went on, and it has counted as gated since, though the preemption is over. " +
		"Of a gated pod the queue asks only about the events that the gating plugin is interested in, which are deletions of pods. Of any other, now or while its preemption went on, it is not even asked whether it helps.",
	known.EarlierOpensGate: "Why {pod} preempts again: the goroutine of an earlier preemption for it is still on, and its last victim is gone. That opens the gate of PreEnqueue, " +
		"which does not see that the last victim of the present preemption is still there.",
	known.MemberAtOnce: "Why a group is tried at once: when the binding of its pod failed, no other pod of it was in the queue. The pod comes back to a new entry for the group, " +
		"which knows of no failure, and is tried next. How many errors the pod has had is kept, and not asked.",
	known.NoPause: "Why there is no end to it: when its preemption fails, or has only cancelled the context of a victim in PreBind, the preemptor is activated, past any backoff. " +
		"It does not fit yet, preempts once more, and what made the preemption fail, or the victim stay, is still there.",
}

// whyVain says why pods wait that a vain preemption keeps gated.
func (t teller) whyVain() string {
	var all []string
	for _, s := range t.Trace.Quiet.Pods {
		if !known.GatedByVainPreemption(t.Trace, s.Name) {
			continue
		}
		p := t.Trace.LastPreemption(together.TriedAs(t.Trace, s.Name), t.Trace.FlushedAt)
		if p == nil || p.Ended < 0 { // another scheduler has taken over since
			continue
		}
		last := 0
		for _, at := range p.Gone {
			last = max(last, at)
		}
		is := ifElse(len(p.Victims) == 1, "is", "are")
		text := fmt.Sprintf("Why %s waits: at %s, in step %d, the scheduler was told that %s %s gone. That should have put %[1]s back into the queue. "+
			"But PreEnqueue kept it out, as the preemption of %[4]s for it counted as going on, from %[6]s to %[7]s. ",
			s.Name, t.clock(last), t.Trace.Entries[last].Step+1, words.Some(p.Victims, 3), is, t.clock(p.Decided), t.clock(p.Ended))
		if p.Deleted == 0 {
			text += "The goroutine of the preemption then found nothing to delete, so it caused no further event. "
		}
		text += fmt.Sprintf("It ended as a success, and the end of a preemption wakes its pod up only after an error, or if its last victim was ended in memory. So nobody put %s back into the queue. "+
			"From then on the room on %s, to which it is nominated, is free, and no event comes that concerns it. Only the flush of pods that wait for five minutes finds it.", s.Name, p.Node)
		all = append(all, text)
	}
	return strings.Join(all, " ")
}
