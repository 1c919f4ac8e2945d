package aftermath

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/volume"
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
}
