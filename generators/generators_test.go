package generators_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

func TestClustersAreAsTheAPIServerStoresThem(t *testing.T) {
	for seed := range uint64(testsize.Times(2000)) {
		c := generators.FromSeed(seed)
		admitted := c.DeepCopy()
		require.NoErrorf(t, apiserver.Admit(admitted), "seed %d", seed)
		require.Emptyf(t, cmp.Diff(c, admitted), "seed %d: admission changed the cluster", seed)
		for _, pod := range append(admitted.Pods, admitted.Preemptor) {
			// Strictly, as if it were created now.
			var in core.Pod
			require.NoError(t, legacyscheme.Scheme.Convert(pod, &in, nil))
			opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&in.Spec, nil, &in.ObjectMeta, nil)
			opts.ResourceIsPod = true
			opts.AllowTaintTolerationComparisonOperators = true // the gate is the scheduler's, in some of them
			require.Emptyf(t, validation.ValidatePodCreate(&in, opts), "seed %d", seed)
		}
	}
}

func TestDrawnClustersAreAsTheAPIServerStoresThem(t *testing.T) {
	for range testsize.Times(1) {
		rapid.Check(t, func(t *rapid.T) {
			c := generators.Cluster().Draw(t, "cluster")
			admitted := c.DeepCopy()
			require.NoError(t, apiserver.Admit(admitted))
			require.Empty(t, cmp.Diff(c, admitted))
		})
	}
}

func TestASeedNamesOneCluster(t *testing.T) {
	for seed := range uint64(200) {
		require.Empty(t, cmp.Diff(generators.FromSeed(seed), generators.FromSeed(seed)))
	}
	require.NotEmpty(t, cmp.Diff(generators.FromSeed(1), generators.FromSeed(2)))
}

func BenchmarkFromSeed(b *testing.B) {
	b.ReportAllocs()
	seed := uint64(0)
	for b.Loop() {
		generators.FromSeed(seed)
		seed++
	}
}

// A cluster without pod groups is the one of its seed from before there were any, and the
// others differ from it in nothing but groups.
func TestGroupsChangeNothingElse(t *testing.T) {
	grouped := 0
	for seed := range uint64(2000) {
		c, without := generators.FromSeed(seed), generators.FromSeedWith(seed, map[string]bool{model.GateWorkload: false})
		require.False(t, without.Settings.FeatureGates[model.GateWorkload])
		for _, p := range without.Pods {
			require.Nil(t, p.Spec.SchedulingGroup)
		}
		delete(c.Settings.FeatureGates, device.GateGroupClaims)
		if delete(c.Settings.FeatureGates, device.GateOptionalOperations); len(c.Settings.FeatureGates) == 0 {
			c.Settings.FeatureGates = nil
		}
		if gates := c.Settings.FeatureGates; without.Settings.FeatureGates == nil && (gates["SchedulerAsyncAPICalls"] || gates["InterPodAffinityHostnameFastPath"] || gates[filter.GateResizePreemption]) {
			c.Settings.FeatureGates = nil
		}
		if len(c.Settings.Configuration) > 0 { // which is not for every scheduler, too
			require.Empty(t, without.Settings.Configuration)
			if configuration.SpreadsByDefault(c.Settings) { // which the preemptor comes to by what it belongs to
				p := c.Preemptor
				p.Spec.TopologySpreadConstraints, p.OwnerReferences = without.Preemptor.Spec.TopologySpreadConstraints, without.Preemptor.OwnerReferences
				c.Extra = append([]runtime.Object(nil), c.Extra[:len(without.Extra)]...)
			}
			c.Settings.Configuration = nil
		}
		if !c.Settings.FeatureGates[model.GateWorkload] {
			require.Emptyf(t, cmp.Diff(c, without), "seed %d", seed)
			continue
		}
		grouped++
		require.Empty(t, cmp.Diff(c.Nodes, without.Nodes))
		require.Len(t, c.Pods, len(without.Pods))
		always := generators.FromSeedWith(seed, map[string]bool{model.GateWorkload: true, model.GateAsyncPreemption: false})
		require.True(t, always.Settings.FeatureGates[model.GateWorkload])
		require.False(t, always.Settings.AsyncPreemption())
	}
	require.InDelta(t, 2000/8, grouped, 60)
}
