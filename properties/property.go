package properties

import (
	"context"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Property is a promise that must hold of every cluster and every scheduler.
type Property struct {
	// Name identifies the property, for example "lower-priority-only".
	Name string
	// Promise quotes what users were promised, Source says where.
	Promise, Source string
	// Check returns how the promise was broken. It asks the system again where
	// it needs to; an error means that it could not.
	Check func(s *Subject) ([]Finding, error)
}

// Subject is a cluster together with what a scheduler did with it.
type Subject struct {
	Context     context.Context
	Cluster     *model.Cluster
	Observation *model.Observation
	// Decision is what the documented rules allow.
	Decision *model.Decision
	// System is the scheduler, to be asked about variations of the cluster.
	System reference.System
}

// found reports one broken promise. Whoever runs the property adds its name.
func found(stage model.Stage, node, detail string) []Finding {
	return []Finding{{Stage: stage, Node: node, Detail: detail}}
}

// victims are the pods that were preempted, most important first; none if
// nothing was.
func (s *Subject) victims() []*v1.Pod {
	if s.Observation.Pick == nil {
		return nil
	}
	var pods []*v1.Pod
	for _, key := range s.Observation.Pick.Victims {
		if p := s.pod(key); p != nil {
			pods = append(pods, p)
		}
	}
	return pods
}

// pod is the pod of that name, or nil.
func (s *Subject) pod(key string) *v1.Pod {
	for _, p := range s.Cluster.Pods {
		if model.Key(p) == key {
			return p
		}
	}
	return nil
}

// without is the cluster with some of its pods gone.
func without(c *model.Cluster, gone map[string]bool) *model.Cluster {
	out := *c
	out.Pods = nil
	for _, p := range c.Pods {
		if !gone[model.Key(p)] {
			out.Pods = append(out.Pods, p)
		}
	}
	return &out
}

// fits judges from scratch whether the preemptor runs on a node once the pods
// gone are gone: by the model's filters, and by a full scheduling cycle of the
// system over a cluster that never had those pods. The cycle tries the node
// first because the preemptor is nominated to it, as it will be in reality.
func (s *Subject) fits(node string, gone map[string]bool) (byModel, bySystem bool, err error) {
	c := without(s.Cluster, gone)
	c.Preemptor = c.Preemptor.DeepCopy()
	c.Preemptor.Status.NominatedNodeName = node
	d, err := model.Decide(c, model.Documented())
	if err != nil {
		return false, false, err
	}
	o, err := s.System.Observe(s.Context, c)
	if err != nil {
		return false, false, err
	}
	return d.Verdicts[node] == nil, o.ScheduledTo == node, nil
}
