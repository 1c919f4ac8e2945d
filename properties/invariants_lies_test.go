package properties

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// cheat is a system that breaks a promise: it is asked about another cluster than
// it should be, or tells another story than it should.
type cheat struct {
	reference.System
	change func(c *model.Cluster)
	tell   func(c *model.Cluster, o *model.Observation)
}

func (l cheat) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	asked := *c
	asked.Preemptor = c.Preemptor.DeepCopy()
	if l.change != nil {
		l.change(&asked)
	}
	o, err := l.System.Observe(ctx, &asked)
	if err == nil && l.tell != nil {
		l.tell(c, o)
	}
	return o, err
}

func cores(n int64) v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(n, resource.DecimalSI), v1.ResourcePods: resource.MustParse("10")}
}

func testPod(name string, priority int32, size int64, change ...func(*v1.Pod)) *v1.Pod {
	start := metav1.NewTime(time.Date(2024, 1, 1, 0, 0, int(priority), 0, time.UTC))
	requests := cores(size)
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

func boundTo(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }
func nominatedTo(node string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Status.NominatedNodeName = node }
}

// honest is a cluster whose preemptor takes low on node-1; mid would do as well,
// and other on node-2, which a budget protects.
func honest() *model.Cluster {
	c := &model.Cluster{
		Pods: []*v1.Pod{
			testPod("low", 1, 1, boundTo("node-1")),
			testPod("mid", 2, 1, boundTo("node-1")),
			testPod("high", 20, 0, boundTo("node-1")),
			testPod("waiting", 5, 0, nominatedTo("node-1")),
			testPod("other", 3, 2, boundTo("node-2")),
		},
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}},
		}},
		Preemptor: testPod("p", 10, 1),
	}
	for _, name := range []string{"node-1", "node-2"} {
		c.Nodes = append(c.Nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: cores(2)}})
	}
	return c
}

// claims makes the system say that it preempts these pods on node-1.
func claims(victims ...string) func(*model.Cluster, *model.Observation) {
	return func(_ *model.Cluster, o *model.Observation) {
		if o.Pick != nil {
			o.Pick.Victims = victims
			o.DryRuns["node-1"] = model.DryRun{Victims: victims}
		}
	}
}

// For every property there is a lie that breaks it, on a cluster where the truth
// does not.
func TestInvariantsCatchLies(t *testing.T) {
	lies := []struct {
		property string
		cluster  func(c *model.Cluster)
		cheat
	}{
		{property: "lower-priority-only", cheat: cheat{tell: claims("default/high", "default/low")}},
		{property: "victims-on-their-node", cheat: cheat{tell: claims("default/other", "default/low")}},
		{property: "victims-were-running", cheat: cheat{tell: claims("default/low", "default/waiting")}},
		{property: "victims-were-running", cheat: cheat{tell: claims("default/low", "default/low")}},
		{property: "victims-were-running", cheat: cheat{tell: claims("default/low", "default/nobody")}},
		{property: "victims-by-importance", cheat: cheat{tell: claims("default/low", "default/mid")}},
		{property: "preemptor-fits", cluster: func(c *model.Cluster) { c.Preemptor = testPod("p", 10, 2) }, cheat: cheat{tell: claims("default/low")}},
		{property: "judges-agree", cheat: cheat{tell: func(c *model.Cluster, o *model.Observation) {
			if len(c.Pods) < len(honest().Pods) {
				o.ScheduledTo = ""
			}
		}}},
		{property: "no-free-node", cluster: func(c *model.Cluster) {
			c.Nodes = append(c.Nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "free"}, Status: v1.NodeStatus{Allocatable: cores(2)}})
		}, cheat: cheat{change: func(c *model.Cluster) { c.Nodes = c.Nodes[:2] }}},
		{property: "never-preempts", cluster: func(c *model.Cluster) {
			never := v1.PreemptNever
			c.Preemptor.Spec.PreemptionPolicy = &never
		}, cheat: cheat{change: func(c *model.Cluster) { c.Preemptor.Spec.PreemptionPolicy = nil }}},
		{property: "waits-for-its-victims", cluster: func(c *model.Cluster) {
			nominatedTo("node-1")(c.Preemptor)
			now := metav1.Now()
			c.Pods[0].DeletionTimestamp = &now
			c.Pods[0].Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}}
		}, cheat: cheat{change: func(c *model.Cluster) { c.Preemptor.Status.NominatedNodeName = "" }}},
		{property: "minimal-victims", cheat: cheat{tell: claims("default/mid", "default/low")}},
		{property: "no-swap", cheat: cheat{tell: claims("default/mid")}},
		{property: "violations-recounted", cheat: cheat{tell: func(_ *model.Cluster, o *model.Observation) {
			o.DryRuns["node-2"] = model.DryRun{Victims: []string{"default/other"}}
		}}},
		{property: "no-fewer-violations", cheat: cheat{tell: picksOther}},
		{property: "best-candidate", cheat: cheat{tell: picksOther}},
		{property: "victims-deleted-and-marked", cheat: cheat{tell: func(_ *model.Cluster, o *model.Observation) { o.Actuation.Deleted = nil }}},
		{property: "victims-deleted-and-marked", cheat: cheat{tell: func(_ *model.Cluster, o *model.Observation) { o.Actuation.DisruptionTarget = nil }}},
		{property: "lower-nominations-cleared", cheat: cheat{tell: func(_ *model.Cluster, o *model.Observation) { o.Actuation.Cleared = nil }}},
		{property: "lower-nominations-cleared", cheat: cheat{tell: func(_ *model.Cluster, o *model.Observation) {
			o.Actuation.Cleared = append(o.Actuation.Cleared, "default/high")
		}}},
		{property: "nothing-else-written", cheat: cheat{tell: func(_ *model.Cluster, o *model.Observation) { o.Actuation.Other = []string{"create an event"} }}},
		{property: "nothing-else-written", cheat: cheat{tell: func(_ *model.Cluster, o *model.Observation) {
			o.Actuation.Deleted = append(o.Actuation.Deleted, "default/mid")
		}}},
		{property: "no-internal-error", cheat: cheat{tell: func(_ *model.Cluster, o *model.Observation) { o.PostFilterCode = "Error" }}},
		{property: "no-internal-error", cheat: cheat{tell: func(_ *model.Cluster, o *model.Observation) { o.CycleError = "panic: oops" }}},
		{property: "order-does-not-matter", cheat: cheat{tell: func(c *model.Cluster, o *model.Observation) {
			if c.Pods[0].Name != "low" {
				claims("default/mid")(c, o)
			}
		}}},
		{property: "order-does-not-matter", cheat: cheat{tell: func(c *model.Cluster, o *model.Observation) {
			if c.Nodes[0].Name != "node-1" {
				picksOther(c, o)
			}
		}}},
	}
	system := newChecker(t).System
	caught := map[string]bool{}
	for _, lie := range lies {
		t.Run(lie.property, func(t *testing.T) {
			i := slices.IndexFunc(Invariants(), func(p Property) bool { return p.Name == lie.property })
			require.GreaterOrEqual(t, i, 0)
			check := func(system reference.System) []Finding {
				c := honest()
				if lie.cluster != nil {
					lie.cluster(c)
				}
				checker := &Checker{System: system, Properties: []Property{Invariants()[i]}}
				r, err := checker.Check(context.Background(), c)
				require.NoError(t, err)
				return slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Property == Differential })
			}
			assert.Empty(t, check(system), "the truth")
			lie.System = system
			findings := check(lie.cheat)
			require.NotEmpty(t, findings)
			for _, f := range findings {
				assert.Empty(t, f.Known, "%v", f)
			}
			caught[lie.property] = true
		})
	}
	for _, p := range Invariants() {
		assert.True(t, caught[p.Name], "no lie breaks %s", p.Name)
		assert.NotEmpty(t, p.Promise, p.Name)
		assert.NotEmpty(t, p.Source, p.Name)
	}
}

func picksOther(_ *model.Cluster, o *model.Observation) {
	if o.Pick != nil {
		o.Pick = &model.Pick{Node: "node-2", Victims: []string{"default/other"}, Violations: 1}
	}
}
