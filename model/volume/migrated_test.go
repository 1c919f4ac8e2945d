package volume

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

// A volume that was made for a plugin is in the zones of its CSI driver's label, on nodes that have the driver take care of it.
func TestTranslated(t *testing.T) {
	in := func(key string) *v1.VolumeNodeAffinity {
		return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
			{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{"a"}}}}}}}
	}
	disk := v1.PersistentVolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}
	const zone = "topology.ebs.csi.aws.com/zone"
	for _, tt := range []struct {
		name, plugins string
		pv            v1.PersistentVolume
		label         string // of the node that is in zone a
		reaches       bool
	}{
		{"by the driver's label", "kubernetes.io/aws-ebs", v1.PersistentVolume{Spec: v1.PersistentVolumeSpec{PersistentVolumeSource: disk, NodeAffinity: in(v1.LabelTopologyZone)}}, zone, true},
		{"not by that of Kubernetes", "kubernetes.io/aws-ebs", v1.PersistentVolume{Spec: v1.PersistentVolumeSpec{PersistentVolumeSource: disk, NodeAffinity: in(v1.LabelTopologyZone)}}, v1.LabelTopologyZone, false},
		{"by that of Kubernetes, where another plugin is migrated", "kubernetes.io/azure-disk", v1.PersistentVolume{Spec: v1.PersistentVolumeSpec{PersistentVolumeSource: disk, NodeAffinity: in(v1.LabelTopologyZone)}}, v1.LabelTopologyZone, true},
		{"a volume of the driver itself", "kubernetes.io/aws-ebs", v1.PersistentVolume{Spec: v1.PersistentVolumeSpec{NodeAffinity: in(v1.LabelTopologyZone)}}, v1.LabelTopologyZone, true},
		{"a zone that the volume is labelled with", "kubernetes.io/azure-disk,kubernetes.io/aws-ebs", v1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1.LabelTopologyZone: "a"}}, Spec: v1.PersistentVolumeSpec{PersistentVolumeSource: disk}}, v1.LabelTopologyZone, false},
	} {
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{tt.label: "a"}}}
		x := NewIndex([]runtime.Object{&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{v1.MigratedPluginsAnnotationKey: tt.plugins}}}})
		assert.Equal(t, tt.reaches, reaches(n, x.on(n, &tt.pv)), tt.name)
		other := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: n.Labels}}
		assert.Same(t, &tt.pv, x.on(other, &tt.pv), tt.name)
	}
}

// A volume that cannot be translated stays what it is.
func TestNotTranslated(t *testing.T) {
	pv := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1.LabelTopologyZone: "a__b"}}}
	pv.Spec.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: "d"}
	x := NewIndex([]runtime.Object{&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{v1.MigratedPluginsAnnotationKey: "kubernetes.io/gce-pd"}}}})
	assert.Same(t, pv, x.on(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, pv))
}

// Each plugin has its driver, and its word for what a volume is called.
func TestPlugins(t *testing.T) {
	for _, tt := range []struct {
		source v1.VolumeSource
		plugin string
		want   CSIVolume
	}{
		{v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "a"}}, "kubernetes.io/aws-ebs", CSIVolume{Driver: "ebs.csi.aws.com", Handle: "a"}},
		{v1.VolumeSource{AzureDisk: &v1.AzureDiskVolumeSource{DiskName: "a", DataDiskURI: "b"}}, "kubernetes.io/azure-disk", CSIVolume{Driver: "disk.csi.azure.com", Handle: "b"}},
		{v1.VolumeSource{Cinder: &v1.CinderVolumeSource{VolumeID: "c"}}, "kubernetes.io/cinder", CSIVolume{Driver: "cinder.csi.openstack.org", Handle: "c"}},
		{v1.VolumeSource{PortworxVolume: &v1.PortworxVolumeSource{VolumeID: "d"}}, "kubernetes.io/portworx-volume", CSIVolume{Driver: "pxd.portworx.com", Handle: "d"}},
		{v1.VolumeSource{RBD: &v1.RBDVolumeSource{RBDImage: "e"}}, "", CSIVolume{}},
	} {
		v := &v1.Volume{VolumeSource: tt.source}
		assert.Equal(t, tt.plugin, InlinePluginOf(v))
		assert.Equal(t, tt.plugin, PluginOf(inline(v)))
		assert.Equal(t, tt.plugin != "", TakenOver(tt.plugin), tt.plugin)
		assert.Equal(t, tt.want, migrated(inline(v), nil))
	}
	assert.False(t, TakenOver("kubernetes.io/rbd"))
}

// Where a disk of GCE is, its labels say: the old one first, and of several zones the region.
func TestPlaceOfDisk(t *testing.T) {
	for _, tt := range []struct{ old, zone, want string }{
		{"a", "", "zones/a"},
		{"a", "b", "zones/a"},
		{"", "b", "zones/b"},
		{"", "", "zones/UNSPECIFIED"},
		{"us-east1-a__us-east1-b__us-east1-c", "", "regions/us-east1"},
		{"us-east1-a__us-east1-b__us-west1-c", "", ""},
		{"us-east1-a__us-west1-a__us-east1-b", "", ""},
		{"us-east1-a__us-east1", "", ""},
		{"us-east1-a__us-east1-b-c", "", ""},
	} {
		place, ok := placeOfDisk(map[string]string{v1.LabelFailureDomainBetaZone: tt.old, v1.LabelTopologyZone: tt.zone})
		assert.Equal(t, tt.want != "", ok, "%+v", tt)
		if ok {
			assert.Equal(t, "projects/UNSPECIFIED/"+tt.want+"/disks/", place)
		}
	}
}

// One node that has a plugin's driver take care of its volumes is enough: here each plugin has another one.
func TestTranslates(t *testing.T) {
	var nodes []runtime.Object
	for plugin := range migratedDrivers {
		nodes = append(nodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: plugin, Annotations: map[string]string{v1.MigratedPluginsAnnotationKey: plugin}}})
	}
	x := NewIndex(nodes)
	for _, source := range []v1.PersistentVolumeSource{{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{}}, {AzureDisk: &v1.AzureDiskVolumeSource{}},
		{Cinder: &v1.CinderPersistentVolumeSource{}}, {GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{}}, {PortworxVolume: &v1.PortworxVolumeSource{}}} {
		pv := &v1.PersistentVolume{Spec: v1.PersistentVolumeSpec{PersistentVolumeSource: source}}
		assert.True(t, x.Translates(pv), PluginOf(&source))
		assert.False(t, (&Index{}).Translates(pv), PluginOf(&source))
	}
	assert.False(t, x.Translates(&v1.PersistentVolume{}))
}
