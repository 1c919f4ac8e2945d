package filter_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

func TestRequested(t *testing.T) {
	tests := []struct {
		name string
		spec v1.PodSpec
		want v1.ResourceList
	}{
		{"containers add up", v1.PodSpec{Containers: []v1.Container{mk.Container("cpu", "1"), mk.Container("cpu", "2", "memory", "5")}}, mk.Resources("cpu", "3000", "memory", "5")},
		{"an init container needs more", v1.PodSpec{
			InitContainers: []v1.Container{mk.Container("cpu", "4"), mk.Container("cpu", "3", "memory", "2")},
			Containers:     []v1.Container{mk.Container("cpu", "1")},
		}, mk.Resources("cpu", "4000", "memory", "2")},
		{"a sidecar runs on", v1.PodSpec{
			InitContainers: []v1.Container{mk.Sidecar("cpu", "2")},
			Containers:     []v1.Container{mk.Container("cpu", "1")},
		}, mk.Resources("cpu", "3000")},
		{"an init container runs beside earlier sidecars only", v1.PodSpec{
			InitContainers: []v1.Container{mk.Sidecar("cpu", "1"), mk.Container("cpu", "5"), mk.Sidecar("cpu", "2")},
			Containers:     []v1.Container{mk.Container("cpu", "1")},
		}, mk.Resources("cpu", "6000")},
		{"overhead is added", v1.PodSpec{Containers: []v1.Container{mk.Container("cpu", "1")}, Overhead: mk.Resources("cpu", "250m")}, mk.Resources("cpu", "1250")},
		{"pod-level requests replace those of containers", v1.PodSpec{
			Resources:  &v1.ResourceRequirements{Requests: mk.Resources("cpu", "7", "hugepages-2Mi", "4")},
			Containers: []v1.Container{mk.Container("cpu", "1", "memory", "3")},
		}, mk.Resources("cpu", "7000", "memory", "3", "hugepages-2Mi", "4")},
		{"fractions are summed before rounding up", v1.PodSpec{Containers: []v1.Container{mk.Container("memory", "500m"), mk.Container("memory", "500m")}}, mk.Resources("memory", "1")},
		{"the rest of a fraction counts as one", v1.PodSpec{Containers: []v1.Container{mk.Container("memory", "1500m")}}, mk.Resources("memory", "2")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assertAmounts(t, tt.want, filter.Requested(&v1.Pod{Spec: tt.spec}))
		})
	}
}

// assertAmounts compares amounts as the scheduler reads them: CPU in milliCPU.
func assertAmounts(t *testing.T, want v1.ResourceList, got filter.Resources) {
	t.Helper()
	assert.Len(t, got, len(want))
	for name, q := range want {
		assert.Equal(t, filter.Whole(uint64(q.Value())), got.Get(name).RoundedUp(), name)
	}
}

func TestOccupiedDuringResize(t *testing.T) {
	pod := func(desired string, status v1.ContainerStatus, infeasible bool) *v1.Pod {
		p := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{mk.Container("cpu", desired)}}}
		status.Name = "c"
		p.Status.ContainerStatuses = []v1.ContainerStatus{status}
		if infeasible {
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Reason: v1.PodReasonInfeasible}}
		}
		return p
	}
	inEffect := func(q string) *v1.ResourceRequirements {
		return &v1.ResourceRequirements{Requests: mk.Resources("cpu", q)}
	}
	tests := []struct {
		name string
		pod  *v1.Pod
		want string
	}{
		{"no status yet", pod("2", v1.ContainerStatus{}, false), "2000"},
		{"growing: desired counts", pod("3", v1.ContainerStatus{AllocatedResources: mk.Resources("cpu", "1"), Resources: inEffect("1")}, false), "3000"},
		{"shrinking: what is in effect counts", pod("1", v1.ContainerStatus{AllocatedResources: mk.Resources("cpu", "1"), Resources: inEffect("3")}, false), "3000"},
		{"shrinking: what is allocated counts", pod("1", v1.ContainerStatus{AllocatedResources: mk.Resources("cpu", "2"), Resources: inEffect("1")}, false), "2000"},
		{"infeasible: desired does not count", pod("3", v1.ContainerStatus{AllocatedResources: mk.Resources("cpu", "1"), Resources: inEffect("1")}, true), "1000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assertAmounts(t, mk.Resources("cpu", tt.want), filter.Occupied(tt.pod)) })
	}
}

// Of a pod as a whole is told what it needs, and of its container what it has.
func TestPodLevelResourcesAreMore(t *testing.T) {
	p := &v1.Pod{Spec: v1.PodSpec{
		Resources:  &v1.ResourceRequirements{Requests: mk.Resources("cpu", "2", "example.com/gpu", "1")},
		Containers: []v1.Container{mk.Container("cpu", "1")},
	}}
	p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "c", AllocatedResources: mk.Resources("cpu", "1")}}
	for range 20 { // resources come in no order
		assertAmounts(t, mk.Resources("cpu", "2000"), filter.Occupied(p))
	}
}

func TestPodLevelResourcesDuringResize(t *testing.T) {
	p := &v1.Pod{Spec: v1.PodSpec{
		Resources:  &v1.ResourceRequirements{Requests: mk.Resources("cpu", "2")},
		Containers: []v1.Container{mk.Container("cpu", "1")},
	}}
	p.Status.AllocatedResources = mk.Resources("cpu", "3")
	p.Status.Resources = &v1.ResourceRequirements{Requests: mk.Resources("cpu", "4")}
	assertAmounts(t, mk.Resources("cpu", "4000"), filter.Occupied(p))

	p.Status.AllocatedResources, p.Status.Resources.Requests = mk.Resources("cpu", "1"), mk.Resources("cpu", "1")
	assertAmounts(t, mk.Resources("cpu", "2000"), filter.Occupied(p))
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Reason: v1.PodReasonInfeasible}}
	assertAmounts(t, mk.Resources("cpu", "1000"), filter.Occupied(p)) // what is desired counts no longer
}

// Quantities are capped at 2^63-1, and what does not fit in 64 bits is added up all
// the same.
func TestHugeQuantities(t *testing.T) {
	const fits, fails, never = "fits", "fails", "never fits"
	for _, tt := range []struct {
		name                        string
		resource                    string
		allocatable, running, wants string
		want                        string
	}{
		{"more than 64 bits is not nothing", "memory", "4Gi", "0", "10E", never},
		{"nor less than nothing", "memory", "4Gi", "9300000000000000001", "1", fails},
		{"a node may have as much", "memory", "10E", "0", "9E", fits},
		{"all that is beyond is one number", "memory", "10E", "0", "11E", fits},
		{"and two are more than a node has", "memory", "10E", "11E", "1", fails},
		{"a sum passes 64 bits", "memory", "8Ei", "5E", "5E", fails},
		{"by one", "memory", "9223372036854775807", "5E", "4223372036854775808", fails},
		{"by none", "memory", "9223372036854775807", "5E", "4223372036854775807", fits},
		{"milliCPU beyond 64 bits", "cpu", "4", "0", "10P", never},
		{"one milliCPU too many", "cpu", "20P", "11P", "9000000000000000001m", fails},
		{"just enough milliCPU", "cpu", "20P", "11P", "9P", fits},
		{"a thousandth counts as one", "example.com/gpu", "100P", "99999999999999999", "1m", fits},
		{"and so does another", "memory", "100P", "99999999999999998900m", "1001m", fails},
	} {
		t.Run(tt.name, func(t *testing.T) {
			requests := func(q string) func(*v1.Pod) {
				return func(p *v1.Pod) { p.Spec.Containers = []v1.Container{mk.Container(tt.resource, q)} }
			}
			n := mk.Node("n", "0")
			n.Status.Allocatable = mk.Resources(tt.resource, tt.allocatable, "pods", "9")
			s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, requests(tt.wants)), n, mk.Pod("v", 0, mk.On("n"), requests(tt.running))))
			st, _ := filter.NodeResourcesFit{}.PreFilter(s)
			got := fits
			if v := st.Fits(s.Nodes[0], filter.View{Pods: s.Nodes[0].Pods}); v != nil {
				if got = fails; v.Unresolvable {
					got = never
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// Each container has a status of its own, also a sidecar; one that has none takes what it requests.
func TestOccupiedByEachContainer(t *testing.T) {
	named := func(name string, c v1.Container) v1.Container {
		c.Name = name
		return c
	}
	status := func(name, allocated string) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, AllocatedResources: mk.Resources("cpu", allocated)}
	}
	a, b, sidecar := named("a", mk.Container("cpu", "1")), named("b", mk.Container("cpu", "1")), named("s", mk.Sidecar("cpu", "1"))
	two, beside := v1.PodSpec{Containers: []v1.Container{a, b}}, v1.PodSpec{Containers: []v1.Container{a}, InitContainers: []v1.Container{sidecar}}
	limited := v1.PodSpec{Containers: []v1.Container{a}, Resources: &v1.ResourceRequirements{Limits: mk.Resources("cpu", "9")}}
	has := func(cpu string) *v1.ResourceRequirements {
		return &v1.ResourceRequirements{Requests: mk.Resources("cpu", cpu)}
	}
	whole := v1.PodSpec{Containers: []v1.Container{a}, Resources: has("2")}
	overhead := v1.PodSpec{Containers: []v1.Container{a}, Overhead: mk.Resources("cpu", "250m")}
	for _, tt := range []struct {
		name   string
		spec   v1.PodSpec
		status v1.PodStatus
		want   string
	}{
		{"the second container", two, v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{status("a", "1"), status("b", "3")}}, "4000"},
		{"a container without a status", two, v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{status("b", "3")}}, "4000"},
		{"a container that does not tell what is in effect", two, v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{{Name: "a", AllocatedResources: mk.Resources("cpu", "1"), Resources: has("3")}, status("b", "1")}}, "4000"},
		{"a sidecar", beside, v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{status("a", "1")}, InitContainerStatuses: []v1.ContainerStatus{status("s", "3")}}, "4000"},
		{"a sidecar alone has a status", beside, v1.PodStatus{InitContainerStatuses: []v1.ContainerStatus{status("s", "3")}}, "4000"},
		{"the pod as a whole has more in effect", two, v1.PodStatus{AllocatedResources: mk.Resources("cpu", "3"), Resources: has("4")}, "4000"},
		{"the pod as a whole is allocated more", two, v1.PodStatus{AllocatedResources: mk.Resources("cpu", "5"), Resources: has("4")}, "5000"},
		{"limits alone of the pod as a whole", limited, v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{status("a", "2")}, Resources: has("1")}, "2000"},
		{"the pod as a whole alone has a status", whole, v1.PodStatus{Resources: has("3")}, "3000"},
		{"an infeasible resize alone leaves the overhead", overhead, v1.PodStatus{Conditions: []v1.PodCondition{{Type: v1.PodResizePending, Reason: v1.PodReasonInfeasible}}}, "250"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assertAmounts(t, mk.Resources("cpu", tt.want), filter.Occupied(&v1.Pod{Spec: tt.spec, Status: tt.status}))
		})
	}
}

// What becomes of a resize is told by one condition of several.
func TestResizePending(t *testing.T) {
	scheduled := func(reason string) v1.PodCondition { return v1.PodCondition{Type: v1.PodScheduled, Reason: reason} }
	pending := func(reason string) v1.PodCondition { return v1.PodCondition{Type: v1.PodResizePending, Reason: reason} }
	for _, tt := range []struct {
		conditions           []v1.PodCondition
		infeasible, deferred bool
	}{
		{nil, false, false},
		{[]v1.PodCondition{scheduled(v1.PodReasonInfeasible)}, false, false},
		{[]v1.PodCondition{scheduled(v1.PodReasonDeferred)}, false, false},
		{[]v1.PodCondition{pending("")}, false, false},
		{[]v1.PodCondition{pending(v1.PodReasonInfeasible)}, true, false},
		{[]v1.PodCondition{scheduled(v1.PodReasonInfeasible), pending(v1.PodReasonInfeasible)}, true, false},
		{[]v1.PodCondition{scheduled(v1.PodReasonInfeasible), pending(v1.PodReasonDeferred)}, false, true},
	} {
		p := &v1.Pod{Status: v1.PodStatus{Conditions: tt.conditions}}
		assert.Equal(t, tt.infeasible, filter.ResizeInfeasible(p), "%+v", tt.conditions)
		assert.Equal(t, tt.deferred, filter.ResizeDeferred(p), "%+v", tt.conditions)
	}
}

// A pod as a whole can request memory, too, and nothing else that its containers request.
func TestPodLevelMemory(t *testing.T) {
	spec := v1.PodSpec{
		Resources:  &v1.ResourceRequirements{Requests: mk.Resources("memory", "7", "ephemeral-storage", "9")},
		Containers: []v1.Container{mk.Container("memory", "3", "ephemeral-storage", "2")},
	}
	assertAmounts(t, mk.Resources("memory", "7", "ephemeral-storage", "2"), filter.Requested(&v1.Pod{Spec: spec}))
}
