// Package lifetime holds the promises about the life of a preemption: what a scheduler may
// do while a timeline goes on, and how things must be once they have come to rest.
//
// The properties look at nothing but a trace. None of them says in which queue a pod has to be
// when, but that one which an event has made fit is not left where it is not tried: only what
// users and other controllers were promised.
package lifetime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// Property is a promise that must hold of every timeline and every scheduler.
type Property struct {
	// Name identifies the property, for example "no-wait-for-the-flush".
	Name string
	// Promise says or quotes what was promised, Source says where.
	Promise, Source string
	// Groups says how far it is asked of pods that are scheduled with a group; "" is as of others.
	Groups string
	// Lies name what a lying scheduler does in the tests, which show that the property
	// notices.
	Lies []string
	// Check returns how the promise was broken.
	Check func(l *Life) []Finding
}

// Finding is a broken promise.
type Finding struct {
	// Property is the name of the property.
	Property string
	// Pod is the pod that it was broken to, as "default/a"; "" if to none.
	Pod string
	// Node is the node that it is about, if it is about one.
	Node string
	// Kind says in which way the promise was broken, without names.
	Kind string
	// Detail is a sentence about it.
	Detail string
	// Entry is the index of the entry of the trace where it shows; the number of entries if
	// it shows in the end only.
	Entry int
	// Since is the index of the entry from which on it goes on, of what goes on for ever.
	Since int
	// Known are the ids of the known findings that explain it.
	Known []string
	// Stack holds the functions on the way to a crash (Crash.Frames), if it is one.
	Stack []string
}

func (f Finding) String() string {
	s := f.Property + ": " + f.Detail
	if len(f.Known) > 0 {
		s += " (known: " + strings.Join(f.Known, ", ") + ")"
	}
	return s
}

// Life is a timeline and what was seen of it.
type Life struct {
	Timeline *timeline.Timeline
	Trace    *timeline.Trace

	// cycles and groupCycles are the findings of single cycles of pods and of groups, once these are judged.
	cycles, groupCycles []Finding
	judged              bool
	// members tells which pods are scheduled with a group; nil if nobody has asked.
	members map[string]bool
}

// Release is the one whose scheduler was run, to whose algorithm its cycles are held: the linked
// one if the trace names none, as that of a scheduler built from its own sources.
func (l *Life) Release() release.Release {
	if r, err := release.Parse(l.Trace.System); err == nil {
		return r
	}
	return release.Linked
}

// All are all properties.
func All() []Property {
	return slices.Concat(progress(), pacing(), agreement(), evictions(), once(), decisions(), binding(), order(), []Property{tryable(), tracked(), noLivelock()}, ofGroups(), []Property{groupsGo()})
}

// Check asks all properties about a life. A known finding of its release is named by those that
// it explains.
func Check(l *Life) (findings []Finding) {
	for _, p := range All() {
		for _, f := range p.Check(l) {
			f.Property = p.Name
			f.Known = slices.DeleteFunc(slices.Concat(f.Known, l.explain(&f)), func(id string) bool {
				e, ok := ledger.LookUp(id)
				return !ok || !l.Release().In(e.Releases)
			})
			findings = append(findings, f)
		}
	}
	return findings
}

// explain are the ids of the known findings that explain a finding, beside those that it has.
func (l *Life) explain(f *Finding) []string {
	broken := func(f *Finding) known.Broken {
		return known.Broken{Property: f.Property, Kind: f.Kind, Pod: f.Pod, Node: f.Node, Entry: f.Entry, Since: f.Since, Known: f.Known}
	}
	in := known.Life{Timeline: l.Timeline, Trace: l.Trace, Release: l.Release()}
	for _, c := range append(l.judgeCycles(), l.judgeGroups()...) {
		in.Cycles = append(in.Cycles, broken(&c))
	}
	is := broken(f)
	return in.Explain(&is)
}

// Unexplained are the findings that no known one explains.
func Unexplained(findings []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return len(f.Known) > 0 })
}

// ended tells whether the timeline came to rest, so that there is an end to look at.
func (l *Life) ended() bool { return l.Trace.Quiet != nil && l.Trace.Flushed != nil }

// schedules tells whether the scheduler is responsible for a pod that is pending.
func (l *Life) schedules(p timeline.PodState) bool {
	return l.Timeline.Cluster.Settings.Schedules(p.Scheduler)
}

// atRest reports what is wrong with a pod at rest.
func (l *Life) atRest(wrong func(p timeline.PodState) (kind, detail string)) (findings []Finding) {
	if !l.ended() {
		return nil
	}
	for _, p := range l.Trace.Quiet.Pods {
		if l.waitsForQuorum(p) {
			continue
		}
		if kind, detail := wrong(p); kind != "" {
			findings = append(findings, Finding{Pod: p.Name, Kind: kind, Entry: l.Trace.FlushedAt,
				Detail: fmt.Sprintf("when all is at rest, pod %s %s", p.Name, detail)})
		}
	}
	return findings
}
