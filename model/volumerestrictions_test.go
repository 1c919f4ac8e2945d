package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
)

func TestVolumeRestrictions(t *testing.T) {
	gce := func(name string, readOnly bool) func(*v1.Pod) {
		return mountsSource("d", v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}})
	}
	aws := func(id string) func(*v1.Pod) {
		return mountsSource("d", v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: id, ReadOnly: true}})
	}
	iscsi := func(iqn string, readOnly bool) func(*v1.Pod) {
		return mountsSource("d", v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{IQN: iqn, ReadOnly: readOnly}})
	}
	rbd := func(image string, readOnly bool, monitors ...string) func(*v1.Pod) {
		return mountsSource("d", v1.VolumeSource{RBD: &v1.RBDVolumeSource{RBDImage: image, RBDPool: "pool", CephMonitors: monitors, ReadOnly: readOnly}})
	}
	n, m := aNode("n", "9"), aNode("m", "9")
	shared, once := aClaim("c"), aClaim("c", forOnePod)
	own := aClaim("x-own", forOnePod, ownedBy("x"))
	testFilter(t, "VolumeRestrictions", []filterTest{
		{"another disk", aPod("p", 9, gce("a", false)), []any{n, aPod("x", 0, on("n"), gce("b", false))}, passes},
		{"a disk in use", aPod("p", 9, gce("a", false)), []any{n, aPod("x", 0, on("n"), gce("a", false))}, fails},
		{"on another node", aPod("p", 9, gce("a", false)), []any{n, m, aPod("x", 0, on("m"), gce("a", false))}, passes},
		{"read by one, written by the other", aPod("p", 9, gce("a", true)), []any{n, aPod("x", 0, on("n"), gce("a", false))}, fails},
		{"read by both", aPod("p", 9, gce("a", true)), []any{n, aPod("x", 0, on("n"), gce("a", true))}, passes},
		{"AWS volumes are not even read by both", aPod("p", 9, aws("a")), []any{n, aPod("x", 0, on("n"), aws("a"))}, fails},
		{"an iSCSI target", aPod("p", 9, iscsi("a", true)), []any{n, aPod("x", 0, on("n"), iscsi("a", false))}, fails},
		{"an iSCSI target read by both", aPod("p", 9, iscsi("a", true)), []any{n, aPod("x", 0, on("n"), iscsi("a", true))}, passes},
		{"an RBD image of a common monitor", aPod("p", 9, rbd("a", false, "1", "2")), []any{n, aPod("x", 0, on("n"), rbd("a", false, "2", "3"))}, fails},
		{"an RBD image of other monitors", aPod("p", 9, rbd("a", false, "1")), []any{n, aPod("x", 0, on("n"), rbd("a", false, "2"))}, passes},
		{"a disk of a nominated pod", aPod("p", 5, gce("a", false)), []any{n, aPod("x", 9, nominated("n"), gce("a", false))}, fails},
		{"a disk of a nominated pod that matters less", aPod("p", 9, gce("a", false)), []any{n, aPod("x", 5, nominated("n"), gce("a", false))}, passes},

		{"no claim", aPod("p", 9, mounts("c")), []any{n}, never},
		{"no claim for an ephemeral volume", aPod("p", 9, mountsOwn("own")), []any{n}, passes},
		{"a claim for one pod", aPod("p", 9, mounts("c")), []any{n, once}, passes},
		{"a claim for one pod in use", aPod("p", 9, mounts("c")), []any{n, once, aPod("x", 0, on("n"), mounts("c"))}, fails},
		{"in use on another node", aPod("p", 9, mounts("c")), []any{n, m, once, aPod("x", 0, on("m"), mounts("c"))}, fails},
		{"a shared claim in use", aPod("p", 9, mounts("c")), []any{n, shared, aPod("x", 0, on("n"), mounts("c"))}, passes},
		{"a claim of another namespace in use", aPod("p", 9, mounts("c")), []any{n, once, aPod("x", 0, on("n"), mounts("c"), in("other"))}, passes},
		{"a claim promised to a nominated pod", aPod("p", 5, mounts("c")), []any{n, once, aPod("x", 9, nominated("n"), mounts("c"))}, fails},
		{"a claim promised to a nominated pod elsewhere", aPod("p", 5, mounts("c")), []any{n, m, once, aPod("x", 9, nominated("m"), mounts("c"))}, passes},
		{"a claim of an ephemeral volume, by name", aPod("p", 9, mounts("x-own")), []any{n, own, aPod("x", 0, on("n"), mountsOwn("own"))}, passes},
	})
}

// What becomes of a claim for one pod as pods go, and what the quirks make of it.
func TestClaimForOnePodIsFreed(t *testing.T) {
	n, m, once, two := aNode("n", "9"), aNode("m", "9"), aClaim("c", forOnePod), aClaim("d", forOnePod)
	user := aPod("x", 0, on("n"), mounts("c"))
	other := aPod("y", 0, on("m"), mounts("c"))
	stranger := aPod("z", 0, on("n"), mounts("c"), in("other"))
	for _, test := range []struct {
		name      string
		preemptor *v1.Pod
		gone      string
		objects   []any
		want      string
		quirk     Quirk
		quirky    string
	}{
		{"its user goes", aPod("p", 9, mounts("c")), "default/x", []any{n, once, user}, passes, ClaimCountedOnce, passes},
		{"one of two users goes", aPod("p", 9, mounts("c")), "default/x", []any{n, m, once, user, other}, fails, ClaimCountedOnce, passes},
		{"one of two claims is freed", aPod("p", 9, mounts("c", "d")), "default/x",
			[]any{n, m, once, two, aPod("x", 0, on("n"), mounts("c")), aPod("y", 0, on("m"), mounts("d"))}, fails, ClaimCountedOnce, fails},
		{"a namesake goes", aPod("p", 9, mounts("c")), "other/z", []any{n, m, once, stranger, other}, fails, ClaimOfOtherNamespace, passes},
		{"a namesake goes, and nobody used it", aPod("p", 9, mounts("c")), "other/z", []any{n, m, once, stranger}, passes, ClaimOfOtherNamespace, passes},
		{"nobody uses what is promised", aPod("p", 5, mounts("c")), "other/z",
			[]any{n, once, stranger, aPod("w", 9, nominated("n"), mounts("c"))}, fails, NominatedClaimIgnored, passes},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := FilterRun{Change: Removed, Pod: test.gone}
			assert.Equal(t, test.want, outcomeOn(t, "VolumeRestrictions", test.preemptor, Documented(), run, test.objects...))
			assert.Equal(t, test.quirky, outcomeOn(t, "VolumeRestrictions", test.preemptor, Documented().With(test.quirk), run, test.objects...), "with the quirk")
		})
	}
}
