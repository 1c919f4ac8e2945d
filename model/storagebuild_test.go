package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The builders of what pods mount. A claim is bound to the volume of its name,
// unless it is changed.

const driver = "disk.example.com"

func aClaim(name string, change ...func(*v1.PersistentVolumeClaim)) *v1.PersistentVolumeClaim {
	c := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{annBindCompleted: "yes"}}}
	c.Spec = v1.PersistentVolumeClaimSpec{VolumeName: name, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteMany}}
	c.Spec.Resources.Requests = list("storage", "1Gi")
	for _, f := range change {
		f(c)
	}
	return c
}

func unbound(class string) func(*v1.PersistentVolumeClaim) {
	return func(c *v1.PersistentVolumeClaim) {
		c.Annotations, c.Spec.VolumeName, c.Spec.StorageClassName = map[string]string{}, "", &class
	}
}

func forOnePod(c *v1.PersistentVolumeClaim) {
	c.Spec.AccessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}
}

func ownedBy(pod string) func(*v1.PersistentVolumeClaim) {
	return func(c *v1.PersistentVolumeClaim) {
		yes := true
		c.OwnerReferences = []metav1.OwnerReference{{Kind: "Pod", Name: pod, UID: podUID(aPod(pod, 0)), Controller: &yes}}
	}
}

// aVolume is a volume of driver, of 1Gi.
func aVolume(name string, change ...func(*v1.PersistentVolume)) *v1.PersistentVolume {
	pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pv.Spec = v1.PersistentVolumeSpec{Capacity: list("storage", "1Gi"), AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteMany}}
	pv.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}
	pv.Status.Phase = v1.VolumeAvailable
	for _, f := range change {
		f(pv)
	}
	return pv
}

// reachedFrom: just nodes with that label reach the volume.
func reachedFrom(key, value string) func(*v1.PersistentVolume) {
	return func(pv *v1.PersistentVolume) {
		pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
			MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}}}}}}}
	}
}

func ofClass(name string) func(*v1.PersistentVolume) {
	return func(pv *v1.PersistentVolume) { pv.Spec.StorageClassName = name }
}

func aClass(name, provisioner string, mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
}

// aCSINode says how many volumes of driver the node attaches; any number if count
// is negative.
func aCSINode(node string, count int32) *storagev1.CSINode {
	d := storagev1.CSINodeDriver{Name: driver, NodeID: node}
	if count >= 0 {
		d.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
	}
	return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{d}}}
}

func anAttachment(volume, node string) *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: volume + "-" + node},
		Spec: storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}}}
}

func mounts(claims ...string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		for _, c := range claims {
			p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: c, VolumeSource: v1.VolumeSource{
				PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: c}}})
		}
	}
}

// mountsOwn mounts an ephemeral volume.
func mountsOwn(name string) func(*v1.Pod) {
	return mountsSource(name, v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}})
}

func mountsSource(name string, source v1.VolumeSource) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: name, VolumeSource: source})
	}
}

func gibibytes(n string) *resource.Quantity {
	q := resource.MustParse(n + "Gi")
	return &q
}

// filterTest is a situation in which one filter is asked, by itself, about node n.
type filterTest struct {
	name      string
	preemptor *v1.Pod
	objects   []any
	want      string // FilterRun.Outcome
}

// The outcomes.
const (
	passes = "passes"
	fails  = "fails"
	never  = "fails, unresolvable"
)

func testFilter(t *testing.T, plugin string, tests []filterTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, outcomeOn(t, plugin, test.preemptor, Documented(), FilterRun{Change: Untouched}, test.objects...))
		})
	}
}

// outcomeOn asks a filter about node n after a change.
func outcomeOn(t *testing.T, plugin string, preemptor *v1.Pod, rules *Rules, after FilterRun, objects ...any) string {
	t.Helper()
	var known []any
	var extra []runtime.Object
	for _, o := range objects {
		switch o := o.(type) {
		case *v1.Node, *v1.Pod:
			known = append(known, o)
		case runtime.Object:
			extra = append(extra, o)
		}
	}
	c := aCluster(preemptor, known...)
	c.Extra = extra
	alone, err := NewFiltersAlone(c, rules)
	require.NoError(t, err)
	after.Plugin, after.Node = plugin, "n"
	answer := alone.Answer(after)
	if answer.Error != "" {
		return "error"
	}
	return answer.Outcome()
}
