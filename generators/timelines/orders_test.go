package timelines_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// orders are those of a scenario in short, if something waits at the place of the kind "hold"
// once for each event so far.
func orders(t *testing.T, s *timelines.Scenario, bound int) (all []string) {
	require.NoError(t, s.Orders(bound, func(tl *timeline.Timeline) (int, error) {
		var words []string
		waiting, last := 0, 0
		for i := range tl.Steps {
			switch step := &tl.Steps[i]; {
			case step.Hold != nil:
			case step.Next != nil:
				last, waiting = waiting, max(0, waiting-1)
				words = append(words, "next")
			default:
				last, waiting = 1, waiting+1
				words = append(words, strings.TrimPrefix(step.Delete, "Pod "))
			}
		}
		if last > 0 {
			all = append(all, strings.Join(words, " "))
		}
		return last, nil
	}))
	return all
}

// TestOrders: all orders are visited, each once; of a group the events come in turn, and a place
// at which nothing waits is no choice.
func TestOrders(t *testing.T) {
	event := func(name string) timeline.Step { return timeline.Step{Delete: "Pod " + name} }
	s := &timelines.Scenario{
		Events: [][]timeline.Step{{event("a1"), event("a2")}, {event("b")}},
		Places: []timeline.Place{{Name: timeline.Evict}},
	}
	require.Equal(t, []string{"a1", "a1 a2", "a1 b", "a1 next", "b", "b a1", "b next"}, orders(t, s, 2))
	seen := map[string]bool{}
	for _, order := range orders(t, s, 6) {
		require.False(t, seen[order], order)
		seen[order] = true
		require.Less(t, strings.Index(order, "a1"), max(strings.Index(order, "a2"), len(order)), order)
	}
	// With all of the three events: their 3 orders, each with as many ways to let things go in
	// between, and after, as there are ways to have gone no further than what is there.
	whole := 0
	for order := range seen {
		if strings.Contains(order, "a2") && strings.Contains(order, "b") && strings.Count(order, "next") == 3 {
			whole++
		}
	}
	require.Equal(t, 3*5, whole) // 5 is the number of balanced sequences of three pairs
	failed := errors.New("it fails")
	visits := 0
	require.ErrorIs(t, s.Orders(6, func(*timeline.Timeline) (int, error) {
		if visits++; visits == 3 {
			return 0, failed
		}
		return 1, nil
	}), failed)
	require.Equal(t, 3, visits)
}

// TestScenarios: they have names of their own, and what happens in them is of one world.
func TestScenarios(t *testing.T) {
	names := map[string]bool{}
	for _, s := range timelines.Scenarios() {
		require.False(t, names[s.Name], s.Name)
		names[s.Name] = true
		there := map[string]bool{}
		for _, p := range s.Cluster.Pods {
			there["Pod "+p.Namespace+"/"+p.Name] = true
		}
		for _, group := range s.Events {
			for _, step := range group {
				if p := step.CreatedPod(); p != nil {
					there[fmt.Sprintf("Pod %s/%s", p.Namespace, p.Name)] = true
				} else {
					require.True(t, there[step.Delete], step.Delete)
				}
			}
		}
	}
}
