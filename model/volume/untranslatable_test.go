package volume

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A volume is one that nobody can read if all that is wrong with it is where it says that it is, and its plugin has been taken over from.
func TestMountsUntranslatable(t *testing.T) {
	for _, test := range []struct {
		name, zone, migrated string
		want                 bool
	}{
		{"two zones of no region", "a__b", "kubernetes.io/gce-pd", true},
		{"two zones of a region", "us-central1-a__us-central1-b", "kubernetes.io/gce-pd", false},
		{"one zone", "a", "kubernetes.io/gce-pd", false},
		{"another plugin was taken over from", "a__b", "kubernetes.io/aws-ebs", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			pv, claim, node, p := &v1.PersistentVolume{}, &v1.PersistentVolumeClaim{}, &storagev1.CSINode{}, &v1.Pod{}
			pv.Name, pv.Labels = "volume", map[string]string{v1.LabelTopologyZone: test.zone}
			pv.Spec.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: "disk"}
			claim.Namespace, claim.Name, claim.Spec.VolumeName = "default", "claim", pv.Name
			node.Name, node.Annotations = "node", map[string]string{v1.MigratedPluginsAnnotationKey: test.migrated}
			p.Namespace, p.Name = "default", "p"
			p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}}}
			require.Equal(t, test.want, MountsUntranslatable(p, []runtime.Object{pv, claim, node}))
		})
	}
}
