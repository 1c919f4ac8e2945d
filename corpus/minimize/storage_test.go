package minimize

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/naming"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// TestNamesKeepStorageTogether: whatever is renamed, what referred to it still
// does. The scheduler sees the same cluster.
func TestNamesKeepStorageTogether(t *testing.T) {
	s := inprocess.New()
	defer s.Close()
	verdicts := func(c *model.Cluster) []string {
		obs, err := s.Observe(context.Background(), c)
		require.NoError(t, err)
		list := []string{fmt.Sprint(obs.CycleError != "", obs.ScheduledTo != "", len(obs.Candidates))}
		for _, v := range obs.Filters {
			list = append(list, fmt.Sprint(v.Plugin, v.Unresolvable))
		}
		slices.Sort(list)
		return list
	}
	taken, clusters := map[string]int{}, 0
	for seed := uint64(0); clusters < testsize.Times(150); seed++ {
		c := generators.FromSeedWith(seed, map[string]bool{model.GateWorkload: false})
		// A short shortlist is of the first nodes by name; and devices are not renamed
		// with their nodes.
		if !slices.ContainsFunc(c.Extra, func(o runtime.Object) bool { return naming.KindOf(o) == naming.Class }) || c.Settings.MinCandidateNodesAbsolute != nil || device.Uses(c.Extra, c.Preemptor) {
			continue
		}
		// Which label says in which zone a volume is that was migrated is not to be chosen.
		if index := volume.NewIndex(c.Extra); slices.ContainsFunc(c.Extra, func(o runtime.Object) bool { pv, is := o.(*v1.PersistentVolume); return is && index.Translates(pv) }) {
			continue
		}
		// Upstream takes claims of one name in two namespaces for one (claim-of-other-namespace), and other names change that.
		if ofOtherNamespace(c) {
			continue
		}
		require.NoError(t, apiserver.Admit(c))
		clusters++
		want := verdicts(c)
		for _, step := range names(c) {
			// Labels that are compared as numbers are not, once they have plain names.
			if step.what == "namespaces: all in one" || step.what == "labels of nodes: plain names" && c.Preemptor.Spec.Affinity != nil {
				continue
			}
			next := step.take(c)
			if next == nil {
				continue
			}
			taken[step.what]++
			require.Equal(t, want, verdicts(next), "seed %d: %s", seed, step.what)
		}
	}
	t.Log(taken)
	for _, what := range []string{"nodes", "pods", "storage"} {
		require.Greater(t, taken[what+": plain names in the order listed"], clusters*8/10, what)
	}
}

// ofOtherNamespace tells whether the preemptor mounts a claim for one pod alone, and another namespace has a claim of that name.
func ofOtherNamespace(c *model.Cluster) bool {
	alone, others := map[string]bool{}, map[string]bool{}
	for _, o := range c.Extra {
		switch claim, is := o.(*v1.PersistentVolumeClaim); {
		case !is:
		case claim.Namespace != c.Preemptor.Namespace:
			others[claim.Name] = true
		case slices.Contains(claim.Spec.AccessModes, v1.ReadWriteOncePod):
			alone[claim.Name] = true
		}
	}
	return slices.ContainsFunc(c.Preemptor.Spec.Volumes, func(v v1.Volume) bool {
		claim := v.PersistentVolumeClaim
		return claim != nil && alone[claim.ClaimName] && others[claim.ClaimName]
	})
}

// A claim for one pod alone, whose only other user is the victim, with everything
// that storage is made of around.
func TestStorageOfAFindingIsSmall(t *testing.T) {
	for seed := uint64(0); ; seed++ {
		c := generators.FromSeedWith(seed, map[string]bool{model.GateWorkload: false})
		if len(c.Extra) < 15 || c.Settings.MinCandidateNodesAbsolute != nil {
			continue
		}
		// The liar says that no pod is preempted for a claim.
		lie := func(c *model.Cluster, o *model.Observation) {
			for node, v := range o.Filters {
				if run, ran := o.DryRuns[node]; ran && v.Plugin == "VolumeRestrictions" && len(run.Victims) > 0 && inUse(c) {
					o.DryRuns[node] = model.DryRun{Failed: &model.Verdict{Plugin: "VolumeRestrictions"}}
				}
			}
		}
		checker := newChecker(t, lie)
		r, err := checker.Check(context.Background(), c)
		require.NoError(t, err)
		if !slices.ContainsFunc(r.Unexplained(), func(f properties.Finding) bool {
			return f.Property == properties.Differential && f.Stage == model.StageDryRun
		}) {
			continue
		}
		result, err := Minimise(context.Background(), checker, c, differentialAt(model.StageDryRun), Options{})
		require.NoError(t, err)
		for _, o := range result.Cluster.Objects() {
			t.Log(title(o))
		}
		require.Len(t, result.Cluster.Nodes, 1)
		require.Len(t, result.Cluster.Pods, 1)
		require.LessOrEqual(t, len(result.Cluster.Extra), 2) // a claim and its volume
		return
	}
}

// inUse tells whether a bound pod mounts a claim that the preemptor mounts.
func inUse(c *model.Cluster) bool {
	claims := func(p *v1.Pod) (names []string) {
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				names = append(names, p.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
			}
		}
		return names
	}
	return slices.ContainsFunc(c.Pods, func(p *v1.Pod) bool {
		return slices.ContainsFunc(claims(p), func(name string) bool { return slices.Contains(claims(c.Preemptor), name) })
	})
}
