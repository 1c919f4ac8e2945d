package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// asking is a driver that no pod is to come to a node without.
func asking(name string) *storagev1.CSIDriver {
	yes := true
	return &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSIDriverSpec{PreventPodSchedulingIfMissing: &yes}}
}

func without(n *storagev1.CSINode) *storagev1.CSINode {
	n.Spec.Drivers = nil
	return n
}

func TestNodeVolumeLimits(t *testing.T) {
	p, n, m := aPod("p", 9, mounts("a")), aNode("n", "9"), aNode("m", "9")
	a, b, c := aClaim("a"), aClaim("b"), aClaim("c")
	va, vb, vc := aVolume("a"), aVolume("b"), aVolume("c")
	also := aVolume("c", func(pv *v1.PersistentVolume) { pv.Spec.CSI.VolumeHandle = "a" })
	elsewhere := aVolume("b", func(pv *v1.PersistentVolume) { pv.Spec.CSI.Driver = "file.example.com" })
	local := aVolume("b", func(pv *v1.PersistentVolume) {
		pv.Spec.CSI, pv.Spec.Local = nil, &v1.LocalVolumeSource{Path: "/b"}
	})
	aws := aVolume("a", func(pv *v1.PersistentVolume) {
		pv.Spec.CSI, pv.Spec.AWSElasticBlockStore = nil, &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}
	})
	user := aPod("x", 0, on("n"), mounts("b"))
	waits := aClass("wait", driver, storagev1.VolumeBindingWaitForFirstConsumer)
	own, foreign := aClaim("x-own", ownedBy("x")), aClaim("x-own", ownedBy("y"))
	testFilter(t, "NodeVolumeLimits", []filterTest{
		{"room for it", p, []any{n, a, va, b, vb, user, aCSINode("n", 2)}, passes},
		{"no room", p, []any{n, a, va, b, vb, user, aCSINode("n", 1)}, fails},
		{"no limit", p, []any{n, a, va, b, vb, user, aCSINode("n", -1)}, passes},
		{"no CSINode", p, []any{n, a, va, b, vb, user}, passes},
		{"another node's limit", p, []any{n, m, a, va, b, vb, user, aCSINode("m", 0)}, passes},
		{"two volumes at once", aPod("p", 9, mounts("a", "b")), []any{n, a, va, b, vb, aCSINode("n", 1)}, fails},
		{"one volume under two names", aPod("p", 9, mounts("a", "c")), []any{n, a, va, c, also, aCSINode("n", 1)}, passes},
		{"one volume of two pods counts once", aPod("p", 9, mounts("c")), []any{n, a, va, c, vc, aPod("x", 0, on("n"), mounts("a")), aPod("y", 0, on("n"), mounts("a")), aCSINode("n", 2)}, passes},
		{"the volume is there already", p, []any{n, a, va, b, vb, user, aPod("y", 0, on("n"), mounts("a")), aCSINode("n", 1)}, passes},
		{"another driver's volume", p, []any{n, a, va, b, elsewhere, user, aCSINode("n", 1)}, passes},
		{"no CSI volume", p, []any{n, a, va, b, local, user, aCSINode("n", 1)}, passes},
		{"a claim that a pod lacks", p, []any{n, a, va, user, aCSINode("n", 1)}, passes},
		{"a volume to be provisioned", p, []any{n, aClaim("a", unbound("wait")), waits, b, vb, user, aCSINode("n", 1)}, fails},
		{"a volume to be provisioned for another", p, []any{n, a, va, aClaim("b", unbound("wait")), waits, user, aCSINode("n", 1)}, fails},
		{"a claim without a class", p, []any{n, a, va, aClaim("b", unbound("")), user, aCSINode("n", 1)}, passes},
		{"an ephemeral volume", p, []any{n, a, va, own, aVolume("x-own"), aPod("x", 0, on("n"), mountsOwn("own")), aCSINode("n", 1)}, fails},
		{"an ephemeral volume that is not the pod's", p, []any{n, a, va, foreign, aVolume("x-own"), aPod("x", 0, on("n"), mountsOwn("own")), aCSINode("n", 1)}, passes},
		{"a nominated pod's volume", aPod("p", 5, mounts("a")), []any{n, a, va, b, vb, aPod("x", 9, nominated("n"), mounts("b")), aCSINode("n", 1)}, fails},

		{"attached to the node", p, []any{n, a, va, b, vb, anAttachment("b", "n"), aCSINode("n", 1)}, fails},
		{"attached to another node", p, []any{n, a, va, b, vb, anAttachment("b", "m"), aCSINode("n", 1)}, passes},
		{"attached and mounted", p, []any{n, a, va, b, vb, user, anAttachment("b", "n"), aCSINode("n", 2)}, passes},
		{"attached for the pod itself", p, []any{n, a, va, anAttachment("a", "n"), aCSINode("n", 1)}, passes},

		{"a driver that asks for it is missing", p, []any{n, a, va, asking(driver), without(aCSINode("n", 1))}, never},
		{"and so is the CSINode", p, []any{n, a, va, asking(driver)}, never},
		{"a driver that does not ask for it is missing", p, []any{n, a, va, without(aCSINode("n", 1))}, passes},
		{"it is there", p, []any{n, a, va, asking(driver), aCSINode("n", 1)}, passes},
		{"it is of another volume", p, []any{n, a, va, asking("file.example.com"), aCSINode("n", 1)}, passes},

		{"no claim", p, []any{n, aCSINode("n", 9)}, never},
		{"somebody else's claim", aPod("x", 9, mountsOwn("own")), []any{n, foreign, aCSINode("n", 9)}, "error"},
		{"a migrated volume", p, []any{n, a, aws, b, vb, user, aCSINode("n", 1)}, passes},
	})
}

// What becomes of the count as pods go, and what the quirks make of it.
func TestAttachmentsOfVictims(t *testing.T) {
	n, limit := aNode("n", "9"), aCSINode("n", 1)
	p, user := aPod("p", 9, mounts("a")), aPod("x", 0, on("n"), mounts("b"))
	broken := aPod("y", 0, on("n"), mountsOwn("own"))
	claims := []any{n, aClaim("a"), aVolume("a"), aClaim("b"), aVolume("b"), aClaim("y-own", ownedBy("z"))}
	for _, test := range []struct {
		name    string
		change  Change
		pod     *v1.Pod
		objects []any
		want    string
		quirk   Quirk
		quirky  string
	}{
		{"its volume goes with it", Removed, user, []any{limit, user, anAttachment("b", "n")}, passes, VictimVolumesStayAttached, fails},
		{"as long as it was not attached", Removed, user, []any{limit, user}, passes, VictimVolumesStayAttached, passes},
		{"another pod still mounts it", Removed, user, []any{limit, user, aPod("w", 0, on("n"), mounts("b")), anAttachment("b", "n")}, fails, VictimVolumesStayAttached, fails},
		{"attached before the pod came", Untouched, nil, []any{limit, anAttachment("a", "n")}, passes, AttachedVolumeCountedTwice, fails},
		{"attached and mounted before", Untouched, nil, []any{limit, anAttachment("a", "n"), aPod("w", 0, on("n"), mounts("a"))}, passes, AttachedVolumeCountedTwice, passes},
		{"beside a foreign claim", Untouched, nil, []any{limit, broken}, passes, ForeignEphemeralClaim, "error"},
		{"once its pod is gone", Removed, broken, []any{limit, broken}, passes, ForeignEphemeralClaim, passes},
		{"where there is no limit", Untouched, nil, []any{aCSINode("n", -1), broken}, passes, ForeignEphemeralClaim, passes},
		{"a missing driver", Untouched, nil, []any{asking(driver)}, never, MissingDriverResolvable, fails},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := FilterRun{Change: test.change}
			if test.pod != nil {
				run.Pod = Key(test.pod)
			}
			objects := append(claims[:len(claims):len(claims)], test.objects...)
			assert.Equal(t, test.want, outcomeOn(t, "NodeVolumeLimits", p, Documented(), run, objects...))
			assert.Equal(t, test.quirky, outcomeOn(t, "NodeVolumeLimits", p, Documented().With(test.quirk), run, objects...), "with the quirk")
		})
	}
}

// What a CSI driver calls a volume that was migrated to it.
func TestMigratedVolumes(t *testing.T) {
	gce := func(labels map[string]string) csiVolume {
		pv := aVolume("v", func(pv *v1.PersistentVolume) {
			pv.Spec.CSI, pv.Spec.GCEPersistentDisk = nil, &v1.GCEPersistentDiskVolumeSource{PDName: "d"}
		})
		pv.Labels = labels
		return migratedVolume(pv)
	}
	const google = "pd.csi.storage.gke.io"
	assert.Equal(t, csiVolume{google, "zones//d"}, gce(nil))
	assert.Equal(t, csiVolume{google, "zones/a/d"}, gce(map[string]string{v1.LabelTopologyZone: "a"}))
	assert.Equal(t, csiVolume{google, "regions/us-east1/d"}, gce(map[string]string{v1.LabelTopologyZone: "us-east1-a__us-east1-b"}))
	assert.Equal(t, csiVolume{driver: google}, gce(map[string]string{v1.LabelTopologyZone: "us-east1-a__us-west1-b"}))
	assert.Equal(t, csiVolume{driver: google}, gce(map[string]string{v1.LabelTopologyZone: "a__b"}))
	assert.Equal(t, csiVolume{google, "zones//d"}, migratedInline(&v1.Volume{VolumeSource: v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: "d"}}}))
	assert.Equal(t, csiVolume{"ebs.csi.aws.com", "vol-1"}, migratedInline(&v1.Volume{VolumeSource: v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}}))
	assert.Zero(t, migratedInline(&v1.Volume{VolumeSource: v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{}}}))
}
