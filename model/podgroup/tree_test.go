package podgroup_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
)

// A group of two pods, one of one, and a composite one of two groups that needs both.
func TestTree(t *testing.T) {
	pods := map[string]*v1.Pod{}
	members := func(names ...string) (all []*v1.Pod) {
		for _, name := range names {
			pods[name] = mk.Pod(name, 1)
			all = append(all, pods[name])
		}
		return all
	}
	pair := &podgroup.Tree{Key: "pair", Least: 2, Members: members("a", "b")}
	one := &podgroup.Tree{Key: "one", Least: 1, Members: members("c"), Bound: []*v1.Pod{mk.Pod("bound", 1, mk.On("n"))}}
	left := &podgroup.Tree{Key: "left", Least: 1, Members: members("d", "e")}
	right := &podgroup.Tree{Key: "right", Least: 2, Members: members("f", "g")}
	both := &podgroup.Tree{Key: "both", Least: 2, Groups: []*podgroup.Tree{left, right}}
	cy := &podgroup.Cycle{Algorithm: &podgroup.Algorithm{Enough: podgroup.Enough}, Root: &podgroup.Tree{Key: "root", Least: 1, Groups: []*podgroup.Tree{pair, one, both}}}

	assert.Equal(t, []*podgroup.Tree{pair, one, left, right}, cy.Root.Leaves())
	assert.Equal(t, []*v1.Pod{one.Bound[0]}, cy.Root.Running())
	assert.True(t, both.Has(pods["g"]))
	assert.False(t, both.Has(pods["a"]))
	for _, tt := range []struct {
		name         string
		placed, lost []string
	}{
		{"nobody", nil, nil},
		{"one of a pair", []string{"a"}, []string{"a"}},
		{"both of a pair", []string{"a", "b"}, nil},
		{"beside one that runs", []string{"c"}, nil},
		{"all of the one half", []string{"d", "e"}, []string{"d", "e"}},
		{"a part of the other half, too", []string{"d", "e", "f"}, []string{"d", "e", "f"}},
		{"enough of both halves", []string{"d", "f", "g"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var placed []podgroup.Placement
			for _, name := range tt.placed {
				placed = append(placed, podgroup.Placement{Pod: pods[name], Node: "n"})
			}
			var lost []string
			for _, at := range cy.TakenBack(placed) {
				lost = append(lost, at.Pod.Name)
			}
			slices.Sort(lost)
			assert.Equal(t, tt.lost, lost)
		})
	}
}

// A gang says so, and what of it has to be scheduled; of other groups that is one member, or one group.
func TestTreeOfGroup(t *testing.T) {
	member := mk.Pod("a", 1, mk.Member("g"))
	group, all := model.PodGroupKey("default", "g"), model.CompositePodGroupKey("default", "all")
	for _, tt := range []struct {
		key   string
		parts []any
		gang  bool
		least int
	}{
		{group, []any{mk.Group("g", 1)}, false, 1},
		{group, []any{mk.Group("g", 1, gang(2))}, true, 2},
		{all, []any{mk.Group("g", 1, mk.PartOf("all")), mk.Composite("all", "", 1, false)}, false, 1},
		{all, []any{mk.Group("g", 1, mk.PartOf("all")), groups(2)}, true, 2},
	} {
		root := startOf(tt.key, append(tt.parts, member)...).Root
		assert.Equal(t, tt.gang, root.Gang, "%s of %d", tt.key, tt.least)
		assert.Equal(t, tt.least, root.Least, tt.key)
	}
}

// Units are preempted for members whose groups are scheduled, and not for those that were taken back.
func TestHelped(t *testing.T) {
	placed := on("n", mk.Pod("a", 1))
	assert.Equal(t, placed, podgroup.Helped(nil, podgroup.Pass{Placed: placed, Tried: on("n", mk.Pod("b", 1), placed[0].Pod)}))
}
