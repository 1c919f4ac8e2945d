package inprocess

import (
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// updates puts nodes and pods into the cache: as they are, or one after another as a
// running scheduler comes to know them, by its own event handlers and by what it assumes,
// with snapshots in between.
type updates struct {
	cache       internalcache.Cache
	snapshot    *internalcache.Snapshot
	nodes, pods *linked.Informer
	random      *rand.Rand // nil: all objects come as they are
	// claimless: pods that go mount nothing.
	claimless bool
	// ways are those that pods came by.
	ways []string
	err  error
}

// draw tells, once in n times, that something is to be done.
func (u *updates) draw(n int) bool { return u.random != nil && u.random.IntN(n) == 0 }

// pause takes a snapshot, now and then.
func (u *updates) pause() {
	if u.draw(3) && u.err == nil {
		u.err = u.cache.UpdateSnapshot(linked.Discard, u.snapshot)
	}
}

// addNode adds a node, perhaps in another state at first.
func (u *updates) addNode(n *v1.Node) {
	if u.random == nil {
		u.cache.AddNode(linked.Discard, n)
		return
	}
	if !u.draw(2) {
		u.nodes.Added(n)
		u.pause()
		return
	}
	old := n.DeepCopy()
	old.Labels = map[string]string{v1.LabelHostname: "another", v1.LabelTopologyZone: "another"}
	old.Spec.Unschedulable = !n.Spec.Unschedulable
	old.Spec.Taints = []v1.Taint{{Key: "another", Effect: v1.TaintEffectNoExecute}}
	old.Status.Allocatable = v1.ResourceList{v1.ResourceCPU: resource.MustParse("7"), v1.ResourcePods: resource.MustParse("7")}
	old.Status.Images = []v1.ContainerImage{{Names: []string{"another"}, SizeBytes: 1}}
	old.Status.DeclaredFeatures = nil
	u.nodes.Added(old)
	u.pause()
	u.nodes.Updated(old, n)
	u.pause()
}

// addPod adds a bound pod: as it is, as another that is updated, or as one that this
// scheduler has assumed. Then it is bound to the node, or to another one by somebody
// else; or it was given up first.
func (u *updates) addPod(p *v1.Pod) error {
	if u.random == nil {
		return u.cache.AddPod(linked.Discard, p)
	}
	switch way := u.random.IntN(6); way {
	case 0:
		return u.assume(model.AssumedConfirmed, p, p.Spec.NodeName)
	case 1, 2:
		nodes := slices.Sorted(slices.Values(u.nodes.GetIndexer().ListKeys()))
		if !u.mayGo(p) || len(nodes) == 0 {
			break
		}
		on := nodes[u.random.IntN(len(nodes))]
		if way == 1 && on != p.Spec.NodeName {
			return u.assume(model.AssumedElsewhere, p, on)
		}
		return u.assume(model.AssumedForgotten, p, on)
	case 3:
		old := p.DeepCopy()
		old.Labels = map[string]string{"another": "another"}
		u.pods.Added(old)
		u.pause()
		u.pods.Updated(old, p)
		u.pause()
		return u.err
	}
	u.pods.Added(p)
	u.pause()
	return u.err
}

// assume assumes a pod on a node, and then the pod is seen where it is bound. By one of
// the ways it was forgotten before.
func (u *updates) assume(way string, p *v1.Pod, node string) error {
	if !slices.Contains(u.ways, way) {
		u.ways = append(u.ways, way)
	}
	assumed, pending := p.DeepCopy(), p.DeepCopy()
	assumed.Spec.NodeName, pending.Spec.NodeName = node, ""
	if err := u.cache.AssumePod(linked.Discard, assumed); err != nil {
		return err
	}
	u.pause()
	if way == model.AssumedForgotten {
		if err := u.cache.ForgetPod(linked.Discard, assumed); err != nil {
			return err
		}
		u.pause()
	}
	u.pods.Updated(pending, p)
	u.pause()
	return u.err
}

// mayGo tells whether a pod may go from a node without a trace: its ports would be free,
// also those of others there that the API server does not let come about
// (host-ports-forgotten).
func (u *updates) mayGo(p *v1.Pod) bool {
	ports := func(c v1.Container) bool { return len(c.Ports) > 0 }
	return !slices.ContainsFunc(p.Spec.Containers, ports) && !slices.ContainsFunc(p.Spec.InitContainers, ports) && !(u.claimless && len(p.Spec.Volumes) > 0)
}

// detour adds a node and pods, on it and on one of the others, and removes them again.
func (u *updates) detour(like *v1.Pod, nodes []*v1.Node) error {
	if u.random == nil || len(nodes) == 0 {
		return nil
	}
	node := nodes[u.random.IntN(len(nodes))].DeepCopy()
	place := node.Name
	node.Name, node.UID = "node-that-goes", ""
	u.nodes.Added(node)
	var pods []*v1.Pod
	for _, on := range []string{node.Name, place} {
		p := like.DeepCopy()
		name := "pod-that-goes-from-" + on
		p.ObjectMeta = metav1.ObjectMeta{Name: name, Namespace: like.Namespace, UID: types.UID(name), Labels: like.Labels}
		p.Spec.NodeName = on
		if u.claimless {
			p.Spec.Volumes = nil
		}
		for _, list := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} { // see mayGo
			for i := range list {
				list[i].Ports = nil
			}
		}
		pods = append(pods, p)
		u.pods.Added(p)
		u.pause()
	}
	if u.draw(2) { // a node may go before its pods
		u.nodes.Removed(node)
		node = nil
	}
	for _, p := range pods {
		u.pods.Removed(p)
		u.pause()
	}
	if node != nil {
		u.nodes.Removed(node)
	}
	u.pause()
	return u.err
}
