package aftermath

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
)

// reasonsCluster has a node that lacks CPU and memory, one that cannot reach a volume, and where a claim gets none, and one where just
// the claim gets none.
func reasonsCluster() *model.Cluster {
	memory := func(n *v1.Node) { n.Status.Allocatable[v1.ResourceMemory] = resource.MustParse("1Gi") }
	inZone := func(n *v1.Node) { n.Labels = map[string]string{"zone": "a"} }
	asks := func(p *v1.Pod) { p.Spec.Containers[0].Resources.Requests = mk.Resources("cpu", "1", "memory", "1Gi") }
	return mk.Cluster(checktest.Pod("p", 10, "1", asks, mk.Mounts("bound", "waits")),
		mk.Node("full", "500m"), mk.Node("far", "2", memory), mk.Node("near", "2", memory, inZone),
		mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer),
		mk.Claim("bound"), mk.Volume("bound", mk.ReachedFrom("zone", "a")), mk.Claim("waits", mk.Unbound("local")))
}

// boundOnly leaves out the claim that waits, and the node where the pod would fit without it.
func boundOnly(c *model.Cluster) {
	c.Preemptor.Spec.Volumes = c.Preemptor.Spec.Volumes[:1]
	c.Nodes = c.Nodes[:2]
}

// ofReasons are lies about why a node is rejected.
var ofReasons = []struct {
	name, node string
	reasons    []string
	change     func(c *model.Cluster)
}{
	{"a resource is left out", "full", []string{"Insufficient cpu"}, nil},
	{"a resource is told that there is enough of", "full", []string{"Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage"}, nil},
	{"a volume out of reach is left out", "far", []string{volume.NothingToBind}, nil},
	{"a volume is told to be out of reach", "near", []string{volume.OutOfReach, volume.NothingToBind}, nil},
	{"a claim that gets no volume is left out", "far", []string{volume.OutOfReach}, nil},
	{"a claim is told to get no volume, where none waits", "far", []string{volume.OutOfReach, volume.NothingToBind}, boundOnly},
	{"storage is told to be short where no driver has it checked", "near", []string{volume.NothingToBind, notEnoughSpace}, nil},
}

// sizesWrapAround is a cluster with a claim of so many bytes that the scheduler reads none (finding storage-sizes-wrap-around), beside one
// whose volume is out of reach.
func sizesWrapAround() *model.Cluster {
	huge := func(c *v1.PersistentVolumeClaim) { c.Spec.Resources.Requests = mk.Resources("storage", "10E") }
	capacity := resource.MustParse("10Gi")
	return mk.Cluster(checktest.Pod("p", 10, "1", mk.Mounts("far", "huge")), mk.Node("node-1", "2"),
		mk.Claim("far"), mk.Volume("far", mk.ReachedFrom("zone", "a")),
		mk.Class("makes", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer), mk.Claim("huge", mk.Unbound("makes"), huge),
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: mk.Driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: new(true)}},
		&storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "capacity"}, StorageClassName: "makes", NodeTopology: &metav1.LabelSelector{}, Capacity: &capacity})
}

// withoutPreemption is a cluster whose profile does not preempt: nobody has to say why nothing is preempted.
func withoutPreemption() *model.Cluster {
	c := cluster()
	c.Settings.Configuration = []byte(`{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [
		{"schedulerName": "default-scheduler", "plugins": {"postFilter": {"disabled": [{"name": "DefaultPreemption"}]}}}]}`)
	return c
}

// What is known, or not promised, is nothing new.
func TestReasonsOfKnownFindings(t *testing.T) {
	for name, test := range map[string]struct {
		cluster  *model.Cluster
		property properties.Property
		known    []string
	}{
		"sizes wrap around":    {sizesWrapAround(), ReasonsAreTold, []string{"storage-sizes-wrap-around"}},
		"nobody is to preempt": {withoutPreemption(), FailureIsTold, nil},
	} {
		t.Run(name, func(t *testing.T) {
			checker := &properties.Checker{System: checktest.System(t), Properties: []properties.Property{test.property}}
			r, err := checker.Check(t.Context(), test.cluster)
			require.NoError(t, err)
			require.Empty(t, r.Unmodelled)
			require.Empty(t, r.Observation.ScheduledTo)
			require.Empty(t, r.Unexplained())
			var known []string
			for _, f := range r.Findings {
				if f.Property == test.property.Name {
					known = append(known, f.Known...)
				}
			}
			require.Equal(t, test.known, known)
		})
	}
}
