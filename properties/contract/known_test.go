package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/properties"
)

// explains tells whether a finding of the ledger explains that a plugin, which rejected nodes for a reason, sleeps through an event.
func explains(t *testing.T, id, plugin string, c *model.Cluster, kind, object, reasons string) bool {
	t.Helper()
	all := drawEvents(c)
	i := slices.IndexFunc(all, func(e event) bool { return e.kind == kind && e.object.Name == object })
	require.GreaterOrEqual(t, i, 0, "no event %s of %s", kind, object)
	b := &breach{interview: &interview{Subject: &properties.Subject{Cluster: c}}, plugin: plugin, event: &all[i], reasons: reasons}
	for _, k := range known {
		if k.id == id && k.plugin == b.plugin && k.where(b) {
			return true
		}
	}
	return false
}

// The last pod that p requires leaves. Each near miss changes one thing, so that the cause does not explain it.
func TestFirstOfItsKindIsKnownNarrowly(t *testing.T) {
	const noPeers = "node(s) didn't match pod affinity rules"
	requires := func(p *v1.Pod, terms ...metav1.LabelSelectorRequirement) {
		p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{}}
		for _, r := range terms {
			p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
				v1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{r}}})
		}
	}
	isA := metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a"}}
	noApp := metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpDoesNotExist}
	noTier := metav1.LabelSelectorRequirement{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist}
	a := map[string]string{"app": "a"}

	for _, test := range []struct {
		kind, object   string
		others, labels map[string]string // of the other pod and of p
		terms          []metav1.LabelSelectorRequirement
		reasons        string
		known          bool
	}{
		{"Pod deleted", "other", a, a, []metav1.LabelSelectorRequirement{isA}, noPeers, true},
		{"Pod deleted", "other", nil, a, []metav1.LabelSelectorRequirement{isA}, noPeers, false}, // p does not require it
		{"Pod deleted", "other", a, nil, []metav1.LabelSelectorRequirement{isA}, noPeers, false}, // p is not of the kind
		{"Pod deleted", "other", a, a, []metav1.LabelSelectorRequirement{isA}, "node(s) had untolerated taints", false},
		{"Pod added", "other", a, a, []metav1.LabelSelectorRequirement{isA}, noPeers, false},
		{"Pod updated: a label less", "other", a, a, []metav1.LabelSelectorRequirement{isA}, noPeers, true},
		{"Pod updated: a label less", "other", map[string]string{"tier": "x"}, nil, []metav1.LabelSelectorRequirement{noApp}, noPeers, false}, // it is required as before
		{"Pod updated: a label more", "other", a, a, []metav1.LabelSelectorRequirement{isA}, noPeers, false},                                  // it is required now
		{"Pod updated: a label more", "other", a, nil, []metav1.LabelSelectorRequirement{noApp}, noPeers, true},
		{"Pod updated: a label more", "other", map[string]string{"tier": "x"}, nil, []metav1.LabelSelectorRequirement{noApp}, noPeers, false},
		{"Pod updated: a label more", "other", a, nil, []metav1.LabelSelectorRequirement{noApp, noTier}, noPeers, true},
		{"Pod updated: a label more", "other", map[string]string{"app": "a", "tier": "x"}, nil, []metav1.LabelSelectorRequirement{noApp, noTier}, noPeers, false}, // one term of two did not select it before
		{"Pod updated: a label more", "other", a, a, []metav1.LabelSelectorRequirement{noApp}, noPeers, false},
		{"Pod updated: a label more", "other", a, nil, nil, noPeers, false},
		{"Node deleted", "node", a, a, []metav1.LabelSelectorRequirement{isA}, noPeers, true},
		{"Node deleted", "empty", a, a, []metav1.LabelSelectorRequirement{isA}, noPeers, false},
		{"Node updated: a label less", "node", a, a, []metav1.LabelSelectorRequirement{isA}, noPeers, true},
		{"Node updated: a label less", "empty", a, a, []metav1.LabelSelectorRequirement{isA}, noPeers, false},
		{"Node updated: a label more", "node", a, a, []metav1.LabelSelectorRequirement{isA}, noPeers, false},
	} {
		t.Run(fmt.Sprintf("%s %s, %v of %v by %v", test.kind, test.object, test.labels, test.others, test.terms), func(t *testing.T) {
			p, other, node, empty := &v1.Pod{}, &v1.Pod{}, &v1.Node{}, &v1.Node{}
			p.Name, p.Namespace, p.Labels = "p", "default", test.labels
			other.Name, other.Namespace, other.Labels, other.Spec.NodeName = "other", "default", test.others, "node"
			node.Name, node.Labels = "node", map[string]string{"zone": "z"}
			empty.Name, empty.Labels = "empty", map[string]string{"zone": "y"}
			requires(p, test.terms...)
			c := &model.Cluster{Nodes: []*v1.Node{node, empty}, Pods: []*v1.Pod{other}, Preemptor: p}
			require.Equal(t, test.known, explains(t, "first-of-its-kind-unnoticed", "InterPodAffinity", c, test.kind, test.object, test.reasons))
		})
	}
}

// The hint of NodeResourcesFit reads the status of the pod that waits only if its resize is infeasible.
func TestInfeasibleResizeIsKnownNarrowly(t *testing.T) {
	for _, test := range []struct {
		name, kind string
		conditions []v1.PodCondition
		known      bool
	}{
		{"infeasible", "Pod updated: smaller requests", []v1.PodCondition{{Type: v1.PodResizePending, Reason: v1.PodReasonInfeasible}}, true},
		{"infeasible, and the pod itself", "Pod updated: the pod itself, smaller requests", []v1.PodCondition{{Type: v1.PodResizePending, Reason: v1.PodReasonInfeasible}}, true},
		{"deferred, and the pod itself", "Pod updated: the pod itself, smaller requests", []v1.PodCondition{{Type: v1.PodResizePending, Reason: v1.PodReasonDeferred}}, false},
		{"deferred", "Pod updated: smaller requests", []v1.PodCondition{{Type: v1.PodResizePending, Reason: v1.PodReasonDeferred}}, false},
		{"another condition", "Pod updated: smaller requests", []v1.PodCondition{{Type: v1.PodScheduled, Reason: v1.PodReasonInfeasible}}, false},
		{"none", "Pod updated: smaller requests", nil, false},
		{"another event", "Pod deleted", []v1.PodCondition{{Type: v1.PodResizePending, Reason: v1.PodReasonInfeasible}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, other, node := &v1.Pod{}, &v1.Pod{}, &v1.Node{}
			p.Name, p.Namespace, p.Status.Conditions = "p", "default", test.conditions
			node.Name, other.Name, other.Namespace, other.Spec.NodeName = "node", "other", "default", "node"
			other.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}}}}
			p.Spec.Containers = other.Spec.Containers
			c := &model.Cluster{Nodes: []*v1.Node{node}, Pods: []*v1.Pod{other}, Preemptor: p}
			whose := "other"
			if strings.Contains(test.kind, "the pod itself") {
				whose = "p"
			}
			require.Equal(t, test.known, explains(t, "infeasible-resize-hides-requests", "NodeResourcesFit", c, test.kind, whose, "Insufficient cpu"))
		})
	}
}

// The hint for updates of a node compares the keys of the constraints that keep pods from nodes, and no others.
func TestLeftOutNodeIsKnownNarrowly(t *testing.T) {
	for _, test := range []struct {
		name     string
		when     v1.UnsatisfiableConstraintAction
		key      string
		selector map[string]string
		known    bool
	}{
		{"another label", v1.DoNotSchedule, "zone", map[string]string{"disk": "fast"}, true},
		{"a key that only scores", v1.ScheduleAnyway, "disk", map[string]string{"disk": "fast"}, true},
		{"a key", v1.DoNotSchedule, "disk", map[string]string{"disk": "fast"}, false},
		{"any node will do", v1.DoNotSchedule, "zone", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, n := &v1.Pod{}, &v1.Node{}
			p.Name, p.Namespace, p.Spec.NodeSelector = "p", "default", test.selector
			p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{TopologyKey: test.key, WhenUnsatisfiable: test.when}}
			n.Name, n.Labels = "n", map[string]string{"disk": "fast"}
			c := &model.Cluster{Preemptor: p, Nodes: []*v1.Node{n}}
			require.Equal(t, test.known, explains(t, "left-out-node-unnoticed", "PodTopologySpread", c, "Node updated: a label less", "n", "node(s) didn't match pod topology spread constraints"))
		})
	}
}

// The hint for the pod's own labels compares by what the pod still belongs to.
func TestOwnLabelDefaultIsKnownNarrowly(t *testing.T) {
	const spread = `{"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "%s"}]}}]}]}`
	hard, soft := fmt.Sprintf(spread, v1.DoNotSchedule), fmt.Sprintf(spread, v1.ScheduleAnyway)
	service := func(namespace string, selector map[string]string) *v1.Service {
		return &v1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s"}, Spec: v1.ServiceSpec{Selector: selector}}
	}
	replicas := func(selector map[string]string) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "r"}, Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: selector}}}
	}
	a, x := map[string]string{"app": "a"}, map[string]string{"tier": "x"}
	for _, test := range []struct {
		name, kind, configuration string
		objects                   []runtime.Object
		own                       []v1.TopologySpreadConstraint
		known                     bool
	}{
		{"it leaves the Service", "less", hard, []runtime.Object{service("default", a)}, nil, true},
		{"it leaves one of two", "less", hard, []runtime.Object{service("default", a), service("default", x)}, nil, true},
		{"it comes to the Service", "more", hard, []runtime.Object{service("default", a)}, nil, false},
		{"it stays in the Service", "less", hard, []runtime.Object{service("default", x)}, nil, false},
		{"the Service is in another namespace", "less", hard, []runtime.Object{service("other", a)}, nil, false},
		{"there is none", "less", hard, nil, nil, false},
		{"it stays in the ReplicaSet", "less", hard, []runtime.Object{service("default", a), replicas(x)}, nil, true},
		{"the ReplicaSet selects it no more", "less", hard, []runtime.Object{service("default", a), replicas(a)}, nil, false},
		{"it has constraints of its own", "less", hard, []runtime.Object{service("default", a)}, []v1.TopologySpreadConstraint{{TopologyKey: "zone"}}, false},
		{"the default ones only score", "less", soft, []runtime.Object{service("default", a)}, nil, false},
		{"there are none", "less", "", []runtime.Object{service("default", a)}, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, n := &v1.Pod{}, &v1.Node{}
			p.Name, p.Namespace, p.Labels = "p", "default", map[string]string{"app": "a", "tier": "x"}
			p.Spec.SchedulerName, p.Spec.TopologySpreadConstraints = model.DefaultSchedulerName, test.own
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", Controller: new(true)}}
			n.Name = "n"
			c := &model.Cluster{Preemptor: p, Nodes: []*v1.Node{n}, Extra: test.objects, Settings: model.Settings{Configuration: []byte(test.configuration)}}
			require.Equal(t, test.known, explains(t, "own-label-default-unnoticed", "PodTopologySpread", c, "Pod updated: the pod itself, a label "+test.kind, "p", "node(s) didn't match pod topology spread constraints"))
		})
	}
}

// The hint for updates of a node passes over what the profile adds, where what the pod itself asks for is there before and after.
func TestAddedAffinityIsKnownNarrowly(t *testing.T) {
	const enforced = "node(s) didn't match scheduler-enforced node affinity; "
	for _, test := range []struct {
		name, kind, reasons string
		selector            map[string]string
		known               bool
	}{
		{"the pod asks for nothing", "Node updated: a label less", enforced, nil, true},
		{"the pod asks for what stays", "Node updated: a label less", enforced, map[string]string{"disk": "fast"}, true},
		{"the pod asks for what comes", "Node updated: a label more", enforced, map[string]string{"area": "shop"}, false},
		{"the pod asks for what was there", "Node updated: a label less", enforced, map[string]string{"area": "shop"}, false},
		{"another reason", "Node updated: a label less", "node(s) didn't match Pod's node affinity/selector; ", nil, false},
		{"another event", "Node added", enforced, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, n := &v1.Pod{}, &v1.Node{}
			p.Name, p.Namespace, p.Spec.NodeSelector = "p", "default", test.selector
			n.Name, n.Labels = "n", map[string]string{"area": "shop", "disk": "fast"} // the first is the one that changes
			c := &model.Cluster{Preemptor: p, Nodes: []*v1.Node{n}}
			require.Equal(t, test.known, explains(t, "added-affinity-unnoticed", "NodeAffinity", c, test.kind, "n", test.reasons))
		})
	}
}

// Of what a node declares, DynamicResources looks at one feature only, for claims of which a device asks for it.
func TestDeclaredOperationsIsKnownNarrowly(t *testing.T) {
	const unavailable = "resourceclaim not available on the node; "
	all := []resourcev1.SkipNodeOperation{resourcev1.SkipNodeOperationAll}
	for _, test := range []struct {
		name, kind, reasons, claim string
		skips                      []resourcev1.SkipNodeOperation
		declares                   string
		known                      bool
	}{
		{"its device skips operations", "Node updated: declared features", unavailable, "own", all, filter.FeatureSkipOperations, true},
		{"the node declares something else", "Node updated: declared features", unavailable, "own", all, "SomeFeature", false},
		{"its device skips none", "Node updated: declared features", unavailable, "own", nil, filter.FeatureSkipOperations, false},
		{"a device of another claim does", "Node updated: declared features", unavailable, "other", all, filter.FeatureSkipOperations, false},
		{"another reason", "Node updated: declared features", "cannot allocate all claims; ", "own", all, filter.FeatureSkipOperations, false},
		{"another event", "Node updated: no declared features", unavailable, "own", all, filter.FeatureSkipOperations, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, n, claim := &v1.Pod{}, &v1.Node{}, &resourcev1.ResourceClaim{}
			p.Name, p.Namespace, n.Name, claim.Name, claim.Namespace = "p", "default", "n", test.claim, "default"
			p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "claim", ResourceClaimName: new("own")}}
			n.Status.DeclaredFeatures = []string{test.declares}
			claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
				Results: []resourcev1.DeviceRequestAllocationResult{{Device: "first"}, {Device: "second", SkipNodeOperations: test.skips}}}}
			c := &model.Cluster{Preemptor: p, Nodes: []*v1.Node{n}, Extra: []runtime.Object{claim}}
			require.Equal(t, test.known, explains(t, "declared-operations-unnoticed", "DynamicResources", c, test.kind, "n", test.reasons))
		})
	}
}

// The hint for volumes that are detached passes over ephemeral volumes, and over nothing else that the filter counts.
func TestEphemeralVolumeDetachedIsKnownNarrowly(t *testing.T) {
	const full = "node(s) exceed max volume count; "
	ephemeral := v1.Volume{Name: "data", VolumeSource: v1.VolumeSource{Ephemeral: &v1.EphemeralVolumeSource{}}}
	claim := v1.Volume{Name: "claim", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}
	disk := v1.Volume{Name: "disk", VolumeSource: v1.VolumeSource{GCEPersistentDisk: &v1.GCEPersistentDiskVolumeSource{PDName: "d"}}}
	for _, test := range []struct {
		name, kind, reasons string
		volumes             []v1.Volume
		known               bool
	}{
		{"an ephemeral volume", "VolumeAttachment deleted", full, []v1.Volume{ephemeral}, true},
		{"a claim besides", "VolumeAttachment deleted", full, []v1.Volume{ephemeral, claim}, false},
		{"a claim", "VolumeAttachment deleted", full, []v1.Volume{claim}, false},
		{"a disk", "VolumeAttachment deleted", full, []v1.Volume{disk}, false},
		{"no volume", "VolumeAttachment deleted", full, nil, false},
		{"another reason", "VolumeAttachment deleted", "the driver is not installed on the node; ", []v1.Volume{ephemeral}, false},
		{"another event", "VolumeAttachment added", full, []v1.Volume{ephemeral}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, a := &v1.Pod{}, &storagev1.VolumeAttachment{}
			p.Name, p.Namespace, p.Spec.Volumes, a.Name = "p", "default", test.volumes, "a"
			c := &model.Cluster{Preemptor: p, Extra: []runtime.Object{a}}
			require.Equal(t, test.known, explains(t, "ephemeral-volume-detached-unnoticed", "NodeVolumeLimits", c, test.kind, "a", test.reasons))
		})
	}
}

// The hint for nodes does not pass over what the filter passes over.
func TestIgnoredResourceIsKnownNarrowly(t *testing.T) {
	const ignored, other = `{"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["example.com/gpu"]}}]}]}`,
		`{"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["example.com/fpga"]}}]}]}`
	for _, test := range []struct {
		name, kind, configuration, asks, has string
		known                                bool
	}{
		{"the node has none", "Node added", ignored, "1", "0", true},
		{"the node has too few", "Node updated: more allocatable", ignored, "50", "2", true},
		{"the node has enough", "Node added", ignored, "1", "1", false},
		{"the pod asks for none", "Node added", ignored, "0", "0", false},
		{"another one is ignored", "Node added", other, "1", "0", false},
		{"none is ignored", "Node added", `{}`, "1", "0", false},
		{"no configuration", "Node added", "", "1", "0", false},
		{"another event", "Node deleted", ignored, "1", "0", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, n := &v1.Pod{}, &v1.Node{}
			p.Name, p.Namespace, p.Spec.SchedulerName = "p", "default", model.DefaultSchedulerName
			p.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"example.com/gpu": resource.MustParse(test.asks)}}}}
			n.Name, n.Status.Allocatable = "n", v1.ResourceList{"example.com/gpu": resource.MustParse(test.has)}
			c := &model.Cluster{Preemptor: p, Nodes: []*v1.Node{n}, Settings: model.Settings{Configuration: json.RawMessage(test.configuration)}}
			require.Equal(t, test.known, explains(t, "ignored-resource-counts", "NodeResourcesFit", c, test.kind, "n", "Too many pods"))
		})
	}
}

// A class that loses the name of a resource helps who asks by its own name only if it had that name in common with another one.
func TestUnpickedClassIsKnownNarrowly(t *testing.T) {
	const kind = "DeviceClass updated: no name of a resource"
	for _, test := range []struct {
		name, kind, class, rival, asks string
		known                          bool
	}{
		{"it shares the name", kind, "example.com/gpu", "example.com/gpu", "deviceclass.resource.kubernetes.io/c", true},
		{"the other one has another name", kind, "example.com/gpu", "example.com/fpga", "deviceclass.resource.kubernetes.io/c", false},
		{"the other one has no name", kind, "example.com/gpu", "", "deviceclass.resource.kubernetes.io/c", false},
		{"another class is asked for", kind, "example.com/gpu", "example.com/gpu", "deviceclass.resource.kubernetes.io/rival", false},
		{"the resource is asked for", kind, "example.com/gpu", "example.com/gpu", "example.com/gpu", false},
		{"it gains the name", "DeviceClass updated: a name of a resource", "example.com/gpu", "example.com/gpu", "deviceclass.resource.kubernetes.io/c", false},
		{"it goes", "DeviceClass deleted", "example.com/gpu", "example.com/gpu", "deviceclass.resource.kubernetes.io/c", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			class := func(name, resource string) runtime.Object {
				c := &resourcev1.DeviceClass{}
				if c.Name = name; resource != "" {
					c.Spec.ExtendedResourceName = &resource
				}
				return c
			}
			p := &v1.Pod{}
			p.Name, p.Namespace = "p", "default"
			p.Spec.Containers = []v1.Container{{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceName(test.asks): resource.MustParse("1")}}}}
			c := &model.Cluster{Preemptor: p, Extra: []runtime.Object{class("c", test.class), class("rival", test.rival)}}
			require.Equal(t, test.known, explains(t, "unpicked-class-unnamed", "NodeResourcesFit", c, test.kind, "c", "Insufficient"))
		})
	}
}
