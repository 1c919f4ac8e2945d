package lifetime

import (
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// gateOpens looks at the gate wherever a trace shows it: where a cycle ends, after each event, and at rest.
func gateOpens(l *Life) []Finding {
	return append(l.gateMeanwhile(), l.atRest(func(p timeline.PodState) (string, string) {
		switch {
		case p.Preempting:
			return "preempting", "is marked as preempting: its preemption never ends"
		case p.Gated && p.Exists && !l.hasSchedulingGates(p.Name) && !l.member(p.Name):
			return "gated", "is gated, and no preemption of it goes on"
		}
		return "", ""
	})...)
}

// gate is what a trace has told of the preemptions for a pod.
type gate struct {
	// on is how many goroutines go on, or will begin: those of a pod that was created again are another pod's.
	on, toBegin int
	// meanwhile: one of them was on when the attempt of the pod came to its last end, or began since.
	meanwhile bool
	// left are the victims of the last decision of which the scheduler was not told that they are gone.
	left map[string]bool
	// inMemory: one of these victims was preempted in memory. wakes: the preemption has ended, and its end is yet to wake
	// the pod up, as there is no event that does.
	inMemory, wakes bool
	// told: that it is gated is told already, for this decision.
	told bool
}

func (g *gate) goesOn() bool { return g.on+g.toBegin > 0 }

// gateMeanwhile tells which pods are kept out of the queue while no preemption for them goes on. A pod is asked for
// by PreEnqueue when its cycle ends. Between two such times it may stay marked as gated as long as it has
// victims that end: these are the events by which it is to be queued back. That a cycle has ended shows when its calls are
// made, too; the pod is queued before them.
func (l *Life) gateMeanwhile() (findings []Finding) {
	gates := map[string]*gate{}
	of := func(pod string) *gate {
		if gates[pod] == nil {
			gates[pod] = &gate{}
		}
		return gates[pod]
	}
	found := func(i int, pod, kind, detail string) {
		if g := of(pod); !g.told && !l.hasSchedulingGates(pod) && !l.member(pod) {
			g.told = true
			findings = append(findings, Finding{Pod: pod, Kind: kind, Entry: i, Detail: fmt.Sprintf("at %.3fs pod %s %s", l.Trace.Entries[i].At.Seconds(), pod, detail)})
		}
	}
	gone := func(victim string) {
		for _, g := range gates {
			delete(g.left, victim)
		}
	}
	for i := range l.Trace.Entries[:min(l.Trace.FlushedAt, len(l.Trace.Entries))] {
		e := &l.Trace.Entries[i]
		pod := e.Preemptor()
		switch e.What {
		case timeline.TakenOver:
			clear(gates)
		case timeline.Popped, timeline.Fits, timeline.Unfit:
			g := of(pod)
			g.told, g.wakes, g.meanwhile = g.told && e.What != timeline.Popped, g.wakes && e.What != timeline.Popped, g.goesOn()
		case timeline.Begins:
			g := of(pod)
			g.on, g.toBegin, g.meanwhile = g.on+1, max(0, g.toBegin-1), true
		case timeline.Ends:
			g := of(pod)
			g.on, g.wakes = max(0, g.on-1), e.Text != "success" || g.inMemory
		case timeline.Decided:
			g := of(pod)
			g.left, g.inMemory = l.toEnd(i), false
			if l.startsGoroutine(i) {
				g.toBegin++
			}
			g.meanwhile = g.goesOn()
		case timeline.Told:
			if e.PreemptsInMemory() {
				for _, g := range gates {
					g.inMemory = g.inMemory || g.left[pod]
				}
				gone(pod)
			}
		case timeline.Requeued:
			if e.Gated && !of(pod).meanwhile {
				found(i, pod, "gated in its cycle", "is kept out of the queue when its cycle ends, and no preemption for it goes on")
			}
		case timeline.Handled:
			if e.Text == "deleted" && pod != "" {
				gone(pod)
			}
			for _, left := range e.Left {
				switch g := of(left.Pod); {
				case g.goesOn():
				case left.Preempting:
					found(i, left.Pod, "preempting", "is marked as preempting, and no preemption for it goes on")
				case left.Gated && len(g.left) == 0 && !g.wakes:
					found(i, left.Pod, "gated", "is gated, no preemption for it goes on, and its victims are gone")
				}
			}
		}
	}
	return findings
}

// startsGoroutine tells whether a decision has a goroutine: for victims that are yet to be deleted or, before 1.35, for any.
func (l *Life) startsGoroutine(decided int) bool {
	if !l.Timeline.Cluster.Settings.AsyncPreemption() {
		return false
	}
	if l.Release().In("<1.35.0") {
		return len(l.Trace.Entries[decided].Victims) > 0
	}
	deleted, _ := l.Trace.ToDelete(decided)
	return len(deleted) > 0
}

// LastEvicted is the victim of a decision that its goroutine evicts last: PreEnqueue takes the preemption for done once listers show
// that it terminates (executor.go:391@v1.37.1). It is "" if there is none to evict.
func (l *Life) LastEvicted(decided int) string {
	if victims, _ := l.Trace.ToDelete(decided); len(victims) > 0 {
		return victims[len(victims)-1]
	}
	return ""
}

// toEnd are the victims of a decision of which the scheduler has not been told that they are gone since its cycle
// began.
func (l *Life) toEnd(decided int) map[string]bool {
	left := map[string]bool{}
	for _, v := range l.Trace.Entries[decided].Victims {
		left[v] = !slices.ContainsFunc(l.Trace.Entries[l.Trace.Began(decided):decided], func(e timeline.Entry) bool {
			return e.What == timeline.Handled && e.Text == "deleted" && e.Pod() == v || e.PreemptsInMemory() && e.Pod() == v
		})
		if !left[v] {
			delete(left, v)
		}
	}
	return left
}
