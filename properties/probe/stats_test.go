package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/relation"
)

// results checks generated clusters of a seed.
func results(t *testing.T, seed uint64, count int) (all []*properties.Result) {
	checker := checktest.Checker(t)
	for n := range uint64(count) {
		r, err := checker.Check(context.Background(), generators.FromSeed(rand.NewPCG(seed, n).Uint64()))
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

func TestUnmet(t *testing.T) {
	var s Stats
	require.Len(t, s.Unmet(), len(Probes()))
	s.makeMaps()
	for _, p := range Probes() {
		s.Exercised[p.Name] = p.Quota
	}
	require.Empty(t, s.Unmet())
	s.Exercised["reprieve"]--
	require.Equal(t, []string{"reprieve"}, s.Unmet())
}

func TestProbesAreTold(t *testing.T) {
	names := map[string]bool{}
	for _, p := range Probes() {
		require.False(t, names[p.Name], p.Name)
		names[p.Name] = true
		require.NotEmpty(t, p.What, p.Name)
		require.Positive(t, p.Quota, p.Name)
	}
}

// Parts that are counted by themselves, stored and merged come to the same as the
// whole, to the last byte, and so does checking everything once more.
func TestMergedPartsAreTheWhole(t *testing.T) {
	// Of a tie any candidate may be picked, and what is known of it may differ.
	tie := func(r *properties.Result) bool {
		return r.Decision != nil && explain.DecidedBy(r.Decision, r.Observation) == model.Tie
	}
	all, again := slices.DeleteFunc(results(t, 7, 600), tie), slices.DeleteFunc(results(t, 7, 600), tie)
	unmodelled := &properties.Result{Unmodelled: model.Unmodelled{{Object: "Pod a/b", Field: "spec.volumes[3].csi", Why: "volume filters"}}}
	var whole, merged, repeated Stats
	for _, part := range [][]*properties.Result{all[:100], all[100:101], nil, {unmodelled}, all[101:]} {
		var s, stored Stats
		for _, r := range part {
			whole.Add(r)
			s.Add(r)
		}
		data, err := json.Marshal(s)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &stored))
		merged.Merge(stored)
	}
	for _, r := range slices.Concat(again, []*properties.Result{unmodelled}) {
		repeated.Add(r)
	}
	want, err := json.Marshal(whole)
	require.NoError(t, err)
	for _, s := range []Stats{merged, repeated} {
		got, err := json.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
	require.Greater(t, whole.Shapes.Count(), 300)
	require.Equal(t, map[string]int{"not modelled: spec.volumes[].csi (volume filters)": 1}, whole.Rejected)

	// Merging does not tie the parts to each other.
	var first, second Stats
	first.Merge(whole)
	second.Merge(first)
	first.Add(all[0])
	first.Reject(errors.New("x"))
	got, err := json.Marshal(second)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestRejected(t *testing.T) {
	var s Stats
	s.Reject(errors.New("loading Pod \"default/a\": 12 is too many\nwith a stack"))
	s.Reject(errors.New(`loading Pod "default/b": 3 is too many`))
	s.Reject(errors.New("panic: something else"))
	undecided := results(t, 1, 1)[0]
	undecided.Undecided = "dry run on node-1: want …"
	s.Add(undecided)
	require.Equal(t, map[string]int{
		"error: loading Pod …: … is too many":        2,
		"error: panic: something else":               1,
		"undecided: too many equally important pods": 1,
	}, s.Rejected)
	require.Equal(t, 1, s.Clusters)
}

func TestShapesCount(t *testing.T) {
	for _, n := range []int{0, 1, 100, 10_000, 300_000} {
		var s, doubled Shapes
		for i := range n {
			s.add(fmt.Append(nil, i))
		}
		require.NoError(t, doubled.merge(s))
		require.NoError(t, doubled.merge(s))
		require.Equal(t, s.Count(), doubled.Count())
		require.InEpsilon(t, n+1, s.Count()+1, 0.05, n)
		text, err := s.MarshalText()
		require.NoError(t, err)
		require.LessOrEqual(t, len(text), 6000)
	}
}

func TestShapesRefuseOthers(t *testing.T) {
	for _, text := range []string{"!", "AAAA", "AgQAAQ=="} {
		require.Error(t, new(Shapes).UnmarshalText([]byte(text)), text)
	}
}

// varied is the cluster that a relation asks the system about.
func varied(t *testing.T, c *model.Cluster, name string) *model.Cluster {
	i := slices.IndexFunc(relation.All(), func(p properties.Property) bool { return p.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	var asked *model.Cluster
	s := checktest.Subject(t, checktest.System(t), c)
	s.System = checktest.Liar{System: s.System, Tell: func(c *model.Cluster, _ *model.Observation) { asked = c }}
	_, err := relation.All()[i].Check(s)
	require.NoError(t, err)
	require.NotNil(t, asked, name)
	return asked
}

// Names and amounts do not make a shape; what happens does.
func TestShapeOfACycle(t *testing.T) {
	shape := func(c *model.Cluster) string {
		r, err := checktest.Checker(t).Check(context.Background(), c)
		require.NoError(t, err)
		cycle := newCycle(r)
		return string(cycle.shape(cycle.exercised()))
	}
	c := checktest.Cluster()
	want := shape(c)
	t.Log(want)
	for _, name := range []string{"renaming", "scaling-resources", "permuting-lists"} {
		assert.Equal(t, want, shape(varied(t, c, name)), name)
	}
	fewer := c.DeepCopy()
	fewer.PodDisruptionBudgets = nil
	assert.NotEqual(t, want, shape(fewer))
}

// TestBrokenCycles: a cycle that the scheduler does not get through says nothing of whether the
// pod may preempt, or whether that helps; nor does one that ends in an error.
func TestBrokenCycles(t *testing.T) {
	var s Stats
	s.Add(&properties.Result{Observation: &model.Observation{Crash: &model.Crash{Kind: model.Panic}}})
	s.Add(&properties.Result{Observation: &model.Observation{Crash: &model.Crash{Kind: model.Hang}, Eligible: &model.Eligibility{OK: true}}})
	s.Add(&properties.Result{Observation: &model.Observation{Crash: &model.Crash{Kind: model.Exit}, Group: &model.GroupCycle{}}})
	s.Add(&properties.Result{Observation: &model.Observation{CycleError: "no"}, Cluster: checktest.Cluster()})
	s.Merge(s)
	require.Equal(t, []int{8, 6, 2, 0, 0}, []int{s.Clusters, s.Broken, s.InError, s.Ineligible, s.NotHelpful})
}
