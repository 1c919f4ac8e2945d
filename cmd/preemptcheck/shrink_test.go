package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
)

func TestShrinkLeavesOnlyWhatMatters(t *testing.T) {
	newPod := func(name, node string) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PodSpec{NodeName: node, Containers: []v1.Container{{}}}}
	}
	c := &model.Cluster{Preemptor: newPod("p", ""), Settings: model.Settings{FeatureGates: map[string]bool{"A": true}}}
	for _, node := range []string{"a", "b", "c", "d", "e"} {
		c.Nodes = append(c.Nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
		for _, pod := range []string{"1", "2", "3"} {
			c.Pods = append(c.Pods, newPod(node+pod, node))
		}
	}
	c.Nodes[1].Spec.Unschedulable, c.Nodes[3].Spec.Unschedulable = true, true
	require.NoError(t, apiserver.Admit(c))
	has := func(c *model.Cluster, name string) bool {
		for _, p := range c.Pods {
			if p.Name == name {
				return true
			}
		}
		return false
	}
	small := shrink(c, func(c *model.Cluster) bool { return has(c, "b2") && has(c, "d3") && c.Pods[0].Status.StartTime == nil })
	require.Len(t, small.Nodes, 2)
	require.Len(t, small.Pods, 2)
	require.Equal(t, []string{"missing start times"}, inPlay(small))
	require.Len(t, c.Nodes, 5, "the cluster itself stays as it is")
	require.Len(t, c.Pods, 15)
}
