package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

func TestRefuseDropped(t *testing.T) {
	const sidecar = `{"metadata":{"namespace":"a","name":"s"},"spec":{"initContainers":[{"name":"i"},{"name":"j","restartPolicy":"Always"}]}}`
	const claims = `{"metadata":{"namespace":"a","name":"c"},"spec":{"restartPolicy":"Always","resourceClaims":[{"name":"x"}],"resources":{}}}`
	r := &wire.Request{Preemptor: json.RawMessage(sidecar), Pods: []json.RawMessage{[]byte(claims), []byte(sidecar)}}
	off := map[string]bool{}
	refused := func() error { return r.RefuseDropped(func(gate string) bool { return off[gate] }) }
	require.NoError(t, refused())

	off["SidecarContainers"] = true
	require.Equal(t, wire.Refusal("Pod a/s: spec.initContainers.restartPolicy, as feature gate SidecarContainers is off; "+
		"Pod a/s: spec.initContainers.restartPolicy, as feature gate SidecarContainers is off"), refused())

	delete(off, "SidecarContainers")
	off["DynamicResourceAllocation"] = true
	require.Equal(t, wire.Refusal("Pod a/c: spec.resourceClaims, as feature gate DynamicResourceAllocation is off"), refused())

	// An empty field is none.
	delete(off, "DynamicResourceAllocation")
	off["PodLevelResources"] = true
	require.NoError(t, refused())
}

// Whatever a pod holds, a field is found where it is, and nowhere else.
func TestRefuseDroppedReadsJSON(t *testing.T) {
	off := func(gate string) bool { return gate == "PodLevelResources" } // spec.resources
	for pod, want := range map[string]bool{
		`{"spec":{"resources":{"requests":{"cpu":"1"}}}}`:                                  true,
		` { "metadata" : { } , "spec" : { "a" : [ 1 , 2 ] , "resources" : { "x" : 1 } } }`: true,
		`{"metadata":{"labels":{"a":"}\"]{\\","b":"\\\""}},"spec":{"resources":{"x":1}}}`:  true,
		`{"spec":{"resources":null}}`:                                                      false,
		`{"spec":{"containers":[{"resources":{"x":1}},{"resources":{"x":1}}]}}`:            false,
		`{"resources":{"x":1},"spec":{}}`:                                                  false,
		`{"status":{"resources":{"x":1}},"spec":{"nodeName":"\"resources\":{}"}}`:          false,
		`{"spec":"resources"}`: false,
	} {
		r := &wire.Request{Preemptor: json.RawMessage(pod)}
		require.True(t, json.Valid(r.Preemptor), pod)
		require.Equal(t, want, r.RefuseDropped(off) != nil, pod)
	}
}
