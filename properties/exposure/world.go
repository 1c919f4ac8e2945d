package exposure

import (
	"cmp"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// world is a cluster made ready: who is where, and what they occupy.
type world struct {
	*model.Cluster
	options   Options
	resources []v1.ResourceName // of which a pod can ask
	nodes     []*node
	byName    map[string]*node
	pods      []*pod // on a node, in the cluster's order
	workloads []*Workload
	budgets   []*budget
	// shunning are the nodes with a pod that keeps away from pods without labels.
	shunning []*node
	runs     map[runKey]*run
	byKey    map[string]*pod // those of pods
	// shunners are the pods that keep away from others, once somebody has asked.
	shunners []*pod
}

type node struct {
	*v1.Node
	index     int
	has       []int64 // allocatable, as world.resources
	slots     int     // for pods
	units     []*units
	pods      []*pod
	nominated []*pod
}

type pod struct {
	*v1.Pod
	index    int // in the cluster's order
	key      string
	priority int32
	needs    []int64 // as world.resources
	workload int
	budgets  []int // that protect it
	node     *node // nil if there is no such node
}

// units is what is preempted together: a pod, or a group that goes as a whole.
type units struct {
	pods     []*pod // wherever they are
	priority int32
}

type budget struct {
	*model.Budget
	name string
}

func newWorld(c *model.Cluster, o Options) *world {
	w := &world{Cluster: c, options: o, byName: map[string]*node{}, runs: map[runKey]*run{}, byKey: map[string]*pod{}}
	for _, n := range c.Nodes {
		for name := range n.Status.Allocatable {
			if canAsk(name) && !slices.Contains(w.resources, name) {
				w.resources = append(w.resources, name)
			}
		}
	}
	slices.Sort(w.resources)
	for i, n := range c.Nodes {
		slots := n.Status.Allocatable[v1.ResourcePods]
		our := &node{Node: n, index: i, slots: int(min(slots.Value(), math.MaxInt32)), has: make([]int64, len(w.resources))}
		// A pod that asks for all there is reads quantities as the scheduler does.
		all := filter.Requested(asking(n.Status.Allocatable))
		for r, name := range w.resources {
			our.has[r] = all.Get(name).Units()
		}
		w.nodes = append(w.nodes, our)
		w.byName[n.Name] = our
	}
	inNamespace := map[string][]int{}
	for i, b := range c.PodDisruptionBudgets {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			selector = labels.Nothing()
		}
		w.budgets = append(w.budgets, &budget{&model.Budget{PodDisruptionBudget: b, Selector: selector}, model.Key(b)})
		inNamespace[b.Namespace] = append(inNamespace[b.Namespace], i)
	}
	groups := c.Groups()
	known, whole := map[workload.Ref]int{}, map[*unit.Group]*units{}
	for i, p := range c.Pods {
		waits := p.Spec.NodeName == ""
		if waits && !c.KnowsNomination(p) {
			continue
		}
		our := &pod{Pod: p, index: i, key: model.Key(p), priority: groups.Priority(p, model.Priority(p)), needs: w.needs(filter.Occupied(p))}
		our.node = w.byName[cmp.Or(p.Spec.NodeName, p.Status.NominatedNodeName)]
		if waits {
			if our.node != nil {
				our.node.nominated = append(our.node.nominated, our)
			}
			continue
		}
		for _, b := range inNamespace[p.Namespace] {
			if o.Rules.Protects(w.budgets[b].Budget, &filter.Pod{Pod: p, Key: our.key, Priority: our.priority}) {
				our.budgets = append(our.budgets, b)
			}
		}
		ref := workload.Of(p)
		at, ok := known[ref]
		if !ok {
			at = len(w.workloads)
			known[ref] = at
			w.workloads = append(w.workloads, &Workload{Name: ref.Path(), Ref: ref, Lowest: our.priority, Highest: our.priority})
		}
		its := w.workloads[at]
		its.Pods++
		its.Lowest, its.Highest = min(its.Lowest, our.priority), max(its.Highest, our.priority)
		our.workload = at
		w.pods, w.byKey[our.key] = append(w.pods, our), our
		u := &units{priority: our.priority}
		if g := groups.Whole(p); g != nil {
			if whole[g] == nil {
				whole[g] = u
			}
			u = whole[g]
		}
		u.pods = append(u.pods, our)
		if our.node != nil {
			our.node.pods = append(our.node.pods, our)
			if !slices.Contains(our.node.units, u) {
				our.node.units = append(our.node.units, u)
			}
			if shuns(p, nil) && !slices.Contains(w.shunning, our.node) {
				w.shunning = append(w.shunning, our.node)
			}
		}
	}
	return w
}

// asking is a pod with these requests.
func asking(requests v1.ResourceList) *v1.Pod {
	return &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Resources: v1.ResourceRequirements{Requests: requests}}}}}
}

func (w *world) needs(all filter.Resources) []int64 {
	needs := make([]int64, len(w.resources))
	for r, name := range w.resources {
		needs[r] = all.Get(name).Units()
	}
	return needs
}

// canAsk tells whether a pod can ask for a resource, and the scheduler keeps account of it.
func canAsk(name v1.ResourceName) bool {
	switch name {
	case v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return true
	}
	return strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix) || filter.IsExtended(name) && filter.IsScheduled(name)
}

// shuns tells whether a pod keeps away from pods with these labels, of whatever namespace.
func shuns(p *v1.Pod, theirs labels.Set) bool {
	return slices.ContainsFunc(filter.RequiredAntiAffinity(p), func(t v1.PodAffinityTerm) bool {
		selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
		return err == nil && selector.Matches(theirs)
	})
}

// room is what a pod of some priority finds on a node.
type room struct {
	// free is what there is of each resource once all units that may go are gone; below 0, others
	// occupy more than there is.
	free []int64
	// slots is how many pods may stay beside it of those that could go.
	slots int
	// full are the units that go if the pod asks for all that is free, empty the others that could go.
	full, empty []*units
}

// roomFor is what a pod of that priority finds on n. Nominated pods of equal or higher priority
// keep their room (model.RespectNomination).
func (w *world) roomFor(n *node, value int32) room {
	r := room{free: slices.Clone(n.has), slots: n.slots - 1}
	take := func(p *pod) {
		for i := range r.free {
			r.free[i] = minus(r.free[i], p.needs[i])
		}
		r.slots--
	}
	var could []*units
	for _, u := range n.units {
		if u.priority < value {
			could = append(could, u)
			continue
		}
		for _, p := range u.pods {
			if p.node == n {
				take(p)
			}
		}
	}
	for _, p := range n.nominated {
		if p.priority >= value {
			take(p)
		}
	}
	for _, u := range could {
		if slices.ContainsFunc(u.pods, func(p *pod) bool { return p.node == n && r.asked(p) }) {
			r.full = append(r.full, u)
		} else {
			r.empty = append(r.empty, u)
		}
	}
	return r
}

// asked tells whether a pod occupies some of what is free.
func (r *room) asked(p *pod) bool {
	for i, free := range r.free {
		if free > 0 && p.needs[i] > 0 {
			return true
		}
	}
	return false
}

// minus does not go below the least number.
func minus(a, b int64) int64 {
	if a < math.MinInt64+b {
		return math.MinInt64
	}
	return a - b
}

// byWorkload sorts victims by their workloads.
func (w *world) byWorkload(victims []*filter.Pod) map[int][]Pod {
	by := map[int][]Pod{}
	for _, v := range victims {
		at := w.byKey[v.Key].workload
		by[at] = append(by[at], Pod{v.Key, v.Priority})
	}
	return by
}
