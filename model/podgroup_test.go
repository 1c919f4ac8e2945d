package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// Names of groups are told apart from those of pods, and from each other.
func TestNamesOfGroups(t *testing.T) {
	for key, is := range map[string]bool{
		"podgroup/default/g": true, "compositepodgroup/default/g": true,
		"podgroup/g": false, "default/p": false, "pod/default/g": false, "podgroup/default/g/h": false, "compositepodgroup/g": false,
	} {
		assert.Equal(t, is, model.IsGroupKey(key), key)
	}
	assert.Equal(t, "PodGroup default/g", model.GroupTitle("podgroup/default/g"))
	assert.Equal(t, "CompositePodGroup default/g", model.GroupTitle("compositepodgroup/default/g"))

	g, c, other := mk.Group("g", 1), mk.Composite("g", "", 1, false), mk.Group("g", 1)
	other.Namespace = "other"
	cluster := mk.Cluster(nil, other, c, g)
	assert.Same(t, g, cluster.Group("podgroup/default/g"))
	assert.Same(t, c, cluster.Group("compositepodgroup/default/g"))
	assert.Same(t, other, cluster.Group("podgroup/other/g"))
	for _, key := range []string{"podgroup/default/h", "compositepodgroup/other/g", "compositepodgroup/default/h", "pod/default/g"} {
		assert.Nil(t, cluster.Group(key), key)
	}
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "g", UID: "1"}}
	assert.True(t, model.IsGroup(g) && model.IsGroup(c))
	assert.False(t, model.IsGroup(namespace))
	assert.Empty(t, mk.Cluster(nil, mk.WithGroups(), namespace).GroupsOfPreemptor())
	orphan := mk.Group("g", 1, mk.PartOf("gone"))
	assert.Empty(t, mk.Cluster(mk.Pod("p", 1), mk.WithGroups(), orphan).GroupsOfPreemptor(), "no group is scheduled")
	assert.Equal(t, types.UID("podgroup/default/g"), model.UIDOfGroup(g))
	g.UID = "1"
	assert.Equal(t, types.UID("1"), model.UIDOfGroup(g))
}

// What is scheduled is a pod, a group, or nothing.
func TestPreemptors(t *testing.T) {
	p, waits, bound := mk.Pod("p", 1), mk.Pod("waits", 1, mk.Member("g")), mk.Pod("bound", 1, mk.Member("g"), mk.On("n"))
	n, g := mk.Node("n", "1"), mk.Group("g", 1)
	c := mk.Cluster(p, mk.WithGroups(), waits, bound, n, g)
	assert.Equal(t, []string{"default/p", "Pod default/p"}, []string{c.PreemptorKey(), c.PreemptorTitle()})
	assert.Equal(t, []*v1.Pod{p}, c.Preemptors())
	assert.Equal(t, []runtime.Object{n, waits, bound, p, g}, c.Objects())
	assert.Empty(t, c.Members(), "no group is scheduled")
	c.Preemptor, c.PreemptorGroup = nil, "podgroup/default/g"
	assert.Equal(t, []string{"podgroup/default/g", "PodGroup default/g"}, []string{c.PreemptorKey(), c.PreemptorTitle()})
	assert.Equal(t, []*v1.Pod{waits}, c.Preemptors())
	assert.Equal(t, []*v1.Pod{waits, bound}, c.Members())
	assert.Equal(t, []runtime.Object{n, waits, bound, g}, c.Objects())
}

// A circle of composite groups has no root, and with the gate off a group is by itself.
func TestRootOf(t *testing.T) {
	p := mk.Pod("p", 1, mk.Member("g"))
	circle := mk.Cluster(nil, mk.WithGroups(), p, mk.Group("g", 1, mk.PartOf("c")), mk.Composite("c", "d", 1, false), mk.Composite("d", "c", 1, false))
	assert.Empty(t, circle.RootOf(p))
	circle.Settings.FeatureGates[model.GateComposite] = false
	assert.Equal(t, "podgroup/default/g", circle.RootOf(p))
	assert.Empty(t, circle.RootOf(mk.Pod("q", 1)))
	assert.Empty(t, circle.RootOf(mk.Pod("q", 1, func(p *v1.Pod) { p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{} })))
}
