package vocabulary_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
)

// Of generated clusters, as a release stores them, little is left that it does not know.
func TestStored(t *testing.T) {
	for minor := 25; minor <= 37; minor++ {
		r, err := release.Parse(fmt.Sprintf("v1.%d.0", minor))
		require.NoError(t, err)
		before, after := 0, 0
		for seed := range uint64(500) {
			c := generators.FromSeedWith(seed, map[string]bool{model.GateWorkload: false})
			if len(vocabulary.Unknown(r, c)) > 0 {
				before++
			}
			vocabulary.Stored(r, c)
			left := vocabulary.Unknown(r, c)
			if len(left) > 0 {
				after++
			}
			for _, u := range left {
				require.True(t, u.Field == "amounts beyond 64 bits" || strings.HasPrefix(u.Object, "ResourceClaim ") || strings.HasPrefix(u.Object, "ResourceSlice ") ||
					strings.HasPrefix(u.Object, "DeviceClass ") || strings.HasPrefix(u.Object, "PersistentVolume ") ||
					strings.HasPrefix(u.Object, "CSINode ") && u.Field == "metadata.annotations", "v1.%d, seed %d: %v", minor, seed, u)
			}
		}
		t.Logf("v1.%d: %d of 500 clusters have what it does not know, %d as it stores them", minor, before, after)
		if minor < 37 {
			require.Less(t, after, before)
		}
		require.Less(t, after, 60) // 1.34 has the most left, of claims and slices
	}
}

// Up to 1.31 disks of in-tree plugins are counted by plugins of their own, which end in an error beside a claim that is not its pod's.
func TestInTreeLimits(t *testing.T) {
	ephemeral := func(p *v1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: "data", VolumeSource: v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}}})
	}
	disk := func(p *v1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: "disk", VolumeSource: v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: "d"}}})
	}
	old, err := release.Parse("v1.31.14")
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		cluster *model.Cluster
		unknown bool
	}{
		"somebody else's claim": {mk.Cluster(mk.Pod("p", 9, disk), mk.Pod("a", 1, mk.On("n"), ephemeral), mk.Claim("a-data"), mk.Node("n", "1")), true},
		"no such claim":         {mk.Cluster(mk.Pod("p", 9, disk), mk.Pod("a", 1, mk.On("n"), ephemeral), mk.Claim("b-data"), mk.Node("n", "1")), false},
		"no disk":               {mk.Cluster(mk.Pod("p", 9), mk.Pod("a", 1, mk.On("n"), ephemeral), mk.Claim("a-data"), mk.Node("n", "1")), false},
	} {
		require.Equal(t, tt.unknown, vocabulary.Unknown(old, tt.cluster) != nil, name)
		require.Nil(t, vocabulary.Unknown(release.Linked, tt.cluster), name)
	}
}
