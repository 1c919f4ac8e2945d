package model

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
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
			d, err = Decide(tt.cluster, Flags()[i].Off())
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

// TestUnknown: each release knows all that the one after it refuses to do without,
// and the linked one knows everything.
func TestUnknown(t *testing.T) {
	yes, never, always := true, v1.PreemptNever, v1.ContainerRestartPolicyAlways
	one := int32(1)
	honor := v1.NodeInclusionPolicyHonor
	spread := func(c v1.TopologySpreadConstraint) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{c} }
	}
	refuses := func(term v1.PodAffinityTerm) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}
		}
	}
	pod := func(change func(*v1.Pod)) *Cluster { return aCluster(aPod("p", 9, change)) }
	with := func(o ...runtime.Object) *Cluster { return withExtra(aCluster(aPod("p", 9)), o...) }
	gate := func(name string) *Cluster {
		return aCluster(aPod("p", 9), Settings{FeatureGates: map[string]bool{name: true}})
	}
	tests := []struct {
		name    string
		cluster *Cluster
		last    string // the last of Releases that does not know it, or ""
	}{
		{"nothing", aCluster(aPod("p", 9, cpu("1")), aNode("n", "1"), aBudget("b", 0, forApp("x"))), ""},
		{"volumes", with(aClaim("c"), aVolume("c")), ""},
		{"preemptionPolicy", pod(func(p *v1.Pod) { p.Spec.PreemptionPolicy = &never }), "v1.16.15"},
		{"overhead", pod(func(p *v1.Pod) { p.Spec.Overhead = list("cpu", "1") }), "v1.16.15"},
		{"spread", pod(spread(v1.TopologySpreadConstraint{})), "v1.16.15"},
		{"nodeAffinityPolicy", pod(spread(v1.TopologySpreadConstraint{NodeAffinityPolicy: &honor})), "v1.25.16"},
		{"minDomains", pod(spread(v1.TopologySpreadConstraint{MinDomains: &one})), "v1.25.16"},
		{"matchLabelKeys", pod(spread(v1.TopologySpreadConstraint{MatchLabelKeys: []string{"k"}})), "v1.25.16"},
		{"anti-affinity", pod(refuses(v1.PodAffinityTerm{})), ""},
		{"namespaceSelector", pod(refuses(v1.PodAffinityTerm{NamespaceSelector: forApp("x")})), "v1.19.16"},
		{"matchLabelKeys of affinity", pod(refuses(v1.PodAffinityTerm{MatchLabelKeys: []string{"k"}})), "v1.30.14"},
		{"gated", aCluster(aPod("p", 9), aPod("o", 1, func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} })), "v1.25.16"},
		{"sidecar", pod(func(p *v1.Pod) { p.Spec.InitContainers = []v1.Container{{RestartPolicy: &always}} }), "v1.27.16"},
		{"restart rules", pod(func(p *v1.Pod) {
			p.Spec.Containers = []v1.Container{{RestartPolicyRules: make([]v1.ContainerRestartRule, 1)}}
		}), "v1.34.4"},
		{"mount options", pod(func(p *v1.Pod) {
			p.Spec.Containers = []v1.Container{{VolumeMounts: []v1.VolumeMount{{BindMountOptions: []string{"noexec"}}}}}
		}), "v1.36.3"},
		{"user namespaces", pod(func(p *v1.Pod) { p.Spec.HostUsers = &yes }), "v1.32.13"},
		{"pod-level resources", pod(func(p *v1.Pod) { p.Spec.Resources = &v1.ResourceRequirements{} }), "v1.33.13"},
		{"claims", pod(func(p *v1.Pod) { p.Spec.ResourceClaims = make([]v1.PodResourceClaim, 1) }), "v1.33.13"},
		{"pod groups", pod(func(p *v1.Pod) { p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{} }), "v1.37.1"},
		{"ephemeral volumes", pod(mountsOwn("v")), "v1.19.16"},
		{"resize", pod(func(p *v1.Pod) {
			p.Status.ContainerStatuses = []v1.ContainerStatus{{AllocatedResources: list("cpu", "1")}}
		}), "v1.32.13"},
		{"deferred resize", pod(func(p *v1.Pod) { p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending}} }), "v1.32.13"},
		{"pod-level resize", pod(func(p *v1.Pod) { p.Status.AllocatedResources = list("cpu", "1") }), "v1.35.4"},
		{"declared features", aCluster(aPod("p", 9), aNode("n", "1", func(n *v1.Node) { n.Status.DeclaredFeatures = []string{"f"} })), "v1.35.4"},
		{"empty selector", aCluster(aPod("p", 9), aBudget("b", 0, &metav1.LabelSelector{})), "v1.19.16"},
		{"eviction policy", func() *Cluster {
			b, policy := aBudget("b", 0, forApp("x")), policyv1.AlwaysAllow
			b.Spec.UnhealthyPodEvictionPolicy = &policy
			return aCluster(aPod("p", 9), b)
		}(), "v1.25.16"},
		{"ReadWriteOncePod", with(aClaim("c", forOnePod)), "v1.25.16"},
		{"CSINode", with(aCSINode("n", 1)), "v1.16.15"},
		{"CSIDriver", with(&storagev1.CSIDriver{}), "v1.16.15"},
		{"missing drivers", with(&storagev1.CSIDriver{Spec: storagev1.CSIDriverSpec{PreventPodSchedulingIfMissing: &yes}}), "v1.36.3"},
		{"capacity", with(&storagev1.CSIStorageCapacity{}), "v1.22.17"},
		{"ResourceClaim", with(&resourcev1.ResourceClaim{}), "v1.33.13"},
		{"ResourceSlice", with(&resourcev1.ResourceSlice{}), "v1.33.13"},
		{"DeviceClass", with(&resourcev1.DeviceClass{}), "v1.33.13"},
		{"candidates", aCluster(aPod("p", 9), Settings{MinCandidateNodesAbsolute: &one}), "v1.19.16"},
		{"second profile", aCluster(aPod("p", 9), Settings{SecondProfile: &Profile{}}), "v1.16.15"},
		{"asynchronous", gate(GateAsyncPreemption), "v1.31.14"},
		{"not asynchronous", aCluster(aPod("p", 9), Settings{FeatureGates: map[string]bool{GateAsyncPreemption: false}}), ""},
		{"comparison of taints", gate(GateTaintComparison), "v1.34.4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			last := ""
			for i, r := range Releases() {
				if len(r.Unknown(tt.cluster)) == 0 {
					continue
				}
				last = r.String()
				if i > 0 {
					assert.NotEmpty(t, Releases()[i-1].Unknown(tt.cluster), "%s knows what %s does not", Releases()[i-1], r)
				}
			}
			assert.Equal(t, tt.last, last)
		})
	}
}

// All gates that are modelled are ones that some release does not know.
func TestGatesHaveReleases(t *testing.T) {
	for gate := range modelledGates {
		assert.Contains(t, gatesIn, gate)
	}
}
