package inprocess

import (
	"fmt"
	"math/rand"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
)

// Small clusters by hand: one resource, cpu in whole cores.

var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func node(name string, cores int64) *v1.Node {
	r := v1.ResourceList{
		v1.ResourceCPU:    *resource.NewQuantity(cores, resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(1<<40, resource.BinarySI),
		v1.ResourcePods:   *resource.NewQuantity(110, resource.DecimalSI),
	}
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}},
		Status: v1.NodeStatus{Capacity: r, Allocatable: r}}
}

func pod(name string, priority int32, cores int64, opts ...func(*v1.Pod)) *v1.Pod {
	start := metav1.NewTime(epoch)
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: v1.PodSpec{SchedulerName: v1.DefaultSchedulerName, Priority: &priority, Containers: []v1.Container{{Name: "c",
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(cores, resource.DecimalSI)}}}}},
		Status: v1.PodStatus{Phase: v1.PodRunning, StartTime: &start},
	}
	for _, o := range opts {
		o(p)
	}
	return p
}

func on(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }

func nominatedTo(node string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Status.Phase, p.Status.NominatedNodeName = v1.PodPending, node }
}

func labelled(app string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Labels = map[string]string{"app": app} }
}

func startedAfter(seconds int) func(*v1.Pod) {
	return func(p *v1.Pod) {
		t := metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
		p.Status.StartTime = &t
	}
}

func terminating(p *v1.Pod) {
	now := metav1.NewTime(epoch)
	p.DeletionTimestamp = &now
}

func preempted(p *v1.Pod) {
	terminating(p)
	p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler})
}

func never(p *v1.Pod) {
	policy := v1.PreemptNever
	p.Spec.PreemptionPolicy = &policy
}

func budget(name, app string, allowed int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed}}
}

func gate(name string, on bool) model.Settings {
	return model.Settings{FeatureGates: map[string]bool{name: on}}
}

// randomCluster never ties at the last criterion, where upstream's answer is the
// order of a map: no two pods start at one time.
func randomCluster(r *rand.Rand) *model.Cluster {
	c := &model.Cluster{}
	names := []string{"n0", "n1", "n2", "n3", "n4", "n5"}[:1+r.Intn(6)]
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, n := range names {
		c.Nodes = append(c.Nodes, node(n, 2+r.Int63n(5)))
		if r.Intn(8) == 0 {
			c.Nodes[len(c.Nodes)-1].Spec.Unschedulable = true
		}
	}
	apps := []string{"a", "b", "c"}
	starts := r.Perm(64)
	for i := range 4 + r.Intn(24) {
		p := pod(fmt.Sprintf("p%d", i), int32(r.Intn(5)-1)*10, r.Int63n(4), startedAfter(starts[i]))
		where := names[r.Intn(len(names))]
		switch r.Intn(6) {
		case 0:
			nominatedTo(where)(p)
		case 1:
			p.Status.Phase = v1.PodPending
		default:
			on(where)(p)
		}
		if r.Intn(2) == 0 {
			labelled(apps[r.Intn(3)])(p)
		}
		switch r.Intn(8) {
		case 0:
			terminating(p)
		case 1:
			preempted(p)
		case 2:
			p.UID = types.UID("given-" + p.Name)
		}
		c.Pods = append(c.Pods, p)
	}
	for i := range r.Intn(4) {
		c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, budget(fmt.Sprintf("b%d", i), apps[r.Intn(3)], r.Int31n(3)))
	}
	c.Preemptor = pod("preemptor", int32(r.Intn(5))*10, 1+r.Int63n(4))
	if r.Intn(4) == 0 {
		nominatedTo(names[r.Intn(len(names))])(c.Preemptor)
	}
	if r.Intn(4) == 0 {
		c.Settings = gate(model.GateAsyncPreemption, r.Intn(2) == 0)
	}
	if r.Intn(4) == 0 {
		one := int32(1)
		c.Settings.MinCandidateNodesAbsolute = &one
	}
	return c
}
