package lifetime

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/cycles"
)

// notOfCycles is what Property.Groups says of the promises about a single cycle.
const notOfCycles = notOfMembers + ": group-goes-as-told holds the cycles of groups against the model"

// decisions are the promises about each cycle: what the scheduler decides is admissible, from
// what it had been told by then.
func decisions() []Property {
	of := func(name string) func(l *Life) []Finding {
		return func(l *Life) []Finding {
			return slices.DeleteFunc(l.judgeCycles(), func(f Finding) bool { return f.Property != name })
		}
	}
	return []Property{{
		Name:    cycles.TriedAsTold,
		Promise: "a pod is tried as it is, as far as the scheduler has been told",
		Source:  "doc comment of PriorityQueue.Update (scheduling_queue.go:1349@v1.37.1); comment in Update, \"The inflight pod will be requeued using the latest version from the informer cache\" (scheduling_queue.go:1382@v1.37.1)",
		Groups:  notOfCycles,
		Lies:    []string{"tries an old version of a pod"},
		Check:   of(cycles.TriedAsTold),
	}, {
		Name: cycles.FitsAsTold,
		Promise: "a pod goes to a node on which it fits, and it goes to one if there is one, by the nodes and the pods that the scheduler has been told of, " +
			"and those that it has assumed, when the cycle begins",
		Source: "doc comments of Snapshot (backend/cache/snapshot.go:82@v1.37.1) and of Cache (backend/cache/interface.go:29@v1.37.1); docs: concepts/scheduling-eviction/kube-scheduler, \"Node selection in kube-scheduler\"",
		Groups: notOfCycles,
		Lies:   []string{"takes a node that is full", "finds no node though one is free", "forgets a pod that it has assumed"},
		Check:  of(cycles.FitsAsTold),
	}, {
		Name:    cycles.KeepsNominated,
		Promise: "room of a nominated pod is not taken by another one of lower or equal priority",
		Source:  properties.DocsNominated + "; doc comment of RunFilterPluginsWithNominatedPods (runtime/framework.go:1265@v1.37.1)",
		Groups:  notOfCycles,
		Lies:    []string{"takes the room of a nominated pod"},
		Check:   of(cycles.KeepsNominated),
	}, {
		Name:    cycles.EligibleAsTold,
		Promise: "a pod preempts only while it is pending and if it may, and if it may it is tried",
		Source: "doc comment of PodEligibleToPreemptOthers (default_preemption.go:443@v1.37.1); " + properties.DocsPreemption + ", \"preemption logic is triggered for the pending Pod\"; " +
			"comment in evaluate, \"Fetch the latest version of <pod>\" (preemption.go:101@v1.37.1)",
		Groups: notOfCycles,
		Lies:   []string{"waits for victims that it does not have", "preempts while its victims terminate there", "preempts for a pod that is bound"},
		Check:  of(cycles.EligibleAsTold),
	}, {
		Name:    cycles.PreemptsAllowed,
		Promise: "the node that is preempted on and the victims there are an answer that the documented algorithm allows",
		Source:  properties.DocsPreemption + "; as the property " + properties.Differential,
		Groups:  notOfCycles,
		Lies:    []string{"preempts a pod too many", "preempts on another node", "preempts nothing though that would help"},
		Check:   of(cycles.PreemptsAllowed),
	}}
}

// groupsGo holds the cycles of pod groups against the model.
func groupsGo() Property {
	return Property{
		Name: cycles.GroupGoesAsTold,
		Promise: "The cycle of a group is one that the documented algorithm allows, by what the scheduler has been told when it begins: " +
			"where each member is placed, who is bound, whether others are preempted, and which units are given back.",
		Source: "KEP-4671, \"Workload Scheduling Cycle\"; KEP-5710, \"Preemption algorithm\"; doc comment of Snapshot (backend/cache/snapshot.go:82@v1.37.1)",
		Lies: []string{"places a member of a group on a node that is full", "finds no node for a member though one is free", "gives a unit back that is in the way of a group",
			"preempts nobody for a group though that would help", "binds a member of a group that does not fit"},
		Check: (*Life).judgeGroups,
	}
}

// judgeCycles are how single cycles of pods are not as the model allows. The findings name their properties.
func (l *Life) judgeCycles() []Finding {
	l.judge()
	return slices.Clone(l.cycles)
}

// judgeGroups are how single cycles of pod groups are not as the model allows.
func (l *Life) judgeGroups() []Finding {
	l.judge()
	return slices.Clone(l.groupCycles)
}

func (l *Life) judge() {
	if !l.judged {
		l.judged = true
		l.cycles = findingsOf(cycles.OfPods(l.Timeline, l.Trace, l.Release()))
		l.groupCycles = findingsOf(cycles.OfGroups(l.Timeline, l.Trace, l.Release()))
	}
}

func findingsOf(broken []cycles.Broken) (findings []Finding) {
	for _, b := range broken {
		findings = append(findings, Finding{Property: b.Property, Pod: b.Pod, Node: b.Node, Kind: b.Kind, Detail: b.Detail, Entry: b.Entry, Known: b.Known})
	}
	return findings
}
