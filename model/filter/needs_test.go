package filter_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/internal/mk"
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
	rounded := v1.ResourceList{}
	for _, a := range got {
		rounded[a.Name] = *resource.NewQuantity(a.RoundedUp(), resource.DecimalSI)
	}
	assert.Len(t, rounded, len(want))
	for name, q := range want {
		have := rounded[name]
		assert.Equal(t, q.Value(), have.Value(), name)
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

func TestPodLevelResourcesDuringResize(t *testing.T) {
	p := &v1.Pod{Spec: v1.PodSpec{
		Resources:  &v1.ResourceRequirements{Requests: mk.Resources("cpu", "2")},
		Containers: []v1.Container{mk.Container("cpu", "1")},
	}}
	p.Status.AllocatedResources = mk.Resources("cpu", "3")
	p.Status.Resources = &v1.ResourceRequirements{Requests: mk.Resources("cpu", "4")}
	assertAmounts(t, mk.Resources("cpu", "4000"), filter.Occupied(p))
}
