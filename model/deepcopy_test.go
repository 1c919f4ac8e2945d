package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDeepCopySharesNothing(t *testing.T) {
	most := int32(5)
	original := func() *Cluster {
		most := most
		c := aCluster(aPod("p", 9), aNode("n", "1"), aPod("a", 0, on("n"), app("x")), aBudget("b", 1, forApp("x")),
			Settings{MinCandidateNodesAbsolute: &most, FeatureGates: map[string]bool{GateAsyncPreemption: false}})
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
	copied.Settings.FeatureGates[GateAsyncPreemption] = true
	assert.Empty(t, cmp.Diff(original(), c))
}
