package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

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
	assert.Equal(t, []string{"default/a", "default/b"}, cy.Withdrawn(cy.Node("n")))
}

// A dry run has begun once there is a pod that might go, also if it ended in an error.
func TestBegun(t *testing.T) {
	failed := &model.Verdict{Error: "no"}
	assert.True(t, (&model.DryRunOnNode{}).Begun())
	assert.True(t, (&model.DryRunOnNode{Failed: &model.Verdict{Reasons: []string{model.NoVictims}}}).Begun())
	assert.True(t, (&model.DryRunOnNode{Failed: failed, Possible: make([]*unit.Unit, 1)}).Begun())
	assert.False(t, (&model.DryRunOnNode{Failed: failed}).Begun())
}
