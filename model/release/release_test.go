package release_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

func TestParseRelease(t *testing.T) {
	r, err := release.Parse("v1.31.14")
	require.NoError(t, err)
	require.Equal(t, release.Release{31, 14}, r)
	for _, bad := range []string{"", "1.31.0", "v1.31", "v1.31.x", "v2.0.0", "v1.031.0", "v1.31.0-rc.1"} {
		_, err := release.Parse(bad)
		require.Error(t, err, bad)
	}
}

func TestIn(t *testing.T) {
	backported := ">=1.30.14 <1.31.0 || >=1.31.3"
	for name, want := range map[string]bool{
		"v1.29.6": false, "v1.30.13": false, "v1.30.14": true, "v1.31.0": false, "v1.31.14": true, "v1.32.0": true,
	} {
		r, err := release.Parse(name)
		require.NoError(t, err)
		assert.Equal(t, want, r.In(backported), name)
	}
}

func TestLinkedReleaseHasAllFlags(t *testing.T) {
	for _, f := range release.Flags() {
		assert.True(t, release.Linked.In(f.In), f.Name)
		assert.False(t, release.Releases()[0].In(f.In), "%s: no release is without", f.Name)
		assert.NotEmpty(t, f.Source, f.Name)
		assert.NotEmpty(t, f.Instead, f.Name)
	}
	releases := release.Releases()
	for i := 1; i < len(releases); i++ {
		assert.Negative(t, releases[i-1].Compare(releases[i]))
	}
	assert.Equal(t, release.Linked, releases[len(releases)-1])
}

// flagTest is a question that a release with a flag answers otherwise than one
// without.
type flagTest struct {
	flag    string
	cluster *model.Cluster
	ask     func(d *answers.Set) any
	with    any
	without any
}

func victimsOn(node string) func(*answers.Set) any {
	return func(d *answers.Set) any {
		outcomes, failed := d.DryRunOn(node)
		if failed != nil {
			return failed.Plugin
		}
		return outcomes[0].Victims
	}
}

func violationsOn(node string) func(*answers.Set) any {
	return func(d *answers.Set) any { outcomes, _ := d.DryRunOn(node); return outcomes[0].Violations }
}

func mayPreempt(d *answers.Set) any { return d.Eligible.OK }

func verdictOn(node string) func(*answers.Set) any {
	return func(d *answers.Set) any {
		if v := d.Verdicts[node]; v != nil {
			return v.String()
		}
		return "fits"
	}
}

func bindingErrorOn(node string) func(*answers.Set) any {
	return func(d *answers.Set) any {
		i := slices.IndexFunc(d.Cycle.Plugins, func(p filter.Plugin) bool { return p.Name() == "VolumeBinding" })
		st, _ := d.Cycle.Plugins[i].PreFilter(d.Cycle.Snapshot)
		n := d.Cycle.Node(node)
		v := st.Fits(n, filter.View{Pods: n.Pods})
		return v != nil && v.Error != ""
	}
}

func nodesChosen(d *answers.Set) any {
	var nodes []string
	for _, c := range d.Choices() {
		nodes = append(nodes, c.Node)
	}
	return nodes
}

func disrupted(name string) map[string]metav1.Time { return map[string]metav1.Time{name: metav1.Now()} }

// migrated is a cluster of a pod with a volume from a source, and a node that takes none of a driver.
func migrated(driver string, from v1.PersistentVolumeSource) *model.Cluster {
	node := mk.CSINode("n", 0)
	node.Spec.Drivers[0].Name = driver
	return mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1"), mk.Claim("c"), node,
		mk.Volume("c", func(pv *v1.PersistentVolume) { pv.Spec.PersistentVolumeSource = from }))
}

func labelled(key, value string) func(*v1.Node) {
	return func(n *v1.Node) { n.Labels = map[string]string{key: value} }
}

func requiresNode(names ...string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
			NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: names},
			}}},
		}}}
	}
}

func tainted(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: "t", Effect: v1.TaintEffectNoSchedule}} }

func flagTests() []flagTest {
	exempt := mk.Budget("a", 0, mk.ForApp("x"))
	exempt.Status.DisruptedPods = disrupted("p1")
	return []flagTest{
		{
			flag: "a pod whose nominated node has become unresolvable may preempt again",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), mk.Node("n", "1", tainted),
				mk.Pod("v", 1, mk.CPU("1"), mk.On("n"), mk.ByPreemption)),
			ask: mayPreempt, with: true, without: false,
		},
		{
			flag:    "only pods that terminate by preemption are waited for",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), mk.Node("n", "1"), mk.Pod("v", 1, mk.CPU("1"), mk.On("n"), mk.Terminating)),
			ask:     mayPreempt, with: true, without: false,
		},
		{
			flag:    "the nominated node is tried first, and taken if the pod fits there",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), mk.Node("n", "1"), mk.Node("m", "1")),
			ask:     func(d *answers.Set) any { return len(d.Fits) }, with: 1, without: 2,
		},
		{
			flag:    "a request above what a node can allocate is unresolvable",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("2")), mk.Node("n", "1")),
			ask:     verdictOn("n"), with: "NodeResourcesFit (unresolvable)", without: "NodeResourcesFit",
		},
		{
			flag: "a pod that is resized takes the largest of what is desired, allocated and in effect, of all containers together",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "4"), mk.Pod("v", 1, mk.On("n"), func(p *v1.Pod) {
				a, b := mk.Container("cpu", "2"), mk.Container("cpu", "1")
				a.Name, b.Name = "a", "b"
				p.Spec.Containers = []v1.Container{a, b}
				status := func(name, q string) v1.ContainerStatus {
					return v1.ContainerStatus{Name: name, AllocatedResources: mk.Resources("cpu", q), Resources: &v1.ResourceRequirements{Requests: mk.Resources("cpu", q)}}
				}
				p.Status.ContainerStatuses = []v1.ContainerStatus{status("a", "1"), status("b", "2")} // 3 desired, 3 in effect; each its largest is 4
			})),
			ask: verdictOn("n"), with: "fits", without: "NodeResourcesFit",
		},
		{
			flag:    "only resources that the pod requests count",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "2"), mk.Pod("v", 9, mk.On("n"), func(p *v1.Pod) { p.Spec.Containers = []v1.Container{mk.Container("memory", "1")} })),
			ask:     verdictOn("n"), with: "fits", without: "NodeResourcesFit",
		},
		{
			flag: "host name, ports, node affinity and resources are judged one after another",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("2"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"a": "b"} }),
				mk.Node("n", "1"), mk.Node("m", "1", labelled("a", "b"))),
			ask:  func(d *answers.Set) any { return verdictOn("n")(d).(string) + ", " + verdictOn("m")(d).(string) },
			with: "NodeAffinity (unresolvable), NodeResourcesFit (unresolvable)", without: "NodeAffinity,NodeResourcesFit (unresolvable), NodeResourcesFit (unresolvable)",
		},
		{
			flag: "a pod's affinity to others is judged before the anti-affinity of others to it",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.App("x"), mk.Near("a", "y")), mk.Node("n", "1", labelled("a", "b")),
				mk.Pod("v", 1, mk.On("n"), mk.Away("a", "x"))),
			ask: verdictOn("n"), with: "InterPodAffinity (unresolvable)", without: "InterPodAffinity",
		},
		{
			flag:    "the first of a group of pods needs a node with all the labels that its affinity names",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.App("x"), mk.Near("a", "x")), mk.Node("n", "1")),
			ask:     verdictOn("n"), with: "InterPodAffinity (unresolvable)", without: "fits",
		},
		{
			flag: "a pod whose claims are missing, or deleted, is rejected",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1"), mk.Volume("c"),
				mk.Claim("c", func(c *v1.PersistentVolumeClaim) { c.DeletionTimestamp = new(metav1.Time) })),
			ask: func(d *answers.Set) any { return len(d.Errors) > 0 }, with: false, without: true,
		},
		{
			flag: "a pod whose claim has lost its volume is rejected",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1"), mk.Volume("c"),
				mk.Claim("c", func(c *v1.PersistentVolumeClaim) { c.Status.Phase = v1.ClaimLost })),
			ask: verdictOn("n"), with: "VolumeBinding (unresolvable)", without: "fits",
		},
		{
			flag:    "a pod whose claims ought to be bound is rejected",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1"), mk.Claim("c", mk.Unbound("none"))),
			ask:     bindingErrorOn("n"), with: false, without: true,
		},
		{
			flag: "a claim for which a node was selected may still wait for the pod",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1"), mk.Class("wait", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer),
				mk.Claim("c", mk.Unbound("wait"), func(c *v1.PersistentVolumeClaim) { c.Annotations[volume.AnnSelectedNode] = "n" })),
			ask: verdictOn("n"), with: "fits", without: "VolumeBinding (unresolvable)",
		},
		{
			flag:    "no node has a volume that does not exist",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1"), mk.Claim("c")),
			ask:     bindingErrorOn("n"), with: false, without: true,
		},
		{
			flag: "zone labels have the names of today, too",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1", labelled(v1.LabelTopologyZone, "a")),
				mk.Claim("c"), mk.Volume("c", func(pv *v1.PersistentVolume) { pv.Labels = map[string]string{v1.LabelTopologyZone: "b"} })),
			ask: verdictOn("n"), with: "VolumeZone (unresolvable)", without: "fits",
		},
		{
			flag:    "a rejection before any node is looked at names the plugin",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), mk.Mounts("none")), mk.Node("n", "4")),
			ask:     verdictOn("n"), with: "VolumeRestrictions (unresolvable)", without: " (unresolvable)",
		},
		{
			flag:    "taints and node affinity are judged before resources",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1", tainted), mk.Pod("v", 1, mk.CPU("1"), mk.On("n"))),
			ask:     verdictOn("n"), with: "TaintToleration (unresolvable)", without: "NodeResourcesFit",
		},
		{
			flag:    "PreFilter leaves out nodes that the pod does not require by name",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), requiresNode("m")), mk.Node("n", "1", tainted), mk.Node("m", "0")),
			ask:     verdictOn("n"), with: "NodeAffinity (unresolvable)", without: "TaintToleration (unresolvable)",
		},
		{
			flag:    "nodes that are left out are said to be so",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), requiresNode("m")), mk.Node("n", "1"), mk.Node("m", "0")),
			ask: func(d *answers.Set) any {
				return d.Admits(&model.Observation{Filters: map[string]model.Verdict{"m": *d.Verdicts["m"]}}) == nil
			},
			with: false, without: true,
		},
		{
			flag:    "preemption is not tried on nodes without a status",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), requiresNode("m")), mk.Node("n", "1"), mk.Node("m", "1"), mk.Pod("v", 1, mk.CPU("1"), mk.On("m"))),
			ask:     func(d *answers.Set) any { return len(d.PotentialNodes) }, with: 1, without: 2,
		},
		{
			flag:    "VolumeRestrictions looks up the pod's claims before any node is looked at",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("none")), mk.Node("n", "1")),
			ask:     verdictOn("n"), with: "VolumeRestrictions (unresolvable)", without: "VolumeBinding (unresolvable)",
		},
		{
			flag: "VolumeZone looks up the pod's volumes before any node is looked at",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1"),
				mk.Claim("c")),
			ask: verdictOn("n"), with: "VolumeZone (unresolvable)", without: "VolumeBinding (unresolvable)",
		},
		{
			flag: "a node need not have the zone labels that have been renamed",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1", labelled(v1.LabelTopologyZone, "a")),
				mk.Claim("c"), mk.Volume("c", func(pv *v1.PersistentVolume) { pv.Labels = map[string]string{v1.LabelFailureDomainBetaZone: "a"} })),
			ask: verdictOn("n"), with: "fits", without: "VolumeZone (unresolvable)",
		},
		{
			flag:    "volumes of the plugin of OpenStack count for its CSI driver on each node",
			cluster: migrated("cinder.csi.openstack.org", v1.PersistentVolumeSource{Cinder: &v1.CinderPersistentVolumeSource{VolumeID: "d"}}),
			ask:     verdictOn("n"), with: "NodeVolumeLimits", without: "fits",
		},
		{
			flag:    "volumes of the plugins of AWS and Azure count for their CSI drivers on each node",
			cluster: migrated("disk.csi.azure.com", v1.PersistentVolumeSource{AzureDisk: &v1.AzureDiskVolumeSource{DataDiskURI: "d"}}),
			ask:     verdictOn("n"), with: "NodeVolumeLimits", without: "fits",
		},
		{
			flag:    "volumes of the plugin of Google count for its CSI driver on each node",
			cluster: migrated("pd.csi.storage.gke.io", v1.PersistentVolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: "d"}}),
			ask:     verdictOn("n"), with: "NodeVolumeLimits", without: "fits",
		},
		{
			flag:    "volumes of the plugin of Portworx count for its CSI driver on each node",
			cluster: migrated("pxd.portworx.com", v1.PersistentVolumeSource{PortworxVolume: &v1.PortworxVolumeSource{VolumeID: "d"}}),
			ask:     verdictOn("n"), with: "NodeVolumeLimits", without: "fits",
		},
		{
			flag: "volumes that are attached, though no pod there mounts them, count for the limit",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("a")), mk.Node("n", "1"),
				mk.Claim("a"), mk.Volume("a"), mk.Claim("b"), mk.Volume("b"), mk.Attachment("b", "n"), mk.CSINode("n", 1)),
			ask: verdictOn("n"), with: "NodeVolumeLimits", without: "fits",
		},
		{
			flag: "DynamicResources filters",
			cluster: mk.Cluster(mk.Pod("p", 9, func(p *v1.Pod) {
				none := "none"
				p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c", ResourceClaimName: &none}}
			}), mk.Node("n", "1")),
			ask: verdictOn("n"), with: "DynamicResources (unresolvable)", without: "fits",
		},
		{
			flag: "NodeDeclaredFeatures filters",
			cluster: mk.Cluster(mk.Pod("p", 9, func(p *v1.Pod) {
				p.Spec.HostUsers, p.Spec.HostNetwork = new(bool), true
			}), mk.Node("n", "1")),
			ask: verdictOn("n"), with: "NodeDeclaredFeatures (unresolvable)", without: "fits",
		},
		{
			flag: "of equally important pods, the one that has run longer is more important",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "2"),
				mk.Pod("young", 1, mk.CPU("1"), mk.On("n"), mk.Started(2)), mk.Pod("old", 1, mk.CPU("1"), mk.On("n"), mk.Started(1))),
			ask: func(d *answers.Set) any { outcomes, _ := d.DryRunOn("n"); return outcomes[0].Victims }, with: []string{"default/young"}, without: []string{"default/old"},
		},
		{
			flag:    "a node without pods of lower priority is not filtered again",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Pod("v", 9, mk.CPU("1"), mk.On("n"))),
			ask:     victimsOn("n"), with: "", without: "NodeResourcesFit",
		},
		{
			flag: "each victim takes a disruption from its budgets",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("2")), mk.Node("n", "2"), mk.Budget("b", 1, mk.ForApp("x")),
				mk.Pod("p1", 1, mk.CPU("1"), mk.On("n"), mk.App("x")), mk.Pod("p2", 1, mk.CPU("1"), mk.On("n"), mk.App("x"))),
			ask: violationsOn("n"), with: 1, without: 0,
		},
		{
			flag: "a victim takes nothing from the budgets after the one that it violates",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("2")), mk.Node("n", "2"), mk.Budget("a", 0, mk.ForApp("x")), mk.Budget("b", 1, &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "y"}}),
				mk.Pod("p1", 2, mk.CPU("1"), mk.On("n"), func(p *v1.Pod) { p.Labels = map[string]string{"app": "x", "tier": "y"} }),
				mk.Pod("p2", 1, mk.CPU("1"), mk.On("n"), func(p *v1.Pod) { p.Labels = map[string]string{"tier": "y"} })),
			ask: violationsOn("n"), with: 1, without: 2,
		},
		{
			flag: "pods that the API server has counted as disrupted violate no budget",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), exempt,
				mk.Pod("p1", 1, mk.CPU("1"), mk.On("n"), mk.App("x"))),
			ask: violationsOn("n"), with: 0, without: 1,
		},
		{
			flag: "pod groups count when a pod preempts, too",
			cluster: mk.Cluster(mk.Pod("p", 5, mk.CPU("1")), mk.WithGroups(), mk.Node("n", "1"), mk.Node("m", "1"), mk.Group("g", 1, mk.AsAWhole),
				mk.Pod("g1", 1, mk.CPU("1"), mk.On("n"), mk.Member("g")), mk.Pod("g2", 9, mk.CPU("1"), mk.On("m"), mk.Member("g"))),
			ask:  func(d *answers.Set) any { return []any{victimsOn("n")(d), victimsOn("m")(d)} },
			with: []any{[]string{"default/g1", "default/g2"}, []string{"default/g1", "default/g2"}}, without: []any{[]string{"default/g1"}, ""},
		},
		{
			flag: "the last criterion is the latest start of the highest-priority victims",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("a", "1"), mk.Node("b", "1"),
				mk.Pod("old", 1, mk.CPU("1"), mk.On("a"), mk.Started(1)), mk.Pod("young", 1, mk.CPU("1"), mk.On("b"), mk.Started(2))),
			ask: nodesChosen, with: []string{"b"}, without: []string{"a", "b"},
		},
		{
			flag: "enough candidates end the search",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("a", "1"), mk.Node("b", "1"), model.Settings{MinCandidateNodesAbsolute: new(int32), MinCandidateNodesPercentage: &[]int32{50}[0]},
				mk.Pod("cheap", 1, mk.CPU("1"), mk.On("a")), mk.Pod("dear", 2, mk.CPU("1"), mk.On("b"))),
			ask: nodesChosen, with: []string{"a", "b"}, without: []string{"a"},
		},
		{
			flag:    "a pod that preemption does not help loses its nomination",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), mk.Nominated("n")), mk.Node("n", "1"), mk.Pod("v", 9, mk.CPU("1"), mk.On("n"))),
			ask:     func(d *answers.Set) any { return d.Cycle.NoCandidate(d.Decision).Nomination }, with: model.NominationCleared, without: model.NominationKept,
		},
		{
			flag:    "victims are marked DisruptionTarget",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Pod("v", 1, mk.CPU("1"), mk.On("n"))),
			ask:     func(d *answers.Set) any { return len(d.Preempts(d.Choices()[0]).DisruptionTarget) }, with: 1, without: 0,
		},
		{
			flag:    "victims that terminate already are not deleted again",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Pod("v", 1, mk.CPU("1"), mk.On("n"), mk.Terminating)),
			ask:     func(d *answers.Set) any { return len(d.Preempts(d.Choices()[0]).Deleted) }, with: 0, without: 1,
		},
		{
			flag:    "a dry run tells whether what fails is resolvable",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Pod("v", 9, mk.CPU("1"), mk.On("n"))),
			ask: func(d *answers.Set) any {
				return d.Admits(&model.Observation{
					Filters: map[string]model.Verdict{"n": *d.Verdicts["n"]}, Eligible: d.Eligible, PotentialNodes: d.PotentialNodes,
					DryRuns: map[string]model.DryRun{"n": {Failed: &model.Verdict{}}},
				}) == nil
			},
			with: false, without: true,
		},
		{
			flag: "a node without victims is no candidate",
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Pod("v", 1, mk.On("n")),
				model.Settings{Extenders: []model.Extender{{Name: "e", Filter: &model.ExtenderFilter{Rejects: []string{"n"}}}}}),
			ask: func(d *answers.Set) any { return d == nil }, with: false, without: true, // not modelled
		},
	}
}

// TestFlags: with every flag on, as today, and with that one off.
func TestFlags(t *testing.T) {
	tested := map[string]bool{}
	for _, tt := range flagTests() {
		t.Run(tt.flag, func(t *testing.T) {
			tested[tt.flag] = true
			d, err := answers.Decide(tt.cluster, answers.Documented())
			require.NoError(t, err)
			assert.Equal(t, tt.with, tt.ask(d), "with")
			i := slices.IndexFunc(release.Flags(), func(f release.Flag) bool { return f.Name == tt.flag })
			require.GreaterOrEqual(t, i, 0)
			d, err = answers.Decide(tt.cluster, release.Algorithm(func(f release.Flag) bool { return f.Name != release.Flags()[i].Name }))
			if err != nil {
				require.ErrorAs(t, err, new(model.Unmodelled))
				d = nil
			}
			assert.Equal(t, tt.without, tt.ask(d), "without")
		})
	}
	for _, f := range release.Flags() {
		assert.True(t, tested[f.Name], f.Name)
	}
}

// TestPreempt: the criteria of genericScheduler.Preempt, up to 1.13 and since
// (generic_scheduler.go:762@v1.13.0, generic_scheduler.go:862@v1.16.15), and its
// budgets, of which victims take nothing.
func TestPreempt(t *testing.T) {
	today := explain.CriterionNames()
	for _, tt := range []struct {
		release release.Release
		want    []string
	}{
		{release.Release{13, 0}, today[:4]}, {release.Release{16, 15}, today}, {release.Release{27, 16}, today}, {release.Release{34, 4}, today}, {release.Linked, today},
	} {
		rules := tt.release.Rules()
		var names []string
		for _, c := range rules.Criteria {
			names = append(names, c.Name)
		}
		assert.Equal(t, tt.want, names, tt.release)
		left := []int32{1}
		rules.TakeBudgets(left, []int{0})
		assert.Equal(t, tt.release.Minor >= 18, left[0] == 0, tt.release)
	}
}
