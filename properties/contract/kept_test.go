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

// contended is a cluster with a pod that waits for what a plugin finds.
func contended(objects, claims string) string {
	return `
apiVersion: preemptcheck/v1alpha1
kind: Case
name: contended
preemptor: default/p
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {pods: "5"}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: default, name: p}
spec: {priority: 10, containers: [{name: c}], ` + claims + `}
---` + objects
}

const (
	mounts = `volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]`
	claims = `resourceClaims: [{name: r, resourceClaimName: c}]`

	disk = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: default, name: c}
spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk-1}
spec: {storageClassName: local, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: d.example.com, volumeHandle: a}}
status: {phase: Available}
`
	another = `---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk-2}
spec: {storageClassName: local, accessModes: [ReadWriteOnce], capacity: {storage: 2Gi}, csi: {driver: d.example.com, volumeHandle: b}}
status: {phase: Available}
`
	gpu = `
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
`
)

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
	honest := asked{system}
	for _, tt := range []struct {
		name, plugin, text string
		asked              int
	}{
		{"a volume", "VolumeBinding", contended(disk, mounts), 1},
		{"two volumes, each left alone", "VolumeBinding", contended(disk+another, mounts), 2},
		{"a device", "DynamicResources", contended(gpu, claims), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read, err := corpus.Read(strings.NewReader(tt.text), tt.name)
			require.NoError(t, err)
			c := read.Cases[0].Cluster
			require.NoError(t, apiserver.Admit(c))
			ask := func(system reference.PluginSystem) ([]properties.Finding, int) {
				s := &properties.Subject{Context: context.Background(), Cluster: c, System: system, Release: release.Linked}
				findings, err := kept.Findings(s)
				require.NoError(t, err)
				return findings, s.Counted()[tt.plugin][contract.AskedKept]
			}
			findings, n := ask(honest)
			require.Empty(t, findings)
			require.Equal(t, tt.asked, n)
			findings, _ = ask(forgetful{honest})
			require.Len(t, findings, 1, "one of a kind")
			require.Equal(t, tt.plugin+": another pod passes after Reserve", findings[0].Kind)
		})
	}
}
