package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
)

func quota() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": map[string]any{"name": "q", "namespace": "default", "generation": int64(3)},
		"spec":   map[string]any{"max": map[string]any{"cpu": "500m"}, "zones": []any{map[string]any{"name": "4", "weight": int64(2)}}, "none": "0", "text": "x"},
		"status": map[string]any{"used": map[string]any{"cpu": "1"}},
	}}
}

// A claim of devices is created without a status, and one of a share is deallocated, and not allocated.
func TestEventsOfClaims(t *testing.T) {
	claim := func(share *types.UID) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{}
		c.Name, c.Namespace = "c", "default"
		c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Device: "d", ShareID: share}}}}
		return c
	}
	kinds := func(of *resourcev1.ResourceClaim) map[string]string {
		c := &model.Cluster{Preemptor: &v1.Pod{}, Extra: []runtime.Object{of}}
		c.Preemptor.Name, c.Preemptor.Namespace = "p", "default"
		all := map[string]string{}
		for _, e := range drawEvents(c) {
			all[e.kind] = string(e.event.Object.JSON)
		}
		return all
	}
	whole, share := kinds(claim(nil)), kinds(claim(new(types.UID("1"))))
	for _, of := range []map[string]string{whole, share} {
		require.NotContains(t, of["ResourceClaim added"], "allocation")
		require.Contains(t, of, "ResourceClaim updated: deallocated")
	}
	require.Contains(t, whole["ResourceClaim updated: allocated"], "allocation")
	require.NotContains(t, share, "ResourceClaim updated: allocated")
}

// An object of a kind that is not known is added, deleted, and updated in each amount that it wants.
func TestEventsOfForeignObjects(t *testing.T) {
	c := &model.Cluster{Preemptor: &v1.Pod{}, Extra: []runtime.Object{quota()}}
	c.Preemptor.Name, c.Preemptor.Namespace = "p", "default"
	kinds := map[string]string{}
	for _, e := range drawEvents(c) {
		if e.object.Kind == "ElasticQuota" {
			kinds[e.kind] = string(e.event.Object.JSON)
		}
	}
	require.Len(t, kinds, 6)
	require.Contains(t, kinds, "ElasticQuota added")
	require.Contains(t, kinds, "ElasticQuota deleted")
	require.Contains(t, kinds["ElasticQuota updated: spec.max.cpu doubled"], `"cpu":"1"},`)
	require.Contains(t, kinds["ElasticQuota updated: spec.max.cpu halved"], `"cpu":"500m"`)
	require.Contains(t, kinds["ElasticQuota updated: spec.zones[].weight doubled"], `"weight":4`)
	require.Contains(t, kinds["ElasticQuota updated: spec.zones[].weight halved"], `"weight":2`)
}
