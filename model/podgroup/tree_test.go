package podgroup_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
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
