package releasediff

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/reference"
)

func version(t *testing.T, name string) release.Release {
	r, err := release.Parse(name)
	require.NoError(t, err)
	return r
}

// drawing is a release as its model has it, which breaks ties by chance.
func drawing(r release.Release, seed uint64) Side {
	s := modelsystem.New(r)
	s.Draw = rand.New(rand.NewPCG(seed, 0)).IntN
	return Side{Release: r, System: s}
}

func waysOf(t *testing.T, c *Comparer, first, clusters uint64) *Ways {
	w := &Ways{}
	for n := range clusters {
		r, err := c.Compare(t.Context(), generators.Ungrouped(first+n))
		require.NoError(t, err)
		w.Add(r, n)
	}
	return w
}

// TestNoDifference: a release does not differ from itself, whatever chance has it
// do.
func TestNoDifference(t *testing.T) {
	for _, r := range release.Releases() {
		w := waysOf(t, New(drawing(r, 1), drawing(r, 2)), 0, uint64(testsize.Times(300)))
		assert.Empty(t, w.List(), r)
		assert.NotZero(t, w.Verdicts[Same], r)
	}
}

// TestFinds: told nothing, it finds what has changed, and counts it.
func TestFinds(t *testing.T) {
	for _, test := range []struct {
		from, to        string
		first, clusters uint64
		want            []string
	}{
		{"v1.13.0", "v1.16.15", 0, 600, []string{
			"the last criterion is the latest start of the highest-priority victims",
			"of equally important pods, the one that has run longer is more important"}},
		{"v1.31.0", "v1.31.14", 5000, 3000, []string{
			"fixed: A victim gets the preemptor's status with the condition DisruptionTarget",
			"fixed: The first victim is not the most important one, and another node is picked"}},
		{"v1.31.14", "v1.31.0", 0, 700, []string{
			"new: A victim gets the preemptor's status with the condition DisruptionTarget"}},
		{"v1.34.4", "v1.35.4", 0, 300, []string{"victims that terminate already are not deleted again"}},
		{"v1.35.4", "v1.34.4", 0, 300, []string{"no longer: victims that terminate already are not deleted again"}},
		{"v1.37.0", "v1.37.1", 0, 1000, []string{"fixed: A DeviceTaintRule without a selector taints all devices"}},
	} {
		t.Run(test.from+" to "+test.to, func(t *testing.T) {
			w := waysOf(t, New(drawing(version(t, test.from), 1), drawing(version(t, test.to), 2)), test.first, test.clusters)
			var titles []string
			for _, way := range w.List() {
				require.NotNil(t, way.Change)
				titles = append(titles, way.Change.Title)
				sum := 0
				for _, k := range way.Kinds {
					sum += k.Clusters
					require.NotEmpty(t, k.Witnesses)
				}
				assert.Equal(t, way.Clusters, sum)
			}
			assert.ElementsMatch(t, test.want, titles)
		})
	}
}

// TestAllChanges: after all changes, the rules of a release are those of the other.
func TestAllChanges(t *testing.T) {
	all := release.Releases()
	for i := range all[1:] {
		for _, pair := range [][2]release.Release{{all[i], all[i+1]}, {all[i+1], all[i]}, {all[0], all[i+1]}} {
			after := rules(pair[0], Changes(pair[0], pair[1]))
			other := modelsystem.New(pair[1])
			for n := range uint64(100) {
				c := generators.Ungrouped(n)
				want, err := answers.Decide(c, other.Rules)
				got, errGot := answers.Decide(c, after)
				require.Equal(t, err, errGot)
				if err == nil {
					assert.Equal(t, reasons(want), reasons(got), "%v, cluster %d", pair, n)
					assert.Equal(t, want.PotentialNodes, got.PotentialNodes)
					o, _ := other.Observe(t.Context(), c)
					assert.Nil(t, got.AdmitsVisible(o), "%v, cluster %d", pair, n)
				}
			}
		}
	}
}

func reasons(d *answers.Set) map[string]string {
	all := map[string]string{}
	for node, v := range d.Verdicts {
		all[node] = v.String()
	}
	return all
}

// small is a cluster of full nodes, with a preemptor that fits on one of them when
// its pod is gone.
func small(nodes ...string) *model.Cluster {
	c := &model.Cluster{Preemptor: pod("p", 9)}
	for _, name := range nodes {
		n := &v1.Node{}
		n.Name, n.Status.Allocatable = name, v1.ResourceList{v1.ResourcePods: *one}
		victim := pod("on-"+name, 1)
		victim.Spec.NodeName = name
		c.Nodes, c.Pods = append(c.Nodes, n), append(c.Pods, victim)
	}
	return c
}

// TestUnexplained: what a release never does is not put down to a change, also if
// there is one that shows.
func TestUnexplained(t *testing.T) {
	from, to := drawing(version(t, "v1.31.0"), 1), drawing(version(t, "v1.31.14"), 2)
	for i, side := range []Side{from, to} {
		liar := side.System.(*modelsystem.System)
		liar.Lie = func(_ *model.Cluster, o *model.Observation) { o.Actuation.Deleted = nil }
		r, err := New(from, to).Compare(t.Context(), small("a"))
		require.NoError(t, err)
		require.Equal(t, Unexplained, r.Verdict)
		require.Len(t, r.Effects, 1)
		assert.Nil(t, r.Effects[0].Change)
		name := []string{"v1.31.0", "v1.31.14"}[i]
		assert.Equal(t, name+" does what its algorithm does not allow: fewer pods deleted", r.Effects[0].Kind)
		liar.Lie = nil
	}
}

// TestTie: to take another of several equally good nodes is no difference, and to
// take a worse one is.
func TestTie(t *testing.T) {
	r := version(t, "v1.37.1")
	takes := func(n int) Side {
		s := modelsystem.New(r)
		s.Draw = func(int) int { return n }
		return Side{Release: r, System: s}
	}
	got, err := New(takes(0), takes(1)).Compare(t.Context(), small("a", "b"))
	require.NoError(t, err)
	require.NotEqual(t, got.Did[0].Pick.Node, got.Did[1].Pick.Node)
	assert.Equal(t, Same, got.Verdict)
	assert.Equal(t, [2]string{"preempts default/on-a on a", "preempts default/on-b on b"}, got.Lines())
}

// TestCompareOften: a difference that shows now and then is found.
func TestCompareOften(t *testing.T) {
	from, to := version(t, "v1.13.0"), version(t, "v1.16.15")
	c := small("a", "b")
	c.Pods[0].Status.StartTime, c.Pods[1].Status.StartTime = &metav1.Time{Time: time.Unix(0, 0)}, &metav1.Time{Time: time.Unix(60, 0)}
	seldom := modelsystem.New(from)
	asked := 0
	seldom.Draw = func(n int) int { // of two nodes it takes the one that 1.16 does not take, at the third time
		if asked++; n == 2 && asked == 3 {
			return 0
		}
		return n - 1
	}
	comparer := New(Side{Release: from, System: seldom}, drawing(to, 1))
	r, err := comparer.Compare(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, Same, r.Verdict)
	r, err = comparer.CompareOften(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, Different, r.Verdict)
	assert.Equal(t, "the last criterion is the latest start of the highest-priority victims", r.Effects[0].Change.Title)
}

// TestNotCompared: a cluster that one of the releases cannot express is not
// compared, but a pod that no scheduler looks at is nobody's concern.
func TestNotCompared(t *testing.T) {
	c := New(drawing(version(t, "v1.31.14"), 1), drawing(version(t, "v1.37.1"), 2))
	modern := small("a")
	modern.Pods[0].Spec.Resources = &v1.ResourceRequirements{}
	r, err := c.Compare(t.Context(), modern)
	require.NoError(t, err)
	assert.Equal(t, Refused, r.Verdict)
	assert.Equal(t, "v1.31.14: Pod: spec.resources", r.Why)
	assert.Equal(t, "Pod default/on-a", r.Object)

	waiting := pod("other", 5)
	waiting.Spec.Resources = &v1.ResourceRequirements{}
	modern = small("a")
	modern.Pods = append(modern.Pods, waiting)
	r, err = c.Compare(t.Context(), modern)
	require.NoError(t, err)
	assert.Equal(t, Same, r.Verdict)
	assert.Len(t, modern.Pods, 2, "the cluster stays as it is")

	c.To.System = failing{c.To.System, &reference.Refusal{System: "v1.37.1", What: "Pod default/on-a: spec.gadget; Pod default/p: spec.gadget"}}
	r, err = c.Compare(t.Context(), small("a"))
	require.NoError(t, err)
	assert.Equal(t, "v1.37.1: Pod: spec.gadget", r.Why)

	c.To.System = failing{c.To.System, errors.New("gone")}
	_, err = c.Compare(t.Context(), small("a"))
	require.EqualError(t, err, "v1.37.1: gone")
}

type failing struct {
	reference.System
	err error
}

func (f failing) Observe(context.Context, *model.Cluster) (*model.Observation, error) {
	return nil, f.err
}
