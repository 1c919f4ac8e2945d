package lifetime

import (
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/cycles"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// tryable is the promise that an event which makes a pod fit makes it be tried.
func tryable() Property {
	return Property{
		Name: "event-makes-tryable",
		Promise: "An event that makes a pod fit on a node, which was rejected before, puts it into the queues out of which pods are tried: " +
			"as soon as it is handled or, if the pod was being scheduled then, as soon as its cycle is over. Only while its preemption goes on may a plugin keep it out, and what came meanwhile counts when that is over.",
		Source: "KEP-4247, \"Risks and Mitigations\": if a plugin \"misses some events which can make Pods schedulable, Pods rejected by it may be stuck in the unschedulable Pod pool\", " +
			"which is called a mistake, and \"Track Pods being processed in the scheduling queue\": \"to prevent such Pods from missing the events during its scheduling\"; " +
			"doc comments of EventsToRegister and QueueingHintFn (kube-scheduler/framework/interface.go:485@v0.37.1, kube-scheduler/framework/types.go:210@v0.37.1); " +
			"KEP-4832, \"If the preemption goroutine is complete, the preemption plugin ungates the Pod\" and \"there are no functional changes: the result of the preemption is the same\"",
		Groups: notOfMembers + ": whether a group fits is not asked of the model; see no-wait-for-the-flush",
		Lies:   []string{"leaves a pod that fits now", "forgets what came while a pod was tried", "keeps a pod gated that fits now", "forgets what came while a pod was gated"},
		Check:  eventMakesTryable,
	}
}

// suspect is a pod that is left unschedulable though it fits, and the events since it was rejected
// of which one may have made it fit.
type suspect struct {
	pod, kind, node string
	entry           int
	events          []int
	// meanwhile: the events came while the preemption for it went on, which is over.
	meanwhile bool
}

func eventMakesTryable(l *Life) (findings []Finding) {
	for _, s := range l.suspects() {
		if at := l.madeFit(s); at >= 0 {
			e := &l.Trace.Entries[at]
			since := 0
			if s.meanwhile {
				since = at
			}
			findings = append(findings, Finding{Pod: s.pod, Node: s.node, Kind: s.kind, Entry: s.entry, Since: since, Known: l.refusedBy(s), Detail: fmt.Sprintf(
				"pod %s fits on %s now that %s was %s, at %.3fs, and is %s", s.pod, s.node, e.Object, e.Text, l.Trace.Entries[s.entry].At.Seconds(), s.kind)})
		}
	}
	return findings
}

// How a pod is left.
const (
	leftUnschedulable = "left unschedulable"
	leftInFlight      = "left unschedulable after its cycle"
	leftGated         = "left gated"
	stillGated        = known.StillGated
)

// suspects goes through a trace, and looks where pods that were rejected are left.
func (l *Life) suspects() (all []suspect) {
	rejected := map[string]bool{} // its last cycle ended as no node fits
	during := map[string][]int{}  // what was handled since a pod was popped
	on := map[string]int{}        // goroutines of preemptions that have not ended
	toBegin := map[string]int{}   // and those that have not begun: of a pod that was created again, and of the one before it, one may end before the other begins
	met := map[string][]int{}     // what was handled since a pod was popped whose preemption goes on
	over := map[string]bool{}     // that ended well, and nothing has been handled since
	look := func(k account.Known, s suspect) {
		if s.node = l.fitsNow(k, s.pod); s.node != "" {
			all = append(all, s)
		}
	}
	account.Follow(l.Timeline, l.Trace, func(i int, k account.Known) {
		if i == 0 {
			return
		}
		e := &l.Trace.Entries[i-1]
		pod := e.Pod()
		switch e.What {
		case timeline.TakenOver:
			clear(rejected)
			clear(during)
			clear(on)
			clear(toBegin)
			clear(met)
			clear(over)
		case timeline.Decided:
			if l.startsGoroutine(i - 1) {
				toBegin[pod]++
			}
		case timeline.Begins:
			on[pod], toBegin[pod] = on[pod]+1, max(0, toBegin[pod]-1)
		case timeline.Ends:
			on[pod] = max(0, on[pod]-1)
			over[pod] = on[pod]+toBegin[pod] == 0 && !l.wakesItsPod(i-1)
		case timeline.Popped:
			delete(rejected, pod)
			delete(over, pod)
			during[pod], met[pod] = nil, nil
		case timeline.Fits:
			delete(rejected, pod)
		case timeline.Unfit:
			rejected[pod] = e.Group == ""
		case timeline.Requeued:
			if e.Text == "error" {
				delete(rejected, pod)
			}
			if rejected[pod] && e.Queue == model.QueueUnschedulable && !e.Gated && len(during[pod]) > 0 {
				look(k, suspect{pod: pod, kind: leftInFlight, entry: i - 1, events: during[pod]})
			}
			delete(during, pod)
		case timeline.Handled:
			if e.Text == "added" || e.Text == "deleted" {
				delete(rejected, pod)
			}
			if e.Replaced && e.Text == "deleted" {
				break // its second half follows
			}
			for p := range during {
				during[p] = append(during[p], i-1)
			}
			for _, left := range e.Left {
				if p := left.Pod; over[p] && rejected[p] && left.Gated && !left.Preempting && !l.hasSchedulingGates(p) && len(met[p]) > 0 {
					look(k, suspect{pod: p, kind: stillGated, entry: i - 1, events: met[p], meanwhile: true})
				}
				switch {
				case !rejected[left.Pod] || left.Preempting:
				case !left.Gated:
					look(k, suspect{pod: left.Pod, kind: leftUnschedulable, entry: i - 1, events: []int{i - 1}})
				case on[left.Pod] == 0 && !l.hasSchedulingGates(left.Pod):
					look(k, suspect{pod: left.Pod, kind: leftGated, entry: i - 1, events: []int{i - 1}})
				}
			}
			for p := range met {
				if over[p] { // all that was met has been looked at
					delete(met, p)
				} else {
					met[p] = append(met[p], i-1)
				}
			}
			clear(over)
		}
	})
	return all
}

// wakesItsPod tells whether the end of a preemption wakes its pod up, be it later: it has failed, or a victim was preempted
// in memory (executor.go:248@v1.37.1).
func (l *Life) wakesItsPod(ends int) bool {
	e := &l.Trace.Entries[ends]
	p := l.Trace.LastPreemption(e.Preemptor(), ends)
	return e.Text != "success" || p != nil && slices.ContainsFunc(l.Trace.Entries[p.Decided:ends], func(told timeline.Entry) bool {
		return told.PreemptsInMemory() && slices.Contains(p.Victims, told.Pod())
	})
}

// fitsNow is a node on which a pod fits, whatever of what documents leave open is so; "" if there
// is none. It has to fit somewhere without the pods that are assumed, too: if it needs one of these, the event that brings it is the one
// which says that this one is bound (doc comment of Cache, "Assume" and "Add", backend/cache/interface.go:34@v1.37.1).
func (l *Life) fitsNow(k account.Known, pod string) string {
	c := k.Cycle(pod, false)
	if c == nil {
		return ""
	}
	node := ""
	surely := func(c *account.Cycle) bool {
		return l.inAllStates(c, func(d *answers.Set) bool {
			if len(d.Fits) == 0 {
				return false
			}
			node = d.Fits[0]
			return true
		})
	}
	if !surely(c.Confirmed()) || !surely(c) || !k.AsListed() && !surely(k.Cycle(pod, true)) {
		return ""
	}
	return node
}

// refusedBy are the known findings of single cycles by which a suspect would be rejected all the
// same.
func (l *Life) refusedBy(s suspect) (ids []string) {
	account.Follow(l.Timeline, l.Trace, func(i int, k account.Known) {
		if i != s.entry+1 {
			return
		}
		c := k.Cycle(s.pod, false)
		refused := func(quirks []release.Quirk) (refused bool) {
			rules, bugs := cycles.RulesWith(l.Release(), quirks)
			c.States(bugs, func(s *account.State) bool {
				refused = len(rules.In(s.Cluster).NewCycle(s.Cluster).Decide().Fits) == 0
				return !refused
			})
			return refused
		}
		quirks := cycles.QuirksOf(l.Release())
		if !refused(quirks) {
			return
		}
		for _, q := range cycles.LeastOf(quirks, refused) {
			ids = append(ids, string(q))
		}
	})
	return ids
}

// inAllStates tells whether something is so of what the model says in each state of a cycle.
func (l *Life) inAllStates(c *account.Cycle, is func(d *answers.Set) bool) bool {
	rules, holds := l.Release().Rules(), true
	all := c.States(account.Bugs{}, func(s *account.State) bool {
		d := rules.In(s.Cluster).NewCycle(s.Cluster).Decide()
		holds = len(d.Errors) == 0 && is(&answers.Set{Decision: d})
		if holds && len(d.Fits) > 0 {
			_, err := answers.Decide(s.Cluster, rules)
			holds = err == nil // or something is not modelled
		}
		return holds
	})
	return all && holds
}

// madeFit is the event by which a suspect has come to fit: before it there was no node, after it
// there is one; -1 if there is no such event.
func (l *Life) madeFit(s suspect) int {
	made := -1
	unfit := map[int]bool{} // events before which the pod fits nowhere
	begins := map[int]int{} // the events, by their first entries: an update to another object has two
	for _, event := range s.events {
		if l.Trace.Entries[event].Replaced {
			begins[event-1] = event
		} else {
			begins[event] = event
		}
	}
	account.Follow(l.Timeline, l.Trace, func(i int, k account.Known) {
		if made < 0 && unfit[i-1] && l.fitsNow(k, s.pod) != "" {
			made = i - 1
		}
		if event, begins := begins[i]; begins {
			c := k.Cycle(s.pod, false)
			unfit[event] = c != nil && l.inAllStates(c, func(d *answers.Set) bool { return len(d.Fits) == 0 })
		}
	})
	return made
}
