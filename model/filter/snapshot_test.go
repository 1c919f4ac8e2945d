package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Before takes back what Without took away, and leaves pods without a node where they are.
func TestBefore(t *testing.T) {
	s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9), mk.Node("m", "1"), mk.Node("n", "1"), mk.Pod("a", 0, mk.On("n")), mk.Pod("b", 0, mk.On("n")), mk.Pod("lost", 0, mk.On("gone"))))
	require.Len(t, s.Homeless, 1)
	same, none := s.Before()
	require.Same(t, s, same)
	require.Empty(t, none)

	all := s.Nodes[1].Pods
	require.Len(t, all, 2)
	without := s.Without(all[:1])
	require.Len(t, without.Nodes[1].Pods, 1)
	before, gone := without.Before()
	require.Equal(t, all[:1], gone)
	require.ElementsMatch(t, all, before.Nodes[1].Pods)
	require.Equal(t, s.Homeless, before.Homeless)
	require.Len(t, without.Nodes[1].Pods, 1, "a snapshot does not change")
}

// Which pods are bound, placed and counted, where one is nominated and another one's node is gone.
func TestWhoIsWhere(t *testing.T) {
	s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9), mk.Node("m", "1"), mk.Node("n", "1"), mk.Pod("a", 0, mk.On("m")), mk.Pod("b", 0, mk.On("n")), mk.Pod("c", 0, mk.On("n")),
		mk.Pod("waits", 0, mk.Nominated("n")), mk.Pod("too", 0, mk.Nominated("n")), mk.Pod("lost", 0, mk.On("gone"))))
	require.Equal(t, 7, s.Size())
	names := func(each func(func(*filter.Pod))) (out []string) {
		each(func(p *filter.Pod) { out = append(out, p.Name) })
		return out
	}
	placed := func(s *filter.Snapshot) []string {
		return names(func(visit func(*filter.Pod)) { s.Placed(func(_ *filter.Node, p *filter.Pod) { visit(p) }) })
	}
	require.Equal(t, []string{"a", "b", "c", "lost"}, names(s.Bound))
	require.Equal(t, []string{"a", "b", "c", "waits", "too"}, placed(s))
	a, b := s.Nodes[0].Pods[0], s.Nodes[1].Pods[0]
	without := s.Without([]*filter.Pod{a, b})
	require.Equal(t, 7, without.Size())
	require.Equal(t, []string{"c", "lost", "a", "b"}, names(without.Bound))
	require.Equal(t, []string{"c", "waits", "too"}, placed(without))
	before, gone := without.Before()
	require.Equal(t, []*filter.Pod{a, b}, gone)
	require.ElementsMatch(t, []string{"a", "b", "c", "waits", "too"}, placed(before))
	require.Equal(t, []string{"a", "b", "c", "waits", "too"}, placed(s), "a snapshot does not change")
}

// A view remembers who was taken away, and who came back.
func TestViews(t *testing.T) {
	a, b, c := &filter.Pod{Key: "a"}, &filter.Pod{Key: "b"}, &filter.Pod{Key: "c"}
	v := (&filter.Node{Pods: []*filter.Pod{a, b}}).View()
	require.Equal(t, filter.View{Pods: []*filter.Pod{a, b}}, v)
	away := v.Away(a, b)
	require.Empty(t, away.Pods)
	require.Equal(t, []filter.Move{{Pod: a}, {Pod: b}}, away.Moves)
	back := away.Back(b, a)
	require.Equal(t, []*filter.Pod{b, a}, back.Pods)
	require.Equal(t, []filter.Move{{Pod: a}, {Pod: b}, {Pod: b, Back: true}, {Pod: a, Back: true}}, back.Moves)
	with := back.With([]*filter.Pod{c})
	require.Equal(t, []*filter.Pod{b, a, c}, with.Pods)
	require.Equal(t, back.Moves, with.Moves)
	require.Equal(t, []*filter.Pod{b}, v.Away(a).Pods)
}
