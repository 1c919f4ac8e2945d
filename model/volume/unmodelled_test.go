package volume_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

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

// Lots are drawn between two volumes of one size where something else depends on which it is.
func TestDrawsLots(t *testing.T) {
	sized := func(size string) func(*v1.PersistentVolume) {
		return func(v *v1.PersistentVolume) { v.Spec.Capacity[v1.ResourceStorage] = resource.MustParse(size) }
	}
	of := func(claim string) func(*v1.PersistentVolume) {
		return func(v *v1.PersistentVolume) {
			v.Spec.ClaimRef = &v1.ObjectReference{Namespace: "default", Name: claim}
		}
	}
	disk := func(name string, change ...func(*v1.PersistentVolume)) *v1.PersistentVolume {
		return mk.Volume(name, append([]func(*v1.PersistentVolume){mk.OfClass("later"), sized("2Gi")}, change...)...)
	}
	for name, tt := range map[string]struct {
		mounts  [][]string // by each pod
		volumes []runtime.Object
		want    bool
	}{
		"two claims, two volumes":          {[][]string{{"a", "b"}}, []runtime.Object{disk("v"), disk("w")}, true},
		"of two pods":                      {[][]string{{"a"}, {"b"}}, []runtime.Object{disk("v"), disk("w")}, true},
		"a claim of two pods":              {[][]string{{"a"}, {"a"}}, []runtime.Object{disk("v"), disk("w")}, true},
		"one claim":                        {[][]string{{"a"}}, []runtime.Object{disk("v"), disk("w")}, false},
		"volumes of two sizes":             {[][]string{{"a", "b"}}, []runtime.Object{disk("v"), disk("w", sized("3Gi"))}, false},
		"one volume":                       {[][]string{{"a", "b"}}, []runtime.Object{disk("v")}, false},
		"another one is somebody else's":   {[][]string{{"a", "b"}}, []runtime.Object{disk("v"), disk("w", of("c"))}, false},
		"another one is of another class":  {[][]string{{"a", "b"}}, []runtime.Object{disk("v"), disk("w", mk.OfClass("at-once"))}, false},
		"another one is the claim's own":   {[][]string{{"a", "b"}}, []runtime.Object{disk("v"), disk("w", of("a"))}, false},
		"both are the claim's own":         {[][]string{{"a"}}, []runtime.Object{disk("v", of("a")), disk("w", of("a"))}, true},
		"claims that do not wait for pods": {[][]string{{"c", "d"}}, []runtime.Object{disk("v", mk.OfClass("at-once")), disk("w", mk.OfClass("at-once"))}, false},
		"no claim":                         {[][]string{{}}, []runtime.Object{disk("v"), disk("w")}, false},
	} {
		objects := append(tt.volumes, mk.Class("later", "", storagev1.VolumeBindingWaitForFirstConsumer), mk.Class("at-once", "", storagev1.VolumeBindingImmediate),
			mk.Claim("a", mk.Unbound("later")), mk.Claim("b", mk.Unbound("later")), mk.Claim("c", mk.Unbound("at-once")), mk.Claim("d", mk.Unbound("at-once")))
		var pods []*v1.Pod
		for i, claims := range tt.mounts {
			p := mk.Pod(fmt.Sprint("p", i), 9)
			for _, claim := range claims {
				p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: claim, VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
			}
			pods = append(pods, p)
		}
		assert.Equal(t, tt.want, volume.DrawsLots(pods, objects), name)
	}
}
