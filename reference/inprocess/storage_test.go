package inprocess

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
)

// TestReuseNeverLeaksStorage runs clusters with claims and volumes one after the
// other on one System, and each on a scheduler of its own.
func TestReuseNeverLeaksStorage(t *testing.T) {
	reused := New()
	defer reused.Close()
	seen, clusters := map[string]int{}, 0
	for seed := uint64(0); clusters < max(200, testsize.Times(400)); seed++ { // fewer show little
		c := generators.FromSeed(seed)
		if !hasStorage(c) || startsWhenLookedAt(c) {
			continue
		}
		clusters++
		c.Settings.Parallelism = nil // several workers list candidates in any order
		before := c.DeepCopy()
		fresh := New()
		want, got := observe(t, fresh, c), observe(t, reused, c)
		fresh.Close()
		if len(want.Candidates) > 1 { // all criteria may leave several
			for _, o := range []*model.Observation{want, got} {
				o.Pick, o.Actuation, o.Aftermath, o.PostFilterMessage = nil, nil, nil, ""
			}
		}
		require.Emptyf(t, cmp.Diff(want, got, alike), "seed %d: fresh (-) and reused (+) schedulers differ", seed)
		require.Emptyf(t, cmp.Diff(before, c), "seed %d was changed", seed)
		for _, v := range got.Filters {
			seen[v.Plugin]++
		}
		if got.CycleError != "" {
			seen["error"]++
		}
		requireEmpty(t, reused)
	}
	t.Log(seen)
	for _, plugin := range []string{"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "error"} {
		require.Greater(t, seen[plugin], clusters/100, "%s: the test shows little", plugin)
	}
}

func hasStorage(c *model.Cluster) bool {
	return slices.ContainsFunc(c.Extra, func(o runtime.Object) bool { _, ok := o.(*storagev1.StorageClass); return ok })
}

// startsWhenLookedAt tells whether a pod has no start time, which then is whenever
// the scheduler looks.
func startsWhenLookedAt(c *model.Cluster) bool {
	for _, p := range c.Pods {
		if p.Spec.NodeName != "" && p.Status.StartTime == nil {
			return true
		}
	}
	return false
}

// requireEmpty: nothing of the last cluster is left, also where claims that pods
// use are counted.
func requireEmpty(t *testing.T, s *System) {
	t.Helper()
	for _, sched := range s.schedulers {
		for kind, inf := range sched.extra {
			require.Empty(t, inf.GetIndexer().ListKeys(), kind)
		}
		for _, claim := range []string{"default/claim-0", "other/claim-0"} {
			require.False(t, sched.snapshot.StorageInfos().IsPVCUsedByPods(claim), claim)
		}
	}
}

// TestStorageIsSeen: each plugin that looks at claims and volumes finds those of
// the cluster, and none of the cluster before.
func TestStorageIsSeen(t *testing.T) {
	s := New()
	defer s.Close()
	mounting := func(claim string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
				PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
		}
	}
	claim := func(name string, mode v1.PersistentVolumeAccessMode) *v1.PersistentVolumeClaim {
		return &v1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
			Spec:       v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{mode}, VolumeName: name},
			Status:     v1.PersistentVolumeClaimStatus{Phase: v1.ClaimBound},
		}
	}
	volume := func(name string, change func(*v1.PersistentVolume)) *v1.PersistentVolume {
		v := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
		v.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: "disk.example.com", VolumeHandle: name}
		change(v)
		return v
	}
	as := func(*v1.PersistentVolume) {}
	one := int32(1)
	limit := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "disk.example.com", NodeID: "n1", Allocatable: &storagev1.VolumeNodeResources{Count: &one}}}}}
	user := pod("a", 0, 1, on("n1"), mounting("y"))
	for _, tc := range []struct {
		name    string
		extra   []runtime.Object
		pods    []*v1.Pod
		want    model.Verdict
		victims []string
	}{{
		name:  "the claim is in use",
		extra: []runtime.Object{claim("x", v1.ReadWriteOncePod), volume("x", as)},
		pods:  []*v1.Pod{pod("a", 0, 1, on("n1"), mounting("x"))},
		want:  model.Verdict{Plugin: "VolumeRestrictions"}, victims: []string{"default/a"},
	}, {
		name:  "the node has its volumes",
		extra: []runtime.Object{claim("x", v1.ReadWriteOnce), volume("x", as), claim("y", v1.ReadWriteOnce), volume("y", as), limit},
		pods:  []*v1.Pod{user},
		want:  model.Verdict{Plugin: "NodeVolumeLimits"}, victims: []string{"default/a"},
	}, {
		name: "the volume cannot be reached",
		extra: []runtime.Object{claim("x", v1.ReadWriteOnce), volume("x", func(v *v1.PersistentVolume) {
			v.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchExpressions: []v1.NodeSelectorRequirement{{Key: "kubernetes.io/hostname", Operator: v1.NodeSelectorOpIn, Values: []string{"n2"}}}}}}}
		})},
		pods: []*v1.Pod{user},
		want: model.Verdict{Plugin: "VolumeBinding", Unresolvable: true},
	}, {
		name: "the volume is in another zone",
		extra: []runtime.Object{claim("x", v1.ReadWriteOnce), volume("x", func(v *v1.PersistentVolume) {
			v.Labels = map[string]string{v1.LabelTopologyZone: "b"}
		})},
		pods: []*v1.Pod{user},
		want: model.Verdict{Plugin: "VolumeZone", Unresolvable: true},
	}, {
		name: "nothing of the clusters before",
		pods: []*v1.Pod{user},
		want: model.Verdict{Plugin: "VolumeRestrictions", Unresolvable: true}, // which looks for the claim first
	}} {
		t.Run(tc.name, func(t *testing.T) {
			n := node("n1", 4)
			n.Labels[v1.LabelTopologyZone] = "a"
			c := &model.Cluster{Nodes: []*v1.Node{n}, Pods: tc.pods, Extra: tc.extra, Preemptor: pod("p", 9, 1, mounting("x"))}
			c.Preemptor.Status.StartTime = nil
			obs := observe(t, s, c)
			require.Empty(t, cmp.Diff(map[string]model.Verdict{"n1": tc.want}, obs.Filters, ignoreText))
			if tc.victims != nil {
				require.Equal(t, tc.victims, obs.Actuation.Deleted)
			}
			requireEmpty(t, s)
		})
	}
}
