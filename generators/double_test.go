package generators_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// TestTwoOfAKind counts clusters in which something comes in twos, or that are about one thing that is rare.
func TestTwoOfAKind(t *testing.T) {
	const clusters = 8000
	keys := func(terms []v1.PodAffinityTerm) int {
		different := map[string]bool{}
		for i := range terms {
			different[terms[i].TopologyKey] = true
		}
		return len(different)
	}
	// waiting are the classes of the preemptor's claims that are without a volume.
	waiting := func(c *model.Cluster) (classes []string) {
		for _, v := range c.Preemptor.Spec.Volumes {
			for _, o := range c.Extra {
				if claim, is := o.(*v1.PersistentVolumeClaim); is && v.PersistentVolumeClaim != nil && claim.Name == v.PersistentVolumeClaim.ClaimName &&
					claim.Namespace == c.Preemptor.Namespace && claim.Spec.VolumeName == "" && claim.Spec.StorageClassName != nil {
					classes = append(classes, *claim.Spec.StorageClassName)
				}
			}
		}
		return classes
	}
	counts := map[string]int{}
	for seed := range uint64(clusters) {
		c := generators.Ungrouped(seed)
		count := func(name string, is bool) {
			if is {
				counts[name]++
			}
		}
		p := c.Preemptor
		count("affinity to two kinds of domains", keys(filter.RequiredAffinity(p)) == 2)
		count("anti-affinity to two kinds of domains", keys(filter.RequiredAntiAffinity(p)) == 2)
		count("two label keys, merged into no selector", slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool {
			return len(c.MatchLabelKeys) == 2 && len(c.LabelSelector.MatchLabels)+len(c.LabelSelector.MatchExpressions) == 0
		}))
		classes := waiting(c)
		count("two claims of a class", len(classes) > 1 && classes[0] == classes[1])
		count("claims of two classes", len(classes) > 1 && classes[0] != classes[1])
		count("an extender empties two nodes", slices.ContainsFunc(c.Settings.Extenders, func(e model.Extender) bool {
			empties := func(change model.VictimChange) bool { return change.Keeps != nil && *change.Keeps == 0 }
			return e.Ignorable && e.Preempt != nil && len(e.Preempt.Changes) > 1 && empties(e.Preempt.Changes[0]) && empties(e.Preempt.Changes[1])
		}))
		requests := p.Spec.Containers[0].Resources.Requests
		_, storage := requests[v1.ResourceEphemeralStorage]
		count("nothing but storage", len(p.Spec.Containers)+len(p.Spec.InitContainers) == 1 && len(requests) == 1 && storage)
		count("terms about hosts are counted in another way", c.Settings.FeatureGates["InterPodAffinityHostnameFastPath"] && len(filter.RequiredAntiAffinity(p)) > 0)
	}
	t.Log(counts)
	require.Len(t, counts, 8)
	for name, n := range counts {
		require.GreaterOrEqual(t, n, 16, name)
	}
}
