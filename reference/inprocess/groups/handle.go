// Package groups watches what the linked scheduler does with a pod group: it stands between
// the scheduler's parts and makes an observation.GroupCycle of what passes.
package groups

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// Evaluator is what decides on the preemption for pod groups in a plugin; nil if the
// feature gate GenericWorkload was off when the plugin was made. No exported name leads
// to it. It is an error if upstream's plugin is made otherwise.
func Evaluator(plugin *defaultpreemption.DefaultPreemption) (*preemption.PodGroupEvaluator, error) {
	field := reflect.ValueOf(plugin).Elem().FieldByName("podGroupEvaluator")
	if !field.IsValid() || field.Kind() != reflect.Interface {
		return nil, fmt.Errorf("upstream's DefaultPreemption has no podGroupEvaluator")
	}
	if field.IsNil() {
		return nil, nil
	}
	if is, want := field.Elem().Type(), reflect.TypeFor[*preemption.PodGroupEvaluator](); is != want {
		return nil, fmt.Errorf("upstream's podGroupEvaluator is a %s, not a %s", is, want)
	}
	return (*preemption.PodGroupEvaluator)(field.Elem().UnsafePointer()), nil
}

// Ordered is a handle by which the pods of a group, and the groups of a composite one, are
// listed by name, where upstream ranges over maps: the victims of a unit, and what is done to them, come in that order.
type Ordered struct{ fwk.Handle }

// MutableSnapshotSharedLister implements fwk.Handle.
func (h Ordered) MutableSnapshotSharedLister() fwk.MutableSnapshotSharedLister {
	return snapshot{h.Handle.MutableSnapshotSharedLister()}
}

type snapshot struct {
	fwk.MutableSnapshotSharedLister
}

func (s snapshot) PodGroupStates() fwk.PodGroupStateLister {
	return states{s.MutableSnapshotSharedLister.PodGroupStates()}
}

func (s snapshot) CompositePodGroupStates() fwk.CompositePodGroupStateLister {
	return compositeStates{s.MutableSnapshotSharedLister.CompositePodGroupStates()}
}

type compositeStates struct {
	fwk.CompositePodGroupStateLister
}

func (s compositeStates) Get(namespace, name string) (fwk.CompositePodGroupState, error) {
	state, err := s.CompositePodGroupStateLister.Get(namespace, name)
	if err != nil {
		return nil, err
	}
	return sortedGroups{state}, nil
}

type sortedGroups struct{ fwk.CompositePodGroupState }

func (s sortedGroups) GetChildren() []fwk.EntityKey {
	return slices.SortedFunc(slices.Values(s.CompositePodGroupState.GetChildren()), func(a, b fwk.EntityKey) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
	})
}

type states struct{ fwk.PodGroupStateLister }

func (s states) Get(namespace, name string) (fwk.PodGroupState, error) {
	state, err := s.PodGroupStateLister.Get(namespace, name)
	if err != nil {
		return nil, err
	}
	return sorted{state}, nil
}

type sorted struct{ fwk.PodGroupState }

func (s sorted) ScheduledPods() []*v1.Pod {
	return slices.SortedFunc(slices.Values(s.PodGroupState.ScheduledPods()), func(a, b *v1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
