// Package mk makes small clusters for tests: objects with just the fields that a
// test is about, in the namespace default.
package mk

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

// Cluster is a cluster of one preemptor, some objects, and model.Settings.
func Cluster(preemptor *v1.Pod, parts ...any) *model.Cluster {
	c := &model.Cluster{Preemptor: preemptor}
	for _, part := range parts {
		switch o := part.(type) {
		case *v1.Node:
			c.Nodes = append(c.Nodes, o)
		case *v1.Pod:
			c.Pods = append(c.Pods, o)
		case *policyv1.PodDisruptionBudget:
			c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, o)
		case *schedulingv1.PriorityClass:
			c.PriorityClasses = append(c.PriorityClasses, o)
		case model.Settings:
			c.Settings = o
		case runtime.Object:
			c.Extra = append(c.Extra, o)
		default:
			panic(fmt.Sprintf("mk: %T does not belong in a cluster", o))
		}
	}
	return c
}

// Resources is a list of names and quantities in turn.
func Resources(pairs ...string) v1.ResourceList {
	out := v1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[v1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// Container is a container c with requests, as Resources takes them.
func Container(requests ...string) v1.Container {
	return v1.Container{Name: "c", Resources: v1.ResourceRequirements{Requests: Resources(requests...)}}
}

// Sidecar is Container, for an init container that runs as long as its pod.
func Sidecar(requests ...string) v1.Container {
	c := Container(requests...)
	always := v1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

// Pod is a pod of the default scheduler, without containers.
func Pod(name string, priority int32, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       v1.PodSpec{SchedulerName: model.DefaultSchedulerName, Priority: &priority},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

// CPU gives the pod one container, which requests so much CPU.
func CPU(q string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.Containers = []v1.Container{Container("cpu", q)} }
}

// On binds the pod to a node.
func On(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }

// Nominated nominates the pod to a node.
func Nominated(node string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Status.NominatedNodeName = node }
}

// In puts the pod into another namespace.
func In(namespace string) func(*v1.Pod) { return func(p *v1.Pod) { p.Namespace = namespace } }

// App gives the pod the label app, and no other.
func App(value string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Labels = map[string]string{"app": value} }
}

// ForApp selects the pods of App.
func ForApp(value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": value}}
}

// Started has the pod run since a minute of the first hour of 2024.
func Started(minute int) func(*v1.Pod) {
	return func(p *v1.Pod) {
		at := metav1.NewTime(time.Date(2024, 1, 1, 0, minute, 0, 0, time.UTC))
		p.Status.StartTime = &at
	}
}

// Terminating has the pod terminate since now.
func Terminating(p *v1.Pod) {
	now := metav1.Now()
	p.DeletionTimestamp = &now
}

// ByPreemption has the pod terminate because a scheduler preempted it.
func ByPreemption(p *v1.Pod) {
	Terminating(p)
	p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
		Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
	})
}

// Near adds a required term of affinity to the pods of an App.
func Near(topologyKey, value string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &v1.Affinity{}
		}
		if p.Spec.Affinity.PodAffinity == nil {
			p.Spec.Affinity.PodAffinity = &v1.PodAffinity{}
		}
		terms := &p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*terms = append(*terms, v1.PodAffinityTerm{TopologyKey: topologyKey, LabelSelector: ForApp(value)})
	}
}

// Away makes a required term of anti-affinity to the pods of an App the pod's only
// affinity.
func Away(topologyKey, value string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: topologyKey, LabelSelector: ForApp(value)}}}}
	}
}

// Node is a node with so much CPU, for 100 pods.
func Node(name, cpu string, change ...func(*v1.Node)) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: Resources("cpu", cpu, "pods", "100")}}
	for _, f := range change {
		f(n)
	}
	return n
}

// Budget is a budget that allows so many disruptions.
func Budget(name string, allowed int32, selector *metav1.LabelSelector) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: selector},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

// Group is a PodGroup of that priority.
func Group(name string, priority int32, change ...func(*schedulingv1beta1.PodGroup)) *schedulingv1beta1.PodGroup {
	g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	g.Spec.Priority = &priority
	for _, f := range change {
		f(g)
	}
	return g
}

// AsAWhole makes a group whose pods are disrupted together.
func AsAWhole(g *schedulingv1beta1.PodGroup) {
	g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
}

// PartOf makes a group part of a composite one.
func PartOf(parent string) func(*schedulingv1beta1.PodGroup) {
	return func(g *schedulingv1beta1.PodGroup) { g.Spec.ParentCompositePodGroupName = &parent }
}

// Composite is a CompositePodGroup of that priority, in another one unless that is "".
// Its children are disrupted together, or independently.
func Composite(name, parent string, priority int32, together bool, change ...func(*schedulingv1alpha3.CompositePodGroup)) *schedulingv1alpha3.CompositePodGroup {
	g := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	g.Spec.Priority = &priority
	if parent != "" {
		g.Spec.ParentCompositePodGroupName = &parent
	}
	if together {
		g.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{All: &schedulingv1alpha3.AllCompositeDisruptionMode{}}
	}
	for _, change := range change {
		change(g)
	}
	return g
}

// Member makes a pod one of a group.
func Member(group string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group} }
}

// WithGroups are the settings of a scheduler that knows pod groups, and composite ones.
func WithGroups() model.Settings {
	return model.Settings{FeatureGates: map[string]bool{
		model.GateWorkload: true, model.GateComposite: true, model.GateTopology: true,
	}}
}
