package model

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestParseRelease(t *testing.T) {
	r, err := ParseRelease("v1.31.14")
	require.NoError(t, err)
	require.Equal(t, Release{31, 14}, r)
	for _, bad := range []string{"", "1.31.0", "v1.31", "v1.31.x", "v2.0.0", "v1.031.0", "v1.31.0-rc.1"} {
		_, err := ParseRelease(bad)
		require.Error(t, err, bad)
	}
}

func TestIn(t *testing.T) {
	backported := ">=1.30.14 <1.31.0 || >=1.31.3"
	for name, want := range map[string]bool{
		"v1.29.6": false, "v1.30.13": false, "v1.30.14": true, "v1.31.0": false, "v1.31.14": true, "v1.32.0": true,
	} {
		r, err := ParseRelease(name)
		require.NoError(t, err)
		assert.Equal(t, want, r.In(backported), name)
	}
}

func TestLinkedReleaseHasAllFlags(t *testing.T) {
	for _, f := range Flags() {
		assert.True(t, Linked.In(f.In), f.Name)
		assert.False(t, Releases()[0].In(f.In), "%s: no release is without", f.Name)
		assert.NotEmpty(t, f.Source, f.Name)
		assert.NotEmpty(t, f.Instead, f.Name)
	}
	releases := Releases()
	for i := 1; i < len(releases); i++ {
		assert.Negative(t, releases[i-1].Compare(releases[i]))
	}
	assert.Equal(t, Linked, releases[len(releases)-1])
}

// flagTest is a question that a release with a flag answers otherwise than one
// without.
type flagTest struct {
	flag    string
	cluster *Cluster
	ask     func(d *Decision) any
	with    any
	without any
}

func victimsOn(node string) func(*Decision) any {
	return func(d *Decision) any {
		outcomes, failed := d.DryRunOn(node)
		if failed != nil {
			return failed.Plugin
		}
		return outcomes[0].Victims
	}
}

func violationsOn(node string) func(*Decision) any {
	return func(d *Decision) any { outcomes, _ := d.DryRunOn(node); return outcomes[0].Violations }
}

func mayPreempt(d *Decision) any { return d.Eligible.OK }

func verdictOn(node string) func(*Decision) any {
	return func(d *Decision) any {
		if v := d.Verdicts[node]; v != nil {
			return v.String()
		}
		return "fits"
	}
}

func bindingErrorOn(node string) func(*Decision) any {
	return func(d *Decision) any {
		v := d.q.bindingVerdict(d.q.byName[node])
		return v != nil && v.Error != ""
	}
}

func nodesChosen(d *Decision) any {
	var nodes []string
	for _, c := range d.Choices() {
		nodes = append(nodes, c.Node)
	}
	return nodes
}

func disrupted(name string) map[string]metav1.Time { return map[string]metav1.Time{name: metav1.Now()} }

func withExtra(c *Cluster, objects ...runtime.Object) *Cluster {
	c.Extra = objects
	return c
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
	exempt := aBudget("a", 0, forApp("x"))
	exempt.Status.DisruptedPods = disrupted("p1")
	return []flagTest{
		{
			flag: "a pod whose nominated node has become unresolvable may preempt again",
			cluster: aCluster(aPod("p", 9, cpu("1"), nominated("n")), aNode("n", "1", tainted),
				aPod("v", 1, cpu("1"), on("n"), byPreemption)),
			ask: mayPreempt, with: true, without: false,
		},
		{
			flag:    "only pods that terminate by preemption are waited for",
			cluster: aCluster(aPod("p", 9, cpu("1"), nominated("n")), aNode("n", "1"), aPod("v", 1, cpu("1"), on("n"), terminating)),
			ask:     mayPreempt, with: true, without: false,
		},
		{
			flag:    "the nominated node is tried first, and taken if the pod fits there",
			cluster: aCluster(aPod("p", 9, cpu("1"), nominated("n")), aNode("n", "1"), aNode("m", "1")),
			ask:     func(d *Decision) any { return len(d.Fits) }, with: 1, without: 2,
		},
		{
			flag:    "a request above what a node can allocate is unresolvable",
			cluster: aCluster(aPod("p", 9, cpu("2")), aNode("n", "1")),
			ask:     verdictOn("n"), with: "NodeResourcesFit (unresolvable)", without: "NodeResourcesFit",
		},
		{
			flag: "a pod that is resized takes the largest of what is desired, allocated and in effect, of all containers together",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "4"), aPod("v", 1, on("n"), func(p *v1.Pod) {
				a, b := aContainer("cpu", "2"), aContainer("cpu", "1")
				a.Name, b.Name = "a", "b"
				p.Spec.Containers = []v1.Container{a, b}
				status := func(name, q string) v1.ContainerStatus {
					return v1.ContainerStatus{Name: name, AllocatedResources: list("cpu", q), Resources: &v1.ResourceRequirements{Requests: list("cpu", q)}}
				}
				p.Status.ContainerStatuses = []v1.ContainerStatus{status("a", "1"), status("b", "2")} // 3 desired, 3 in effect; each its largest is 4
			})),
			ask: verdictOn("n"), with: "fits", without: "NodeResourcesFit",
		},
		{
			flag:    "only resources that the pod requests count",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "2"), aPod("v", 9, on("n"), func(p *v1.Pod) { p.Spec.Containers = []v1.Container{aContainer("memory", "1")} })),
			ask:     verdictOn("n"), with: "fits", without: "NodeResourcesFit",
		},
		{
			flag: "host name, ports, node affinity and resources are judged one after another",
			cluster: aCluster(aPod("p", 9, cpu("2"), func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"a": "b"} }),
				aNode("n", "1"), aNode("m", "1", labelled("a", "b"))),
			ask:  func(d *Decision) any { return verdictOn("n")(d).(string) + ", " + verdictOn("m")(d).(string) },
			with: "NodeAffinity (unresolvable), NodeResourcesFit (unresolvable)", without: "NodeAffinity,NodeResourcesFit (unresolvable), NodeResourcesFit (unresolvable)",
		},
		{
			flag: "a pod's affinity to others is judged before the anti-affinity of others to it",
			cluster: aCluster(aPod("p", 9, app("x"), near("a", "y")), aNode("n", "1", labelled("a", "b")),
				aPod("v", 1, on("n"), away("a", "x"))),
			ask: verdictOn("n"), with: "InterPodAffinity (unresolvable)", without: "InterPodAffinity",
		},
		{
			flag:    "the first of a group of pods needs a node with all the labels that its affinity names",
			cluster: aCluster(aPod("p", 9, app("x"), near("a", "x")), aNode("n", "1")),
			ask:     verdictOn("n"), with: "InterPodAffinity (unresolvable)", without: "fits",
		},
		{
			flag: "a pod whose claims are missing, or deleted, is rejected",
			cluster: withExtra(aCluster(aPod("p", 9, mounts("c")), aNode("n", "1")), aVolume("c"),
				aClaim("c", func(c *v1.PersistentVolumeClaim) { c.DeletionTimestamp = new(metav1.Time) })),
			ask: func(d *Decision) any { return d.Error != "" }, with: false, without: true,
		},
		{
			flag: "a pod whose claim has lost its volume is rejected",
			cluster: withExtra(aCluster(aPod("p", 9, mounts("c")), aNode("n", "1")), aVolume("c"),
				aClaim("c", func(c *v1.PersistentVolumeClaim) { c.Status.Phase = v1.ClaimLost })),
			ask: verdictOn("n"), with: "VolumeBinding (unresolvable)", without: "fits",
		},
		{
			flag:    "a pod whose claims ought to be bound is rejected",
			cluster: withExtra(aCluster(aPod("p", 9, mounts("c")), aNode("n", "1")), aClaim("c", unbound("none"))),
			ask:     bindingErrorOn("n"), with: false, without: true,
		},
		{
			flag: "a claim for which a node was selected may still wait for the pod",
			cluster: withExtra(aCluster(aPod("p", 9, mounts("c")), aNode("n", "1")), aClass("wait", driver, storagev1.VolumeBindingWaitForFirstConsumer),
				aClaim("c", unbound("wait"), func(c *v1.PersistentVolumeClaim) { c.Annotations[annSelectedNode] = "n" })),
			ask: verdictOn("n"), with: "fits", without: "VolumeBinding (unresolvable)",
		},
		{
			flag:    "no node has a volume that does not exist",
			cluster: withExtra(aCluster(aPod("p", 9, mounts("c")), aNode("n", "1")), aClaim("c")),
			ask:     bindingErrorOn("n"), with: false, without: true,
		},
		{
			flag: "zone labels have the names of today, too",
			cluster: withExtra(aCluster(aPod("p", 9, mounts("c")), aNode("n", "1", labelled(v1.LabelTopologyZone, "a"))),
				aClaim("c"), aVolume("c", func(pv *v1.PersistentVolume) { pv.Labels = map[string]string{v1.LabelTopologyZone: "b"} })),
			ask: verdictOn("n"), with: "VolumeZone (unresolvable)", without: "fits",
		},
		{
			flag:    "a rejection before any node is looked at names the plugin",
			cluster: aCluster(aPod("p", 9, cpu("1"), mounts("none")), aNode("n", "4")),
			ask:     verdictOn("n"), with: "VolumeRestrictions (unresolvable)", without: " (unresolvable)",
		},
		{
			flag:    "taints and node affinity are judged before resources",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "1", tainted), aPod("v", 1, cpu("1"), on("n"))),
			ask:     verdictOn("n"), with: "TaintToleration (unresolvable)", without: "NodeResourcesFit",
		},
		{
			flag:    "PreFilter leaves out nodes that the pod does not require by name",
			cluster: aCluster(aPod("p", 9, cpu("1"), requiresNode("m")), aNode("n", "1", tainted), aNode("m", "0")),
			ask:     verdictOn("n"), with: "NodeAffinity (unresolvable)", without: "TaintToleration (unresolvable)",
		},
		{
			flag:    "nodes that are left out are said to be so",
			cluster: aCluster(aPod("p", 9, cpu("1"), requiresNode("m")), aNode("n", "1"), aNode("m", "0")),
			ask: func(d *Decision) any {
				return d.Admits(&Observation{Filters: map[string]Verdict{"m": *d.Verdicts["m"]}}) == nil
			},
			with: false, without: true,
		},
		{
			flag:    "preemption is not tried on nodes without a status",
			cluster: aCluster(aPod("p", 9, cpu("1"), requiresNode("m")), aNode("n", "1"), aNode("m", "1"), aPod("v", 1, cpu("1"), on("m"))),
			ask:     func(d *Decision) any { return len(d.PotentialNodes) }, with: 1, without: 2,
		},
		{
			flag:    "VolumeRestrictions looks up the pod's claims before any node is looked at",
			cluster: aCluster(aPod("p", 9, mounts("none")), aNode("n", "1")),
			ask:     verdictOn("n"), with: "VolumeRestrictions (unresolvable)", without: "VolumeBinding (unresolvable)",
		},
		{
			flag: "VolumeZone looks up the pod's volumes before any node is looked at",
			cluster: withExtra(aCluster(aPod("p", 9, mounts("c")), aNode("n", "1")),
				aClaim("c")),
			ask: verdictOn("n"), with: "VolumeZone (unresolvable)", without: "VolumeBinding (unresolvable)",
		},
		{
			flag: "a node need not have the zone labels that have been renamed",
			cluster: withExtra(aCluster(aPod("p", 9, mounts("c")), aNode("n", "1", labelled(v1.LabelTopologyZone, "a"))),
				aClaim("c"), aVolume("c", func(pv *v1.PersistentVolume) { pv.Labels = map[string]string{v1.LabelFailureDomainBetaZone: "a"} })),
			ask: verdictOn("n"), with: "fits", without: "VolumeZone (unresolvable)",
		},
		{
			flag: "volumes that are attached, though no pod there mounts them, count for the limit",
			cluster: withExtra(aCluster(aPod("p", 9, mounts("a")), aNode("n", "1")),
				aClaim("a"), aVolume("a"), aClaim("b"), aVolume("b"), anAttachment("b", "n"), aCSINode("n", 1)),
			ask: verdictOn("n"), with: "NodeVolumeLimits", without: "fits",
		},
		{
			flag: "DynamicResources filters",
			cluster: aCluster(aPod("p", 9, func(p *v1.Pod) {
				none := "none"
				p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c", ResourceClaimName: &none}}
			}), aNode("n", "1")),
			ask: verdictOn("n"), with: "DynamicResources (unresolvable)", without: "fits",
		},
		{
			flag: "NodeDeclaredFeatures filters",
			cluster: aCluster(aPod("p", 9, func(p *v1.Pod) {
				p.Spec.HostUsers, p.Spec.HostNetwork = new(bool), true
			}), aNode("n", "1")),
			ask: verdictOn("n"), with: "NodeDeclaredFeatures (unresolvable)", without: "fits",
		},
		{
			flag: "of equally important pods, the one that has run longer is more important",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "2"),
				aPod("young", 1, cpu("1"), on("n"), started(2)), aPod("old", 1, cpu("1"), on("n"), started(1))),
			ask: func(d *Decision) any { outcomes, _ := d.DryRunOn("n"); return outcomes[0].Victims }, with: []string{"default/young"}, without: []string{"default/old"},
		},
		{
			flag:    "a node without pods of lower priority is not filtered again",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "1"), aPod("v", 9, cpu("1"), on("n"))),
			ask:     victimsOn("n"), with: "", without: "NodeResourcesFit",
		},
		{
			flag: "each victim takes a disruption from its budgets",
			cluster: aCluster(aPod("p", 9, cpu("2")), aNode("n", "2"), aBudget("b", 1, forApp("x")),
				aPod("p1", 1, cpu("1"), on("n"), app("x")), aPod("p2", 1, cpu("1"), on("n"), app("x"))),
			ask: violationsOn("n"), with: 1, without: 0,
		},
		{
			flag: "a victim takes nothing from the budgets after the one that it violates",
			cluster: aCluster(aPod("p", 9, cpu("2")), aNode("n", "2"), aBudget("a", 0, forApp("x")), aBudget("b", 1, &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "y"}}),
				aPod("p1", 2, cpu("1"), on("n"), func(p *v1.Pod) { p.Labels = map[string]string{"app": "x", "tier": "y"} }),
				aPod("p2", 1, cpu("1"), on("n"), func(p *v1.Pod) { p.Labels = map[string]string{"tier": "y"} })),
			ask: violationsOn("n"), with: 1, without: 2,
		},
		{
			flag: "pods that the API server has counted as disrupted violate no budget",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "1"), exempt,
				aPod("p1", 1, cpu("1"), on("n"), app("x"))),
			ask: violationsOn("n"), with: 0, without: 1,
		},
		{
			flag: "the last criterion is the latest start of the highest-priority victims",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("a", "1"), aNode("b", "1"),
				aPod("old", 1, cpu("1"), on("a"), started(1)), aPod("young", 1, cpu("1"), on("b"), started(2))),
			ask: nodesChosen, with: []string{"b"}, without: []string{"a", "b"},
		},
		{
			flag: "enough candidates end the search",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("a", "1"), aNode("b", "1"), Settings{MinCandidateNodesAbsolute: new(int32), MinCandidateNodesPercentage: &[]int32{50}[0]},
				aPod("cheap", 1, cpu("1"), on("a")), aPod("dear", 2, cpu("1"), on("b"))),
			ask: nodesChosen, with: []string{"a", "b"}, without: []string{"a"},
		},
		{
			flag:    "a pod that preemption does not help loses its nomination",
			cluster: aCluster(aPod("p", 9, cpu("1"), nominated("n")), aNode("n", "1"), aPod("v", 9, cpu("1"), on("n"))),
			ask:     func(d *Decision) any { return d.q.unhelped(len(d.PotentialNodes) > 0).Nomination }, with: NominationCleared, without: NominationKept,
		},
		{
			flag:    "victims are marked DisruptionTarget",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "1"), aPod("v", 1, cpu("1"), on("n"))),
			ask:     func(d *Decision) any { return len(d.Preempts(d.Choices()[0]).DisruptionTarget) }, with: 1, without: 0,
		},
		{
			flag:    "victims that terminate already are not deleted again",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "1"), aPod("v", 1, cpu("1"), on("n"), terminating)),
			ask:     func(d *Decision) any { return len(d.Preempts(d.Choices()[0]).Deleted) }, with: 0, without: 1,
		},
		{
			flag:    "a dry run tells whether what fails is resolvable",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "1"), aPod("v", 9, cpu("1"), on("n"))),
			ask: func(d *Decision) any {
				_, dis := d.admitsDryRun(d.worlds[0], "n", DryRun{Failed: &Verdict{}})
				return dis == nil
			},
			with: false, without: true,
		},
		{
			flag: "a node without victims is no candidate",
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "1"), aPod("v", 1, on("n")),
				Settings{Extenders: []Extender{{Name: "e", Filter: &ExtenderFilter{Rejects: []string{"n"}}}}}),
			ask: func(d *Decision) any { return d == nil }, with: false, without: true, // not modelled
		},
	}
}

// TestFlags: with every flag on, as today, and with that one off.
func TestFlags(t *testing.T) {
	tested := map[string]bool{}
	for _, tt := range flagTests() {
		t.Run(tt.flag, func(t *testing.T) {
			tested[tt.flag] = true
			d, err := Decide(tt.cluster, Documented())
			require.NoError(t, err)
			assert.Equal(t, tt.with, tt.ask(d), "with")
			i := slices.IndexFunc(Flags(), func(f Flag) bool { return f.Name == tt.flag })
			require.GreaterOrEqual(t, i, 0)
			d, err = Decide(tt.cluster, Algorithm(func(f Flag) bool { return f.Name != Flags()[i].Name }))
			if err != nil {
				require.ErrorAs(t, err, new(Unmodelled))
				d = nil
			}
			assert.Equal(t, tt.without, tt.ask(d), "without")
		})
	}
	for _, f := range Flags() {
		assert.True(t, tested[f.Name], f.Name)
	}
}

// TestPreempt: the criteria of genericScheduler.Preempt, up to 1.13 and since
// (generic_scheduler.go:762@v1.13.0, generic_scheduler.go:862@v1.16.15), and its
// budgets, of which victims take nothing.
func TestPreempt(t *testing.T) {
	today := CriterionNames()
	for _, tt := range []struct {
		release Release
		want    []string
	}{
		{Release{13, 0}, today[:4]}, {Release{16, 15}, today}, {Release{27, 16}, today}, {Release{34, 4}, today}, {Linked, today},
	} {
		rules := tt.release.Rules()
		var names []string
		for _, c := range rules.criteria {
			names = append(names, c.Name)
		}
		assert.Equal(t, tt.want, names, tt.release)
		assert.Equal(t, tt.release.Minor >= 18, rules.decrementBudgets, tt.release)
	}
}
