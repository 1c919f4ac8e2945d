package lifetime

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// evictions are the promises to victims.
func evictions() []Property {
	return []Property{{
		Name:    "victims-are-decided",
		Promise: "a pod is evicted only as a victim of a preemption that was decided",
		Source:  "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\"",
		Lies:    []string{"evicts a pod that is no victim", "evicts for no pod"},
		Check: func(l *Life) (findings []Finding) {
			decided := map[string][]string{} // by pod: its victims so far, as calls may come late
			for i := range l.Trace.Entries {
				e := &l.Trace.Entries[i]
				switch {
				case e.What == timeline.Decided && len(e.Victims) > 0:
					decided[e.Preemptor()] = append(decided[e.Preemptor()], e.Victims...)
				case e.What == timeline.Called && e.Call == timeline.Evict && !slices.Contains(decided[e.By], e.Pod()):
					findings = append(findings, Finding{Pod: e.Pod(), Kind: "evicted", Entry: i,
						Detail: fmt.Sprintf("pod %s is evicted for %q, which did not decide so", e.Pod(), e.By)})
				case e.What == timeline.Called && e.MarksVictim() && !slices.Contains(decided[e.By], e.Pod()):
					findings = append(findings, Finding{Pod: e.Pod(), Kind: "marked", Entry: i,
						Detail: fmt.Sprintf("pod %s is marked as a target of disruption for %q, which did not decide so", e.Pod(), e.By)})
				}
			}
			return findings
		},
	}, {
		Name:    "marked-before-evicted",
		Promise: "a victim gets its condition DisruptionTarget before it is deleted",
		Source:  "docs: concepts/workloads/pods/disruptions, \"Pod disruption conditions\": the condition \"indicates that the Pod is about to be deleted due to a disruption\"",
		Lies:    []string{"evicts without a mark"},
		Check: func(l *Life) (findings []Finding) {
			marked := map[string]bool{}
			for _, p := range l.Timeline.Cluster.Pods {
				for _, c := range p.Status.Conditions {
					if c.Type == "DisruptionTarget" {
						marked[p.Namespace+"/"+p.Name] = true
					}
				}
			}
			for i := range l.Trace.Entries {
				e := &l.Trace.Entries[i]
				switch {
				case e.Creates():
					delete(marked, e.Pod())
				case e.What == timeline.Called && e.MarksVictim() && e.TookEffect():
					marked[e.Pod()] = true
				case e.What == timeline.Called && e.Call == timeline.Evict && e.TookEffect() && !marked[e.Pod()]:
					findings = append(findings, Finding{Pod: e.Pod(), Kind: "unmarked", Entry: i,
						Detail: fmt.Sprintf("victim %s is deleted before it has the condition DisruptionTarget", e.Pod())})
				}
			}
			return findings
		},
	}, {
		Name:    "no-eviction-after-a-failed-one",
		Promise: "where a victim cannot be evicted, the victims that are left are not evicted in vain",
		Source:  "comment at executor.go:288@v1.37.1, \"If any of the previous victims failed to be preempted, then we can skip the preemption attempt for the last victim\"",
		Lies:    []string{"goes on after a failed eviction", "goes on after a victim could not be marked"},
		Check: func(l *Life) (findings []Finding) {
			failed := map[string]string{} // by preemptor: whose eviction failed
			on := map[string]int{}        // by preemptor: how many of its preemptions; of two, no call tells for which it is
			created := map[string]int{}   // twice: the preemptions of two pods have one name
			for i := range l.Trace.Entries {
				e := &l.Trace.Entries[i]
				switch {
				case e.Creates():
					created[e.Preemptor()]++
				case e.By != "" && created[e.By] > 1:
				case e.What == timeline.Begins:
					delete(failed, e.Preemptor())
					on[e.Preemptor()]++
				case e.What == timeline.Ends:
					on[e.Preemptor()]--
				case e.What == timeline.Popped:
					delete(failed, e.Preemptor())
				case e.What == timeline.TakenOver:
					clear(failed)
					clear(on)
				case e.What == timeline.Called && e.Call == timeline.Evict && e.By != "" && failed[e.By] != "" && failed[e.By] != e.Pod():
					findings = append(findings, Finding{Pod: e.Pod(), Kind: "evicted", Entry: i,
						Detail: fmt.Sprintf("pod %s is evicted for %s though the eviction of %s has failed", e.Pod(), e.By, failed[e.By])})
				case e.What == timeline.Called && (e.Call == timeline.Evict || e.MarksVictim()) && e.By != "" && on[e.By] <= 1:
					if e.Error != "" && !strings.Contains(e.Error, "not found") {
						failed[e.By] = e.Pod()
					} else if failed[e.By] == e.Pod() {
						delete(failed, e.By) // it was tried again
					}
				}
			}
			return findings
		},
	}, {
		Name: "others-before-the-last-victim",
		Promise: "All victims may be evicted in parallel, but the last one: it is preempted after all others, so that PreEnqueue can tell by it " +
			"whether the preemption goes on",
		Source: "comment in prepareCandidateAsync, \"We can evict all victims in parallel, but the last one\" (executor.go:272@v1.37.1); KEP-4832",
		Lies:   []string{"preempts another victim after the last one"},
		Groups: notOfMembers + ": which victim of a group is the last is not seen before it is preempted",
		Check:  lastVictimLast,
	}, {
		Name:    "victims-are-told",
		Promise: "each pod that is preempted gets an event that says so",
		Source:  "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Troubleshooting\": \"there will be events recorded for the preempted Pod\"",
		Lies:    []string{"evicts without an event"},
		Check: func(l *Life) (findings []Finding) {
			for i := range l.Trace.Entries {
				e := &l.Trace.Entries[i]
				if e.What != timeline.Called || e.Call != timeline.Evict || e.Error != "" || e.By == "" || !l.ended() {
					continue
				}
				told := slices.ContainsFunc(l.Trace.Entries[i:], func(later timeline.Entry) bool {
					return later.What == timeline.TakenOver ||
						later.Preempts() && later.Object == e.Object
				})
				if !told {
					findings = append(findings, Finding{Pod: e.Pod(), Kind: "untold", Entry: i,
						Detail: fmt.Sprintf("victim %s gets no event Preempted", e.Pod())})
				}
			}
			return findings
		},
	}, {
		Name:    "waits-for-its-victims",
		Promise: "a pod whose victims are terminating on its nominated node does not preempt others meanwhile",
		Source:  "doc comment of PodEligibleToPreemptOthers, \"The pod has already preempted other pods and the victims are in their graceful termination period\" (default_preemption.go:448@v1.37.1)",
		Lies:    []string{"preempts while its victims terminate"},
		Groups:  notOfMembers + ": of groups, documents leave open on which nodes the victims are that count",
		Check:   waitsForVictims,
	}}
}

// hasToBeNear tells whether the pod of an entry has required pod affinity.
func hasToBeNear(e *timeline.Entry) bool {
	p, ok := e.Is.(*v1.Pod)
	return ok && p.Spec.Affinity != nil && p.Spec.Affinity.PodAffinity != nil && len(p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// lastVictimLast follows the calls of each preemption. Of two for one pod that go on at once, or that of two pods of
// one name, no call tells for which it is.
func lastVictimLast(l *Life) (findings []Finding) {
	type preemption struct {
		victims []string // in order
		at      int      // the entry of the first call about the last one; -1 if there is none yet
	}
	if !l.Timeline.Cluster.Settings.AsyncPreemption() {
		return nil
	}
	on := map[string]int{} // goroutines that have not ended
	decided, goesOn := map[string]*preemption{}, map[string]*preemption{}
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		pod := e.Pod()
		switch {
		case e.OfGroup():
		case e.What == timeline.TakenOver:
			clear(on)
			clear(decided)
			clear(goesOn)
		case e.What == timeline.Decided:
			delete(decided, pod)
			if victims, surely := l.Trace.ToDelete(i); surely && len(victims) > 1 {
				decided[pod] = &preemption{victims, -1}
			}
		case e.What == timeline.Begins:
			on[pod]++
			delete(goesOn, pod)
			if p := decided[pod]; p != nil && on[pod] == 1 && !l.Timeline.Recreated(l.Trace, pod) {
				goesOn[pod] = p
			}
		case e.What == timeline.Ends:
			on[pod] = max(0, on[pod]-1)
			delete(goesOn, pod)
		case e.What == timeline.Called && (e.Call == timeline.Evict || e.MarksVictim()) && goesOn[e.By] != nil:
			p := goesOn[e.By]
			switch last := p.victims[len(p.victims)-1]; {
			case pod == last && p.at < 0:
				p.at = i
			case pod != last && p.at >= 0 && slices.Contains(p.victims, pod):
				findings = append(findings, Finding{Pod: pod, Kind: "after the last", Entry: i, Detail: fmt.Sprintf(
					"victim %s is preempted for %s after the last one, %s", pod, e.By, last)})
			}
		}
	}
	return findings
}

// waitsForVictims follows, for each pod, the node of its last preemption and the victims that
// were evicted for it, as far as the scheduler has been told of them.
func waitsForVictims(l *Life) (findings []Finding) {
	type debt struct {
		node    string
		victims []string
		// evicted are victims, and the entry from which on it counts that the scheduler is told
		// that they terminate: where the call failed, only then can it know that they do for it.
		evicted map[string]int
		near    bool // the preemptor has to be near other pods
	}
	owed := map[string]*debt{}
	where := map[string]string{} // the nodes of pods, as the scheduler was told: pods of a group go on other nodes, too
	elsewhere := func(pod, node string) bool { return where[pod] != "" && where[pod] != node }
	startups := l.Trace.Startups
	announced := map[string][]int{} // that pods terminate: at which entries
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		for ; len(startups) > 0 && startups[0].Entry <= i; startups = startups[1:] {
			for _, obj := range startups[0].Objects {
				if p, ok := obj.(*v1.Pod); ok {
					where[p.Namespace+"/"+p.Name] = p.Spec.NodeName
				}
			}
		}
		if p, ok := e.Is.(*v1.Pod); ok && e.What == timeline.Handled {
			where[e.Pod()] = p.Spec.NodeName
		}
		switch e.What {
		case timeline.Handled:
			pod := e.Pod()
			switch {
			case e.OfGroup(): // by the priority of a group that comes or goes its pods may be no victims any more
				if e.Was == nil || e.Is == nil {
					clear(owed)
				}
			case pod == "": // a node that changes may be out of question now
				node, _ := strings.CutPrefix(e.Object, "Node ")
				for p, d := range owed {
					if d.node == node {
						delete(owed, p)
					}
				}
			case e.Text == "deleted":
				delete(announced, pod)
				delete(owed, pod)
				for p, d := range owed {
					if delete(d.evicted, pod); d.near && !slices.Contains(d.victims, pod) {
						delete(owed, p) // its node may be out of question without that pod
					}
				}
			case strings.HasSuffix(e.Text, "terminating"):
				if p, ok := e.Is.(*v1.Pod); !ok || p.Spec.NodeName != "" { // else it keeps no room
					announced[pod] = append(announced[pod], i)
				}
			}
		case timeline.TakenOver:
			clear(owed)
		case timeline.Fits:
			delete(owed, e.Pod())
		case timeline.Called:
			if e.Call == timeline.Patch && strings.Contains(e.Text, "nomination cleared") {
				delete(owed, e.Pod())
			}
			switch d := owed[e.By]; {
			case d == nil || e.Call != timeline.Evict || !slices.Contains(d.victims, e.Pod()): // or it is of an earlier preemption
			case e.Error != "" && !l.Timeline.Cluster.Settings.AsyncPreemption():
				delete(owed, e.By) // the preemption has failed, and nominates nothing
			case e.TookEffect() && e.Error != "":
				d.evicted[e.Pod()] = i
			case e.TookEffect():
				d.evicted[e.Pod()] = 0
			}
		case timeline.Decided:
			if e.OfGroup() {
				break
			}
			began := l.Trace.Began(i)
			known := func(pod string, since int) bool {
				return slices.ContainsFunc(announced[pod], func(at int) bool { return since <= at && at < began })
			}
			more := slices.ContainsFunc(e.Victims, func(v string) bool { return !known(v, 0) })
			if d := owed[e.Pod()]; d != nil && more {
				for _, v := range slices.Sorted(maps.Keys(d.evicted)) {
					// To go on with the same victims is no second preemption. One that was on its way to another node is there now.
					if known(v, d.evicted[v]) && !elsewhere(v, d.node) && (e.Node != d.node || !slices.Contains(e.Victims, v)) {
						findings = append(findings, Finding{Pod: e.Pod(), Kind: "preempts", Entry: i, Detail: fmt.Sprintf(
							"pod %s preempts %s on %s while its victim %s on %s is terminating", e.Pod(), strings.Join(e.Victims, ", "), e.Node, v, d.node)})
						break
					}
				}
			}
			if more || e.Node == "" {
				victims := slices.DeleteFunc(slices.Clone(e.Victims), func(v string) bool { return elsewhere(v, e.Node) })
				owed[e.Pod()] = &debt{node: e.Node, victims: victims, evicted: map[string]int{}, near: hasToBeNear(e)}
			}
			if slices.ContainsFunc(l.Trace.Entries[began:i], func(m timeline.Entry) bool { return m.What == timeline.Handled && m.Object == "Node "+e.Node }) {
				delete(owed, e.Pod()) // it was decided for a node as it is no more
			}
		}
	}
	return findings
}
