// Package prune keeps of a cluster what decisions about preemption depend on: each object
// is built anew of the fields that the model, or a scheduler of a release, reads, so that
// nothing else gets in, not even a field that the API is yet to have.
package prune

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
)

// kind is what is kept of the objects of a kind.
type kind struct {
	of     runtime.Object
	fields []Field
	ranks  bool // it does no more than rank nodes, unless pods are spread by default
}

var kinds = []kind{
	{of: &v1.Node{}, fields: nodeFields},
	{of: &v1.Pod{}, fields: podFields},
	{of: &policyv1.PodDisruptionBudget{}, fields: budgetFields},
	{of: &schedulingv1.PriorityClass{}, fields: priorityClassFields},
	{of: &v1.Namespace{}, fields: namespaceFields},
	{of: &v1.PersistentVolumeClaim{}, fields: claimFields},
	{of: &v1.PersistentVolume{}, fields: volumeFields},
	{of: &storagev1.StorageClass{}, fields: storageClassFields},
	{of: &storagev1.CSINode{}, fields: csiNodeFields},
	{of: &storagev1.CSIDriver{}, fields: csiDriverFields},
	{of: &storagev1.CSIStorageCapacity{}, fields: capacityFields},
	{of: &storagev1.VolumeAttachment{}, fields: attachmentFields},
	{of: &resourcev1.ResourceClaim{}, fields: resourceClaimFields},
	{of: &resourcev1.ResourceSlice{}, fields: sliceFields},
	{of: &resourcev1.DeviceClass{}, fields: deviceClassFields},
	{of: &resourcev1.DeviceTaintRule{}, fields: taintRuleFields},
	{of: &schedulingv1beta1.PodGroup{}, fields: podGroupFields},
	{of: &schedulingv1alpha3.CompositePodGroup{}, fields: compositeFields},
	{of: &v1.Service{}, fields: serviceFields, ranks: true},
	{of: &v1.ReplicationController{}, fields: controllerFields, ranks: true},
	{of: &appsv1.ReplicaSet{}, fields: replicaSetFields, ranks: true},
	{of: &appsv1.StatefulSet{}, fields: statefulSetFields, ranks: true},
}

// tree is the compiled kind.
type tree struct {
	*node
	ranks bool
}

var trees = compileAll()

func compileAll() map[reflect.Type]tree {
	all := map[reflect.Type]tree{}
	for _, k := range kinds {
		t := reflect.TypeOf(k.of).Elem()
		n, err := compile(t, k.fields)
		if err != nil {
			panic(err) // a mistake in the tables: each test finds it
		}
		all[t] = tree{n, k.ranks}
	}
	return all
}

// Kept is what is kept of the objects of a kind.
type Kept struct {
	Kind   string
	Fields []Field
}

// All tells what is kept of each kind of which anything is.
func All() (all []Kept) {
	for _, k := range kinds {
		all = append(all, Kept{reflect.TypeOf(k.of).Elem().Name(), slices.Clone(k.fields)})
	}
	return all
}

// Walk visits all text that is kept of an object: text says what it is, and v is the field,
// or the struct or map whose fields belong together. visit may write to v if the object is
// a copy.
func Walk(o runtime.Object, visit func(text Text, v reflect.Value)) {
	v := reflect.ValueOf(o).Elem()
	if t, known := trees[v.Type()]; known {
		t.walk(v, visit)
	}
}

// Count tells how many objects of a kind there were, and how many are kept.
type Count struct {
	Kind         string `json:"kind"`
	Kept, Before int
}

// Cluster is a new cluster of what decisions depend on, and how much of each kind that is,
// in the order of their names. It shares no object with c, which stays as it is, but
// quantities.
func Cluster(c *model.Cluster) (*model.Cluster, []Count) {
	ranks := slices.ContainsFunc(c.Extra, model.IsGroup) || configuration.SpreadsByDefault(c.Settings)
	counts := map[string]*Count{}
	object := func(o runtime.Object) runtime.Object {
		name := reflect.TypeOf(o).Elem().Name()
		if counts[name] == nil {
			counts[name] = &Count{Kind: name}
		}
		counts[name].Before++
		kept := Object(o, ranks)
		if kept != nil {
			counts[name].Kept++
		}
		return kept
	}
	out := &model.Cluster{NotGiven: slices.Clone(c.NotGiven), PreemptorGroup: c.PreemptorGroup, Settings: c.Settings.DeepCopy()}
	out.Nodes = all(c.Nodes, object)
	out.Pods = all(c.Pods, object)
	out.PodDisruptionBudgets = all(c.PodDisruptionBudgets, object)
	out.PriorityClasses = all(c.PriorityClasses, object)
	for _, o := range c.Extra {
		if kept := object(o); kept != nil {
			out.Extra = append(out.Extra, kept)
		}
	}
	if c.Preemptor != nil {
		out.Preemptor = object(c.Preemptor).(*v1.Pod)
	}
	imagesInUse(out)
	list := make([]Count, 0, len(counts))
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, *counts[kind])
	}
	return out, list
}

func all[T runtime.Object](list []T, object func(runtime.Object) runtime.Object) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(list))
	for i, o := range list {
		out[i] = object(o).(T)
	}
	return out
}

// Object is what is kept of one object; nil if its kind is not. What ranks nodes is kept on
// demand.
func Object(o runtime.Object, ranks bool) runtime.Object {
	from := reflect.ValueOf(o).Elem()
	t, known := trees[from.Type()]
	if !known || t.ranks && !ranks {
		return nil
	}
	to := reflect.New(from.Type())
	t.copy(to.Elem(), from)
	kept := to.Interface().(runtime.Object)
	if meta, ok := kept.(metav1.Object); ok {
		meta.SetAnnotations(annotations(meta.GetAnnotations()))
	}
	switch o := kept.(type) {
	case *v1.Pod:
		pod(o)
	case *v1.PersistentVolume:
		source(o)
	case *schedulingv1beta1.PodGroup:
		groupConditions(&o.Status.Conditions)
	case *schedulingv1alpha3.CompositePodGroup:
		groupConditions(&o.Status.Conditions)
	case *resourcev1.ResourceClaim:
		for i := range o.Status.Devices {
			reasons := o.Status.Devices[i].Conditions
			for j := range reasons {
				reasons[j].Reason = prunedReason
			}
		}
	}
	return kept
}

// groupConditions keeps the conditions that are kept, each with a reason, as it has to have one.
func groupConditions(list *[]metav1.Condition) {
	*list = slices.DeleteFunc(*list, func(c metav1.Condition) bool { return !slices.Contains(groupConditionTypes.Words, c.Type) })
	for i := range *list {
		if c := &(*list)[i]; !slices.Contains(groupReasons.Words, c.Reason) {
			c.Reason = prunedReason
		}
	}
}

// Summary tells in a sentence what is kept.
func Summary(counts []Count) string {
	kept, before := 0, 0
	for _, c := range counts {
		kept, before = kept+c.Kept, before+c.Before
	}
	return fmt.Sprintf("kept %d of %d objects", kept, before)
}
