package aftermath

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// volumesCluster is one whose preemptor fits on node-1, with a claim for which there is a small and a large volume, and one that is to be
// provisioned.
func volumesCluster() *model.Cluster {
	c := checktest.Cluster()
	c.Preemptor = checktest.Pod("p", 10, "0", mk.Mounts("found", "made"))
	c.Nodes = c.Nodes[:1]
	size := func(q string) func(*v1.PersistentVolume) {
		return func(pv *v1.PersistentVolume) { pv.Spec.Capacity[v1.ResourceStorage] = resource.MustParse(q) }
	}
	c.Extra = append(c.Extra,
		mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer), mk.Class("makes", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer),
		mk.Claim("found", mk.Unbound("local")), mk.Claim("made", mk.Unbound("makes")),
		mk.Volume("small", mk.OfClass("local"), size("10Gi")), mk.Volume("large", mk.OfClass("local"), size("20Gi")))
	return c
}

func takingVolume(c *model.Call) bool { return c.Resource == "persistentvolumes" }
func provisioning(c *model.Call) bool { return c.Resource == "persistentvolumeclaims" }

func also(c model.Call) func(*aftermath) {
	return func(a *aftermath) { a.Calls = append(slices.Clone(a.Calls), c) }
}

var ofVolumes = []lie{
	{"waiting-claims-get-volumes", "a claim gets no volume", without(takingVolume)},
	{"waiting-claims-get-volumes", "a claim gets a volume that is too large", change(takingVolume, func(c *model.Call) { c.Object = "large" })},
	{"waiting-claims-get-volumes", "a claim gets two volumes", also(model.Call{Verb: "update", Resource: "persistentvolumes", Object: "large", BoundTo: "default/found"})},
	{"waiting-claims-get-volumes", "a claim is to be provisioned, though there is a volume", change(takingVolume, func(c *model.Call) {
		*c = model.Call{Verb: "update", Resource: "persistentvolumeclaims", Object: "default/found", SelectedNode: "node-1"}
	})},
	{"waiting-claims-get-volumes", "a claim is to be provisioned on another node", change(provisioning, func(c *model.Call) { c.SelectedNode = "node-2" })},
	{"waiting-claims-get-volumes", "a claim is not to be provisioned", without(provisioning)},
	{"waiting-claims-get-volumes", "a volume goes to another claim", change(takingVolume, func(c *model.Call) { c.BoundTo = "default/other" })},
	{"waiting-claims-get-volumes", "the pod is bound before its volumes", also(model.Call{Verb: "bind", Resource: "pods/binding", Object: "default/p", Node: "node-1"})},
}
