package volume_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

func TestVolumeRestrictions(t *testing.T) {
	gce := func(name string, readOnly bool) func(*v1.Pod) {
		return mk.MountsSource("d", v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}})
	}
	aws := func(id string) func(*v1.Pod) {
		return mk.MountsSource("d", v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: id, ReadOnly: true}})
	}
	iscsi := func(iqn string, readOnly bool) func(*v1.Pod) {
		return mk.MountsSource("d", v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{IQN: iqn, ReadOnly: readOnly}})
	}
	rbd := func(image string, readOnly bool, monitors ...string) func(*v1.Pod) {
		return mk.MountsSource("d", v1.VolumeSource{RBD: &v1.RBDVolumeSource{RBDImage: image, RBDPool: "pool", CephMonitors: monitors, ReadOnly: readOnly}})
	}
	n, m := mk.Node("n", "9"), mk.Node("m", "9")
	shared, once := mk.Claim("c"), mk.Claim("c", mk.ForOnePod)
	own := mk.Claim("x-own", mk.ForOnePod, mk.OwnedBy("x"))
	testFilter(t, "VolumeRestrictions", []filterTest{
		{"another disk", mk.Pod("p", 9, gce("a", false)), []any{n, mk.Pod("x", 0, mk.On("n"), gce("b", false))}, passes},
		{"a disk in use", mk.Pod("p", 9, gce("a", false)), []any{n, mk.Pod("x", 0, mk.On("n"), gce("a", false))}, fails},
		{"a disk in use by the second pod", mk.Pod("p", 9, gce("a", false)), []any{n, mk.Pod("x", 0, mk.On("n")), mk.Pod("y", 0, mk.On("n"), gce("a", false))}, fails},
		{"on another node", mk.Pod("p", 9, gce("a", false)), []any{n, m, mk.Pod("x", 0, mk.On("m"), gce("a", false))}, passes},
		{"read by one, written by the other", mk.Pod("p", 9, gce("a", true)), []any{n, mk.Pod("x", 0, mk.On("n"), gce("a", false))}, fails},
		{"read by both", mk.Pod("p", 9, gce("a", true)), []any{n, mk.Pod("x", 0, mk.On("n"), gce("a", true))}, passes},
		{"AWS volumes are not even read by both", mk.Pod("p", 9, aws("a")), []any{n, mk.Pod("x", 0, mk.On("n"), aws("a"))}, fails},
		{"an iSCSI target", mk.Pod("p", 9, iscsi("a", true)), []any{n, mk.Pod("x", 0, mk.On("n"), iscsi("a", false))}, fails},
		{"an iSCSI target read by both", mk.Pod("p", 9, iscsi("a", true)), []any{n, mk.Pod("x", 0, mk.On("n"), iscsi("a", true))}, passes},
		{"an RBD image of a common monitor", mk.Pod("p", 9, rbd("a", false, "1", "2")), []any{n, mk.Pod("x", 0, mk.On("n"), rbd("a", false, "2", "3"))}, fails},
		{"an RBD image of other monitors", mk.Pod("p", 9, rbd("a", false, "1")), []any{n, mk.Pod("x", 0, mk.On("n"), rbd("a", false, "2"))}, passes},
		{"an RBD image, read by one, written by the other", mk.Pod("p", 9, rbd("a", true, "1")), []any{n, mk.Pod("x", 0, mk.On("n"), rbd("a", false, "1"))}, fails},
		{"an RBD image read by both", mk.Pod("p", 9, rbd("a", true, "1")), []any{n, mk.Pod("x", 0, mk.On("n"), rbd("a", true, "1"))}, passes},
		{"a disk of a nominated pod", mk.Pod("p", 5, gce("a", false)), []any{n, mk.Pod("x", 9, mk.Nominated("n"), gce("a", false))}, fails},
		{"a disk of a nominated pod that matters less", mk.Pod("p", 9, gce("a", false)), []any{n, mk.Pod("x", 5, mk.Nominated("n"), gce("a", false))}, passes},

		{"no claim", mk.Pod("p", 9, mk.Mounts("c")), []any{n}, never},
		{"no claim for an ephemeral volume", mk.Pod("p", 9, mk.MountsOwn("own")), []any{n}, passes},
		{"a claim for one pod", mk.Pod("p", 9, mk.Mounts("c")), []any{n, once}, passes},
		{"a claim for one pod in use", mk.Pod("p", 9, mk.Mounts("c")), []any{n, once, mk.Pod("x", 0, mk.On("n"), mk.Mounts("c"))}, fails},
		{"in use on another node", mk.Pod("p", 9, mk.Mounts("c")), []any{n, m, once, mk.Pod("x", 0, mk.On("m"), mk.Mounts("c"))}, fails},
		{"a shared claim in use", mk.Pod("p", 9, mk.Mounts("c")), []any{n, shared, mk.Pod("x", 0, mk.On("n"), mk.Mounts("c"))}, passes},
		{"a claim of another namespace in use", mk.Pod("p", 9, mk.Mounts("c")), []any{n, once, mk.Pod("x", 0, mk.On("n"), mk.Mounts("c"), mk.In("other"))}, passes},
		{"a claim promised to a nominated pod", mk.Pod("p", 5, mk.Mounts("c")), []any{n, once, mk.Pod("x", 9, mk.Nominated("n"), mk.Mounts("c"))}, fails},
		{"a claim promised to a nominated pod elsewhere", mk.Pod("p", 5, mk.Mounts("c")), []any{n, m, once, mk.Pod("x", 9, mk.Nominated("m"), mk.Mounts("c"))}, passes},
		{"a claim of an ephemeral volume, by name", mk.Pod("p", 9, mk.Mounts("x-own")), []any{n, own, mk.Pod("x", 0, mk.On("n"), mk.MountsOwn("own"))}, passes},
	})
}

// What becomes of a claim for one pod as pods go, and what the quirks make of it.
func TestClaimForOnePodIsFreed(t *testing.T) {
	n, m, once, two := mk.Node("n", "9"), mk.Node("m", "9"), mk.Claim("c", mk.ForOnePod), mk.Claim("d", mk.ForOnePod)
	user := mk.Pod("x", 0, mk.On("n"), mk.Mounts("c"))
	other := mk.Pod("y", 0, mk.On("m"), mk.Mounts("c"))
	stranger := mk.Pod("z", 0, mk.On("n"), mk.Mounts("c"), mk.In("other"))
	for _, test := range []struct {
		name      string
		preemptor *v1.Pod
		gone      string
		objects   []any
		want      string
		quirk     release.Quirk
		quirky    string
	}{
		{"its user goes", mk.Pod("p", 9, mk.Mounts("c")), "default/x", []any{n, once, user}, passes, release.ClaimCountedOnce, passes},
		{"one of two users goes", mk.Pod("p", 9, mk.Mounts("c")), "default/x", []any{n, m, once, user, other}, fails, release.ClaimCountedOnce, passes},
		{"one of two claims is freed", mk.Pod("p", 9, mk.Mounts("c", "d")), "default/x",
			[]any{n, m, once, two, mk.Pod("x", 0, mk.On("n"), mk.Mounts("c")), mk.Pod("y", 0, mk.On("m"), mk.Mounts("d"))}, fails, release.ClaimCountedOnce, fails},
		{"a namesake goes", mk.Pod("p", 9, mk.Mounts("c")), "other/z", []any{n, m, once, stranger, other}, fails, release.ClaimOfOtherNamespace, passes},
		{"a namesake goes, and nobody used it", mk.Pod("p", 9, mk.Mounts("c")), "other/z", []any{n, m, once, stranger}, passes, release.ClaimOfOtherNamespace, passes},
		{"nobody uses what is promised", mk.Pod("p", 5, mk.Mounts("c")), "other/z",
			[]any{n, once, stranger, mk.Pod("w", 9, mk.Nominated("n"), mk.Mounts("c"))}, fails, release.NominatedClaimIgnored, passes},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := model.FilterRun{Change: model.Removed, Pod: test.gone}
			assert.Equal(t, test.want, outcomeOn(t, "VolumeRestrictions", test.preemptor, answers.Documented(), run, test.objects...))
			assert.Equal(t, test.quirky, outcomeOn(t, "VolumeRestrictions", test.preemptor, release.With(answers.Documented(), test.quirk), run, test.objects...), "with the quirk")
		})
	}
}

// Pods of a node can stand in for each other if they are in the way of the same claims for one pod, and of the same disks.
func TestAlikeForRestrictions(t *testing.T) {
	disk := mk.MountsSource("d", v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: "a"}})
	type with = []func(*v1.Pod)
	for _, tt := range []struct {
		name string
		a, b with
		want bool
	}{
		{"nothing", nil, nil, true},
		{"the same claim", with{mk.Mounts("c")}, with{mk.Mounts("c")}, true},
		{"a claim, and none", with{mk.Mounts("c")}, nil, false},
		{"two claims", with{mk.Mounts("c")}, with{mk.Mounts("d")}, false},
		{"claims that are shared", with{mk.Mounts("shared")}, nil, true},
		{"a disk", with{disk}, nil, false},
		{"a disk each", with{disk}, with{disk}, true},
		{"a disk each, and a claim", with{disk, mk.Mounts("c")}, with{disk}, false},
		{"a claim each, and a disk", with{mk.Mounts("c"), disk}, with{mk.Mounts("c")}, false},
	} {
		s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, disk, mk.Mounts("c", "shared", "d")), mk.Node("n", "9"), mk.Claim("c", mk.ForOnePod), mk.Claim("d", mk.ForOnePod), mk.Claim("shared"),
			mk.Pod("a", 0, append(tt.a, mk.On("n"))...), mk.Pod("b", 0, append(tt.b, mk.On("n"))...)))
		st, _ := volume.VolumeRestrictions{}.PreFilter(s)
		a, b := s.Nodes[0].Pods[0], s.Nodes[0].Pods[1]
		require.Equal(t, tt.want, st.Alike(a, b), tt.name)
		require.Equal(t, tt.want, st.Alike(b, a), tt.name)
	}
}

// Images are one only in one pool, and disks of two kinds are none.
func TestDisksOfOneName(t *testing.T) {
	rbd := func(pool, image string) func(*v1.Pod) {
		return mk.MountsSource("d", v1.VolumeSource{RBD: &v1.RBDVolumeSource{RBDPool: pool, RBDImage: image, CephMonitors: []string{"1"}}})
	}
	gce := mk.MountsSource("d", v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: "a"}})
	aws := func(id string) func(*v1.Pod) {
		return mk.MountsSource("d", v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: id}})
	}
	iscsi := func(iqn string) func(*v1.Pod) {
		return mk.MountsSource("d", v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{IQN: iqn}})
	}
	n := mk.Node("n", "9")
	testFilter(t, "VolumeRestrictions", []filterTest{
		{"one image", mk.Pod("p", 9, rbd("pool", "a")), []any{n, mk.Pod("x", 0, mk.On("n"), rbd("pool", "a"))}, fails},
		{"of another pool", mk.Pod("p", 9, rbd("pool", "a")), []any{n, mk.Pod("x", 0, mk.On("n"), rbd("other", "a"))}, passes},
		{"another image", mk.Pod("p", 9, rbd("pool", "a")), []any{n, mk.Pod("x", 0, mk.On("n"), rbd("pool", "b"))}, passes},
		{"another volume of AWS", mk.Pod("p", 9, aws("a")), []any{n, mk.Pod("x", 0, mk.On("n"), aws("b"))}, passes},
		{"another target", mk.Pod("p", 9, iscsi("a")), []any{n, mk.Pod("x", 0, mk.On("n"), iscsi("b"))}, passes},
		{"another kind", mk.Pod("p", 9, gce), []any{n, mk.Pod("x", 0, mk.On("n"), aws("a"), iscsi("a"), rbd("pool", "a"))}, passes},
		{"the second of each", mk.Pod("p", 9, aws("b"), gce), []any{n, mk.Pod("x", 0, mk.On("n"), iscsi("a"), gce)}, fails},
	})
}

// The claims for one pod are sorted, in whatever order the pod names them.
func TestExclusiveClaims(t *testing.T) {
	s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, mk.Mounts("d", "shared", "c")), mk.Node("n", "1"), mk.Claim("c", mk.ForOnePod), mk.Claim("d", mk.ForOnePod), mk.Claim("shared")))
	st, _ := volume.VolumeRestrictions{}.PreFilter(s)
	require.Equal(t, []string{"default/c", "default/d"}, st.(*volume.RestrictionsState).Exclusive)
}

// A pod whose claims others may mount, too, is nothing to the plugin, which skips then.
func TestVolumeRestrictionsSkip(t *testing.T) {
	for _, tt := range []struct {
		claim any
		skips bool
	}{{mk.Claim("c"), true}, {mk.Claim("c", mk.ForOnePod), false}} {
		st, answer := volume.VolumeRestrictions{}.PreFilter(model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1"), tt.claim)))
		require.Nil(t, answer.Rejection)
		require.Equal(t, tt.skips, st == nil)
	}
}
