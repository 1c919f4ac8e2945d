package volume

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
)

// What a CSI driver calls a volume that was migrated to it.
func TestMigratedVolumes(t *testing.T) {
	disk := &v1.GCEPersistentDiskVolumeSource{PDName: "d"}
	gce := func(labels map[string]string) CSIVolume {
		return migrated(&v1.PersistentVolumeSource{GCEPersistentDisk: disk}, labels)
	}
	ofPod := func(s v1.VolumeSource) CSIVolume { return migrated(inline(&v1.Volume{VolumeSource: s}), nil) }
	const google = "pd.csi.storage.gke.io"
	assert.Equal(t, CSIVolume{Driver: google, Handle: "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"}, gce(nil))
	assert.Equal(t, CSIVolume{Driver: google, Handle: "projects/UNSPECIFIED/zones/a/disks/d"}, gce(map[string]string{v1.LabelTopologyZone: "a"}))
	assert.Equal(t, CSIVolume{Driver: google, Handle: "projects/UNSPECIFIED/regions/us-east1/disks/d"}, gce(map[string]string{v1.LabelTopologyZone: "us-east1-a__us-east1-b"}))
	assert.Equal(t, CSIVolume{Driver: google}, gce(map[string]string{v1.LabelTopologyZone: "us-east1-a__us-west1-b"}))
	assert.Equal(t, CSIVolume{Driver: google}, gce(map[string]string{v1.LabelTopologyZone: "a__b"}))
	assert.Equal(t, CSIVolume{Driver: google, Handle: "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"}, ofPod(v1.VolumeSource{GCEPersistentDisk: disk}))
	assert.Equal(t, CSIVolume{Driver: "ebs.csi.aws.com", Handle: "vol-1"}, ofPod(v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}))
	assert.Zero(t, ofPod(v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{}}))
}
