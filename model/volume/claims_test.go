package volume_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// inZone is a node of a zone.
func inZone(name, zone string) *v1.Node {
	return mk.Node(name, "9", func(n *v1.Node) { n.Labels = map[string]string{"zone": zone} })
}

// Each claim has to be one that the pod can use, and to get its volume.
func TestSecondClaim(t *testing.T) {
	waits := storagev1.VolumeBindingWaitForFirstConsumer
	elsewhere := mk.Class("elsewhere", mk.Driver, waits)
	elsewhere.AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: "zone", Values: []string{"b"}}}}}
	deleted := mk.Claim("deleted", func(c *v1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} })
	objects := []any{inZone("n", "a"), mk.Class("makes", mk.Driver, waits), elsewhere, mk.Claim("bound"), mk.Volume("bound"), deleted, mk.Volume("deleted"),
		mk.Claim("made", mk.Unbound("makes")), mk.Claim("made, too", mk.Unbound("makes")), mk.Claim("far", mk.Unbound("elsewhere"))}
	testFilter(t, "VolumeBinding", []filterTest{
		{"both can be used", mk.Pod("p", 9, mk.Mounts("bound", "made")), objects, passes},
		{"the second is being deleted", mk.Pod("p", 9, mk.Mounts("bound", "deleted")), objects, never},
		{"both can be made", mk.Pod("p", 9, mk.Mounts("made", "made, too")), objects, passes},
		{"the second cannot be made", mk.Pod("p", 9, mk.Mounts("made", "far")), objects, never},
		{"the first cannot be made", mk.Pod("p", 9, mk.Mounts("far", "made")), objects, never},
	})
	require.False(t, (&volume.Claim{}).Bound(), "a claim that is not there")
}

// What is drawn is told of this judgement, and of this node: not of the one before.
func TestDrawnAnew(t *testing.T) {
	yes := true
	ssd := mk.Claim("ssd", mk.Unbound("makes"), func(c *v1.PersistentVolumeClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "ssd"}}
	})
	near := mk.ReachedFrom("zone", "a")
	objects := []any{inZone("n", "a"), inZone("m", "b"), mk.Class("makes", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer), mk.Claim("any", mk.Unbound("makes")), ssd,
		mk.Volume("v", mk.OfClass("makes"), near, func(pv *v1.PersistentVolume) { pv.Labels = map[string]string{"disk": "ssd"} }), mk.Volume("w", mk.OfClass("makes"), near),
		mk.Claim("bound"), mk.Volume("bound", near), &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: mk.Driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}},
		&storagev1.CSIStorageCapacity{StorageClassName: "makes", Capacity: gibibytes("1"), NodeTopology: &metav1.LabelSelector{}}}
	s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, mk.Mounts("any", "ssd", "bound")), objects...))
	st, _ := volume.VolumeBinding{}.PreFilter(s)
	binding := st.(*volume.BindingState)
	verdicts := binding.Judge(func(_, _ resource.Quantity) bool { return false })
	require.Equal(t, "default/any", binding.Drawn, "one of the volumes is all that the other claim can take")
	require.Equal(t, &filter.Verdict{Unresolvable: true, Reasons: []string{volume.OutOfReach, volume.NothingToBind}}, verdicts[1])
	verdicts = binding.Judge(volume.Holds)
	require.Empty(t, binding.Drawn, "what is not there is made")
	require.Nil(t, verdicts[0])
}

// Releases that did not reject a pod for its claims ended its cycle in an error, for which they looked at the claims all the same.
func TestRejectedForClaims(t *testing.T) {
	deleted := mk.Claim("c", func(c *v1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} })
	unbound := mk.Claim("c", mk.Unbound("now"))
	for name, tt := range map[string]struct {
		claim *v1.PersistentVolumeClaim
		first release.Release // that rejects
	}{"being deleted": {deleted, release.Release{Minor: 20}}, "ought to be bound": {unbound, release.Release{Minor: 19}}} {
		for r, want := range map[release.Release]string{tt.first: never, {Minor: tt.first.Minor - 1}: "error"} {
			got := outcomeOn(t, "VolumeBinding", mk.Pod("p", 9, mk.Mounts("c")), r.Rules(), model.FilterRun{Change: model.Untouched},
				mk.Node("n", "9"), mk.Class("now", mk.Driver, storagev1.VolumeBindingImmediate), mk.Volume("c"), tt.claim)
			require.Equal(t, want, got, "%s, %s", name, r)
		}
	}
}
