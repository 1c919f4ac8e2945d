// Package model is an executable specification of pod preemption in
// kube-scheduler: given a cluster, it goes through a scheduling cycle of the
// documented algorithm, stage by stage and with reasons. Package answers, around
// it, works out all decisions that the algorithm allows.
//
// It is written from the documentation, the KEPs and the doc comments of
// k8s.io/kubernetes. The pods of the node that is judged are counted anew for every
// question. It shares no bookkeeping with the scheduler, and no code of
// k8s.io/kubernetes; label selectors are parsed by the same library.
package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Cluster is one question to a scheduler: here is everything it knows, and
// Preemptor is the pod, or PreemptorGroup the pod group, that it is about to try.
//
// The order of the lists is part of the question only where upstream's answer
// depends on it (the order of the budgets, and of equally important pods).
type Cluster struct {
	Nodes []*v1.Node
	// Pods are all pods except Preemptor: bound ones (spec.nodeName),
	// nominated ones (status.nominatedNodeName) and others that wait.
	Pods []*v1.Pod
	// PodDisruptionBudgets, in the order in which the scheduler lists them.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget
	PriorityClasses      []*schedulingv1.PriorityClass
	// Extra holds every other object of the cluster (claims, volumes,
	// namespaces, …). Package unmodelled reports what in it could matter and
	// is not covered.
	Extra []runtime.Object
	// NotGiven is what Preemptor depends on and whoever described the cluster left
	// out: all of it is Unmodelled.
	NotGiven []UnmodelledField
	// Preemptor is the pending pod whose scheduling cycle is asked about; nil if that is
	// the cycle of a group.
	Preemptor *v1.Pod
	// PreemptorGroup names the pod group whose scheduling cycle is asked about, as
	// podgroup/NAMESPACE/NAME or compositepodgroup/NAMESPACE/NAME; "" if that is the cycle of a
	// pod. The group is in Extra and its members are in Pods.
	PreemptorGroup string
	Settings       Settings
}

// Objects are all objects of the cluster: nodes, pods, the preemptor if there is one,
// budgets, priority classes, and the others.
func (c *Cluster) Objects() []runtime.Object {
	pods := c.Pods
	if c.Preemptor != nil {
		pods = append(slices.Clip(pods), c.Preemptor)
	}
	return slices.Concat(ObjectsOf(c.Nodes), ObjectsOf(pods), ObjectsOf(c.PodDisruptionBudgets), ObjectsOf(c.PriorityClasses), c.Extra)
}

// ObjectsOf is a list of objects of one kind as one of any.
func ObjectsOf[T runtime.Object](list []T) []runtime.Object {
	all := make([]runtime.Object, len(list))
	for i, o := range list {
		all[i] = o
	}
	return all
}

// Key names a namespaced object as "namespace/name".
func Key(o interface {
	GetNamespace() string
	GetName() string
}) string {
	return filter.Key(o)
}

// Priority is the pod's priority; a pod without one has priority 0
// (component-helpers/scheduling/corev1/helpers.go:28@v0.37.1, PodPriority).
func Priority(p *v1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// startTime is when the pod started; a pod without a start time counts as
// starting now (util/utils.go:51@v1.37.1, GetPodStartTime).
func startTime(p *v1.Pod, now time.Time) time.Time {
	if p.Status.StartTime == nil {
		return now
	}
	return p.Status.StartTime.Time
}

// KnowsNomination tells whether the scheduler takes a waiting pod's nomination
// into account: it watches only the pods of its own profiles
// (eventhandlers.go:138@v1.37.1, addPod).
func (c *Cluster) KnowsNomination(p *v1.Pod) bool {
	return p.Status.NominatedNodeName != "" && c.Settings.Schedules(p.Spec.SchedulerName)
}

// Unmodelled lists what in a cluster could change the scheduler's decision and
// is not covered by the model. As an error it says that there is no answer.
type Unmodelled []UnmodelledField

// UnmodelledField is a field of an object that the model does not cover.
type UnmodelledField struct {
	Object string // kind and name: "Pod default/web-0"
	Field  string // "spec.volumes[0].persistentVolumeClaim"
	Why    string // what would have to be modelled
	// By is the one plugin whose verdicts depend on it; "" if more than one plugin's do.
	By string
	// Chance: the scheduler draws lots, or looks at some of the nodes only. Asked again,
	// it may answer otherwise. Seen: how it came out is observed, so that the model covers what
	// follows, if it covers the rest.
	Chance, Seen bool
}

// OnlyBy tells whether nothing is not modelled but the verdicts of one of the plugins, and
// what is left to chance and seen.
func (u Unmodelled) OnlyBy(plugins ...string) bool {
	return !slices.ContainsFunc(u, func(f UnmodelledField) bool { return !f.Seen && (f.Chance || !slices.Contains(plugins, f.By)) })
}

// OnlySeen tells whether the model covers everything once it is seen how chance came out.
func (u Unmodelled) OnlySeen() bool { return u.OnlyBy() }

// LeftToChance tells whether the same cluster may be answered in several ways.
func (u Unmodelled) LeftToChance() bool {
	return slices.ContainsFunc(u, func(f UnmodelledField) bool { return f.Chance })
}

func (f UnmodelledField) String() string { return fmt.Sprintf("%s: %s: %s", f.Object, f.Field, f.Why) }

func (u Unmodelled) Error() string {
	lines := make([]string, len(u))
	for i, f := range u {
		lines[i] = f.String()
	}
	return "not modelled: " + strings.Join(lines, "; ")
}

// Add is a filter.Report.
func (u *Unmodelled) Add(object, field, why string) {
	*u = append(*u, UnmodelledField{Object: object, Field: field, Why: why})
}
