package model

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The builders make objects with just the fields a test is about.

func list(pairs ...string) v1.ResourceList {
	out := v1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[v1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func aContainer(pairs ...string) v1.Container {
	return v1.Container{Name: "c", Resources: v1.ResourceRequirements{Requests: list(pairs...)}}
}

func aPod(name string, priority int32, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       v1.PodSpec{SchedulerName: DefaultSchedulerName, Priority: &priority},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func cpu(q string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.Containers = []v1.Container{aContainer("cpu", q)} }
}

func on(node string) func(*v1.Pod)     { return func(p *v1.Pod) { p.Spec.NodeName = node } }
func nominated(n string) func(*v1.Pod) { return func(p *v1.Pod) { p.Status.NominatedNodeName = n } }
func app(value string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Labels = map[string]string{"app": value} }
}

func started(minute int) func(*v1.Pod) {
	return func(p *v1.Pod) {
		at := metav1.NewTime(time.Date(2024, 1, 1, 0, minute, 0, 0, time.UTC))
		p.Status.StartTime = &at
	}
}

func terminating(p *v1.Pod) {
	now := metav1.Now()
	p.DeletionTimestamp = &now
}

func byPreemption(p *v1.Pod) {
	terminating(p)
	p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
		Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
	})
}

func aNode(name, cpus string, change ...func(*v1.Node)) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: list("cpu", cpus, "pods", "100")}}
	for _, c := range change {
		c(n)
	}
	return n
}

func aBudget(name string, allowed int32, selector *metav1.LabelSelector) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: selector},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

func forApp(value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": value}}
}

// ask builds the question of a cluster of one preemptor and some objects.
func ask(rules *Rules, preemptor *v1.Pod, objects ...any) *question {
	return newQuestion(aCluster(preemptor, objects...), rules)
}

func aCluster(preemptor *v1.Pod, objects ...any) *Cluster {
	c := &Cluster{Preemptor: preemptor}
	for _, o := range objects {
		switch o := o.(type) {
		case *v1.Node:
			c.Nodes = append(c.Nodes, o)
		case *v1.Pod:
			c.Pods = append(c.Pods, o)
		case *policyv1.PodDisruptionBudget:
			c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, o)
		case Settings:
			c.Settings = o
		default:
			panic(fmt.Sprintf("%T does not belong in a cluster", o))
		}
	}
	return c
}
