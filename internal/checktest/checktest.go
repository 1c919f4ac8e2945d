// Package checktest has what tests of properties share: a checker of the scheduler
// that is linked in, a scheduler that lies, and a cluster on which it does not.
package checktest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// Checker is one of kube-scheduler, until the test ends.
func Checker(t testing.TB, promises ...properties.Property) *properties.Checker {
	return &properties.Checker{System: System(t), Properties: promises}
}

// System is kube-scheduler, until the test ends.
func System(t testing.TB) reference.FilterSystem {
	system := inprocess.New()
	t.Cleanup(func() { assert.NoError(t, system.Close()) })
	return system
}

// Subject is a cluster together with what the system does with it.
func Subject(t testing.TB, system reference.System, c *model.Cluster) *properties.Subject {
	o, err := system.Observe(t.Context(), c)
	require.NoError(t, err)
	return &properties.Subject{Release: release.Linked, Context: t.Context(), Cluster: c, Observation: o, System: system}
}

// Liar is a system that breaks a promise: it is asked about another cluster than it
// should be, or tells another story than it should.
type Liar struct {
	reference.System
	Change func(c *model.Cluster)
	Tell   func(c *model.Cluster, o *model.Observation)
}

// Observe asks the system, and lies.
func (l Liar) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	asked := *c
	asked.Preemptor = c.Preemptor.DeepCopy()
	if l.Change != nil {
		l.Change(&asked)
	}
	o, err := l.System.Observe(ctx, &asked)
	if err == nil && l.Tell != nil {
		l.Tell(c, o)
	}
	return o, err
}

// Cores is room for n CPUs and ten pods.
func Cores(n int64) v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(n, resource.DecimalSI), v1.ResourcePods: resource.MustParse("10")}
}

// Pod requests a number of CPUs. It runs, and started the later the higher its
// priority is. It has a label with its name.
func Pod(name string, priority int32, cpus int64, change ...func(*v1.Pod)) *v1.Pod {
	start := metav1.NewTime(time.Date(2024, 1, 1, 0, 0, int(priority), 0, time.UTC))
	requests := Cores(cpus)
	delete(requests, v1.ResourcePods)
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": name}},
		Spec: v1.PodSpec{SchedulerName: model.DefaultSchedulerName, Priority: &priority,
			Containers: []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: requests}}}},
		Status: v1.PodStatus{Phase: v1.PodRunning, StartTime: &start},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

// BoundTo binds a pod to a node.
func BoundTo(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }

// NominatedTo nominates a pod to a node.
func NominatedTo(node string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Status.NominatedNodeName = node }
}

// Node has room for a number of CPUs and ten pods.
func Node(name string, cpus int64) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: Cores(cpus)}}
}

// Cluster is one whose preemptor takes low on node-1. There mid would do as well,
// and on node-2 other, which a budget protects.
func Cluster() *model.Cluster {
	return &model.Cluster{
		Nodes: []*v1.Node{Node("node-1", 2), Node("node-2", 2)},
		Pods: []*v1.Pod{
			Pod("low", 1, 1, BoundTo("node-1")),
			Pod("mid", 2, 1, BoundTo("node-1")),
			Pod("high", 20, 0, BoundTo("node-1")),
			Pod("waiting", 5, 0, NominatedTo("node-1")),
			Pod("other", 3, 2, BoundTo("node-2")),
		},
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}},
		}},
		Preemptor: Pod("p", 10, 1),
	}
}

// Victims makes the system say that it preempts these pods on node-1 of Cluster.
func Victims(keys ...string) func(*model.Cluster, *model.Observation) {
	return func(_ *model.Cluster, o *model.Observation) {
		if o.Pick != nil {
			o.Pick.Victims = keys
			o.DryRuns["node-1"] = model.DryRun{Victims: keys}
		}
	}
}
