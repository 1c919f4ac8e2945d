package inprocess

import (
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"

	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// updates puts nodes and pods into the cache as the informers of a running scheduler
// do, one after another, with snapshots in between.
type updates struct {
	cache    internalcache.Cache
	snapshot *internalcache.Snapshot
	random   *rand.Rand // nil: all objects come as they are
	// claimless: pods that go mount nothing.
	claimless bool
	err       error
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
	if !u.draw(2) {
		u.cache.AddNode(linked.Discard, n)
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
	u.cache.AddNode(linked.Discard, old)
	u.pause()
	u.cache.UpdateNode(linked.Discard, old, n)
	u.pause()
}

// addPod adds a bound pod: as it is, as another that is updated, or as one that this
// scheduler has bound itself.
func (u *updates) addPod(p *v1.Pod) error {
	switch {
	case u.draw(3):
		if err := u.cache.AssumePod(linked.Discard, p.DeepCopy()); err != nil {
			return err
		}
		u.pause()
	case u.draw(2):
		old := p.DeepCopy()
		old.Labels = map[string]string{"another": "another"}
		if err := u.cache.AddPod(linked.Discard, old); err != nil {
			return err
		}
		u.pause()
		if err := u.cache.UpdatePod(linked.Discard, old, p); err != nil {
			return err
		}
		u.pause()
		return u.err
	}
	if err := u.cache.AddPod(linked.Discard, p); err != nil {
		return err
	}
	u.pause()
	return u.err
}

// detour adds a node and pods, on it and on one of the others, and removes them again.
func (u *updates) detour(like *v1.Pod, nodes []*v1.Node) error {
	if u.random == nil || len(nodes) == 0 {
		return nil
	}
	node := nodes[u.random.IntN(len(nodes))].DeepCopy()
	place := node.Name
	node.Name, node.UID = "node-that-goes", ""
	u.cache.AddNode(linked.Discard, node)
	var pods []*v1.Pod
	for _, on := range []string{node.Name, place} {
		p := like.DeepCopy()
		name := "pod-that-goes-from-" + on
		p.ObjectMeta = metav1.ObjectMeta{Name: name, Namespace: like.Namespace, UID: types.UID(name), Labels: like.Labels}
		p.Spec.NodeName = on
		if u.claimless {
			p.Spec.Volumes = nil
		}
		// Its ports would be free once it is gone, also those of others on the node
		// that the API server does not let come about (host-ports-forgotten).
		for _, list := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range list {
				list[i].Ports = nil
			}
		}
		pods = append(pods, p)
		if err := u.cache.AddPod(linked.Discard, p); err != nil {
			return err
		}
		u.pause()
	}
	if u.draw(2) { // a node may go before its pods
		u.err = u.cache.RemoveNode(linked.Discard, node)
		node = nil
	}
	for _, p := range pods {
		if err := u.cache.RemovePod(linked.Discard, p); err != nil {
			return err
		}
		u.pause()
	}
	if node != nil {
		u.err = u.cache.RemoveNode(linked.Discard, node)
	}
	u.pause()
	return u.err
}
