// Package apiserver does to the objects of a cluster what the API server does to
// them before a scheduler sees them: it fills in upstream's defaults, resolves
// priority classes and validates, with upstream's own code.
//
// Objects count as stored ones: they may be bound, have a status and be
// terminating, and values that only the creation of an object would refuse are
// left alone. So a dump of a running cluster passes as well as a manifest
// written by hand.
//
// What needs more than the objects at hand is not imitated: LimitRanger,
// RuntimeClass overhead, the not-ready and unreachable tolerations of
// DefaultTolerationSeconds, webhooks.
package apiserver

import (
	"errors"
	goruntime "runtime"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	// The schemes of the kinds that are defaulted.
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"

	"github.com/preemptcheck/preemptcheck/model"
)

// Error is one thing wrong with one object of a cluster.
type Error struct {
	Object string // "Pod default/a", "Node n1"; "Cluster" when an object is missing
	Field  string // "spec.containers[0].image"
	Detail string // what is wrong, with the value
}

func (e *Error) Error() string {
	return e.Object + ": " + e.Field + ": " + e.Detail
}

// Errors are those of a type that an error joins, such as *Error.
func Errors[T error](err error) (all []T) {
	var one T
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, Errors[T](e)...)
		}
	} else if errors.As(err, &one) {
		all = append(all, one)
	}
	return all
}

// Admit makes the cluster's objects, in place, what the API server would have
// stored, and checks that together they are a question to a scheduler: Objects
// and then Preemptor. The error joins values of type *Error. Admitting twice
// changes nothing more.
func Admit(c *model.Cluster) error {
	return errors.Join(Objects(c), Preemptor(c))
}

// AdmitFrom is Admit for a cluster made from one that is admitted. Objects that the
// two share are not written to, and are taken to be admitted if the priority
// classes are the same, as the rest of an admission looks at one object alone. If
// they are not, copies take the place of those objects.
func AdmitFrom(admitted, c *model.Cluster) error {
	shared := map[runtime.Object]bool{}
	for _, o := range objects(admitted) {
		shared[o] = true
	}
	if !equality.Semantic.DeepEqual(admitted.PriorityClasses, c.PriorityClasses) {
		*c = *c.DeepCopy()
		shared = nil
	}
	return errors.Join(admit(c, shared), Preemptor(c))
}

// objects are all objects of the cluster, those first that others name.
func objects(c *model.Cluster) []runtime.Object {
	all := slices.Concat(model.ObjectsOf(c.PriorityClasses), model.ObjectsOf(c.Nodes), model.ObjectsOf(c.PodDisruptionBudgets), model.ObjectsOf(c.Pods))
	if c.Preemptor != nil {
		all = append(all, c.Preemptor)
	}
	return append(all, c.Extra...)
}

// Objects admits every object of the cluster, the preemptor too if there is
// one, and checks that names and the UIDs of pods (which may be missing) are
// unique and that bound pods are on nodes of the cluster: see outlivesNode. Pods that have terminated (phase Succeeded or Failed) are removed
// unseen: a scheduler's informer filters them
// (scheduler.go:653@v1.37.1, newPodInformer).
//
// Fields that no scheduler decides by are filled in when they are missing, so
// that manifests can be terse: namespace "default", the names and images of
// containers, and of a node's capacity and allocatable the one from the other
// (the second half is upstream's defaulting).
//
// Of the objects of Extra, those that storage is made of are validated too.
func Objects(c *model.Cluster) error { return admit(c, nil) }

// admit admits all objects of the cluster but those that are admitted already.
func admit(c *model.Cluster, already map[runtime.Object]bool) error {
	c.Pods = slices.DeleteFunc(c.Pods, terminated)
	a := admitter{classes: classesByName(c.PriorityClasses)}

	all := objects(c)
	names, uids, nodes := make(map[string]bool, len(all)), make(map[types.UID]bool, len(all)), make(map[string]bool, len(c.Nodes))
	errs := a.admitAll(all, len(c.PriorityClasses), already)
	for i, object := range all {
		a.errs = append(a.errs, errs[i]...)
		name := NameOf(object)
		if name != "" && names[name] {
			a.fail(name, field.Duplicate(field.NewPath("metadata", "name"), name))
		}
		names[name] = true
		switch o := object.(type) {
		case *v1.Node:
			nodes[o.Name] = true
		case *v1.Pod:
			if o.UID != "" && uids[o.UID] {
				a.fail(name, field.Duplicate(field.NewPath("metadata", "uid"), o.UID))
			}
			uids[o.UID] = true
			if node := o.Spec.NodeName; node != "" && !nodes[node] && !outlivesNode(o) {
				a.fail(name, field.NotFound(field.NewPath("spec", "nodeName"), node))
			}
		}
	}
	return errors.Join(a.errs...)
}

// outlivesNode tells whether a pod may be bound to a node that does not exist: it has been
// deleted, and the pod not yet. Others see no such pod, and a name of a node that leads nowhere is a
// mistake more often. A pod of a group counts there: it may be preempted with the others.
func outlivesNode(p *v1.Pod) bool { return p.Spec.SchedulingGroup != nil }

// manyObjects is how many it takes to admit them on all processors.
const manyObjects = 1000

// admitAll admits objects, of which the first are the priority classes that others
// name, and says what is wrong with each.
func (a *admitter) admitAll(all []runtime.Object, classes int, already map[runtime.Object]bool) [][]error {
	errs := make([][]error, len(all))
	admit := func(i int, known *alike) {
		if !already[all[i]] {
			its := admitter{classes: a.classes, alike: known}
			its.admit(all[i])
			errs[i] = its.errs
		}
	}
	workers := goruntime.GOMAXPROCS(0)
	if len(all) < manyObjects {
		workers = 1
	}
	for i := range classes {
		admit(i, nil)
	}
	var group sync.WaitGroup
	var valid validPods
	for w := range workers {
		group.Go(func() {
			var known *alike
			if len(all) >= manyObjects {
				known = &alike{valid: &valid}
			}
			for i := classes + w; i < len(all); i += workers {
				admit(i, known)
			}
		})
	}
	group.Wait()
	return errs
}

// Preemptor checks that the cluster has a preemptor that its scheduler would
// take from its queue: pending, not terminating, without scheduling gates, and
// meant for one of its profiles, or else a pod group with such a pod. They have been admitted before.
func Preemptor(c *model.Cluster) error {
	a := admitter{}
	if c.PreemptorGroup != "" {
		a.preemptorGroup(c)
		return errors.Join(a.errs...)
	}
	pod := c.Preemptor
	if pod == nil {
		a.fail("Cluster", field.Required(field.NewPath("preemptor"), "no pod to schedule"))
		return errors.Join(a.errs...)
	}
	name, spec := NameOf(pod), field.NewPath("spec")
	if pod.Spec.NodeName != "" {
		a.fail(name, field.Invalid(spec.Child("nodeName"), pod.Spec.NodeName, "the preemptor is bound already"))
	}
	if pod.DeletionTimestamp != nil {
		a.fail(name, field.Forbidden(field.NewPath("metadata", "deletionTimestamp"), "the preemptor is terminating: no scheduler tries it"))
	}
	if terminated(pod) {
		a.fail(name, field.Invalid(field.NewPath("status", "phase"), pod.Status.Phase, "the preemptor has terminated: no scheduler tries it"))
	}
	if len(pod.Spec.SchedulingGates) > 0 {
		a.fail(name, field.Forbidden(spec.Child("schedulingGates"), "the preemptor is gated: no scheduler tries it"))
	}
	if !c.Settings.Schedules(pod.Spec.SchedulerName) {
		a.fail(name, field.NotSupported(spec.Child("schedulerName"), pod.Spec.SchedulerName, c.Settings.Schedulers()))
	}
	return errors.Join(a.errs...)
}

func terminated(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

// NameOf is the kind and the name of an object, or "" of a kind that is not known.
func NameOf(object runtime.Object) string {
	meta, ok := object.(metav1.Object)
	if !ok {
		return ""
	}
	kind := "Pod" // most are
	if _, ok := object.(*v1.Pod); !ok {
		kinds, _, err := legacyscheme.Scheme.ObjectKinds(object)
		if err != nil {
			return ""
		}
		kind = kinds[0].Kind
	}
	if meta.GetNamespace() == "" {
		return kind + " " + meta.GetName()
	}
	return kind + " " + model.Key(meta)
}

// admitter collects what is wrong while it admits objects.
type admitter struct {
	classes classes
	alike   *alike // nil remembers nothing
	errs    []error
}

func (a *admitter) fail(object string, errs ...*field.Error) {
	for _, err := range errs {
		a.errs = append(a.errs, &Error{Object: object, Field: err.Field, Detail: err.ErrorBody()})
	}
}
