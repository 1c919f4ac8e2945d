package corpus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus/manifest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

const waitingWithVolume = `apiVersion: v1
kind: Pod
metadata: {name: db-0, namespace: shop}
spec:
  containers: [{name: main, image: db}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data-db-0}}]
`

const boundClaim = `
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-db-0, namespace: shop}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
  volumeName: pv-1
status: {phase: Bound}
`

const waitingForResource = `apiVersion: v1
kind: Pod
metadata: {name: train, namespace: ml}
spec:
  containers: [{name: main, image: train, resources: {limits: {RESOURCE: 1}, requests: {RESOURCE: 1}}}]
`

const gpuClass = `
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {extendedResourceName: example.com/gpu}
`

// A dump that was taken without the kinds a pod depends on is never mistaken for a
// cluster in which there is none of them.
func TestDumpWithoutAKind(t *testing.T) {
	for _, test := range []struct {
		name, dump string
		want       []string
	}{
		{"no claims", waitingWithVolume, []string{
			"Pod shop/db-0: spec.volumes[0].persistentVolumeClaim: the dump holds no persistentvolumeclaims",
		}},
		{"no volumes", waitingWithVolume + boundClaim, []string{
			"PersistentVolumeClaim shop/data-db-0: spec.volumeName: the dump holds no persistentvolumes",
			"PersistentVolumeClaim shop/data-db-0: spec.volumeName: the dump holds no csinodes",
		}},
		{"an unbound claim", waitingWithVolume + strings.ReplaceAll(boundClaim, "  volumeName: pv-1\nstatus: {phase: Bound}\n", ""), []string{
			"PersistentVolumeClaim shop/data-db-0: spec.storageClassName: the dump holds no storageclasses",
			"PersistentVolumeClaim shop/data-db-0: spec.volumeName: the dump holds no csinodes",
		}},
		{"another claim is there", waitingWithVolume + strings.ReplaceAll(boundClaim, "data-db-0", "data-db-1"), nil},
		{"a resource that a class is asked for by", strings.ReplaceAll(waitingForResource, "RESOURCE", "deviceclass.resource.kubernetes.io/gpu"), []string{
			"Pod ml/train: spec.containers: the dump holds no deviceclasses",
		}},
		{"a resource that a class has", strings.ReplaceAll(waitingForResource, "RESOURCE", "example.com/gpu") + gpuClass, []string{
			"Pod ml/train: spec.containers: the dump holds no resourceslices",
		}},
		{"a resource that no class has", strings.ReplaceAll(waitingForResource, "RESOURCE", "example.com/fpga") + gpuClass, nil},
		{"devices", `apiVersion: v1
kind: Pod
metadata: {name: train, namespace: ml}
spec:
  containers: [{name: main, image: train, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimName: gpu}]
`, []string{
			"Pod ml/train: spec.resourceClaims[0]: the dump holds no resourceclaims",
			"Pod ml/train: spec.resourceClaims[0]: the dump holds no deviceclasses",
			"Pod ml/train: spec.resourceClaims[0]: the dump holds no resourceslices",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Read(strings.NewReader(test.dump), "dump")
			require.NoError(t, err)
			require.Len(t, s.Cases, 1)
			var got []string
			for _, f := range s.Cases[0].Cluster.NotGiven {
				got = append(got, f.String())
			}
			require.Equal(t, test.want, got)
			if test.want != nil {
				_, err := answers.Decide(s.Cases[0].Cluster, answers.Documented())
				require.ErrorContains(t, err, test.want[0])
			}
		})
	}
}

// A kind that a live cluster was asked for is known, though there be none; one that it does
// not tell is named, with the reason.
func TestGivenKinds(t *testing.T) {
	objects, err := manifest.Decode([]byte(waitingWithVolume+boundClaim), newDocument)
	require.Nil(t, err)
	s, failed := FromObjects(objects, Given{"persistentvolumes": "forbidden", "csinodes": ""}, "cluster")
	require.NoError(t, failed)
	require.Len(t, s.Cases, 1)
	require.Equal(t, "cluster", s.Cases[0].File)
	require.Equal(t, "not modelled: PersistentVolumeClaim shop/data-db-0: spec.volumeName: the persistentvolumes are not known: forbidden",
		model.Unmodelled(s.Cases[0].Cluster.NotGiven).Error())
	require.Len(t, s.Dump.Pods, 1)
	require.Nil(t, s.Dump.Preemptor)

	s, failed = FromObjects(nil, nil, "cluster")
	require.NoError(t, failed)
	require.NotNil(t, s.Dump)
	require.Empty(t, s.Cases)
}
