package contract_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/reference"
	asking "github.com/preemptcheck/preemptcheck/reference/contract"
)

// contended are clusters with a pod that waits for what a plugin finds, of which there is one.
var contended = map[string]string{"VolumeBinding": `
apiVersion: preemptcheck/v1alpha1
kind: Case
name: one-volume
preemptor: default/p
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {pods: "5"}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec: {storageClassName: local, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: d.example.com, volumeHandle: a}}
status: {phase: Available}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: default, name: c}
spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: default, name: p}
spec:
  priority: 10
  containers: [{name: c}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]
`, "DynamicResources": `
apiVersion: preemptcheck/v1alpha1
kind: Case
name: one-device
preemptor: default/p
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {pods: "5"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec: {driver: gpu.example.com, nodeName: node-1, pool: {name: node-1, generation: 1, resourceSliceCount: 1}, devices: [{name: a}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: default, name: c}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: default, name: p}
spec:
  priority: 10
  containers: [{name: c}]
  resourceClaims: [{name: r, resourceClaimName: c}]
`}

// forgetful answers as if nothing had been reserved.
type forgetful struct{ reference.PluginSystem }

func (f forgetful) Ask(ctx context.Context, c *model.Cluster, script []calls.Call) ([]calls.Answer, error) {
	for i := range script {
		if script[i].Op == calls.Reserve {
			answers, err := f.PluginSystem.Ask(ctx, c, script)
			before, _ := f.PluginSystem.Ask(ctx, c, append(script[:i:i], script[i+1:]...))
			if err == nil && len(before) > i {
				answers[i+1] = before[i]
			}
			return answers, err
		}
	}
	return f.PluginSystem.Ask(ctx, c, script)
}

// TestKept: what is reserved is gone for another pod, of a volume as of a device, and a scheduler that forgets is caught.
func TestKept(t *testing.T) {
	kept := contract.Kept()
	system := asking.New()
	defer system.Close()
	for plugin, text := range contended {
		t.Run(plugin, func(t *testing.T) {
			read, err := corpus.Read(strings.NewReader(text), plugin)
			require.NoError(t, err)
			c := read.Cases[0]
			require.NoError(t, apiserver.Admit(c.Cluster))
			s := &properties.Subject{Context: context.Background(), Cluster: c.Cluster, System: asked{system}, Release: release.Linked}
			findings, err := kept.Findings(s)
			require.NoError(t, err)
			require.Empty(t, findings)
			require.Equal(t, 1, s.Counted()[plugin][contract.AskedKept])

			s = &properties.Subject{Context: context.Background(), Cluster: c.Cluster, System: forgetful{asked{system}}, Release: release.Linked}
			findings, err = kept.Findings(s)
			require.NoError(t, err)
			require.Len(t, findings, 1)
			require.Equal(t, plugin+": another pod passes after Reserve", findings[0].Kind)
		})
	}
}
