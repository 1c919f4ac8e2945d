package apiserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
)

func withExtra(t *testing.T, extra ...runtime.Object) *model.Cluster {
	c := terse(t)
	c.Extra = extra
	return c
}

func TestStorageIsDefaulted(t *testing.T) {
	claim := parse[v1.PersistentVolumeClaim](t, `{metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
	volume := parse[v1.PersistentVolume](t, `{metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: d.example.com, volumeHandle: h}}}`)
	class := parse[storagev1.StorageClass](t, `{metadata: {name: s}, provisioner: d.example.com}`)
	driver := parse[storagev1.CSIDriver](t, `{metadata: {name: d.example.com}}`)
	c := withExtra(t, claim, volume, class, driver,
		parse[storagev1.CSINode](t, `{metadata: {name: n1}, spec: {drivers: [{name: d.example.com, nodeID: n1, allocatable: {count: 3}}]}}`),
		parse[storagev1.CSIStorageCapacity](t, `{metadata: {name: k}, storageClassName: s, capacity: 1Gi}`),
		parse[storagev1.VolumeAttachment](t, `{metadata: {name: a}, spec: {attacher: d.example.com, nodeName: n1, source: {persistentVolumeName: v}}}`))
	require.NoError(t, apiserver.Admit(c))
	require.Equal(t, "default", claim.Namespace)
	require.Equal(t, v1.ClaimPending, claim.Status.Phase)
	require.Equal(t, v1.PersistentVolumeFilesystem, *claim.Spec.VolumeMode)
	require.Equal(t, v1.PersistentVolumeReclaimRetain, volume.Spec.PersistentVolumeReclaimPolicy)
	require.Equal(t, storagev1.VolumeBindingImmediate, *class.VolumeBindingMode)
	require.False(t, *driver.Spec.StorageCapacity)
	require.False(t, *driver.Spec.PreventPodSchedulingIfMissing)
}

// A cluster is the same whenever it is read, also where the API server takes the time of a request.
func TestDeviceTaintsAreAddedAtAFixedTime(t *testing.T) {
	slice := parse[resourcev1.ResourceSlice](t, `{metadata: {name: s}, spec: {driver: d.example.com, nodeName: n1, pool: {name: p, resourceSliceCount: 1}, devices: [
		{name: a, taints: [{key: k, effect: NoSchedule}, {key: l, effect: NoSchedule, timeAdded: "2025-06-01T00:00:00Z"}]}]}}`)
	rule := parse[resourcev1.DeviceTaintRule](t, `{metadata: {name: r}, spec: {taint: {key: k, effect: NoSchedule}}}`)
	require.NoError(t, apiserver.Admit(withExtra(t, slice, rule)))
	taints := slice.Spec.Devices[0].Taints
	require.Equal(t, "2024-01-01", taints[0].TimeAdded.UTC().Format(time.DateOnly))
	require.Equal(t, "2025-06-01", taints[1].TimeAdded.UTC().Format(time.DateOnly))
	require.Equal(t, "2024-01-01", rule.Spec.Taint.TimeAdded.UTC().Format(time.DateOnly))
}

func TestStorageIsValidated(t *testing.T) {
	const claim = `{metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`
	for _, tc := range []struct {
		name  string
		extra func(t *testing.T) []runtime.Object
		want  string
	}{
		{"claim of two kinds", func(t *testing.T) []runtime.Object {
			return []runtime.Object{parse[v1.PersistentVolumeClaim](t, strings.Replace(claim, "[ReadWriteOnce]", "[ReadWriteOnce, ReadWriteOncePod]", 1))}
		}, `PersistentVolumeClaim default/c: spec.accessModes: Forbidden`},
		{"claim of no size", func(t *testing.T) []runtime.Object {
			return []runtime.Object{parse[v1.PersistentVolumeClaim](t, `{metadata: {name: c}, spec: {accessModes: [ReadWriteOnce]}}`)}
		}, `PersistentVolumeClaim default/c: spec.resources[storage]: Required value`},
		{"claim whose status is wrong", func(t *testing.T) []runtime.Object {
			c := parse[v1.PersistentVolumeClaim](t, claim)
			c.Status = *parse[v1.PersistentVolumeClaimStatus](t, `{capacity: {storage: -1Gi}}`)
			return []runtime.Object{c}
		}, `PersistentVolumeClaim default/c: status.capacity`},
		{"two claims of one name", func(t *testing.T) []runtime.Object {
			return []runtime.Object{parse[v1.PersistentVolumeClaim](t, claim), parse[v1.PersistentVolumeClaim](t, claim)}
		}, `PersistentVolumeClaim default/c: metadata.name: Duplicate value`},
		{"local volume anywhere", func(t *testing.T) []runtime.Object {
			return []runtime.Object{parse[v1.PersistentVolume](t, `{metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, local: {path: /mnt}}}`)}
		}, `PersistentVolume v: spec.nodeAffinity: Required value`},
		{"class without provisioner", func(t *testing.T) []runtime.Object {
			return []runtime.Object{parse[storagev1.StorageClass](t, `{metadata: {name: s}}`)}
		}, `StorageClass s: provisioner: Required value`},
		{"negative limit", func(t *testing.T) []runtime.Object {
			return []runtime.Object{parse[storagev1.CSINode](t, `{metadata: {name: n1}, spec: {drivers: [{name: d.example.com, nodeID: n1, allocatable: {count: -1}}]}}`)}
		}, `CSINode n1: spec.drivers`},
		{"driver of no name", func(t *testing.T) []runtime.Object {
			return []runtime.Object{parse[storagev1.CSIDriver](t, `{metadata: {name: "D!"}}`)}
		}, `CSIDriver D!: metadata.name: Invalid value`},
		{"negative capacity", func(t *testing.T) []runtime.Object {
			return []runtime.Object{parse[storagev1.CSIStorageCapacity](t, `{metadata: {name: k}, storageClassName: s, capacity: -1}`)}
		}, `CSIStorageCapacity default/k: capacity: Invalid value`},
		{"attachment of nothing", func(t *testing.T) []runtime.Object {
			return []runtime.Object{parse[storagev1.VolumeAttachment](t, `{metadata: {name: a}, spec: {attacher: d.example.com, nodeName: n1}}`)}
		}, `VolumeAttachment a: spec.source: Required value`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			errs := apiserver.Errors[*apiserver.Error](apiserver.Admit(withExtra(t, tc.extra(t)...)))
			require.Len(t, errs, 1)
			require.Truef(t, strings.HasPrefix(errs[0].Error(), tc.want), "got  %s\nwant %s", errs[0], tc.want)
		})
	}
}
