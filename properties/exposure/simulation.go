package exposure

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/filter"
	notmodelled "github.com/preemptcheck/preemptcheck/model/unmodelled"
)

type timeOf struct{ time.Time }

// Compare orders times.
func (t *timeOf) Compare(other *timeOf) int { return t.Time.Compare(other.Time) }

// simulation is the cluster once a node is lost, as pods come and go. Nodes and pods of the world do
// not change: what does is listed here.
type simulation struct {
	*world
	lost *node
	// on are the pods of the nodes that have changed.
	on map[*node][]*pod
}

func newSimulation(w *world, lost *node) *simulation {
	return &simulation{w, lost, map[*node][]*pod{lost: {}}}
}

func (s *simulation) podsOn(n *node) []*pod {
	if pods, changed := s.on[n]; changed {
		return pods
	}
	return n.pods
}

// atOnce is how many nodes are looked at together while a pod is placed.
const nodesTogether = 16

// outcome is what becomes of a pod in its scheduling cycle.
type outcome string

const (
	placed     outcome = "placed"
	pending    outcome = "pending"
	unmodelled outcome = "not modelled"
)

// schedule has a pod placed on the node that has most room of those where it fits; or, if there is
// none, has it preempt pods. What the scheduler prefers of nodes that fit depends on scores, which
// the model knows nothing of.
func (s *simulation) schedule(p *pod) (victims []*pod, o outcome) {
	again := anew(p.Pod)
	needs := s.needs(filter.Requested(again))
	if !s.isLocal(again) {
		return s.decide(p, again, s.all(), needs)
	}
	withRoom, potential := s.nodesFor(p, needs)
	for at := 0; at < len(withRoom); at += nodesTogether {
		some := withRoom[at:min(at+nodesTogether, len(withRoom))]
		c := s.cluster(again, some)
		d := s.options.Rules.In(c).Decide(c)
		if n := s.roomiest(d.Fits, needs); n != nil {
			s.bind(p, n)
			return nil, placed
		}
	}
	return s.decide(p, again, potential, needs)
}

// decide goes through the cycle of a pod on some nodes.
func (s *simulation) decide(p *pod, again *v1.Pod, nodes []*node, needs []int64) (victims []*pod, o outcome) {
	if len(nodes) == 0 {
		return nil, pending
	}
	c := s.cluster(again, nodes)
	rules := s.options.Rules.In(c)
	if s.dependsOnUntold(again) || len(notmodelled.In(c, model.NewSnapshot(c))) > 0 || len(rules.UnmodelledIn(c)) > 0 {
		return nil, unmodelled
	}
	d := rules.Decide(c)
	if n := s.roomiest(d.Fits, needs); n != nil {
		s.bind(p, n)
		return nil, placed
	}
	if len(d.Errors) > 0 || d.Eligible == nil || !d.Eligible.OK || len(d.PotentialNodes) == 0 {
		return nil, pending
	}
	result := d.Preempt()
	if result.Node == "" {
		return nil, pending
	}
	for _, v := range result.Candidates[result.Node].Pods {
		victim := s.byKey[v.Key]
		victims = append(victims, victim)
		for _, n := range s.nodes {
			if pods := s.podsOn(n); slices.Contains(pods, victim) {
				s.on[n] = slices.DeleteFunc(slices.Clone(pods), func(p *pod) bool { return p == victim })
				break
			}
		}
	}
	s.bind(p, s.byName[result.Node])
	return victims, placed
}

// dependsOnUntold tells whether a pod has claims of which the dump says nothing.
func (s *simulation) dependsOnUntold(p *v1.Pod) bool {
	has := func(is func(o runtime.Object) bool) bool { return slices.ContainsFunc(s.Extra, is) }
	if len(p.Spec.ResourceClaims) > 0 && !has(func(o runtime.Object) bool { _, is := o.(*resourcev1.ResourceClaim); return is }) {
		return true
	}
	return slices.ContainsFunc(p.Spec.Volumes, claims) && !has(func(o runtime.Object) bool { _, is := o.(*v1.PersistentVolumeClaim); return is })
}

func claims(v v1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil }

func (s *simulation) bind(p *pod, n *node) { s.on[n] = append(slices.Clip(s.podsOn(n)), p) }

// all are the nodes that are left.
func (s *simulation) all() []*node {
	return slices.DeleteFunc(slices.Clone(s.nodes), func(n *node) bool { return n == s.lost })
}

// free is what is left of a resource on a node.
func (s *simulation) free(n *node, r int, below int32, count bool) int64 {
	free := n.has[r]
	for _, p := range s.podsOn(n) {
		if !count || p.priority >= below {
			free = minus(free, p.needs[r])
		}
	}
	return free
}

// nodesFor are the nodes on which the pod has room as far as resources go, the one with most room
// first; and those on which it has some once all pods of lower priority are gone.
func (s *simulation) nodesFor(p *pod, needs []int64) (withRoom, potential []*node) {
	enough := func(n *node, below int32, some bool) bool {
		for r, need := range needs {
			if need > 0 && s.free(n, r, below, some) < need {
				return false
			}
		}
		return true
	}
	for _, n := range s.all() {
		if enough(n, p.priority, true) {
			potential = append(potential, n)
			if enough(n, 0, false) {
				withRoom = append(withRoom, n)
			}
		}
	}
	share := make(map[*node]float64, len(withRoom))
	for _, n := range withRoom {
		share[n] = s.share(n, needs)
	}
	slices.SortStableFunc(withRoom, func(a, b *node) int { return cmp.Compare(share[b], share[a]) })
	return withRoom, potential
}

// share is the least share that is free on a node of the resources that a pod asks for, once it is there.
func (s *simulation) share(n *node, needs []int64) float64 {
	least := 1.0
	for r, need := range needs {
		if need > 0 && n.has[r] > 0 {
			least = min(least, float64(s.free(n, r, 0, false)-need)/float64(n.has[r]))
		}
	}
	return least
}

// roomiest is the node with the greatest share that is free; nil of none.
func (s *simulation) roomiest(names []string, needs []int64) (best *node) {
	most := 0.0
	for _, name := range names {
		n := s.byName[name]
		if share := s.share(n, needs); best == nil || share > most {
			best, most = n, share
		}
	}
	return best
}

// isLocal tells whether it depends on nothing but the node and its pods whether the pod fits there.
func (s *simulation) isLocal(p *v1.Pod) bool {
	if a := p.Spec.Affinity; a != nil && (a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0) {
		return false
	}
	return !configuration.MaySpread(s.Cluster.Settings, p) && !slices.ContainsFunc(p.Spec.Volumes, claims) && len(p.Spec.ResourceClaims) == 0 && !s.isShunned(p.Labels)
}

// isShunned tells whether some pod keeps away from pods with these labels.
func (s *simulation) isShunned(theirs labels.Set) bool {
	if s.shunners == nil {
		s.shunners = []*pod{}
		for _, p := range s.pods {
			if len(filter.RequiredAntiAffinity(p.Pod)) > 0 {
				s.shunners = append(s.shunners, p)
			}
		}
	}
	return slices.ContainsFunc(s.shunners, func(p *pod) bool { return shuns(p.Pod, theirs) })
}

// cluster is that of some nodes as they are now, with a pod that waits.
func (s *simulation) cluster(preemptor *v1.Pod, nodes []*node) *model.Cluster {
	c := *s.Cluster
	c.Nodes, c.Pods, c.Preemptor = nil, nil, preemptor
	for _, n := range nodes {
		c.Nodes = append(c.Nodes, n.Node)
		pods, changed := s.on[n]
		if !changed {
			for _, p := range n.pods {
				c.Pods = append(c.Pods, p.Pod)
			}
		}
		for _, p := range pods {
			if p.Spec.NodeName != n.Name || p.node != n {
				c.Pods = append(c.Pods, bound(anew(p.Pod), n.Name))
			} else {
				c.Pods = append(c.Pods, p.Pod)
			}
		}
		for _, p := range n.nominated {
			c.Pods = append(c.Pods, p.Pod)
		}
	}
	return &c
}
