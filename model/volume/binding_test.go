package volume_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// gibibytes is that many Gi.
func gibibytes(n string) *resource.Quantity {
	q := resource.MustParse(n + "Gi")
	return &q
}

func TestVolumeBinding(t *testing.T) {
	type onClaim = func(*v1.PersistentVolumeClaim)
	type onVolume = func(*v1.PersistentVolume)
	n := mk.Node("n", "9", func(n *v1.Node) { n.Labels = map[string]string{"zone": "a"} })
	p := mk.Pod("p", 9, mk.Mounts("c"))
	local := mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer)
	makes := mk.Class("makes", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer)
	now := mk.Class("now", mk.Driver, storagev1.VolumeBindingImmediate)
	allowing := func(values ...string) *storagev1.StorageClass {
		class := mk.Class("makes", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer)
		class.AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: "zone", Values: values}}}}
		return class
	}
	waiting := func(change ...onClaim) *v1.PersistentVolumeClaim {
		return mk.Claim("c", append([]onClaim{mk.Unbound("local")}, change...)...)
	}
	free := func(change ...onVolume) *v1.PersistentVolume {
		return mk.Volume("v", append([]onVolume{mk.OfClass("local")}, change...)...)
	}
	size := func(n string) onVolume {
		return func(pv *v1.PersistentVolume) { pv.Spec.Capacity[v1.ResourceStorage] = *gibibytes(n) }
	}
	wants := func(n string) onClaim {
		return func(c *v1.PersistentVolumeClaim) { c.Spec.Resources.Requests[v1.ResourceStorage] = *gibibytes(n) }
	}
	selectedFor := func(node string) onClaim {
		return func(c *v1.PersistentVolumeClaim) { c.Annotations[volume.AnnSelectedNode] = node }
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
	tells := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: mk.Driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}}
	left := func(n, zone string) *storagev1.CSIStorageCapacity {
		return &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "left"}, StorageClassName: "makes", Capacity: gibibytes(n),
			NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{"zone": zone}}}
	}
	toMake := mk.Claim("c", mk.Unbound("makes"))
	leaves := func(q string) *storagev1.CSIStorageCapacity {
		all := left("1", "a")
		*all.Capacity = resource.MustParse(q)
		return all
	}
	testFilter(t, "VolumeBinding", []filterTest{
		{"bound", p, []any{n, mk.Claim("c"), mk.Volume("c")}, passes},
		{"bound to a volume that the node reaches", p, []any{n, mk.Claim("c"), mk.Volume("c", mk.ReachedFrom("zone", "a"))}, passes},
		{"bound to a volume out of reach", p, []any{n, mk.Claim("c"), mk.Volume("c", mk.ReachedFrom("zone", "b"))}, never},
		{"bound to no volume", p, []any{n, mk.Claim("c")}, never},
		{"no claim", p, []any{n}, never},
		{"lost", p, []any{n, mk.Claim("c", func(c *v1.PersistentVolumeClaim) { c.Status.Phase = v1.ClaimLost }), mk.Volume("c")}, never},
		{"being deleted", p, []any{n, mk.Claim("c", func(c *v1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} }), mk.Volume("c")}, never},
		{"its own", mk.Pod("p", 9, mk.MountsOwn("own")), []any{n, mk.Claim("p-own", mk.OwnedBy("p")), mk.Volume("p-own")}, passes},
		{"somebody else's", mk.Pod("p", 9, mk.MountsOwn("own")), []any{n, mk.Claim("p-own", mk.OwnedBy("x")), mk.Volume("p-own")}, never},
		{"not known to be bound", p, []any{n, mk.Claim("c", func(c *v1.PersistentVolumeClaim) { c.Annotations = nil }), mk.Volume("c")}, never},
		{"not bound, of a class that does not wait", p, []any{n, mk.Claim("c", mk.Unbound("now")), now}, never},
		{"not bound, of no class", p, []any{n, mk.Claim("c", mk.Unbound(""))}, never},

		{"a volume is free", p, []any{n, local, waiting(), free()}, passes},
		{"no volume is free", p, []any{n, local, waiting()}, never},
		{"of another class", p, []any{n, local, waiting(), free(mk.OfClass("other"))}, never},
		{"named in the annotation", p, []any{n, local, waiting(func(c *v1.PersistentVolumeClaim) {
			c.Spec.StorageClassName, c.Annotations = nil, map[string]string{v1.BetaStorageClassAnnotation: "local"}
		}), free()}, passes},
		{"out of reach", p, []any{n, local, waiting(), free(mk.ReachedFrom("zone", "b"))}, never},
		{"too small", p, []any{n, local, waiting(wants("2")), free()}, never},
		{"larger", p, []any{n, local, waiting(), free(size("5"))}, passes},
		{"released", p, []any{n, local, waiting(), free(func(pv *v1.PersistentVolume) { pv.Status.Phase = v1.VolumeReleased })}, never},
		{"being deleted", p, []any{n, local, waiting(), free(func(pv *v1.PersistentVolume) { pv.DeletionTimestamp = &metav1.Time{} })}, never},
		{"a block device", p, []any{n, local, waiting(), free(func(pv *v1.PersistentVolume) { pv.Spec.VolumeMode = &block })}, never},
		{"for fewer access modes", p, []any{n, local, waiting(mk.ForOnePod), free()}, never},
		{"not the kind that the claim selects", p, []any{n, local, waiting(ssd), free()}, never},
		{"the kind that the claim selects", p, []any{n, local, waiting(ssd), free(func(pv *v1.PersistentVolume) { pv.Labels = map[string]string{"disk": "ssd"} })}, passes},
		{"meant for another claim", p, []any{n, local, waiting(), free(meantFor("d"))}, never},
		{"meant for this one", p, []any{n, local, waiting(), free(meantFor("c"))}, passes},
		{"meant for this one, and out of reach", p, []any{n, local, waiting(), free(meantFor("c"), mk.ReachedFrom("zone", "b")), mk.Volume("w", mk.OfClass("local"))}, never},
		{"one for two claims", mk.Pod("p", 9, mk.Mounts("c", "d")), []any{n, local, waiting(), mk.Claim("d", mk.Unbound("local")), free()}, never},
		{"two for two claims", mk.Pod("p", 9, mk.Mounts("c", "d")), []any{n, local, waiting(), mk.Claim("d", mk.Unbound("local")), free(), mk.Volume("w", mk.OfClass("local"), size("2"))}, passes},
		{"the smaller claim takes the smaller one", mk.Pod("p", 9, mk.Mounts("c", "d")), []any{n, local, waiting(wants("2")), mk.Claim("d", mk.Unbound("local")), free(size("3")), mk.Volume("w", mk.OfClass("local"))}, passes},

		{"can be made", p, []any{n, makes, toMake}, passes},
		{"can be made in this zone", p, []any{n, allowing("a", "b"), toMake}, passes},
		{"cannot be made in this zone", p, []any{n, allowing("b"), toMake}, never},
		{"to be made on this node", p, []any{n, makes, mk.Claim("c", mk.Unbound("makes"), selectedFor("n"))}, passes},
		{"to be made on another node", p, []any{n, makes, mk.Claim("c", mk.Unbound("makes"), selectedFor("m"))}, never},
		{"to be made on this node, though one is free", p, []any{n, local, waiting(selectedFor("n")), free()}, never},
		{"enough is left", p, []any{n, makes, toMake, tells, left("1", "a")}, passes},
		{"too little is left", p, []any{n, makes, mk.Claim("c", mk.Unbound("makes"), wants("2")), tells, left("1", "a")}, never},
		{"enough is left elsewhere", p, []any{n, makes, toMake, tells, left("1", "b")}, never},
		{"enough for one that 64 bits cannot count", p, []any{n, makes, ofSize(toMake, "10E"), tells, leaves("10E")}, passes},
		{"too little for one that 64 bits cannot count", p, []any{n, makes, ofSize(toMake, "10E"), tells, leaves("9E")}, never},
		{"too little for one of 20 digits", p, []any{n, makes, ofSize(toMake, "10000000000000000001"), tells, leaves("1Gi")}, never},
		{"more than 64 bits can count", p, []any{n, makes, toMake, tells, leaves("10E")}, passes},
		{"a fraction of a byte too little", p, []any{n, makes, ofSize(toMake, "1073741824500m"), tells, leaves("1Gi")}, never},
		{"enough with a fraction of a byte", p, []any{n, makes, ofSize(toMake, "1073741824500m"), tells, leaves("1073741824500m")}, passes},
		{"the driver does not tell", p, []any{n, makes, toMake, left("0", "a")}, passes},
	})
}

// A volume's affinity may name nodes, which the quirk ignores.
func TestVolumeOfOneNode(t *testing.T) {
	byName := func(name string) *v1.PersistentVolume {
		return mk.Volume("c", func(pv *v1.PersistentVolume) {
			pv.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{name}}}}}}}
		})
	}
	for name, want := range map[string]string{"n": passes, "m": never} {
		objects := []any{mk.Node("n", "9"), mk.Claim("c"), byName(name)}
		p := mk.Pod("p", 9, mk.Mounts("c"))
		assert.Equal(t, want, outcomeOn(t, "VolumeBinding", p, answers.Documented(), model.FilterRun{Change: model.Untouched}, objects...), name)
		assert.Equal(t, passes, outcomeOn(t, "VolumeBinding", p, release.With(answers.Documented(), release.VolumeNodeFields), model.FilterRun{Change: model.Untouched}, objects...), name)
	}
}

// Which of two equally good volumes the first claim takes decides whether the
// second gets one: the scheduler draws lots, so the model does not say.
func TestUndecidedVolumes(t *testing.T) {
	selects := func(c *v1.PersistentVolumeClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "ssd"}}
	}
	c := mk.Cluster(mk.Pod("p", 9, mk.Mounts("c", "d")), inZone("n", "a"), inZone("m", "b"))
	near := mk.ReachedFrom("zone", "a") // of m, which is judged last, it is plain that no claim gets a volume
	first, second := mk.Volume("v", mk.OfClass("local"), near), mk.Volume("w", mk.OfClass("local"), near)
	first.Labels = map[string]string{"disk": "ssd"}
	c.Extra = []runtime.Object{mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer),
		mk.Claim("c", mk.Unbound("local")), mk.Claim("d", mk.Unbound("local"), selects), first, second}
	_, err := answers.Decide(c, answers.Documented())
	require.ErrorContains(t, err, "equally good volumes")
	second.Spec.Capacity = mk.Resources("storage", "2Gi")
	d, err := answers.Decide(c, answers.Documented())
	require.NoError(t, err)
	require.NotEmpty(t, d.Verdicts, "the smaller one goes to the claim that could have either")
}

// The smallest claim takes the smallest volume that holds it, also if a larger one, which could have no other, is named first.
func TestSmallestClaimFirst(t *testing.T) {
	selects := func(c *v1.PersistentVolumeClaim) {
		c.Spec.Resources.Requests[v1.ResourceStorage] = *gibibytes("2")
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "ssd"}}
	}
	of := func(size string, labels map[string]string) func(*v1.PersistentVolume) {
		return func(pv *v1.PersistentVolume) {
			pv.Spec.Capacity, pv.Labels = v1.ResourceList{v1.ResourceStorage: *gibibytes(size)}, labels
		}
	}
	for _, claims := range [][]string{{"large", "small"}, {"small", "large"}} {
		objects := []any{mk.Node("n", "9"), mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer), mk.Claim("small", mk.Unbound("local")),
			mk.Claim("large", mk.Unbound("local"), selects), mk.Volume("v", mk.OfClass("local"), of("2", map[string]string{"disk": "ssd"})), mk.Volume("w", mk.OfClass("local"), of("3", nil))}
		assert.Equal(t, never, outcomeOn(t, "VolumeBinding", mk.Pod("p", 9, mk.Mounts(claims...)), answers.Documented(), model.FilterRun{Change: model.Untouched}, objects...), claims)
	}
}

// Each claim that waits gets the smallest volume that is left and holds it, whichever of two claims of one size is first.
func TestGives(t *testing.T) {
	n := mk.Node("n", "9", func(n *v1.Node) { n.Labels = map[string]string{"zone": "a"} })
	sized := func(q string) func(*v1.PersistentVolume) {
		return func(pv *v1.PersistentVolume) { pv.Spec.Capacity[v1.ResourceStorage] = *gibibytes(q) }
	}
	wants := func(q string) func(*v1.PersistentVolumeClaim) {
		return func(c *v1.PersistentVolumeClaim) { c.Spec.Resources.Requests[v1.ResourceStorage] = *gibibytes(q) }
	}
	index := volume.NewIndex([]runtime.Object{
		mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer), mk.Class("makes", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer),
		mk.Claim("one", mk.Unbound("local")), mk.Claim("other", mk.Unbound("local")), mk.Claim("middle", mk.Unbound("local"), wants("2")), mk.Claim("large", mk.Unbound("local"), wants("3")), mk.Claim("made", mk.Unbound("makes")),
		mk.Volume("v1", mk.OfClass("local"), sized("1")), mk.Volume("v2", mk.OfClass("local"), sized("2")), mk.Volume("v3", mk.OfClass("local"), sized("3")), mk.Volume("v3, too", mk.OfClass("local"), sized("3")),
		mk.Volume("far", mk.OfClass("local"), sized("1"), mk.ReachedFrom("zone", "b"))})
	type given = map[string]string
	for name, tt := range map[string]struct {
		claims []string
		given  given
		want   bool
	}{
		"the smallest":                       {[]string{"one"}, given{"default/one": "v1"}, true},
		"a larger one":                       {[]string{"one"}, given{"default/one": "v2"}, false},
		"one out of reach":                   {[]string{"one"}, given{"default/one": "far"}, false},
		"none":                               {[]string{"one"}, given{}, false},
		"two of one size":                    {[]string{"one", "other"}, given{"default/one": "v1", "default/other": "v2"}, true},
		"two of one size, the other first":   {[]string{"one", "other"}, given{"default/one": "v2", "default/other": "v1"}, true},
		"two of one size, the same":          {[]string{"one", "other"}, given{"default/one": "v1", "default/other": "v1"}, false},
		"a small one, named last":            {[]string{"large", "one"}, given{"default/one": "v1", "default/large": "v3"}, true},
		"small ones before the middle one":   {[]string{"one", "middle", "other"}, given{"default/one": "v1", "default/other": "v2", "default/middle": "v3"}, true},
		"the middle one before a small one":  {[]string{"one", "middle", "other"}, given{"default/one": "v1", "default/other": "v3", "default/middle": "v2"}, false},
		"one of two of one size":             {[]string{"large"}, given{"default/large": "v3"}, true},
		"the other of two of one size":       {[]string{"large"}, given{"default/large": "v3, too"}, true},
		"too small":                          {[]string{"large"}, given{"default/large": "v2"}, false},
		"to be provisioned":                  {[]string{"made", "one"}, given{"default/one": "v1"}, true},
		"to be provisioned, and of no class": {[]string{"made"}, given{"default/made": "v1"}, false},
		"mounted twice":                      {[]string{"one", "one"}, given{"default/one": "v1"}, true},
		"more claims than volumes are right": {[]string{"one", "other", "large"}, given{"default/one": "v1", "default/other": "v2"}, false},
	} {
		for range 20 { // in whatever order the volumes come
			assert.Equal(t, tt.want, index.Gives(mk.Pod("p", 9, mk.Mounts(tt.claims...)), n, tt.given), name)
		}
	}
}

// A claim of which a pod has several volumes is one claim, and not the pod's if an ephemeral volume of the pod has no right to it.
func TestClaimsOf(t *testing.T) {
	index := volume.NewIndex([]runtime.Object{mk.Claim("p-own"), mk.Claim("a")})
	claims := index.ClaimsOf(mk.Pod("p", 9, mk.Mounts("a", "p-own", "a"), mk.MountsOwn("own")))
	require.Len(t, claims, 2)
	assert.Equal(t, []any{"default/a", 2, true, false}, []any{claims[0].Key, claims[0].Volumes, claims[0].Owned, claims[0].Ephemeral})
	assert.Equal(t, []any{"default/p-own", 2, false, true}, []any{claims[1].Key, claims[1].Volumes, claims[1].Owned, claims[1].Ephemeral})
}

// What a claim takes that waits is of no matter on a node that is rejected for another claim. Of the reasons, that it gets no volume is
// not told then.
func TestDrawnOnARejectedNode(t *testing.T) {
	meant := func(pv *v1.PersistentVolume) {
		pv.Spec.ClaimRef = &v1.ObjectReference{Namespace: "default", Name: "waits"}
	}
	far, going := mk.ReachedFrom("zone", "b"), func(c *v1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} }
	cluster := func(claims ...string) *model.Cluster {
		return mk.Cluster(mk.Pod("p", 9, mk.Mounts(claims...)), mk.Node("n", "9", func(n *v1.Node) { n.Labels = map[string]string{"zone": "a"} }),
			mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer),
			mk.Claim("waits", mk.Unbound("local")), mk.Volume("v1", mk.OfClass("local"), meant), mk.Volume("v2", mk.OfClass("local"), meant, far),
			mk.Claim("bound"), mk.Volume("bound", far), mk.Claim("going", going), mk.Volume("going"))
	}
	_, err := answers.Decide(cluster("waits"), answers.Documented())
	require.ErrorContains(t, err, "which of several equally good volumes")
	for _, claims := range [][]string{{"waits", "bound"}, {"bound", "waits"}} {
		set, err := answers.Decide(cluster(claims...), answers.Documented())
		require.NoError(t, err)
		assert.Equal(t, &model.Verdict{Plugin: "VolumeBinding", Unresolvable: true, Reasons: []string{volume.OutOfReach}}, set.Verdicts["n"])
	}
	set, err := answers.Decide(cluster("waits", "going"), answers.Documented())
	require.NoError(t, err, "all nodes are rejected for another claim")
	assert.Equal(t, []string{`persistentvolumeclaim "default/going" is being deleted`}, set.Verdicts["n"].Reasons)
}

// A volume is meant for the claim that it names, of that namespace, and not for one of the same name that came before.
func TestVolumeMeantForAClaim(t *testing.T) {
	n, p := mk.Node("n", "9"), mk.Pod("p", 9, mk.Mounts("c"))
	local := mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer)
	claim := mk.Claim("c", mk.Unbound("local"), func(c *v1.PersistentVolumeClaim) { c.UID = "u" })
	meant := func(namespace, name string, uid types.UID, change ...func(*v1.PersistentVolume)) *v1.PersistentVolume {
		return mk.Volume("v", append(change, mk.OfClass("local"), func(pv *v1.PersistentVolume) {
			pv.Spec.ClaimRef = &v1.ObjectReference{Namespace: namespace, Name: name, UID: uid}
		})...)
	}
	pending := func(pv *v1.PersistentVolume) { pv.Status.Phase = v1.VolumePending }
	testFilter(t, "VolumeBinding", []filterTest{
		{"by its name", p, []any{n, local, claim, meant("default", "c", "")}, passes},
		{"by its UID, too", p, []any{n, local, claim, meant("default", "c", "u")}, passes},
		{"for an earlier claim", p, []any{n, local, claim, meant("default", "c", "before")}, never},
		{"for one of another namespace", p, []any{n, local, claim, meant("other", "c", "")}, never},
		{"for another one", p, []any{n, local, claim, meant("default", "d", "u")}, never},
		{"though it is not yet available", p, []any{n, local, claim, meant("default", "c", "", pending)}, passes},
	})
}

// Which claims wait, which volumes are there, and where others can be made.
func TestMoreVolumeBinding(t *testing.T) {
	n := mk.Node("n", "9", func(n *v1.Node) { n.Labels = map[string]string{"zone": "a", "rack": "r"} })
	p := mk.Pod("p", 9, mk.Mounts("c"))
	local := mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer)
	waiting := func(change ...func(*v1.PersistentVolumeClaim)) *v1.PersistentVolumeClaim {
		return mk.Claim("c", append([]func(*v1.PersistentVolumeClaim){mk.Unbound("local")}, change...)...)
	}
	of := func(volume, claim string) (func(*v1.PersistentVolume), func(*v1.PersistentVolumeClaim)) {
		return func(pv *v1.PersistentVolume) { pv.Spec.VolumeAttributesClassName = &volume }, func(c *v1.PersistentVolumeClaim) { c.Spec.VolumeAttributesClassName = &claim }
	}
	gold, wantsGold := of("gold", "gold")
	_, wantsSilver := of("gold", "silver")
	block := v1.PersistentVolumeBlock
	onBlock := func(pv *v1.PersistentVolume) { pv.Spec.VolumeMode = &block }
	wantsBlock := func(c *v1.PersistentVolumeClaim) { c.Spec.VolumeMode = &block }
	odd := func(c *v1.PersistentVolumeClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "disk", Operator: "Is", Values: []string{"ssd"}}}}
	}
	named := func(c *v1.PersistentVolumeClaim) { c.Spec.VolumeName = "v" }
	annotated := func(pv *v1.PersistentVolume) {
		pv.Annotations = map[string]string{v1.BetaStorageClassAnnotation: "local"}
	}
	expects := func(pairs ...string) (term v1.TopologySelectorTerm) {
		for i := 0; i < len(pairs); i += 2 {
			term.MatchLabelExpressions = append(term.MatchLabelExpressions, v1.TopologySelectorLabelRequirement{Key: pairs[i], Values: []string{pairs[i+1]}})
		}
		return term
	}
	makes := func(terms ...v1.TopologySelectorTerm) *storagev1.StorageClass {
		class := mk.Class("makes", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer)
		class.AllowedTopologies = terms
		return class
	}
	toMake := mk.Claim("c", mk.Unbound("makes"))
	yes := true
	tells := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: mk.Driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}}
	left := func(class string, change func(*storagev1.CSIStorageCapacity)) *storagev1.CSIStorageCapacity {
		c := &storagev1.CSIStorageCapacity{StorageClassName: class, Capacity: gibibytes("5"), NodeTopology: &metav1.LabelSelector{}}
		change(c)
		return c
	}
	same := func(*storagev1.CSIStorageCapacity) {}
	unknown := func(c *storagev1.CSIStorageCapacity) { c.Capacity = nil }
	nowhere := func(c *storagev1.CSIStorageCapacity) { c.NodeTopology = nil }
	inSmallPieces := func(c *storagev1.CSIStorageCapacity) {
		c.Capacity, c.MaximumVolumeSize = gibibytes("5"), gibibytes("0")
	}
	inLargePieces := func(c *storagev1.CSIStorageCapacity) {
		c.Capacity, c.MaximumVolumeSize = gibibytes("0"), gibibytes("5")
	}
	testFilter(t, "VolumeBinding", []filterTest{
		{"a volume of another attributes class", p, []any{n, local, waiting(wantsSilver), mk.Volume("v", mk.OfClass("local"), gold)}, never},
		{"of this one", p, []any{n, local, waiting(wantsGold), mk.Volume("v", mk.OfClass("local"), gold)}, passes},
		{"of none", p, []any{n, local, waiting(wantsGold), mk.Volume("v", mk.OfClass("local"))}, never},
		{"a block device", p, []any{n, local, waiting(wantsBlock), mk.Volume("v", mk.OfClass("local"), onBlock)}, passes},
		{"no block device", p, []any{n, local, waiting(wantsBlock), mk.Volume("v", mk.OfClass("local"))}, never},
		{"a class in the annotation of the volume", p, []any{n, local, waiting(), mk.Volume("v", mk.OfClass("other"), annotated)}, passes},
		{"a selector that cannot be read", p, []any{n, local, waiting(odd), mk.Volume("v", mk.OfClass("local"))}, never},
		{"a claim that names its volume already", p, []any{n, local, waiting(named), mk.Volume("v", mk.OfClass("local"))}, never},

		{"a term that allows nothing", p, []any{n, makes(expects()), toMake}, never},
		{"the second term allows it", p, []any{n, makes(expects("zone", "b"), expects("zone", "a")), toMake}, passes},
		{"zone and rack", p, []any{n, makes(expects("zone", "a", "rack", "r")), toMake}, passes},
		{"zone, and another rack", p, []any{n, makes(expects("zone", "a", "rack", "s")), toMake}, never},
		{"a label that the node lacks", p, []any{n, makes(expects("row", "")), toMake}, never},

		{"enough is left", p, []any{n, makes(), toMake, tells, left("makes", same)}, passes},
		{"enough is left of another class", p, []any{n, makes(), toMake, tells, left("other", same)}, never},
		{"nobody knows what is left", p, []any{n, makes(), toMake, tells, left("makes", unknown)}, never},
		{"nobody knows where it is left", p, []any{n, makes(), toMake, tells, left("makes", nowhere)}, never},
		{"enough is left, in small pieces", p, []any{n, makes(), toMake, tells, left("makes", inSmallPieces)}, never},
		{"the largest piece is enough", p, []any{n, makes(), toMake, tells, left("makes", inLargePieces)}, passes},
		{"enough is left behind others", p, []any{n, makes(), toMake, tells, left("other", same), left("makes", unknown), left("makes", same)}, passes},
	})
}

// Each reason why claims keep a pod from a node is told once.
func TestReasonsOfClaims(t *testing.T) {
	local := mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer)
	elsewhere := mk.Claim("elsewhere", mk.Unbound("local"), func(c *v1.PersistentVolumeClaim) { c.Annotations[volume.AnnSelectedNode] = "m" })
	gone, gone2, far := mk.Claim("gone"), mk.Claim("gone2"), mk.Claim("far")
	objects := []any{mk.Node("n", "9"), local, elsewhere, mk.Claim("waits", mk.Unbound("local")), gone, gone2, far, mk.Volume("far", mk.ReachedFrom("zone", "b"))}
	for _, tt := range []struct{ claims, want []string }{
		{[]string{"waits"}, []string{volume.NothingToBind}},
		{[]string{"elsewhere"}, []string{volume.NothingToBind}},
		{[]string{"elsewhere", "waits"}, []string{volume.NothingToBind}},
		{[]string{"gone", "gone2"}, []string{volume.NoVolume}},
		{[]string{"gone", "far", "gone2"}, []string{volume.NoVolume, volume.OutOfReach}},
		{[]string{"far"}, []string{volume.OutOfReach}},
		{[]string{"far", "waits"}, []string{volume.OutOfReach, volume.NothingToBind}},
	} {
		s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, mk.Mounts(tt.claims...)), objects...))
		st, _ := volume.VolumeBinding{}.PreFilter(s)
		require.Equal(t, &filter.Verdict{Unresolvable: true, Reasons: tt.want}, st.Fits(s.Nodes[0], s.Nodes[0].View()), tt.claims)
	}
}
