package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

func TestDeepCopySharesNothing(t *testing.T) {
	most := int32(5)
	original := func() *model.Cluster {
		most := most
		c := mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1"), mk.Pod("a", 0, mk.On("n"), mk.App("x")), mk.Budget("b", 1, mk.ForApp("x")),
			model.Settings{MinCandidateNodesAbsolute: &most, FeatureGates: map[string]bool{model.GateAsyncPreemption: false}})
		c.Extra = append(c.Extra, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
		return c
	}
	c := original()
	copied := c.DeepCopy()
	assert.Empty(t, cmp.Diff(c, copied))

	copied.Nodes[0].Name, copied.Pods[0].Labels["app"], copied.Preemptor.Name = "m", "y", "q"
	copied.PodDisruptionBudgets[0].Status.DisruptionsAllowed = 7
	copied.Extra[0].(*v1.Namespace).Name = "other"
	*copied.Settings.MinCandidateNodesAbsolute = 1
	copied.Settings.FeatureGates[model.GateAsyncPreemption] = true
	assert.Empty(t, cmp.Diff(original(), c))
}
