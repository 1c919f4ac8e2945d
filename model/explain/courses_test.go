package explain

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// groupsOf are the cycles of the cases whose preemptor is a group, by the name of the case.
func groupsOf(t testing.TB) map[string]*podgroups.Set {
	s, err := corpus.Load("../../corpus/cases")
	require.NoError(t, err)
	all := map[string]*podgroups.Set{}
	for _, c := range s.Cases {
		if c.Cluster.PreemptorGroup == "" {
			continue
		}
		set, err := podgroups.Decide(c.Cluster, answers.Documented())
		if errors.As(err, &model.Unmodelled{}) {
			continue
		}
		require.NoError(t, err, c.Name)
		all[c.Name] = set
	}
	return all
}

// comesTo is what is told of a course.
func comesTo(c *Course) string {
	var victims []string
	for _, p := range c.Victims {
		victims = append(victims, p.Key)
	}
	return fmt.Sprint(c.Waits, c.Fails, c.Binds, c.Preempts, len(c.Awaited), c.Nominated, victims, c.Violations)
}

// Whatever is chosen at random, Courses has a course that comes to the same, though it does not follow each way.
func TestCoursesMissNothing(t *testing.T) {
	groups, several := groupsOf(t), 0
	require.NotEmpty(t, groups)
	for name, set := range groups {
		courses, exact := Courses(set, 10_000)
		if !exact {
			continue
		}
		found := map[string]bool{}
		for _, c := range courses {
			found[comesTo(c)] = true
		}
		if len(found) > 1 {
			several++
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 100 {
			c := chosen{
				domain: func(_ place, _ string, enough []podgroup.Scheduled) int { return r.IntN(len(enough)) },
				member: func(_ place, left []*v1.Pod) (int, bool) { return r.IntN(len(left)), true },
				node:   func(_ place, _ *v1.Pod, fits []string) string { return fits[r.IntN(len(fits))] },
				devices: func(_ place, trial *model.Cycle, at podgroup.Placement) map[string]*resourcev1.AllocationResult {
					ways, _ := podgroup.Allocations(trial, at.Node, 10_000)
					return ways[r.IntN(len(ways))]
				},
				order: func(possible []*unit.Unit) []*unit.Unit { return inOrder(set, possible, r.IntN) },
			}.course(set)
			require.True(t, found[comesTo(c)], "%s: %s", name, comesTo(c))
		}
	}
	require.GreaterOrEqual(t, several, 3, "of %d", len(groups))
}

// BenchmarkCourses is of a composite group of two groups, of two zones and three racks, that places three members in both passes.
func BenchmarkCourses(b *testing.B) {
	set := groupsOf(b)["composite-group-in-one-zone-and-racks"]
	require.NotNil(b, set)
	for b.Loop() {
		Courses(set, 10_000)
	}
}
