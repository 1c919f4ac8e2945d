package volume_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// Whatever is not plain is reported, of which pod, volume and claim of several it may be.
func TestUnmodelledOfSeveral(t *testing.T) {
	const google, odd = "pd.csi.storage.gke.io", "aws://zone/vol-1"
	disk := func(name, pd, zones string) *v1.PersistentVolume {
		return mk.Volume(name, func(pv *v1.PersistentVolume) {
			pv.Spec.CSI, pv.Spec.GCEPersistentDisk = nil, &v1.GCEPersistentDiskVolumeSource{PDName: pd}
			pv.Labels = map[string]string{v1.LabelTopologyZone: zones}
		})
	}
	csi := func(name, handle string) *v1.PersistentVolume {
		return mk.Volume(name, func(pv *v1.PersistentVolume) { pv.Spec.CSI.VolumeHandle = handle })
	}
	limit := mk.CSINode("n", 1)
	limit.Spec.Drivers[0].Name = google
	second := mk.CSINode("n", 1)
	second.Spec.Drivers = append(second.Spec.Drivers, limit.Spec.Drivers...)
	says := mk.CSINode("n", -1)
	says.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: "kubernetes.io/gce-pd"}
	inline := mk.Attachment("", "n")
	inline.Name, inline.Spec.Attacher = "inline", google
	inline.Spec.Source = storagev1.VolumeAttachmentSource{InlineVolumeSpec: &v1.PersistentVolumeSpec{}}
	otherInline := inline.DeepCopy()
	otherInline.Spec.Attacher = mk.Driver
	modeless := mk.Class("c", mk.Driver, "")
	modeless.VolumeBindingMode = nil
	waits := mk.Class("wait", "kubernetes.io/gce-pd", storagev1.VolumeBindingWaitForFirstConsumer)
	a, b := mk.Claim("a"), mk.Claim("b")
	user := func(name, claim string) *v1.Pod { return mk.Pod(name, 0, mk.On("n"), mk.Mounts(claim)) }
	for _, tt := range []struct {
		name    string
		p       *v1.Pod
		objects []any
		want    []string
	}{
		{"the second volume that a pod names", mk.Pod("p", 9, namesAWS("vol-1"), namesAWS(odd)), nil, []string{"Pod default/p: spec.volumes[1].awsElasticBlockStore"}},
		{"that of the second pod", mk.Pod("p", 9, mk.Mounts("a")), []any{a, mk.Volume("a"), user("x", "a"), mk.Pod("y", 0, mk.On("n"), namesAWS(odd))}, []string{"Pod default/y: spec.volumes[0].awsElasticBlockStore"}},
		{"of a pod that mounts nothing", mk.Pod("p", 9), []any{mk.Pod("y", 0, mk.On("n"), namesAWS(odd))}, nil},
		{"a class without a mode", mk.Pod("p", 9, mk.Mounts("a")), []any{mk.Claim("a", mk.Unbound("c")), modeless}, []string{"StorageClass c: volumeBindingMode"}},
		{"a disk of no region", mk.Pod("p", 9, mk.Mounts("a", "b")), []any{a, b, mk.Volume("a"), disk("b", "disk", "y__z"), says}, []string{"PersistentVolume b: spec"}},
		{"a disk of no region, behind a claim that waits", mk.Pod("p", 9, mk.Mounts("a", "b")), []any{mk.Claim("a", mk.Unbound("wait")), waits, b, disk("b", "disk", "y__z"), says}, []string{"PersistentVolume b: spec"}},
		{"an attachment behind another", mk.Pod("p", 9, mk.Mounts("a")), []any{a, mk.Volume("a"), mk.Attachment("a", "n"), inline, limit}, []string{"VolumeAttachment inline: spec.source.inlineVolumeSpec"}},
		{"an attachment of a driver without a limit", mk.Pod("p", 9, mk.Mounts("a")), []any{a, mk.Volume("a"), otherInline, limit}, nil},
		{"the second limit of a node", mk.Pod("p", 9, mk.Mounts("a")), []any{a, mk.Volume("a"), inline, second}, []string{"VolumeAttachment inline: spec.source.inlineVolumeSpec"}},
		{"two disks of a zone", mk.Pod("p", 9, mk.Mounts("a")), []any{a, b, disk("a", "disk", "z"), disk("b", "risk", "z"), user("x", "b"), limit}, nil},
		{"two disks of two zones", mk.Pod("p", 9, mk.Mounts("a")), []any{a, b, disk("a", "disk", "y"), disk("b", "other", "z"), user("x", "b"), limit}, nil},
		{"a disk in two zones, of two pods", mk.Pod("p", 9, namesAWS("vol-1")), []any{a, b, disk("a", "disk", "y"), disk("b", "disk", "z"), user("x", "a"), user("y", "b"), limit}, []string{"GCE disk disk: zone"}},
		{"other drivers' volumes", mk.Pod("p", 9, mk.Mounts("a")), []any{a, b, csi("a", "y/disk"), csi("b", "z/disk"), user("x", "b"), limit}, nil},
		{"a disk that is yet to be made", mk.Pod("p", 9, mk.Mounts("a")), []any{a, disk("a", "disk", "z"), mk.Claim("disk", mk.Unbound("wait")), waits, user("x", "disk"), limit}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			c := mk.Cluster(tt.p, slices.Concat([]any{mk.Node("n", "9")}, unlimited(), tt.objects)...)
			volume.VolumeBinding{}.Unmodelled(model.NewSnapshot(c), func(object, field, _ string) { got = append(got, object+": "+field) })
			require.Equal(t, tt.want, got)
		})
	}
}
