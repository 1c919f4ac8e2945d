package properties_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
)

// early are generated clusters in which dry runs may end before all nodes are
// tried.
func early(t *testing.T, count int, use func(c *model.Cluster, r *properties.Result)) {
	checker := checktest.Checker(t)
	for n := uint64(0); count > 0; n++ {
		c := generators.FromSeed(rand.NewPCG(21, n).Uint64())
		one := int32(1)
		c.Settings = model.Settings{MinCandidateNodesPercentage: &one, MinCandidateNodesAbsolute: &one}
		c.Preemptor.Spec.SchedulerName = v1.DefaultSchedulerName
		r, err := checker.Check(context.Background(), c)
		require.NoError(t, err)
		if r.Decision != nil && len(r.Findings) == 0 && len(r.Observation.Candidates) > 0 && len(r.Decision.PotentialNodes) > 2 {
			use(c, r)
			count--
		}
	}
}

// Whatever the offset, the scheduler tries the nodes that the model says, and what
// it picks is one of the choices that the model allows without knowing the offset.
// The offset makes a difference.
func TestEveryOffset(t *testing.T) {
	checker := checktest.Checker(t)
	picks, several := 0, 0
	early(t, testsize.Times(100), func(c *model.Cluster, r *properties.Result) {
		nodes := map[string]bool{}
		choices := r.Decision.Choices()
		exact, _ := r.Decision.Exact()
		for offset := range int32(len(r.Decision.PotentialNodes)) {
			at := *c
			at.Settings.DryRunOffset = &offset
			there, err := checker.Check(context.Background(), &at)
			require.NoError(t, err)
			require.Empty(t, there.Unexplained())
			if len(there.Findings) > 0 {
				continue // what is known of one node may decide at this offset only
			}
			if p := there.Observation.Pick; p != nil {
				nodes[p.Node] = true
				picks++
				allowed := !exact
				for _, choice := range choices {
					allowed = allowed || r.Decision.Gives(choice, there.Observation)
				}
				require.True(t, allowed, "%s at offset %d", p.Node, offset)
			}
		}
		if len(nodes) > 1 {
			several++
		}
	})
	t.Logf("%d picks; in %d clusters they differ", picks, several)
	require.Greater(t, several, testsize.Times(20))
}

// An offset that is not the cluster's is noticed.
func TestOtherOffsetIsCaught(t *testing.T) {
	noticed := 0
	early(t, 50, func(c *model.Cluster, r *properties.Result) {
		if len(r.Observation.DryRuns) == len(r.Observation.PotentialNodes) {
			return
		}
		next, at := int32(1), *c
		at.Settings.DryRunOffset = &next
		d, err := answers.Decide(&at, answers.Documented())
		require.NoError(t, err)
		require.NotNil(t, d.Admits(r.Observation))
		noticed++
	})
	require.Greater(t, noticed, 20)
}

// Sixteen workers do nothing that one would not be allowed to do: what they do is
// admitted, and where all nodes are tried it is the same.
func TestManyWorkersAgreeWithOne(t *testing.T) {
	checker := checktest.Checker(t)
	clusters, same, sixteen := testsize.Times(400), 0, int32(16)
	for n := range uint64(clusters) {
		c := generators.FromSeed(rand.NewPCG(22, n).Uint64())
		c.Settings.Parallelism = nil
		one, err := checker.Check(context.Background(), c)
		require.NoError(t, err)
		many := *c
		many.Settings.Parallelism = &sixteen
		r, err := checker.Check(context.Background(), &many)
		require.NoError(t, err)
		require.Empty(t, r.Unexplained(), "cluster %d", n)
		if r.Unmodelled.LeftToChance() || r.Decision != nil && r.Decision.Search != nil {
			continue // which nodes are looked at, many workers may find out otherwise
		}
		if o := r.Observation; o.Pick != nil && len(o.DryRuns) == len(o.PotentialNodes) && len(one.Observation.DryRuns) == len(o.PotentialNodes) {
			require.Equal(t, one.Observation.PotentialNodes, o.PotentialNodes)
			for node, run := range one.Observation.DryRuns {
				if run.Failed == nil {
					require.Equal(t, run.Violations, o.DryRuns[node].Violations, "cluster %d, %s", n, node)
					require.Len(t, o.DryRuns[node].Victims, len(run.Victims), "cluster %d, %s", n, node)
				}
			}
			same++
		}
	}
	require.Greater(t, same, clusters/5)
}

// In a cluster of 100 nodes or more the scheduler stops looking once it has found
// some share of nodes that fit; which it takes of these, the model leaves open.
func TestPercentageOfNodesToScore(t *testing.T) {
	checker := checktest.Checker(t)
	preemptor := &v1.Pod{}
	preemptor.Namespace, preemptor.Name, preemptor.Spec.SchedulerName = "default", "p", v1.DefaultSchedulerName
	preemptor.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}}}}
	for _, percentage := range []int32{0, 5, 20, 100} {
		c := &model.Cluster{Preemptor: preemptor, Settings: model.Settings{PercentageOfNodesToScore: &percentage}}
		for i := range 400 {
			n := &v1.Node{}
			n.Name = fmt.Sprintf("node-%03d", i)
			n.Status.Allocatable = v1.ResourceList{v1.ResourceCPU: resource.MustParse("2"), v1.ResourcePods: resource.MustParse("10")}
			if i%2 == 0 { // does not fit
				n.Spec.Unschedulable = true
			}
			c.Nodes = append(c.Nodes, n)
		}
		r, err := checker.Check(context.Background(), c)
		require.NoError(t, err)
		require.Empty(t, r.Findings)
		require.Len(t, r.Decision.Fits, 200)
		require.Contains(t, r.Decision.Fits, r.Observation.ScheduledTo)
		if percentage == 100 {
			require.Len(t, r.Observation.Filters, 200)
		} else {
			require.Less(t, len(r.Observation.Filters), 200, "it looked at all nodes with %d %%", percentage)
		}
	}
}
