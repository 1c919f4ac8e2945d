package vary_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/generators/vary"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// read are cases of the corpus, every fifth, which is enough of each kind.
func read(t *testing.T, folder string) (all []*corpus.Case) {
	for i, name := range corpus.Names() {
		if strings.HasPrefix(name, folder) && i%5 == 0 {
			c, err := corpus.Embedded(name)
			require.NoError(t, err)
			all = append(all, c)
		}
	}
	require.Greater(t, len(all), 25)
	return all
}

// A changed cluster is the same for the same seed, is another one than before in most cases, nearly always one that the
// API server takes, and leaves those alone that it is made of.
func TestCluster(t *testing.T) {
	cases := read(t, "cases/")
	changed, valid, total := 0, 0, 0
	for i, base := range cases {
		donor := cases[(i+1)%len(cases)]
		before, given := base.Cluster.DeepCopy(), donor.Cluster.DeepCopy()
		for n := range uint64(20) {
			seed := rand.NewPCG(uint64(i), n).Uint64()
			c := vary.Cluster(draw.FromSeed(seed), base.Cluster, donor.Cluster)
			require.Empty(t, cmp.Diff(c, vary.Cluster(draw.FromSeed(seed), base.Cluster, donor.Cluster)), base.Name)
			total++
			if apiserver.Admit(c) == nil {
				valid++
			}
			if !cmp.Equal(c, before) {
				changed++
			}
		}
		require.Empty(t, cmp.Diff(before, base.Cluster), base.Name)
		require.Empty(t, cmp.Diff(given, donor.Cluster), donor.Name)
	}
	require.Greater(t, changed, total*9/10, "of %d", total)
	require.Greater(t, valid, total*8/10, "of %d", total)
}

// A changed timeline is so, too, in its steps or in its start, and expects nothing.
func TestTimeline(t *testing.T) {
	cases := read(t, "timelines/")
	steps, starts, valid, total := 0, 0, 0, 0
	for i, base := range cases {
		donor := cases[(i+1)%len(cases)]
		copied := func() *timeline.Timeline {
			c := base.Timeline.Clone()
			c.Cluster = c.Cluster.DeepCopy()
			for i := range c.Steps {
				if o := c.Steps[i].Create; o != nil {
					c.Steps[i].Create = o.DeepCopyObject()
				}
			}
			return c
		}
		before := copied()
		for n := range uint64(10) {
			seed := rand.NewPCG(uint64(i), n).Uint64()
			l := vary.Timeline(draw.FromSeed(seed), base.Timeline, donor.Timeline)
			require.Empty(t, cmp.Diff(l, vary.Timeline(draw.FromSeed(seed), base.Timeline, donor.Timeline)), base.Name)
			total++
			expects := 0
			for _, s := range before.Steps {
				if s.Expect != nil {
					expects++
				}
			}
			for _, s := range l.Steps {
				require.Nil(t, s.Expect)
			}
			if len(l.Steps) != len(before.Steps)-expects {
				steps++
			}
			if !cmp.Equal(l.Cluster, before.Cluster) {
				starts++
			}
			if apiserver.Timeline(l) == nil {
				valid++
			}
		}
		require.Empty(t, cmp.Diff(before, base.Timeline), base.Name)
	}
	require.Greater(t, steps, total/5, "of %d", total)
	require.Greater(t, starts, total/5, "of %d", total)
	require.Greater(t, valid, total*8/10, "of %d", total)
}

// Each of the changes comes about.
func TestChanges(t *testing.T) {
	base, err := corpus.Embedded("cases/budget-is-spent-by-a-reprieved-pod.yaml")
	require.NoError(t, err)
	seen := map[string]bool{}
	for n := range uint64(1500) {
		c := vary.Cluster(draw.FromSeed(rand.NewPCG(1, n).Uint64()), base.Cluster, base.Cluster)
		for name, is := range differences(base.Cluster, c) {
			seen[name] = seen[name] || is
		}
	}
	for name := range differences(base.Cluster, base.Cluster) {
		require.True(t, seen[name], name)
	}
}

// A cluster may lack what would be changed.
func TestEmpty(t *testing.T) {
	pod := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c"}}}}
	bound := pod.DeepCopy()
	bound.Spec.NodeName = "gone"
	for _, base := range []*model.Cluster{{}, {Preemptor: pod}, {Pods: []*v1.Pod{bound}}, {Preemptor: pod, Nodes: []*v1.Node{{}}}} {
		for n := range uint64(500) {
			vary.Cluster(draw.FromSeed(n), base, &model.Cluster{})
			vary.Cluster(draw.FromSeed(n), base, base)
			l := &timeline.Timeline{Cluster: base}
			vary.Timeline(draw.FromSeed(n), l, l)
		}
	}
}

// A pod may come to request a resource that another one does, as the API server takes it: some need a limit, too. Amounts may be none.
func TestRequestMore(t *testing.T) {
	const gpu = v1.ResourceName("example.com/gpu")
	base := mk.Cluster(mk.Pod("p", 1, mk.CPU("1")), mk.Node("n", "4"), mk.Pod("v", 0, mk.CPU("1"), mk.On("n"), func(p *v1.Pod) {
		r := &p.Spec.Containers[0].Resources
		r.Requests[gpu], r.Limits = resource.MustParse("2"), mk.Resources(string(gpu), "2")
	}))
	seen := map[string]bool{}
	for seed := range uint64(20000) {
		c := vary.Cluster(draw.FromSeed(seed), base, base)
		asks := c.Preemptor.Spec.Containers[0].Resources
		if asked, does := asks.Requests[gpu]; does && apiserver.Admit(c) == nil {
			require.True(t, asked.Equal(asks.Limits[gpu]))
			seen[asked.String()] = true
		}
	}
	require.Subset(t, slices.Collect(maps.Keys(seen)), []string{"0", "1", "3", "4"})
}

// differences are in what a cluster differs from another one.
func differences(from, to *model.Cluster) map[string]bool {
	p, q := from.Preemptor, to.Preemptor
	amount := func(c *model.Cluster) (milli int64) {
		for _, n := range c.Nodes {
			milli += n.Status.Allocatable.Cpu().MilliValue()
		}
		return milli
	}
	allowed := func(c *model.Cluster) (n int32) {
		for _, b := range c.PodDisruptionBudgets {
			n += b.Status.DisruptionsAllowed
		}
		return n
	}
	return map[string]bool{
		"a pod fewer":     len(to.Pods) < len(from.Pods),
		"a pod more":      len(to.Pods) > len(from.Pods),
		"a node fewer":    len(to.Nodes) < len(from.Nodes),
		"a node more":     len(to.Nodes) > len(from.Nodes),
		"a budget fewer":  len(to.PodDisruptionBudgets) < len(from.PodDisruptionBudgets),
		"a budget spent":  len(to.PodDisruptionBudgets) == len(from.PodDisruptionBudgets) && allowed(to) != allowed(from),
		"a priority":      model.Priority(p) != model.Priority(q),
		"a request":       !p.Spec.Containers[0].Resources.Requests.Cpu().Equal(*q.Spec.Containers[0].Resources.Requests.Cpu()),
		"an amount":       len(to.Nodes) == len(from.Nodes) && amount(to) != amount(from),
		"labels of a pod": !cmp.Equal(p.Labels, q.Labels),
	}
}
