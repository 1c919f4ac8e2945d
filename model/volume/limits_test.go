package volume_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// asking is a driver that no pod is to come to a node without.
func asking(name string) *storagev1.CSIDriver {
	yes := true
	return &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSIDriverSpec{PreventPodSchedulingIfMissing: &yes}}
}

// taken are a volume, a node and an attachment of the driver that has taken over from the plugin of AWS.
const taken = "ebs.csi.aws.com"

func awsVolume(name, id string) *v1.PersistentVolume {
	return mk.Volume(name, func(pv *v1.PersistentVolume) {
		pv.Spec.CSI, pv.Spec.AWSElasticBlockStore = nil, &v1.AWSElasticBlockStoreVolumeSource{VolumeID: id}
	})
}

func limitOfTaken(node string, count int32) *storagev1.CSINode {
	n := mk.CSINode(node, count)
	n.Spec.Drivers[0].Name = taken
	return n
}

func attachedBy(driver, volume, node string) *storagev1.VolumeAttachment {
	a := mk.Attachment(volume, node)
	a.Spec.Attacher = driver
	return a
}

// namesAWS has a pod name a volume of AWS itself.
func namesAWS(id string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: "aws-" + id, VolumeSource: v1.VolumeSource{AWSElasticBlockStore: &v1.AWSElasticBlockStoreVolumeSource{VolumeID: id}}})
	}
}

func without(n *storagev1.CSINode) *storagev1.CSINode {
	n.Spec.Drivers = nil
	return n
}

func TestNodeVolumeLimits(t *testing.T) {
	p, n, m := mk.Pod("p", 9, mk.Mounts("a")), mk.Node("n", "9"), mk.Node("m", "9")
	a, b, c := mk.Claim("a"), mk.Claim("b"), mk.Claim("c")
	va, vb, vc := mk.Volume("a"), mk.Volume("b"), mk.Volume("c")
	also := mk.Volume("c", func(pv *v1.PersistentVolume) { pv.Spec.CSI.VolumeHandle = "a" })
	elsewhere := mk.Volume("b", func(pv *v1.PersistentVolume) { pv.Spec.CSI.Driver = "file.example.com" })
	local := mk.Volume("b", func(pv *v1.PersistentVolume) {
		pv.Spec.CSI, pv.Spec.Local = nil, &v1.LocalVolumeSource{Path: "/b"}
	})
	aws := awsVolume("a", "vol-1")
	nowhere := mk.Volume("a", func(pv *v1.PersistentVolume) { // zones of no region
		pv.Spec.CSI, pv.Spec.GCEPersistentDisk = nil, &v1.GCEPersistentDiskVolumeSource{PDName: "disk"}
		pv.Labels = map[string]string{v1.LabelTopologyZone: "y__z"}
	})
	full := mk.CSINode("n", 0)
	full.Spec.Drivers[0].Name = "pd.csi.storage.gke.io"
	user := mk.Pod("x", 0, mk.On("n"), mk.Mounts("b"))
	limits := func(first string, ofFirst int32, second string, ofSecond int32) *storagev1.CSINode {
		n := mk.CSINode("n", ofFirst)
		n.Spec.Drivers = append(n.Spec.Drivers, mk.CSINode("n", ofSecond).Spec.Drivers...)
		n.Spec.Drivers[0].Name, n.Spec.Drivers[1].Name = first, second
		return n
	}
	waits := mk.Class("wait", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer)
	taking := mk.Class("taking", "kubernetes.io/aws-ebs", storagev1.VolumeBindingWaitForFirstConsumer)
	files := mk.CSINode("n", -1)
	files.Spec.Drivers[0].Name = "file.example.com"
	own, foreign := mk.Claim("x-own", mk.OwnedBy("x")), mk.Claim("x-own", mk.OwnedBy("y"))
	testFilter(t, "NodeVolumeLimits", []filterTest{
		{"room for it", p, []any{n, a, va, b, vb, user, mk.CSINode("n", 2)}, passes},
		{"no room", p, []any{n, a, va, b, vb, user, mk.CSINode("n", 1)}, fails},
		{"no limit", p, []any{n, a, va, b, vb, user, mk.CSINode("n", -1)}, passes},
		{"no CSINode", p, []any{n, a, va, b, vb, user}, passes},
		{"the limit of the second driver", mk.Pod("p", 9, mk.Mounts("b", "a")), []any{n, a, va, b, elsewhere, c, vc, mk.Pod("y", 0, mk.On("n"), mk.Mounts("c")), limits("file.example.com", 9, mk.Driver, 1)}, fails},
		{"the limit of the second driver, and the first has room for one", mk.Pod("p", 9, mk.Mounts("b", "a")), []any{n, a, va, b, elsewhere, c, vc, mk.Pod("y", 0, mk.On("n"), mk.Mounts("c")), limits("file.example.com", 1, mk.Driver, 1)}, fails},
		{"another node's limit", p, []any{n, m, a, va, b, vb, user, mk.CSINode("m", 0)}, passes},
		{"the second node's limit", p, []any{m, n, a, va, b, vb, user, mk.CSINode("n", 1)}, fails},
		{"no room, and a pod mounts nothing", p, []any{n, a, va, b, vb, mk.Pod("w", 0, mk.On("n")), user, mk.CSINode("n", 1)}, fails},
		{"two volumes at once", mk.Pod("p", 9, mk.Mounts("a", "b")), []any{n, a, va, b, vb, mk.CSINode("n", 1)}, fails},
		{"one volume under two names", mk.Pod("p", 9, mk.Mounts("a", "c")), []any{n, a, va, c, also, mk.CSINode("n", 1)}, passes},
		{"one volume of two pods counts once", mk.Pod("p", 9, mk.Mounts("c")), []any{n, a, va, c, vc, mk.Pod("x", 0, mk.On("n"), mk.Mounts("a")), mk.Pod("y", 0, mk.On("n"), mk.Mounts("a")), mk.CSINode("n", 2)}, passes},
		{"the volume is there already", p, []any{n, a, va, b, vb, user, mk.Pod("y", 0, mk.On("n"), mk.Mounts("a")), mk.CSINode("n", 1)}, passes},
		{"another driver's volume", p, []any{n, a, va, b, elsewhere, user, mk.CSINode("n", 1)}, passes},
		{"no CSI volume", p, []any{n, a, va, b, local, user, mk.CSINode("n", 1)}, passes},
		{"a claim that a pod lacks", p, []any{n, a, va, user, mk.CSINode("n", 1)}, passes},
		{"a volume to be provisioned", p, []any{n, mk.Claim("a", mk.Unbound("wait")), waits, b, vb, user, mk.CSINode("n", 1)}, fails},
		{"a volume to be provisioned for another", p, []any{n, a, va, mk.Claim("b", mk.Unbound("wait")), waits, user, mk.CSINode("n", 1)}, fails},
		{"a claim without a class", p, []any{n, a, va, mk.Claim("b", mk.Unbound("")), user, mk.CSINode("n", 1)}, passes},
		{"an ephemeral volume", p, []any{n, a, va, own, mk.Volume("x-own"), mk.Pod("x", 0, mk.On("n"), mk.MountsOwn("own")), mk.CSINode("n", 1)}, fails},
		{"an ephemeral volume that is not the pod's", p, []any{n, a, va, foreign, mk.Volume("x-own"), mk.Pod("x", 0, mk.On("n"), mk.MountsOwn("own")), mk.CSINode("n", 1)}, passes},
		{"a nominated pod's volume", mk.Pod("p", 5, mk.Mounts("a")), []any{n, a, va, b, vb, mk.Pod("x", 9, mk.Nominated("n"), mk.Mounts("b")), mk.CSINode("n", 1)}, fails},

		{"attached to the node", p, []any{n, a, va, b, vb, mk.Attachment("b", "n"), mk.CSINode("n", 1)}, fails},
		{"two are attached", p, []any{n, a, va, b, vb, c, vc, mk.Attachment("b", "n"), mk.Attachment("c", "n"), mk.CSINode("n", 2)}, fails},
		{"attached behind what is no volume", p, []any{n, a, va, b, vb, mk.Attachment("gone", "n"), mk.Attachment("b", "n"), mk.CSINode("n", 1)}, fails},
		{"attached to another node", p, []any{n, a, va, b, vb, mk.Attachment("b", "m"), mk.CSINode("n", 1)}, passes},
		{"attached and mounted", p, []any{n, a, va, b, vb, user, mk.Attachment("b", "n"), mk.CSINode("n", 2)}, passes},
		{"attached for the pod itself", p, []any{n, a, va, mk.Attachment("a", "n"), mk.CSINode("n", 1)}, passes},

		{"a driver that asks for it is missing", p, []any{n, a, va, asking(mk.Driver), without(mk.CSINode("n", 1))}, never},
		{"and so is the CSINode", p, []any{n, a, va, asking(mk.Driver)}, never},
		{"it is there, on another node", p, []any{m, n, a, va, asking(mk.Driver), mk.CSINode("m", 1)}, never},
		{"a driver that does not say whether it asks for it is missing", p, []any{n, a, va, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: mk.Driver}}}, passes},
		{"a driver that does not ask for it is missing", p, []any{n, a, va, without(mk.CSINode("n", 1))}, passes},
		{"the second driver is missing", mk.Pod("p", 9, mk.Mounts("b", "a")), []any{n, a, va, b, elsewhere, asking("file.example.com"), asking(mk.Driver), files}, never},
		{"the second driver alone asks for it", mk.Pod("p", 9, mk.Mounts("b", "a")), []any{n, a, va, b, elsewhere, asking(mk.Driver), files}, never},
		{"it is there", p, []any{n, a, va, asking(mk.Driver), mk.CSINode("n", 1)}, passes},
		{"it is of another volume", p, []any{n, a, va, asking("file.example.com"), mk.CSINode("n", 1)}, passes},

		{"no claim", p, []any{n, mk.CSINode("n", 9)}, never},
		{"no second claim", mk.Pod("p", 9, mk.Mounts("a", "b")), []any{n, a, va, mk.CSINode("n", 9)}, never},
		{"somebody else's claim", mk.Pod("x", 9, mk.MountsOwn("own")), []any{n, foreign, mk.CSINode("n", 9)}, "error"},
		{"a migrated volume", p, []any{n, a, aws, b, vb, user, mk.CSINode("n", 1)}, passes},
		{"a migrated volume, and no room", p, []any{n, a, aws, limitOfTaken("n", 0)}, fails},
		{"a volume that its driver has no name for, and no room", p, []any{n, a, nowhere, full}, passes},
		{"a migrated volume to be provisioned, and no room", p, []any{n, mk.Claim("a", mk.Unbound("taking")), taking, limitOfTaken("n", 0)}, fails},
		{"two volumes that the pod names itself", mk.Pod("p", 9, namesAWS("vol-1"), namesAWS("vol-2")), []any{n, limitOfTaken("n", 1)}, fails},
		{"a migrated volume, and a pod names it", p, []any{n, a, aws, mk.Pod("x", 0, mk.On("n"), namesAWS("vol-1")), limitOfTaken("n", 1)}, passes},
		{"a migrated volume, and a pod names another", p, []any{n, a, aws, mk.Pod("x", 0, mk.On("n"), namesAWS("vol-2")), limitOfTaken("n", 1)}, fails},
		{"a migrated volume, and a CSI volume is the same", p, []any{n, a, aws, b, mk.Volume("b", func(pv *v1.PersistentVolume) {
			pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle = taken, "vol-1"
		}), user, limitOfTaken("n", 1)}, passes},
		{"a migrated volume is attached", p, []any{n, a, aws, awsVolume("left", "vol-2"), attachedBy(taken, "left", "n"), limitOfTaken("n", 1)}, fails},
		{"a migrated volume is attached for the pod itself", p, []any{n, a, aws, attachedBy(taken, "a", "n"), limitOfTaken("n", 1)}, passes},
		{"a migrated volume is attached, by another driver", p, []any{n, a, aws, awsVolume("left", "vol-2"), attachedBy("another.example.com", "left", "n"), limitOfTaken("n", 1)}, passes},
	})
}

// What becomes of the count as pods go, and what the quirks make of it.
func TestAttachmentsOfVictims(t *testing.T) {
	n, limit := mk.Node("n", "9"), mk.CSINode("n", 1)
	p, user := mk.Pod("p", 9, mk.Mounts("a")), mk.Pod("x", 0, mk.On("n"), mk.Mounts("b"))
	broken := mk.Pod("y", 0, mk.On("n"), mk.MountsOwn("own"))
	claims := []any{n, mk.Claim("a"), mk.Volume("a"), mk.Claim("b"), mk.Volume("b"), mk.Claim("y-own", mk.OwnedBy("z"))}
	for _, test := range []struct {
		name    string
		change  model.Change
		pod     *v1.Pod
		objects []any
		want    string
		quirk   release.Quirk
		quirky  string
	}{
		{"its volume goes with it", model.Removed, user, []any{limit, user, mk.Attachment("b", "n")}, passes, release.VictimVolumesStayAttached, fails},
		{"as long as it was not attached", model.Removed, user, []any{limit, user}, passes, release.VictimVolumesStayAttached, passes},
		{"another pod still mounts it", model.Removed, user, []any{limit, user, mk.Pod("w", 0, mk.On("n"), mk.Mounts("b")), mk.Attachment("b", "n")}, fails, release.VictimVolumesStayAttached, fails},
		{"attached before the pod came", model.Untouched, nil, []any{limit, mk.Attachment("a", "n")}, passes, release.AttachedVolumeCountedTwice, fails},
		{"attached and mounted before", model.Untouched, nil, []any{limit, mk.Attachment("a", "n"), mk.Pod("w", 0, mk.On("n"), mk.Mounts("a"))}, passes, release.AttachedVolumeCountedTwice, passes},
		{"beside a foreign claim", model.Untouched, nil, []any{limit, broken}, passes, release.ForeignEphemeralClaim, "error"},
		{"once its pod is gone", model.Removed, broken, []any{limit, broken}, passes, release.ForeignEphemeralClaim, passes},
		{"where there is no limit", model.Untouched, nil, []any{mk.CSINode("n", -1), broken}, passes, release.ForeignEphemeralClaim, passes},
		{"a missing driver", model.Untouched, nil, []any{asking(mk.Driver)}, never, release.MissingDriverResolvable, fails},
		{"without a CSINode, a migrated volume", model.Untouched, nil, []any{asking(taken), awsVolume("a", "vol-1")}, never, release.MigratedDriverNotMissed, passes},
		{"without a CSINode, a CSI volume", model.Untouched, nil, []any{asking(mk.Driver), mk.Volume("a")}, never, release.MigratedDriverNotMissed, never},
		{"with a CSINode, a migrated volume", model.Untouched, nil, []any{asking(taken), awsVolume("a", "vol-1"), limit}, never, release.MigratedDriverNotMissed, never},
		{"a migrated volume is attached", model.Untouched, nil, []any{awsVolume("a", "vol-1"), awsVolume("left", "vol-2"), attachedBy(taken, "left", "n"), limitOfTaken("n", 1)}, fails,
			release.MigratedAttachmentUncounted, passes},
		{"a CSI volume is attached", model.Untouched, nil, []any{limit, mk.Volume("b"), mk.Attachment("b", "n")}, fails, release.MigratedAttachmentUncounted, fails},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := model.FilterRun{Change: test.change}
			if test.pod != nil {
				run.Pod = model.Key(test.pod)
			}
			objects := append(claims[:len(claims):len(claims)], test.objects...)
			assert.Equal(t, test.want, outcomeOn(t, "NodeVolumeLimits", p, answers.Documented(), run, objects...))
			assert.Equal(t, test.quirky, outcomeOn(t, "NodeVolumeLimits", p, release.With(answers.Documented(), test.quirk), run, objects...), "with the quirk")
		})
	}
}

// unlimited are other nodes, whose drivers have no limit.
func unlimited() (all []any) {
	for i := range 8 {
		all = append(all, mk.CSINode(fmt.Sprint("other", i), -1))
	}
	return all
}

// Of which disks of GCE, and attachments, it is open what they are.
func TestUnmodelledMigrated(t *testing.T) {
	const google = "pd.csi.storage.gke.io"
	disk := func(name, zone string) *v1.PersistentVolume {
		return mk.Volume(name, func(pv *v1.PersistentVolume) {
			pv.Spec.CSI, pv.Spec.GCEPersistentDisk = nil, &v1.GCEPersistentDiskVolumeSource{PDName: "disk"}
			if zone != "" {
				pv.Labels = map[string]string{v1.LabelTopologyZone: zone}
			}
		})
	}
	limit := mk.CSINode("n", 1)
	limit.Spec.Drivers[0].Name = google
	inline := mk.Attachment("", "n")
	inline.Spec.Attacher, inline.Spec.Source = google, storagev1.VolumeAttachmentSource{InlineVolumeSpec: &v1.PersistentVolumeSpec{}}
	azure := func(kind *v1.AzureDataDiskKind) *v1.PersistentVolume {
		return mk.Volume("a", func(pv *v1.PersistentVolume) {
			pv.Spec.CSI, pv.Spec.AzureDisk = nil, &v1.AzureDiskVolumeSource{DiskName: "disk", DataDiskURI: "uri", Kind: kind}
		})
	}
	says := mk.CSINode("n", 1)
	says.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: "kubernetes.io/gce-pd"}
	p, user := mk.Pod("p", 9, mk.Mounts("a")), mk.Pod("x", 0, mk.On("n"), mk.Mounts("b"))
	for name, test := range map[string]struct {
		objects []any
		open    bool
	}{
		"one zone":             {[]any{disk("a", "z"), disk("b", "z"), limit}, false},
		"two zones":            {[]any{disk("a", "z"), disk("b", "y"), limit}, true},
		"a zone, and none":     {[]any{disk("a", "z"), disk("b", ""), limit}, true},
		"two zones, no limit":  {[]any{disk("a", "z"), disk("b", "y")}, false},
		"an attachment of two": {[]any{disk("a", "z"), disk("c", "y"), attachedBy(google, "c", "n"), limit}, true},
		"an attachment of two, to the second node":   {[]any{disk("a", "z"), disk("c", "y"), attachedBy(google, "a", "m"), attachedBy(google, "c", "n"), limit}, true},
		"an attachment of a volume that a pod named": {[]any{disk("a", "z"), inline, limit}, true},
		"the same, no limit":                         {[]any{disk("a", "z"), inline}, false},
		"the same, behind another node":              {[]any{disk("a", "z"), attachedBy(google, "a", "m"), inline, limit}, true},
		"zones of no region":                         {[]any{disk("a", "y__z"), says}, true},
		"zones of no region, no driver":              {[]any{disk("a", "y__z")}, false},
		"a managed disk":                             {[]any{azure(new(v1.AzureManagedDisk))}, false},
		"a disk, managed by itself":                  {[]any{azure(nil)}, false},
		"a dedicated disk":                           {[]any{azure(new(v1.AzureDedicatedBlobDisk))}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := mk.Cluster(p, slices.Concat([]any{mk.Node("n", "9"), mk.Claim("a"), mk.Claim("b"), user}, unlimited(), test.objects)...)
			reported := false
			volume.VolumeBinding{}.Unmodelled(model.NewSnapshot(c), func(string, string, string) { reported = true })
			assert.Equal(t, test.open, reported)
		})
	}
}

// Each claim of a pod is looked at for volumes of which it is not plain what they are.
func TestUnmodelledVolumeOfSecondClaim(t *testing.T) {
	odd := mk.Volume("b", func(pv *v1.PersistentVolume) {
		pv.Spec.CSI, pv.Spec.AWSElasticBlockStore = nil, &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://zone/vol-1"}
	})
	for _, claims := range [][]string{{"a", "b"}, {"b", "a"}} {
		reported := ""
		c := mk.Cluster(mk.Pod("p", 9, mk.Mounts(claims...)), mk.Node("n", "9"), mk.Claim("a"), mk.Claim("b"), mk.Volume("a"), odd)
		volume.VolumeBinding{}.Unmodelled(model.NewSnapshot(c), func(object, _, _ string) { reported = object })
		assert.Equal(t, "PersistentVolume b", reported, claims)
	}
}

// Pods of a node are alike for the limits of drivers if their volumes count alike: those of one driver that nobody else mounts, and that the
// pod which preempts does not want.
func TestAlikeForLimits(t *testing.T) {
	user := func(name string, claims ...string) *v1.Pod { return mk.Pod(name, 0, mk.On("n"), mk.Mounts(claims...)) }
	objects := []any{mk.Node("n", "9"), mk.CSINode("n", 9), user("a", "one"), user("b", "two"), user("shares", "both"), user("too", "both"), user("wants", "wanted"), user("two", "three", "four"),
		user("attached", "held"), mk.Attachment("held", "n"), mk.Pod("none", 0, mk.On("n")),
		user("one and both", "five", "both"), user("both and one", "both", "six"),
		user("waits", "later"), user("waits, too", "later"), mk.Claim("later", mk.Unbound("wait")), mk.Class("wait", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer),
		user("has", "there"), user("has, too", "there"), mk.Claim("there"), mk.Volume("there", func(pv *v1.PersistentVolume) { pv.Spec.CSI.VolumeHandle = "default/later" })}
	for _, claim := range []string{"one", "two", "both", "wanted", "three", "four", "five", "six", "held"} {
		objects = append(objects, mk.Claim(claim), mk.Volume(claim))
	}
	s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, mk.Mounts("wanted")), objects...))
	st, _ := volume.NodeVolumeLimits{}.PreFilter(s)
	limits := st.(interface{ Alike(a, b *filter.Pod) bool })
	pods := map[string]*filter.Pod{}
	for _, p := range s.Nodes[0].Pods {
		pods[p.Name] = p
	}
	for _, same := range [][2]string{{"a", "b"}, {"shares", "too"}, {"one and both", "both and one"}, {"waits", "waits, too"}, {"has", "has, too"}} {
		assert.True(t, limits.Alike(pods[same[0]], pods[same[1]]), same)
	}
	for _, other := range []string{"shares", "wants", "two", "attached", "none"} {
		assert.False(t, limits.Alike(pods["a"], pods[other]), other)
	}
	assert.False(t, limits.Alike(pods["waits"], pods["has"]), "a volume that is yet to be made is none that is there")
}
