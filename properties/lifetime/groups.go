package lifetime

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// notOfMembers is what Property.Groups says of a promise that is not asked of pods that are scheduled with a group.
const notOfMembers = "not asked"

// ofGroups are the promises about pod groups.
func ofGroups() []Property {
	of := func(check func(*timeline.Timeline, *timeline.Trace) []together.Broken) func(l *Life) []Finding {
		return func(l *Life) (findings []Finding) {
			if !together.On(l.Timeline) {
				return nil
			}
			for _, b := range check(l.Timeline, l.Trace) {
				findings = append(findings, Finding{Pod: b.Pod, Kind: b.Kind, Detail: b.Detail, Entry: b.Entry})
			}
			return findings
		}
	}
	return []Property{{
		Name: "group-goes-whole",
		Promise: "All pods of a group in mode All are preempted, or none is, whatever fails meanwhile: where some are evicted and others are not, " +
			"whoever preempts them waits still, and may try again.",
		Source: "docs: concepts/workloads/workload-api/disruption-and-priority, \"all pods from the PodGroup have to be disrupted together\"; " +
			"KEP-5710, \"I want to ensure that it will not be partially preempted\", and \"When the call to delete victim pods fails, the preemptor is moved to active queue\"",
		Lies:  []string{"preempts a group in part", "evicts a group in part and goes on"},
		Check: of(together.Whole),
	}, {
		Name:    "group-is-tried-complete",
		Promise: "a group is tried when it exists and as many of its pods as it needs do, and not before they have been there since its last cycle",
		Source: "KEP-4671, \"PreEnqueue: used as a barrier to wait for the PodGroup object and minimum number of pods to be observed by the scheduler before even considering them\"; " +
			"docs: concepts/scheduling-eviction/gang-scheduling",
		Lies:  []string{"tries a group before its last pod has come", "tries a group that does not exist"},
		Check: of(together.TriedComplete),
	}, {
		Name:    "group-is-not-kept-out",
		Promise: "a group that exists, with as many pods as it needs, is kept out of the queue only while its preemption goes on, or a pod of it has scheduling gates",
		Source: "KEP-4671, \"The extension will register events for when a PodGroup object is created and when an unscheduled pod is added\"; " +
			"KEP-4832, \"If the preemption goroutine is complete, the preemption plugin ungates the Pod\"",
		Lies:  []string{"keeps a group out for ever"},
		Check: of(together.KeptOut),
	}, {
		Name:    "group-is-bound-together",
		Promise: "pods of a group are bound if as many fit as it needs, with those that are on nodes already, and otherwise none is",
		Source:  "docs: concepts/scheduling-eviction/podgroup-scheduling; doc comment of GangSchedulingPolicy.MinCount (scheduling/v1beta1/types.go:444@v0.37.1)",
		Lies:    []string{"binds too few pods of a group"},
		Check:   of(together.BoundTogether),
	}, {
		Name: "group-backs-off-after-errors",
		Promise: "a group whose pods in the queue have all failed with an error, in its cycle or at their binding, is not tried again within 1 s, the shortest backoff, " +
			"unless it changes",
		Source: "KEP-4671, \"Backoff mechanism has to be applied for a pod group similarly as we do for individual pods\" and, where the API server is unavailable, " +
			"\"any in-flight workload scheduling will eventually fail at the binding/update stage. These attempts will be retried with standard exponential backoff\"; " +
			"comment in bindingCycle, \"If a Pod fails on PreBind or Bind, it should be moved to BackoffQ for retry\" (schedule_one.go:451@v1.37.1); " +
			"KEP-5142, Motivation, \"pods that are in the backoffQ due to errors, should not bypass the backoff time\"",
		Lies:  []string{"tries a group again at once after an error", "tries a group again at once after a binding that failed"},
		Check: of(together.TriedAfterError),
	}}
}

// member tells whether a pod is one that is scheduled with a group.
func (l *Life) member(pod string) bool {
	if !together.On(l.Timeline) {
		return false
	}
	if l.members == nil {
		l.members = map[string]bool{}
		for _, p := range l.Timeline.Cluster.Pods {
			l.members[p.Namespace+"/"+p.Name] = together.GroupOf(p) != ""
		}
		for i := range l.Trace.Entries {
			if p, ok := l.Trace.Entries[i].Is.(*v1.Pod); ok {
				l.members[p.Namespace+"/"+p.Name] = l.members[p.Namespace+"/"+p.Name] || together.GroupOf(p) != ""
			}
		}
	}
	return l.members[pod]
}

// waitsForQuorum tells whether a pod may wait at Permit for others of its gang: it is assumed meanwhile, and nothing is
// asked of it (KEP-4671, "GangScheduling Plugin").
func (l *Life) waitsForQuorum(p timeline.PodState) bool {
	return p.Exists && p.Assumed && l.member(p.Name)
}

// groupThere tells whether the group of a pod is in the API at rest.
func (l *Life) groupThere(pod string) bool { return together.GroupThere(l.Timeline, l.Trace, pod) }
