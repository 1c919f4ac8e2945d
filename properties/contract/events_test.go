package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

func quota() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": map[string]any{"name": "q", "namespace": "default", "generation": int64(3)},
		"spec":   map[string]any{"max": map[string]any{"cpu": "500m"}, "zones": []any{map[string]any{"name": "4", "weight": int64(2)}}, "none": "0", "text": "x"},
		"status": map[string]any{"used": map[string]any{"cpu": "1"}},
	}}
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
