package lifetime

import (
	"fmt"
	"slices"
	"strings"

	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// once are the promises that a victim is preempted, and that it is so once.
func once() []Property {
	return []Property{{
		Name:    "evicted-once",
		Promise: "no victim is deleted that is terminating already, and none twice for one preemption",
		Source: "comments in prepareCandidateAsync, \"Graceful pod deletion has already started. Sending another API call is unnecessary\" and " +
			"\"to prevent requesting preemption of the same pod multiple times for the same preemptor\" (executor.go:209@v1.37.1, executor.go:270@v1.37.1)",
		Lies:  []string{"evicts a pod that terminates", "evicts a pod twice"},
		Check: evictedOnce,
	}, {
		Name: "no-second-preemption",
		Promise: "a pod does not preempt a victim once more while its preemption of that victim is still going on: " +
			"until all calls about victims but the last one are answered, and the last one is gone or terminates",
		Source: "KEP-4832, \"blocks the Pod while the preemption routine is in-progress, using PreEnqueue\"; " +
			"comment in prepareCandidateAsync, \"to prevent requesting preemption of the same pod multiple times for the same preemptor\" (executor.go:270@v1.37.1), " +
			"and what it says of the last victim (executor.go:273@v1.37.1)",
		Lies:  []string{"preempts a victim once more meanwhile", "preempts a victim once more as the last one is gone, before it is evicted", "preempts a victim once more as it is evicted, before the last one is"},
		Check: noSecondPreemption,
	}, {
		Name:    "no-namesake-is-evicted",
		Promise: "a pod is not evicted as the victim of a preemption that was decided before it was created, only because it has the victim's name",
		Source: "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\": \"one or more lower priority Pods get evicted from the Node\"; " +
			"docs: concepts/overview/working-with-objects/names, \"UIDs\": \"intended to distinguish between historical occurrences of similar entities\"",
		Lies:  []string{"evicts another pod of the name"},
		Check: namesakes,
	}, {
		Name:    "preempted-is-not-bound",
		Promise: "a pod that is preempted on its way to a node is not bound there",
		Source:  "comment in bindingCycle, \"Verify that pod was not preempted during prebinding\" (schedule_one.go:470@v1.37.1)",
		Lies:    []string{"binds a pod that it has preempted"},
		Check: func(l *Life) (findings []Finding) {
			preempted := map[string]bool{}
			created := map[string]int{} // of two pods of one name it cannot be told which is bound
			for i := range l.Trace.Entries {
				switch e := &l.Trace.Entries[i]; {
				case e.What == timeline.TakenOver:
					clear(preempted)
				case e.Creates():
					created[e.Pod()]++
					delete(preempted, e.Pod())
				case e.PreemptsInMemory():
					preempted[e.Pod()] = true
				case e.What == timeline.Popped:
					delete(preempted, e.Pod())
				case e.What == timeline.Called && e.Call == timeline.Bind && preempted[e.Pod()] && created[e.Pod()] < 2:
					findings = append(findings, Finding{Pod: e.Pod(), Kind: "bound", Entry: i,
						Detail: fmt.Sprintf("pod %s is bound in the cycle in which it was preempted", e.Pod())})
				}
			}
			return findings
		},
	}}
}

// evictedOnce follows which pods terminate, as far as the scheduler has been told, and whose
// eviction has succeeded since the last decision of the same preemptor.
func evictedOnce(l *Life) (findings []Finding) {
	again := map[string]bool{} // created twice: the preemptions of two pods have one name
	created := map[string]bool{}
	bound := map[string]bool{}             // of others the cache keeps what was assumed
	terminating := map[string]int{}        // since which entry, of those that are bound
	done := map[string]map[string]bool{}   // by preemptor
	decided := map[string]map[string]int{} // by preemptor and victim: where the first cycle began that decided so
	on := map[string]int{}                 // by preemptor: decisions whose goroutine has not ended
	overlap := map[string]bool{}           // by preemptor: of which preemption a call is cannot be told
	for _, p := range l.Timeline.Cluster.Pods {
		bound[p.Namespace+"/"+p.Name] = p.Spec.NodeName != ""
	}
	for _, who := range preemptors(l.Timeline.Cluster) {
		created[who] = true
	}
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		pod, who := e.Pod(), e.Preemptor()
		if e.What == timeline.Called && e.Call == timeline.Bind && e.TookEffect() {
			bound[pod] = true
		}
		switch {
		case e.What == timeline.TakenOver:
			clear(terminating)
			clear(done)
			clear(decided)
			clear(on)
			clear(overlap)
		case e.What == timeline.Ends:
			on[who]--
		case e.Creates():
			again[who], created[who] = created[who], true
			bound[pod] = false
			for by := range done {
				delete(done[by], pod)
				delete(decided[by], pod)
			}
		case e.What == timeline.Handled && pod != "" && !strings.HasSuffix(e.Text, "terminating"):
			delete(terminating, pod)
		case e.What == timeline.Handled && pod != "":
			if _, ok := terminating[pod]; !ok && bound[pod] {
				terminating[pod] = i
			}
		case e.What == timeline.Decided && len(e.Victims) > 0:
			done[who] = map[string]bool{}
			overlap[who] = on[who] > 0
			if l.Timeline.Cluster.Settings.AsyncPreemption() && slices.ContainsFunc(e.Victims, func(v string) bool { at, ok := terminating[v]; return !ok || at > l.Trace.Began(i) }) {
				on[who]++ // there is a goroutine
			}
			if decided[who] == nil {
				decided[who] = map[string]int{}
			}
			for _, v := range e.Victims {
				if _, ok := decided[who][v]; !ok {
					decided[who][v] = l.Trace.Began(i)
				}
			}
		case e.What == timeline.Called && e.Call == timeline.Evict && e.By != "" && done[e.By] != nil && !again[e.By]:
			at, known := terminating[pod]
			began, ok := decided[e.By][pod]
			switch {
			case done[e.By][pod] && overlap[e.By]:
			case done[e.By][pod]:
				findings = append(findings, Finding{Pod: pod, Kind: "twice", Entry: i, Detail: fmt.Sprintf("pod %s is deleted twice for %s", pod, e.By)})
			case known && ok && at < began && l.Release().In(sparesTerminating):
				findings = append(findings, Finding{Pod: pod, Kind: "terminating", Entry: i, Detail: fmt.Sprintf(
					"pod %s is deleted for %s though the scheduler had handled that it is terminating", pod, e.By)})
			}
			done[e.By][pod] = done[e.By][pod] || e.Error == ""
		}
	}
	slices.SortFunc(findings, func(a, b Finding) int { return a.Entry - b.Entry })
	return findings
}

// sparesTerminating are the releases that promise not to delete a pod that terminates already: see
// kubernetes#131519, and the flag of that in model/release.
const sparesTerminating = ">=1.35.0"

// goingOn is a preemption whose goroutine has not ended.
type goingOn struct {
	victims []string
	// last is the victim that is preempted after all others; "" if it is not known which that is.
	last string
	// done are the victims of which the last call was answered: there is nothing more to do about them.
	done map[string]bool
}

// over tells whether all of its victims are dealt with, or gone, and the last one is gone or terminates, by what listers show: from
// then on it "has already completed, but the function has not returned yet" (executor.go:276@v1.37.1).
func (p *goingOn) over(ends func(victim string) bool) bool {
	left := func(v string) bool { return !p.done[v] && !ends(v) }
	if slices.ContainsFunc(p.victims, left) {
		return false
	}
	return ends(p.last) || p.last == "" && slices.ContainsFunc(p.victims, ends)
}

// preemptors are the pods and groups with which a timeline starts, as Entry.Preemptor names them.
func preemptors(c *model.Cluster) (names []string) {
	for _, p := range c.Pods {
		names = append(names, model.Key(p))
	}
	for _, o := range c.Extra {
		switch g := o.(type) {
		case *schedulingv1beta1.PodGroup:
			names = append(names, model.KeyOfGroup(g))
		case *schedulingv1alpha3.CompositePodGroup:
			names = append(names, model.KeyOfGroup(g))
		}
	}
	return names
}

// noSecondPreemption follows whose preemptions are going on, and of which victims the scheduler's
// informer had not even stored that they end when the next cycle of the same pod began.
func noSecondPreemption(l *Life) (findings []Finding) {
	created := map[string]int{} // of two pods or groups of one name it cannot be told which is meant
	for _, who := range preemptors(l.Timeline.Cluster) {
		created[who]++
	}
	decided := map[string]*goingOn{}
	on := map[string]map[string]*goingOn{} // by preemptor and victim: the last one
	ends := map[string]int{}               // since which entry it is stored that a pod ends
	done := func(by, victim string) {
		if p := on[by][victim]; p != nil {
			p.done[victim] = true
		}
	}
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		pod, who := e.Pod(), e.Preemptor()
		switch {
		case e.What == timeline.TakenOver:
			clear(decided)
			clear(on)
		case e.Creates():
			created[who]++
		case e.What == timeline.Stored && pod != "" && (e.Text == "deleted" || strings.HasSuffix(e.Text, "terminating")):
			if _, ok := ends[pod]; !ok {
				ends[pod] = i
			}
		case e.What == timeline.Stored && e.Text == "added":
			delete(ends, pod)
		case e.What == timeline.Begins && decided[who] != nil:
			if on[who] == nil {
				on[who] = map[string]*goingOn{}
			}
			for _, v := range decided[who].victims {
				on[who][v] = decided[who]
			}
		case e.What == timeline.Ends:
			delete(on, who)
		case e.What == timeline.Called && (e.Call == timeline.Evict && e.Error == "" || (e.Call == timeline.Evict || e.MarksVictim()) && strings.Contains(e.Error, "not found")):
			done(e.By, pod)
		case e.PreemptsInMemory():
			for by := range on {
				done(by, pod)
			}
		case e.What == timeline.Decided && len(e.Victims) > 0:
			began := l.Trace.Began(i)
			ended := func(v string) bool {
				at, ok := ends[v]
				return ok && at <= began
			}
			for _, v := range e.Victims {
				if p := on[who][v]; p != nil && !ended(v) && !p.over(ended) && created[who] < 2 && created[v] < 2 {
					findings = append(findings, Finding{Pod: who, Kind: "preempts", Entry: i,
						Detail: fmt.Sprintf("%s preempts %s once more though its preemption is still going on", lower(e.Object), v)})
				}
			}
			victims, _ := l.Trace.ToDelete(i)
			decided[who] = &goingOn{victims: victims, done: map[string]bool{}}
			if len(victims) > 0 && !e.OfGroup() {
				decided[who].last = victims[len(victims)-1]
			}
		}
	}
	return findings
}

// namesakes reports the calls that hit another pod than the victim of its name.
func namesakes(l *Life) (findings []Finding) {
	for _, i := range l.Trace.HitNamesakes() {
		e := &l.Trace.Entries[i]
		what := "deleted"
		if e.Call == timeline.Patch {
			what = "marked as a target of disruption"
		}
		findings = append(findings, Finding{Pod: e.Pod(), Kind: what, Entry: i, Detail: fmt.Sprintf(
			"pod %s is %s for %s: it was created after the pod of its name that is the victim", e.Pod(), what, e.By)})
	}
	return findings
}
