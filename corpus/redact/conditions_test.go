package redact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/redact"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
)

const withDevices = `apiVersion: preemptcheck/v1alpha1
kind: Case
name: devices
preemptor: default/p
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "1", pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "1", pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: v1}
spec: {nodeName: n1, priority: 0, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: v2}
spec: {nodeName: n2, priority: 0, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.acme.example"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: gpu.acme.example
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: a, attributes: {model: {string: A100}, driverVersion: {version: 1.2.3}, acme.example/secure: {bool: true}}, capacity: {memory: {value: 40Gi}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s2}
spec:
  driver: gpu.acme.example
  nodeName: n2
  pool: {name: n2, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: b, attributes: {model: {string: H100}, driverVersion: {version: 2.0.0}}, capacity: {memory: {value: 80Gi}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: claim}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1, selectors: [{cel: {expression: 'EXPRESSION'}}]}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {priority: 10, resourceClaims: [{name: gpu, resourceClaimName: claim}], containers: [{name: c, resources: {requests: {cpu: "1"}, claims: [{name: gpu}]}}]}
`

// A scheduler finds the same devices for a redacted expression: whatever the expression looks at, and
// where it fails.
func TestConditionsOnDevices(t *testing.T) {
	system := checktest.System(t)
	for _, test := range []struct{ expression, picks string }{
		{`device.attributes["gpu.acme.example"].model == "A100"`, "node-1"},
		{`device.attributes["gpu.acme.example"].model.matches("^H")`, "node-2"},
		{`device.attributes["gpu.acme.example"].driverVersion.isGreaterThan(semver("1.9.0"))`, "node-2"},
		{`device.capacity["gpu.acme.example"].memory.compareTo(quantity("50Gi")) < 0`, "node-1"},
		{`cel.bind(dev, device.attributes["gpu.acme.example"], dev.model.lowerAscii().endsWith("100") && dev.model != "H100")`, "node-1"},
		{`"secure" in device.attributes["acme.example"]`, "node-1"},
		{`device.driver.startsWith("gpu.") && !has(device.attributes["acme.example"].secure)`, "node-2"},
		{`device.attributes["gpu.acme.example"].model == "none"`, ""},
		{`device.attributes["acme.example"].secure`, "error"}, // fails on one device
	} {
		t.Run(test.expression, func(t *testing.T) {
			s, err := corpus.Read(strings.NewReader(strings.Replace(withDevices, "EXPRESSION", test.expression, 1)), "devices")
			require.NoError(t, err)
			c := s.Cases[0].Cluster
			before := observe(t, system, c)
			out, _, err := redact.Cluster(c)
			require.NoError(t, err)
			again := again(t, out)
			after := observe(t, system, again)
			assert.Equal(t, len(before.DryRuns), len(after.DryRuns))
			assert.Equal(t, before.CycleError == "", after.CycleError == "")
			got := ""
			if after.Pick != nil {
				got = after.Pick.Node
			}
			if test.picks == "error" {
				assert.NotEmpty(t, before.CycleError+before.PostFilterMessage)
			} else {
				assert.Equal(t, test.picks, got)
			}
			assert.Equal(t, before.Pick == nil, after.Pick == nil)
			for _, o := range again.Extra {
				if slice, is := o.(*resourcev1.ResourceSlice); is {
					for name := range slice.Spec.Devices[0].Attributes {
						assert.Equal(t, "redacted.example.com/is1", string(name))
					}
				}
			}
		})
	}
}
