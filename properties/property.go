package properties

import (
	"context"
	"fmt"
	"maps"
	"slices"

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
	// Applies tells whether the promise says anything about this subject; nil
	// means always. Check is not called where it does not.
	Applies func(s *Subject) bool
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
	// Release is whose rules and known findings apply.
	Release model.Release

	// granted holds the ids of the ledger entries that are taken for granted:
	// see LedgerEntry.Properties.
	granted []string
	judged  map[string]judgement
	trial   *model.Trial
	filters map[string]FilterCount // see FiltersAlone
	indexed *podIndex
}

// grants tells whether a known finding is to be taken for what should happen.
// Properties ask it where the finding would break them, so that what it explains
// is exactly what no longer is a finding once it is granted.
func (s *Subject) grants(id string) bool { return slices.Contains(s.granted, id) }

// found reports one broken promise. Whoever runs the property adds its name.
func found(stage model.Stage, node, detail string) []Finding {
	return []Finding{foundOf(stage, node, "", detail)}
}

// foundOf reports a promise broken to the pod or node that it names.
func foundOf(stage model.Stage, node, about, detail string) Finding {
	return Finding{Stage: stage, Node: node, Detail: detail, about: about}
}

// victims are the pods that were preempted, most important first; none if
// nothing was.
func (s *Subject) victims() []*v1.Pod {
	if s.Observation.Pick == nil {
		return nil
	}
	return s.pods(s.Observation.Pick.Victims)
}

// judgement is what the two judges say of a node: see Subject.fits.
type judgement struct{ byModel, bySystem bool }

// fits judges from scratch whether the preemptor runs on a node once the pods
// gone are gone: by the model's filters, and by a full scheduling cycle of the
// system over a cluster that never had those pods. The cycle tries the node
// first because the preemptor is nominated to it, as it will be in reality; where
// that means nothing, the other nodes have no room for one pod more. Judgements
// are kept, as several properties ask for the same.
func (s *Subject) fits(node string, gone map[string]bool) (judgement, error) {
	key := fmt.Sprint(node, slices.Sorted(maps.Keys(gone)))
	if j, known := s.judged[key]; known {
		return j, nil
	}
	c := s.after(node, gone)
	c.Preemptor = c.Preemptor.DeepCopy()
	c.Preemptor.Status.NominatedNodeName = node
	if !s.makes(nominatedFirst) {
		c.Nodes = withRoomOn(node, c.Nodes)
	}
	d, err := model.Decide(c, s.rules())
	if err != nil {
		return judgement{}, err
	}
	o, err := s.System.Observe(s.Context, c)
	if err != nil {
		return judgement{}, err
	}
	if s.judged == nil {
		s.judged = map[string]judgement{}
	}
	j := judgement{d.Error == "" && d.Verdicts[node] == nil, o.ScheduledTo == node}
	s.judged[key] = j
	return j, nil
}

// withRoomOn are the nodes, of which all but one have room for no pod at all.
func withRoomOn(node string, nodes []*v1.Node) []*v1.Node {
	out := slices.Clone(nodes)
	for i, n := range out {
		if n.Name != node {
			out[i] = n.DeepCopy()
			delete(out[i].Status.Allocatable, v1.ResourcePods)
		}
	}
	return out
}
