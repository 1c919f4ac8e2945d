package model_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// A victim that has the condition already is not patched again, wherever it stands among others; one with another reason or message is.
func TestMarkedAlready(t *testing.T) {
	cy := model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1")))
	marked := func(change func(*v1.PodCondition)) *v1.Pod {
		c := v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
			Message: "default-scheduler: preempting to accommodate a higher priority pod"}
		change(&c)
		p := mk.Pod("v", 0)
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue}, c}
		return p
	}
	assert.True(t, cy.MarkedAlready(marked(func(*v1.PodCondition) {})))
	assert.False(t, cy.MarkedAlready(mk.Pod("v", 0)))
	for name, change := range map[string]func(*v1.PodCondition){
		"it is over":        func(c *v1.PodCondition) { c.Status = v1.ConditionFalse },
		"another reason":    func(c *v1.PodCondition) { c.Reason = "EvictionByEvictionAPI" },
		"another message":   func(c *v1.PodCondition) { c.Message = "preempting" },
		"it was probed":     func(c *v1.PodCondition) { c.LastProbeTime.Time = c.LastProbeTime.AddDate(3, 0, 0) },
		"another condition": func(c *v1.PodCondition) { c.Type = v1.PodReady },
	} {
		assert.False(t, cy.MarkedAlready(marked(change)), name)
	}
}

// Pods that lose their nominations are told of by name, whatever the order in which the cluster has them, and none of equal priority.
func TestWithdrawn(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1"), mk.Node("m", "1"),
		mk.Pod("b", 8, mk.Nominated("n")), mk.Pod("c", 9, mk.Nominated("n")), mk.Pod("a", 0, mk.Nominated("n")), mk.Pod("d", 0, mk.Nominated("m")))
	cy := model.Documented().NewCycle(c)
	withdrawn := []string{"default/a", "default/b"}
	assert.Equal(t, withdrawn, cy.Withdrawn(cy.Node("n")))
	assert.Equal(t, &model.Actuation{Nomination: model.NominationSet, NominatedNode: "n", Cleared: withdrawn}, model.Actuate(cy, cy.Node("n"), nil))
}

// A dry run has begun once there is a pod that might go, also if it ended in an error.
func TestBegun(t *testing.T) {
	failed := &model.Verdict{Error: "no"}
	assert.True(t, (&model.DryRunOnNode{}).Begun())
	assert.True(t, (&model.DryRunOnNode{Failed: &model.Verdict{Reasons: []string{model.NoVictims}}}).Begun())
	assert.True(t, (&model.DryRunOnNode{Failed: failed, Possible: make([]*unit.Unit, 1)}).Begun())
	assert.False(t, (&model.DryRunOnNode{Failed: failed}).Begun())
}

// What is written to victims is told by name: all that do not terminate yet are deleted, and marked unless they are already.
func TestEvict(t *testing.T) {
	marked := func(p *v1.Pod) {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
			Message: "default-scheduler: preempting to accommodate a higher priority pod"}}
	}
	cy := model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1"), mk.Pod("d", 3, mk.On("n")), mk.Pod("c", 2, mk.On("n"), mk.Terminating),
		mk.Pod("b", 1, mk.On("n"), marked), mk.Pod("a", 0, mk.On("n"))))
	assert.Equal(t, &model.Actuation{Deleted: []string{"default/a", "default/b", "default/d"}, DisruptionTarget: []string{"default/a", "default/d"}}, cy.Evict(cy.Node("n").Pods))
}

// A claim is in the way where it is for other nodes, unless another plugin fails the node before, or another pod uses the claim. It may lose its
// allocation where the pod fits nowhere.
func TestInTheWay(t *testing.T) {
	claim := func(name, node string, users ...resourcev1.ResourceClaimConsumerReference) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		c.Status.ReservedFor = users
		c.Status.Allocation = &resourcev1.AllocationResult{NodeSelector: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
			MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpNotIn, Values: []string{node}}}}}}}
		return c
	}
	p := mk.Pod("p", 9)
	for _, name := range []string{"y", "x", "used"} {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: name, ResourceClaimName: &name})
	}
	cordoned := mk.Node("cordoned", "1", func(n *v1.Node) { n.Spec.Unschedulable = true })
	nodes := []any{mk.Node("a", "1"), mk.Node("b", "1"), mk.Node("c", "1"), mk.Node("d", "1")}
	for _, tt := range []struct {
		name    string
		nodes   []any
		objects []any
		want    []string
		goes    bool
	}{
		{"of two nodes", nodes, []any{claim("y", "b"), claim("x", "c"), claim("used", "d", resourcev1.ResourceClaimConsumerReference{UID: "other"})}, []string{"default/x", "default/y"}, false},
		{"of all nodes", nodes[1:3], []any{claim("y", "b"), claim("x", "c"), claim("used", "d")}, []string{"default/x", "default/y"}, true},
		{"only where another plugin fails", nodes, []any{claim("y", "cordoned"), claim("x", "cordoned"), claim("used", "cordoned")}, nil, false},
		{"a claim that does not exist", nodes, []any{claim("y", "b"), claim("x", "c")}, nil, false},
	} {
		d := model.Documented().Decide(mk.Cluster(p, slices.Concat([]any{cordoned}, tt.nodes, tt.objects)...))
		assert.Equal(t, tt.want, d.InTheWay(), tt.name)
		if !tt.goes {
			tt.want = nil
		}
		assert.Equal(t, tt.want, d.Deallocatable(), tt.name)
	}
	plain := model.Documented().Decide(mk.Cluster(mk.Pod("p", 9), cordoned, claim("y", "b")))
	assert.Nil(t, plain.InTheWay(), "it has no claim")
}
