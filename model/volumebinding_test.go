package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestVolumeBinding(t *testing.T) {
	type onClaim = func(*v1.PersistentVolumeClaim)
	type onVolume = func(*v1.PersistentVolume)
	n := aNode("n", "9", func(n *v1.Node) { n.Labels = map[string]string{"zone": "a"} })
	p := aPod("p", 9, mounts("c"))
	local := aClass("local", noProvisioner, storagev1.VolumeBindingWaitForFirstConsumer)
	makes := aClass("makes", driver, storagev1.VolumeBindingWaitForFirstConsumer)
	now := aClass("now", driver, storagev1.VolumeBindingImmediate)
	allowing := func(values ...string) *storagev1.StorageClass {
		class := aClass("makes", driver, storagev1.VolumeBindingWaitForFirstConsumer)
		class.AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: "zone", Values: values}}}}
		return class
	}
	waiting := func(change ...onClaim) *v1.PersistentVolumeClaim {
		return aClaim("c", append([]onClaim{unbound("local")}, change...)...)
	}
	free := func(change ...onVolume) *v1.PersistentVolume {
		return aVolume("v", append([]onVolume{ofClass("local")}, change...)...)
	}
	size := func(n string) onVolume {
		return func(pv *v1.PersistentVolume) { pv.Spec.Capacity[v1.ResourceStorage] = *gibibytes(n) }
	}
	wants := func(n string) onClaim {
		return func(c *v1.PersistentVolumeClaim) { c.Spec.Resources.Requests[v1.ResourceStorage] = *gibibytes(n) }
	}
	selectedFor := func(node string) onClaim {
		return func(c *v1.PersistentVolumeClaim) { c.Annotations[annSelectedNode] = node }
	}
	meantFor := func(name string) onVolume {
		return func(pv *v1.PersistentVolume) {
			pv.Spec.ClaimRef = &v1.ObjectReference{Namespace: "default", Name: name}
		}
	}
	ssd := func(c *v1.PersistentVolumeClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "ssd"}}
	}
	block := v1.PersistentVolumeBlock
	yes := true
	tells := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}}
	left := func(n, zone string) *storagev1.CSIStorageCapacity {
		return &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "left"}, StorageClassName: "makes", Capacity: gibibytes(n),
			NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{"zone": zone}}}
	}
	toMake := aClaim("c", unbound("makes"))
	testFilter(t, "VolumeBinding", []filterTest{
		{"bound", p, []any{n, aClaim("c"), aVolume("c")}, passes},
		{"bound to a volume that the node reaches", p, []any{n, aClaim("c"), aVolume("c", reachedFrom("zone", "a"))}, passes},
		{"bound to a volume out of reach", p, []any{n, aClaim("c"), aVolume("c", reachedFrom("zone", "b"))}, never},
		{"bound to no volume", p, []any{n, aClaim("c")}, never},
		{"no claim", p, []any{n}, never},
		{"lost", p, []any{n, aClaim("c", func(c *v1.PersistentVolumeClaim) { c.Status.Phase = v1.ClaimLost }), aVolume("c")}, never},
		{"being deleted", p, []any{n, aClaim("c", func(c *v1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} }), aVolume("c")}, never},
		{"its own", aPod("p", 9, mountsOwn("own")), []any{n, aClaim("p-own", ownedBy("p")), aVolume("p-own")}, passes},
		{"somebody else's", aPod("p", 9, mountsOwn("own")), []any{n, aClaim("p-own", ownedBy("x")), aVolume("p-own")}, never},
		{"not known to be bound", p, []any{n, aClaim("c", func(c *v1.PersistentVolumeClaim) { c.Annotations = nil }), aVolume("c")}, never},
		{"not bound, of a class that does not wait", p, []any{n, aClaim("c", unbound("now")), now}, never},
		{"not bound, of no class", p, []any{n, aClaim("c", unbound(""))}, never},

		{"a volume is free", p, []any{n, local, waiting(), free()}, passes},
		{"no volume is free", p, []any{n, local, waiting()}, never},
		{"of another class", p, []any{n, local, waiting(), free(ofClass("other"))}, never},
		{"named in the annotation", p, []any{n, local, waiting(func(c *v1.PersistentVolumeClaim) {
			c.Spec.StorageClassName, c.Annotations = nil, map[string]string{v1.BetaStorageClassAnnotation: "local"}
		}), free()}, passes},
		{"out of reach", p, []any{n, local, waiting(), free(reachedFrom("zone", "b"))}, never},
		{"too small", p, []any{n, local, waiting(wants("2")), free()}, never},
		{"larger", p, []any{n, local, waiting(), free(size("5"))}, passes},
		{"released", p, []any{n, local, waiting(), free(func(pv *v1.PersistentVolume) { pv.Status.Phase = v1.VolumeReleased })}, never},
		{"being deleted", p, []any{n, local, waiting(), free(func(pv *v1.PersistentVolume) { pv.DeletionTimestamp = &metav1.Time{} })}, never},
		{"a block device", p, []any{n, local, waiting(), free(func(pv *v1.PersistentVolume) { pv.Spec.VolumeMode = &block })}, never},
		{"for fewer access modes", p, []any{n, local, waiting(forOnePod), free()}, never},
		{"not the kind that the claim selects", p, []any{n, local, waiting(ssd), free()}, never},
		{"the kind that the claim selects", p, []any{n, local, waiting(ssd), free(func(pv *v1.PersistentVolume) { pv.Labels = map[string]string{"disk": "ssd"} })}, passes},
		{"meant for another claim", p, []any{n, local, waiting(), free(meantFor("d"))}, never},
		{"meant for this one", p, []any{n, local, waiting(), free(meantFor("c"))}, passes},
		{"meant for this one, and out of reach", p, []any{n, local, waiting(), free(meantFor("c"), reachedFrom("zone", "b")), aVolume("w", ofClass("local"))}, never},
		{"one for two claims", aPod("p", 9, mounts("c", "d")), []any{n, local, waiting(), aClaim("d", unbound("local")), free()}, never},
		{"two for two claims", aPod("p", 9, mounts("c", "d")), []any{n, local, waiting(), aClaim("d", unbound("local")), free(), aVolume("w", ofClass("local"), size("2"))}, passes},
		{"the smaller claim takes the smaller one", aPod("p", 9, mounts("c", "d")), []any{n, local, waiting(wants("2")), aClaim("d", unbound("local")), free(size("3")), aVolume("w", ofClass("local"))}, passes},

		{"can be made", p, []any{n, makes, toMake}, passes},
		{"can be made in this zone", p, []any{n, allowing("a", "b"), toMake}, passes},
		{"cannot be made in this zone", p, []any{n, allowing("b"), toMake}, never},
		{"to be made on this node", p, []any{n, makes, aClaim("c", unbound("makes"), selectedFor("n"))}, passes},
		{"to be made on another node", p, []any{n, makes, aClaim("c", unbound("makes"), selectedFor("m"))}, never},
		{"to be made on this node, though one is free", p, []any{n, local, waiting(selectedFor("n")), free()}, never},
		{"enough is left", p, []any{n, makes, toMake, tells, left("1", "a")}, passes},
		{"too little is left", p, []any{n, makes, aClaim("c", unbound("makes"), wants("2")), tells, left("1", "a")}, never},
		{"enough is left elsewhere", p, []any{n, makes, toMake, tells, left("1", "b")}, never},
		{"the driver does not tell", p, []any{n, makes, toMake, left("0", "a")}, passes},
	})
}

// A volume's affinity may name nodes, which the quirk ignores.
func TestVolumeOfOneNode(t *testing.T) {
	byName := func(name string) *v1.PersistentVolume {
		return aVolume("c", func(pv *v1.PersistentVolume) {
			pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{name}}}}}}}
		})
	}
	for name, want := range map[string]string{"n": passes, "m": never} {
		objects := []any{aNode("n", "9"), aClaim("c"), byName(name)}
		p := aPod("p", 9, mounts("c"))
		assert.Equal(t, want, outcomeOn(t, "VolumeBinding", p, Documented(), FilterRun{Change: Untouched}, objects...), name)
		assert.Equal(t, passes, outcomeOn(t, "VolumeBinding", p, Documented().With(VolumeNodeFields), FilterRun{Change: Untouched}, objects...), name)
	}
}

// Which of two equally good volumes the first claim takes decides whether the
// second gets one: the scheduler draws lots, so the model does not say.
func TestUndecidedVolumes(t *testing.T) {
	n := aNode("n", "9")
	selects := func(c *v1.PersistentVolumeClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "ssd"}}
	}
	c := aCluster(aPod("p", 9, mounts("c", "d")), n)
	first, second := aVolume("v", ofClass("local")), aVolume("w", ofClass("local"))
	first.Labels = map[string]string{"disk": "ssd"}
	c.Extra = []runtime.Object{aClass("local", noProvisioner, storagev1.VolumeBindingWaitForFirstConsumer),
		aClaim("c", unbound("local")), aClaim("d", unbound("local"), selects), first, second}
	_, err := Decide(c, Documented())
	require.ErrorContains(t, err, "equally good volumes")
	second.Spec.Capacity = list("storage", "2Gi")
	d, err := Decide(c, Documented())
	require.NoError(t, err)
	require.NotEmpty(t, d.Verdicts, "the smaller one goes to the claim that could have either")
}
