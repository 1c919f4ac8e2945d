package model

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// nodeResourcesFails: what the pods on the node occupy plus what the pod
// requests has to stay within allocatable, resource by resource, and so does the
// number of pods. A request above allocatable itself cannot be helped by
// removing pods; a full pod count can (fit.go:710@v1.37.1, fitsRequest).
// Source: docs, concepts/configuration/manage-resources-containers, "How Pods
// with resource requests are scheduled".
func nodeResourcesFails(q *question, n *node, v view) *Verdict {
	var failed *Verdict
	fail := func(reason string, unresolvable bool) {
		if failed == nil {
			failed = &Verdict{}
		}
		failed.Reasons = append(failed.Reasons, reason)
		failed.Unresolvable = failed.Unresolvable || unresolvable
	}
	if int64(len(v.pods))+1 > n.allocatable.get(v1.ResourcePods).roundedUp() {
		fail("Too many pods", false)
	}
	for _, want := range q.lookedAt() {
		request := want.roundedUp()
		if request <= 0 && q.rules.onlyRequested || !isScheduled(want.name) {
			continue
		}
		allocatable := n.allocatable.get(want.name).roundedUp()
		free := allocatable
		for _, p := range v.pods {
			free -= p.needs.get(want.name).roundedUp()
		}
		if request > free {
			fail("Insufficient "+string(want.name), request > allocatable && q.rules.tooLargeUnresolvable)
		}
	}
	return failed
}

// lookedAt are the resources that a node has to have enough of: those that the
// preemptor requests. Where not only these count, a pod that requests any of them
// needs a node on which none of the usual ones is overcommitted.
func (q *question) lookedAt() resources {
	needs := q.preemptor.needs
	requests := func(a amount) bool { return a.roundedUp() > 0 }
	if q.rules.onlyRequested || !slices.ContainsFunc(needs, requests) {
		return needs
	}
	return needs.clone().add(resources{{name: v1.ResourceCPU}, {name: v1.ResourceMemory}, {name: v1.ResourceEphemeralStorage}})
}

// isScheduled tells whether the scheduler keeps account of a resource: CPU,
// memory, ephemeral storage, huge pages, extended resources and the other
// domain-qualified ones (scheduler/util/utils.go:201@v1.37.1).
func isScheduled(name v1.ResourceName) bool {
	switch name {
	case v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return true
	}
	s := string(name)
	return strings.HasPrefix(s, v1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(s, v1.ResourceAttachableVolumesPrefix) ||
		strings.Contains(s, "/") && !strings.HasPrefix(s, v1.DefaultResourceRequestsPrefix)
}
