package properties

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// FitsByModel tells whether, by the model's filters, the preemptor fits on a node
// once the pods gone are gone.
func (s *Subject) FitsByModel(node string, gone map[string]bool) (bool, error) {
	if s.trial == nil {
		trial, err := answers.NewTrial(s.Cluster, s.Rules())
		if err != nil {
			return false, err
		}
		s.trial = trial
	}
	return s.trial.Fits(node, gone), nil
}

// Judgement is whether the preemptor fits on a node, by each of two judges.
type Judgement struct {
	ByModel, BySystem bool
	// Unmodelled: the model of a plugin does not cover the cluster without the pods. Then ByModel says nothing.
	Unmodelled bool
}

// Fits judges from scratch whether the preemptor fits on a node once the pods gone
// are gone. The model judges by its filters, the system by a full scheduling cycle
// over a cluster that never had those pods. The preemptor is nominated to the node,
// as it will be in reality, so that the cycle tries this node first. If the release
// tries no node first, the other nodes get no room for one pod more. Judgements are
// kept, as several properties ask for the same.
func (s *Subject) Fits(node string, gone map[string]bool) (Judgement, error) {
	key := fmt.Sprint(node, slices.Sorted(maps.Keys(gone)))
	if j, known := s.judged[key]; known {
		return j, nil
	}
	c := s.without(node, gone)
	c.Preemptor = c.Preemptor.DeepCopy()
	c.Preemptor.Status.NominatedNodeName = node
	if !s.Holds(NominatedNodeIsFirst) {
		c.Nodes = withRoomOn(node, c.Nodes)
	}
	d, err := answers.Decide(c, s.Rules())
	unmodelled := s.model != nil && errors.As(err, new(model.Unmodelled)) // of a plugin: less is left, and what of it may go is open
	if err != nil && !unmodelled {
		return Judgement{}, err
	}
	o, err := s.System.Observe(s.Context, c)
	if err != nil {
		return Judgement{}, err
	}
	if s.judged == nil {
		s.judged = map[string]Judgement{}
	}
	j := Judgement{
		ByModel:  !unmodelled && len(d.Errors) == 0 && d.Verdicts[node] == nil,
		BySystem: o.ScheduledTo == node, Unmodelled: unmodelled,
	}
	s.judged[key] = j
	return j, nil
}

// without is the cluster without the pods gone of a node, and without extenders,
// which may have their own mind about it (preemption.go:227@v1.37.1,
// callExtenders).
func (s *Subject) without(node string, gone map[string]bool) *model.Cluster {
	c := *s.Cluster
	c.Settings.Extenders = nil
	c.Pods = slices.DeleteFunc(slices.Clone(c.Pods), func(p *v1.Pod) bool { return gone[model.Key(p)] })
	c.Extra = s.attachmentsWithout(node, gone)
	return &c
}

// attachmentsWithout are the objects of a cluster once pods of a node are gone:
// the volumes that only they mounted there are detached.
func (s *Subject) attachmentsWithout(node string, gone map[string]bool) []runtime.Object {
	left, detached := map[string]bool{}, map[string]bool{}
	for _, p := range s.index().onNode[node] {
		users := left
		if gone[model.Key(p)] {
			users = detached
		}
		for _, c := range s.Claims(p) {
			if c.PVC != nil && c.PVC.Spec.VolumeName != "" {
				users[c.PVC.Spec.VolumeName] = true
			}
		}
	}
	if len(detached) == 0 {
		return s.Cluster.Extra
	}
	return slices.DeleteFunc(slices.Clone(s.Cluster.Extra), func(o runtime.Object) bool {
		a, ok := o.(*storagev1.VolumeAttachment)
		if !ok || a.Spec.NodeName != node || a.Spec.Source.PersistentVolumeName == nil {
			return false
		}
		name := *a.Spec.Source.PersistentVolumeName
		return detached[name] && !left[name]
	})
}

// Claims are the claims behind the volumes of a pod.
func (s *Subject) Claims(p *v1.Pod) []volume.Claim {
	if s.storage == nil {
		s.storage = volume.NewIndex(s.Cluster.Extra)
	}
	return s.storage.ClaimsOf(p)
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
