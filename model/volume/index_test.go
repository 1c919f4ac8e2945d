package volume_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// A volume of each kind that a plugin looks at is enough, also behind one that can be mounted anywhere.
func TestMounts(t *testing.T) {
	scratch := v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}
	require.False(t, volume.Mounts(mk.Pod("p", 9)))
	require.False(t, volume.Mounts(mk.Pod("p", 9, mk.MountsSource("d", scratch))))
	for kind, source := range map[string]v1.VolumeSource{
		"a claim":            {PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}},
		"ephemeral":          {Ephemeral: &v1.EphemeralVolumeSource{}},
		"a disk of GCE":      {GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{}},
		"a volume of AWS":    {AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{}},
		"a disk of Azure":    {AzureDisk: &v1.AzureDiskVolumeSource{}},
		"a volume of Cinder": {Cinder: &v1.CinderVolumeSource{}},
		"an iSCSI target":    {ISCSI: &v1.ISCSIVolumeSource{}},
		"an RBD image":       {RBD: &v1.RBDVolumeSource{}},
		"of Portworx":        {PortworxVolume: &v1.PortworxVolumeSource{}},
	} {
		require.True(t, volume.Mounts(mk.Pod("p", 9, mk.MountsSource("d", source))), kind)
		require.True(t, volume.Mounts(mk.Pod("p", 9, mk.MountsSource("scratch", scratch), mk.MountsSource("d", source))), kind)
	}
}
