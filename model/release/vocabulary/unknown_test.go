package vocabulary_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
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
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
)

// TestUnknown: each release knows all that the one after it refuses to do without,
// and the linked one knows everything.
// distinct is a claim for devices that have to differ.
func distinct(r resourcev1.DeviceRequest) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
		Requests:    []resourcev1.DeviceRequest{r},
		Constraints: []resourcev1.DeviceConstraint{{DistinctAttribute: new(resourcev1.FullyQualifiedName)}},
	}}}
}

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
	pod := func(change func(*v1.Pod)) *model.Cluster { return mk.Cluster(mk.Pod("p", 9, change)) }
	with := func(o runtime.Object) *model.Cluster { return mk.Cluster(mk.Pod("p", 9), o) }
	migrated := func(plugin string) *storagev1.CSINode {
		n := mk.CSINode("n", 1)
		n.Annotations = map[string]string{v1.MigratedPluginsAnnotationKey: plugin}
		return n
	}
	gate := func(name string) *model.Cluster {
		return mk.Cluster(mk.Pod("p", 9), model.Settings{FeatureGates: map[string]bool{name: true}})
	}
	byDefault := func(field string) *model.Cluster {
		const args = `{"defaultConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"%s}, {"whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}]}`
		return mk.Cluster(mk.Pod("p", 9), model.Settings{Configuration: []byte(`{"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": ` + fmt.Sprintf(args, field) + `}]}]}`)})
	}
	tests := []struct {
		name    string
		cluster *model.Cluster
		last    string // the last of Releases that does not know it, or ""
	}{
		{"nothing", mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Budget("b", 0, mk.ForApp("x"))), ""},
		{"volumes", mk.Cluster(mk.Pod("p", 9), mk.Claim("c"), mk.Volume("c")), ""},
		{"preemptionPolicy", pod(func(p *v1.Pod) { p.Spec.PreemptionPolicy = &never }), "v1.16.15"},
		{"overhead", pod(func(p *v1.Pod) { p.Spec.Overhead = mk.Resources("cpu", "1") }), "v1.16.15"},
		{"spread", pod(spread(v1.TopologySpreadConstraint{})), "v1.16.15"},
		{"nodeAffinityPolicy", pod(spread(v1.TopologySpreadConstraint{NodeAffinityPolicy: &honor})), "v1.25.16"},
		{"minDomains", pod(spread(v1.TopologySpreadConstraint{MinDomains: &one})), "v1.25.16"},
		{"matchLabelKeys", pod(spread(v1.TopologySpreadConstraint{MatchLabelKeys: []string{"k"}})), "v1.25.16"},
		{"default constraints", byDefault(""), "v1.22.17"},
		{"nodeTaintsPolicy by default", byDefault(`, "nodeTaintsPolicy": "Honor"`), "v1.25.16"},
		{"minDomains by default", byDefault(`, "minDomains": 2`), "v1.25.16"},
		{"matchLabelKeys by default", byDefault(`, "matchLabelKeys": ["k"]`), "v1.25.16"},
		{"anti-affinity", pod(refuses(v1.PodAffinityTerm{})), ""},
		{"namespaceSelector", pod(refuses(v1.PodAffinityTerm{NamespaceSelector: mk.ForApp("x")})), "v1.19.16"},
		{"matchLabelKeys of affinity", pod(refuses(v1.PodAffinityTerm{MatchLabelKeys: []string{"k"}})), "v1.30.14"},
		{"gated", mk.Cluster(mk.Pod("p", 9), mk.Pod("o", 1, func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} })), "v1.25.16"},
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
		{"ephemeral volumes", pod(mk.MountsOwn("v")), "v1.19.16"},
		{"resize", pod(func(p *v1.Pod) {
			p.Status.ContainerStatuses = []v1.ContainerStatus{{AllocatedResources: mk.Resources("cpu", "1")}}
		}), "v1.32.13"},
		{"deferred resize", pod(func(p *v1.Pod) { p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending}} }), "v1.32.13"},
		{"pod-level resize", pod(func(p *v1.Pod) { p.Status.AllocatedResources = mk.Resources("cpu", "1") }), "v1.35.4"},
		{"declared features", mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1", func(n *v1.Node) { n.Status.DeclaredFeatures = []string{"f"} })), "v1.35.4"},
		{"empty selector", mk.Cluster(mk.Pod("p", 9), mk.Budget("b", 0, &metav1.LabelSelector{})), "v1.19.16"},
		{"eviction policy", func() *model.Cluster {
			b, policy := mk.Budget("b", 0, mk.ForApp("x")), policyv1.AlwaysAllow
			b.Spec.UnhealthyPodEvictionPolicy = &policy
			return mk.Cluster(mk.Pod("p", 9), b)
		}(), "v1.25.16"},
		{"ReadWriteOncePod", with(mk.Claim("c", mk.ForOnePod)), "v1.25.16"},
		{"CSINode", with(mk.CSINode("n", 1)), "v1.16.15"},
		{"volumes of a plugin that a node has migrated", mk.Cluster(mk.Pod("p", 9), migrated("kubernetes.io/portworx-volume"), mk.Class("c", "kubernetes.io/portworx-volume", storagev1.VolumeBindingImmediate)), "v1.35.4"},
		{"volumes of another plugin", mk.Cluster(mk.Pod("p", 9), migrated("kubernetes.io/portworx-volume"), mk.Class("c", "kubernetes.io/cinder", storagev1.VolumeBindingImmediate)), "v1.16.15"},
		{"CSIDriver", with(&storagev1.CSIDriver{}), "v1.16.15"},
		{"missing drivers", with(&storagev1.CSIDriver{Spec: storagev1.CSIDriverSpec{PreventPodSchedulingIfMissing: &yes}}), "v1.36.3"},
		{"capacity", with(&storagev1.CSIStorageCapacity{}), "v1.22.17"},
		{"ResourceClaim", with(&resourcev1.ResourceClaim{}), "v1.33.13"},
		{"ResourceSlice", with(&resourcev1.ResourceSlice{}), "v1.33.13"},
		{"DeviceClass", with(&resourcev1.DeviceClass{}), "v1.33.13"},
		{"DeviceClass for a resource that nobody asks for", with(&resourcev1.DeviceClass{Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: new("example.com/gpu")}}), "v1.33.13"},
		{"DeviceClass for a resource", mk.Cluster(mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.Containers = []v1.Container{mk.Container("example.com/gpu", "1")} }),
			&resourcev1.DeviceClass{Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: new("example.com/gpu")}}), "v1.36.3"},
		{"candidates", mk.Cluster(mk.Pod("p", 9), model.Settings{MinCandidateNodesAbsolute: &one}), "v1.19.16"},
		{"second profile", mk.Cluster(mk.Pod("p", 9), model.Settings{SecondProfile: &model.Profile{}}), "v1.16.15"},
		{"asynchronous", gate(model.GateAsyncPreemption), "v1.31.14"},
		{"not asynchronous", mk.Cluster(mk.Pod("p", 9), model.Settings{FeatureGates: map[string]bool{model.GateAsyncPreemption: false}}), ""},
		{"groups", mk.Cluster(mk.Pod("p", 9), mk.WithGroups()), "v1.36.3"}, // with composite ones
		{"pod groups switched on", gate(model.GateWorkload), "v1.35.4"},
		{"PodGroup", with(mk.Group("g", 1, mk.AsAWhole)), "v1.35.4"},
		{"PodGroup in another", with(mk.Group("g", 1, mk.PartOf("c"))), "v1.36.3"},
		{"PodGroup with a policy", with(mk.Group("g", 1, func(g *schedulingv1beta1.PodGroup) { g.Spec.PreemptionPolicy = new(schedulingv1beta1.PreemptNever) })), "v1.36.3"},
		{"CompositePodGroup", with(mk.Composite("c", "", 1, true)), "v1.36.3"},
		{"comparison of taints", gate(filter.GateTaintComparison), "v1.34.4"},
		{"shared device", with(&resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Devices: []resourcev1.Device{{AllowMultipleAllocations: &yes}}}}), "v1.35.4"},
		{"fractions of capacities", with(&resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Devices: []resourcev1.Device{{Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
			"c": {RequestPolicy: &resourcev1.CapacityRequestPolicy{ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: resource.NewMilliQuantity(1500, resource.DecimalSI)}}}}}}}}), "v1.36.3"},
		{"counters", with(&resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{SharedCounters: make([]resourcev1.CounterSet, 1)}}), "v1.35.4"},
		{"consumed counters", with(&resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Devices: []resourcev1.Device{{ConsumesCounters: make([]resourcev1.DeviceCounterConsumption, 1)}}}}), "v1.35.4"},
		{"devices for nodes of their own", with(&resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{PerDeviceNodeSelection: &yes}}), "v1.35.4"},
		{"pool of two slices", with(&resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Pool: resourcev1.ResourcePool{ResourceSliceCount: 2}}}), "v1.34.4"},
		{"requested capacity", with(&resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Exactly: &resourcev1.ExactDeviceRequest{Capacity: &resourcev1.CapacityRequirements{}}}}}}}), "v1.35.4"},
		{"requested capacity of a list", with(&resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			FirstAvailable: []resourcev1.DeviceSubRequest{{Capacity: &resourcev1.CapacityRequirements{}}}}}}}}), "v1.35.4"},
		{"distinct attribute", with(&resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Constraints: []resourcev1.DeviceConstraint{{
			DistinctAttribute: new(resourcev1.FullyQualifiedName)}}}}}), "v1.35.4"},
		{"distinct attribute of several devices", with(distinct(resourcev1.DeviceRequest{Exactly: &resourcev1.ExactDeviceRequest{Count: 2}})), "v1.36.3"},
		{"distinct attribute of all devices", with(distinct(resourcev1.DeviceRequest{FirstAvailable: []resourcev1.DeviceSubRequest{{AllocationMode: resourcev1.DeviceAllocationModeAll}}})), "v1.36.3"},
		{"distinct attribute of one device each", with(distinct(resourcev1.DeviceRequest{Exactly: &resourcev1.ExactDeviceRequest{Count: 1}})), "v1.35.4"},
		{"same attribute", with(&resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Constraints: []resourcev1.DeviceConstraint{{
			MatchAttribute: new(resourcev1.FullyQualifiedName)}}}}}), "v1.33.13"},
		{"share", with(&resourcev1.ResourceClaim{Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
			Results: []resourcev1.DeviceRequestAllocationResult{{ShareID: new(types.UID)}}}}}}), "v1.35.4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			last := ""
			for i, r := range release.Releases() {
				if len(vocabulary.Unknown(r, tt.cluster)) == 0 {
					continue
				}
				last = r.String()
				if i > 0 {
					assert.NotEmpty(t, vocabulary.Unknown(release.Releases()[i-1], tt.cluster), "%s knows what %s does not", release.Releases()[i-1], r)
				}
			}
			assert.Equal(t, tt.last, last)
		})
	}
}

// TestNoPodGroupsYet: before 1.36 it is said that there are no pod groups, of each object that has to do with them.
func TestNoPodGroupsYet(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9), mk.Group("g", 1), mk.Pod("m", 1, mk.On("n"), mk.Member("g")))
	const why = "v1.35.4 has no pod groups: they came with v1.36"
	assert.Equal(t, model.Unmodelled{{Object: "Pod default/m", Field: "spec.schedulingGroup", Why: why}, {Object: "PodGroup default/g", Field: "apiVersion", Why: why}}, vocabulary.Unknown(release.Release{Minor: 35, Patch: 4}, c))
}

// In 1.36 a nomination may not count while PreEnqueue has its pod wait for a group that is missing, or has too few pods.
func TestGatedNominations(t *testing.T) {
	gang := func(min int32) func(*schedulingv1beta1.PodGroup) {
		return func(g *schedulingv1beta1.PodGroup) {
			g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: min}
		}
	}
	waits := mk.Pod("g1", 1, mk.Member("g"), mk.Nominated("n"))
	for name, tt := range map[string]struct {
		objects []any
		gated   bool
	}{
		"a group of any size":        {[]any{mk.Group("g", 1)}, false},
		"no group":                   {nil, true},
		"one pod of two":             {[]any{mk.Group("g", 1, gang(2))}, true},
		"one pod waits, one runs":    {[]any{mk.Group("g", 1, gang(2)), mk.Pod("g2", 1, mk.Member("g"), mk.On("n"))}, false},
		"one pod waits, one is over": {[]any{mk.Group("g", 1, gang(2)), mk.Pod("g2", 1, mk.Member("g"), mk.On("n"), func(p *v1.Pod) { p.Status.Phase = v1.PodFailed })}, true},
		"one pod of one":             {[]any{mk.Group("g", 1, gang(1))}, false},
	} {
		c := mk.Cluster(mk.Pod("p", 9), append(tt.objects, waits, mk.Node("n", "1"), model.Settings{FeatureGates: map[string]bool{model.GateWorkload: true}})...)
		assert.Equal(t, tt.gated, vocabulary.Unknown(release.Release{Minor: 36, Patch: 3}, c) != nil, name)
		assert.Nil(t, vocabulary.Unknown(release.Linked, c), name)
		_, err := answers.Decide(c, release.Linked.Rules())
		assert.NoError(t, err, name)
	}
}
