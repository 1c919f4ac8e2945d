package exposure

import (
	"cmp"
	"context"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// maxTried is how many nodes are decided for one workload and class. One is enough unless the
// workload has pods that ask for nothing, or something else than resources rejects the pod.
const maxTried = 20

// threaten says of each workload which classes can preempt it, and how many pods at once.
func (w *world) threaten(ctx context.Context, r *Report) error {
	classes := preempting(r.Classes)
	for i, class := range classes {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.options.Progress(0.3 * float64(i) / float64(len(classes)))
		var taken map[int]*Threat
		if w.options.Requests != nil {
			taken = w.takenByShape(r, class)
		} else {
			taken = w.takenAtMost(class)
		}
		for at, its := range w.workloads {
			if its.Lowest >= class.Value {
				continue
			}
			t := Threat{}
			if taken[at] != nil {
				t = *taken[at]
			}
			t.Class, t.Value = class.Name, class.Value
			its.Threats = append(its.Threats, t)
		}
	}
	return nil
}

// could is how many pods of a workload go on a node at most, by arithmetic.
type could struct {
	node  *node
	shape shape
	most  int
}

// shape is what a pod asks for on a node.
type shape bool

const (
	everything shape = false // all that is free once all that may go are gone
	nothing    shape = true  // a place, and no resource
)

// takenAtMost is, by workload, the most that one pod of the class takes, whatever it asks for.
//
// A pod that asks for all that is free on its node takes each pod there that has some of it. Whoever
// has none of it goes only if the node is full of pods; and then most go for a pod that asks for
// nothing, too: whoever stays beside it for want of nothing stays in the way of others.
func (w *world) takenAtMost(class Class) map[int]*Threat {
	all := map[int][]could{}
	for _, n := range w.nodes {
		room := w.roomFor(n, class.Value)
		if room.slots < 0 {
			continue
		}
		for at, most := range w.countOf(room.full) {
			all[at] = append(all[at], could{n, everything, most})
		}
		if len(room.full)+len(room.empty) <= room.slots {
			continue
		}
		for at, most := range w.countOf(room.empty) {
			all[at] = append(all[at], could{n, nothing, most})
		}
	}
	taken := map[int]*Threat{}
	for at, list := range all {
		slices.SortStableFunc(list, func(a, b could) int { return cmp.Compare(b.most, a.most) })
		t := &Threat{}
		for i, c := range list {
			if i == maxTried && c.most > t.AtOnce {
				t.AtMost = c.most
			}
			if i == maxTried || c.most <= t.AtOnce {
				break
			}
			run := w.run(c.node, class, c.shape)
			for _, victims := range run.ways {
				if ours := victims[at]; len(ours) > len(t.Pods) {
					t.AtOnce, t.Node, t.Pods, t.Asks = w.options.steps.count(w.workloads[at], ours), c.node.Name, ours, run.asks
				}
			}
		}
		taken[at] = t
	}
	return taken
}

// countOf is how many pods each workload has in some units.
func (w *world) countOf(all []*units) map[int]int {
	count := map[int]int{}
	for _, u := range all {
		for _, p := range u.pods {
			count[p.workload]++
		}
	}
	return count
}

type runKey struct {
	node  int
	value int32
	shape shape
}

// run is what a pod takes on a node.
type run struct {
	asks string
	// ways are the allowed answers, as the victims by workload.
	ways []map[int][]Pod
}

// run decides about a pod of a class that can run on one node only.
func (w *world) run(n *node, class Class, s shape) *run {
	key := runKey{n.index, class.Value, s}
	if known := w.runs[key]; known != nil {
		return known
	}
	out := &run{asks: asksNothing}
	w.runs[key] = out
	room := w.roomFor(n, class.Value)
	witness := w.witness(n, class, &room, s)
	if s == everything {
		out.asks = words.Resources(witness.Spec.Containers[0].Resources.Requests)
	}
	set, err := answers.Decide(w.around(n, witness), w.options.Rules)
	if err != nil || len(set.Fits) > 0 || set.Eligible == nil || !set.Eligible.OK {
		return out
	}
	// Who asks for everything takes the same pods in whatever order, unless some ask for nothing.
	if s == everything && len(room.empty) <= room.slots || set.Orders() > maxOrders {
		if listed, failed := set.Listed(n.Name); failed == nil && listed != nil {
			out.ways = append(out.ways, w.byWorkload(listed.Pods))
		}
		return out
	}
	for _, choice := range set.Choices() {
		out.ways = append(out.ways, w.byWorkload(choice.Outcome.Pods))
	}
	return out
}

// Witness is a cluster with the pod that a Threat tells of as the preemptor: it shows what the pod
// takes. Of c it holds what plays a part, unless the pod can run anywhere: then all. It is nil if the
// threat takes nothing.
func Witness(c *model.Cluster, t Threat, o Options) *model.Cluster {
	if t.AtOnce == 0 {
		return nil
	}
	o = o.withDefaults()
	if o.Requests != nil {
		out := *c
		out.Preemptor = preemptor(Class{Name: t.Class, Value: t.Value}, o.Requests)
		return &out
	}
	w := newWorld(c, o)
	n, class := w.byName[t.Node], Class{Name: t.Class, Value: t.Value}
	room := w.roomFor(n, class.Value)
	s := everything
	if t.Asks == asksNothing {
		s = nothing
	}
	return w.around(n, w.witness(n, class, &room, s))
}

// asksNothing is what a pod without requests asks for.
const asksNothing = "nothing"

// WitnessName is the name of the pod that stands for all of a class.
const WitnessName = "preemptcheck-witness"

// preemptor is a pod of a class that may run anywhere but on nodes with taints.
func preemptor(class Class, requests v1.ResourceList) *v1.Pod {
	value, name := class.Value, class.Name
	if name == NoClass {
		name = ""
	}
	policy, grace := v1.PreemptLowerPriority, int64(30)
	return &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: WitnessName, UID: WitnessName},
		Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName, PriorityClassName: name, Priority: &value, PreemptionPolicy: &policy,
			RestartPolicy: v1.RestartPolicyAlways, DNSPolicy: v1.DNSClusterFirst, TerminationGracePeriodSeconds: &grace,
			Containers: []v1.Container{{Name: "c", Image: "registry.k8s.io/pause:3.10", ImagePullPolicy: v1.PullIfNotPresent,
				TerminationMessagePath: v1.TerminationMessagePathDefault, TerminationMessagePolicy: v1.TerminationMessageReadFile,
				Resources: v1.ResourceRequirements{Requests: requests, Limits: limits(requests)}}},
		},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
}

// limits are those that requests cannot be without: extended resources and huge pages.
func limits(requests v1.ResourceList) v1.ResourceList {
	var out v1.ResourceList
	for name, q := range requests {
		if strings.Contains(string(name), "/") || strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix) {
			if out == nil {
				out = v1.ResourceList{}
			}
			out[name] = q
		}
	}
	return out
}

// witness is a pod of a class that tolerates everything, and can run on n only.
func (w *world) witness(n *node, class Class, room *room, s shape) *v1.Pod {
	requests := v1.ResourceList{}
	if s == everything {
		for i, name := range w.resources {
			switch free := room.free[i]; {
			case free <= 0:
			case name == v1.ResourceCPU:
				requests[name] = *resource.NewMilliQuantity(free, resource.DecimalSI)
			case name == v1.ResourceMemory:
				requests[name] = *resource.NewQuantity(free, resource.BinarySI)
			default:
				requests[name] = *resource.NewQuantity(free, resource.DecimalSI)
			}
		}
	}
	p := preemptor(class, requests)
	p.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}}
	p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
		NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{n.Name}}}}}}}}
	return p
}

// around is what of the cluster can play a part for a pod without labels, affinity and volumes that
// can run on n only: the node, those with other pods of groups there that go as a whole, and those
// with pods that keep away from it.
func (w *world) around(n *node, preemptor *v1.Pod) *model.Cluster {
	nodes := append([]*node{n}, w.shunning...)
	var pods []*pod
	for _, u := range n.units {
		for _, p := range u.pods {
			if p.node != nil {
				nodes = append(nodes, p.node)
			} else {
				pods = append(pods, p)
			}
		}
	}
	slices.SortFunc(nodes, func(a, b *node) int { return cmp.Compare(a.index, b.index) })
	nodes = slices.Compact(nodes)
	c := *w.Cluster
	c.Nodes, c.Pods, c.PodDisruptionBudgets, c.Preemptor = nil, nil, nil, preemptor
	for _, n := range nodes {
		c.Nodes = append(c.Nodes, n.Node)
		pods = append(append(pods, n.pods...), n.nominated...)
	}
	slices.SortFunc(pods, func(a, b *pod) int { return cmp.Compare(a.index, b.index) })
	protecting := map[int]bool{}
	for _, p := range slices.Compact(pods) {
		c.Pods = append(c.Pods, p.Pod)
		for _, b := range p.budgets {
			protecting[b] = true
		}
	}
	c.PodDisruptionBudgets = slices.DeleteFunc(slices.Clone(w.PodDisruptionBudgets), func(b *policyv1.PodDisruptionBudget) bool {
		return !protecting[slices.Index(w.PodDisruptionBudgets, b)]
	})
	return &c
}

// maxOrders is how often the victims on a node are worked out: see answers.Set.Orders.
const maxOrders = 20_000

// takenByShape is takenAtMost for a pod that asks for what Options say, and may run anywhere.
func (w *world) takenByShape(r *Report, class Class) map[int]*Threat {
	c := *w.Cluster
	c.Preemptor = preemptor(class, w.options.Requests)
	set, err := answers.Decide(&c, w.options.Rules)
	if err != nil {
		r.note("class %s: %s", class.Name, words.FirstLine(err.Error()))
		return nil
	}
	taken := map[int]*Threat{}
	for _, way := range w.waysOf(set) {
		for at, ours := range way.victims {
			t := taken[at]
			if t == nil {
				t = &Threat{}
				taken[at] = t
			}
			if len(ours) > t.AtOnce {
				*t = Threat{AtOnce: len(ours), Node: way.node, Pods: ours, Asks: r.Asks}
			}
		}
	}
	return taken
}

// way is an allowed answer.
type way struct {
	node    string
	victims map[int][]Pod
}

// likelihoods are how likely each way is: by the odds of its node, if there are any.
func likelihoods(set *answers.Set, ways []way) []float64 {
	on := map[string]float64{}
	for _, w := range ways {
		on[w.node]++
	}
	chance := map[string]float64{}
	odds, _ := set.Odds()
	for _, o := range odds {
		p, _ := o.Probability.Float64()
		for _, n := range o.Nodes {
			chance[n] = p / float64(len(o.Nodes))
		}
	}
	likely := make([]float64, len(ways))
	for i, w := range ways {
		if likely[i] = 1 / float64(len(ways)); odds != nil {
			likely[i] = chance[w.node] / on[w.node]
		}
	}
	return likely
}

// waysOf are the allowed answers; if there are too many orders of equally important pods, those of
// the cluster's order.
func (w *world) waysOf(set *answers.Set) (ways []way) {
	if set.Eligible == nil || !set.Eligible.OK {
		return nil
	}
	if set.Orders() > maxOrders {
		for _, name := range set.Candidates() {
			listed, _ := set.Listed(name)
			ways = append(ways, way{name, w.byWorkload(listed.Pods)})
		}
		return ways
	}
	for _, c := range set.Choices() {
		ways = append(ways, way{c.Node, w.byWorkload(c.Outcome.Pods)})
	}
	return ways
}
