package exposure

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/internal/workload"
)

// loseNodes takes nodes away, each time one from the whole cluster, and follows what becomes of its
// pods.
func (w *world) loseNodes(ctx context.Context, r *Report) error {
	if w.options.MaxLosses < 0 {
		return nil // nobody wants to know
	}
	kinds := w.kindsOfNodes()
	r.Losses.Kinds = len(kinds)
	chosen := sample(kinds, w.options.MaxLosses)
	notModelled := 0
	for i, s := range chosen {
		if err := ctx.Err(); err != nil {
			return err
		}
		w.options.Progress(0.6 + 0.4*float64(i)/float64(len(chosen)))
		l := w.lose(s.node)
		l.result.Like = s.like
		r.Losses.Tried = append(r.Losses.Tried, l.result)
		notModelled += l.result.NotModelled
		for at, its := range w.workloads {
			preempted, pending := l.preempted[at], l.pending[at]
			if preempted+pending == 0 {
				continue
			}
			loss := &its.Loss
			loss.Nodes++
			loss.Preempted += preempted
			loss.Pending += pending
			if cmp.Or(cmp.Compare(pending, loss.WorstPending), cmp.Compare(preempted, loss.WorstPreempted)) > 0 {
				loss.Worst, loss.WorstPreempted, loss.WorstPending = l.result.Node, preempted, pending
			}
		}
	}
	if notModelled > 0 {
		r.note("%s of lost nodes not followed: the model, or the dump, does not cover what they depend on", words.Plural(notModelled, "pod"))
	}
	if left := len(kinds) - w.options.MaxLosses; left > 0 {
		r.note("%s of nodes not tried to be lost, the rarest", words.Plural(left, "kind"))
	}
	return nil
}

// kindsOfNodes are the nodes that are alike, the most common kind first: they have the same taints,
// the same labels but for those that tell each node from all others, and as much of each resource, in
// whole GiB of what is counted in bytes.
func (w *world) kindsOfNodes() [][]*node {
	values := map[string]map[string]bool{}
	for _, n := range w.nodes {
		for name, value := range n.Labels {
			if values[name] == nil {
				values[name] = map[string]bool{}
			}
			values[name][value] = true
		}
	}
	byKind := map[string][]*node{}
	for _, n := range w.nodes {
		labels, has := map[string]string{}, map[v1.ResourceName]int64{}
		for name, value := range n.Labels {
			if name != v1.LabelHostname && (len(values[name]) < len(w.nodes) || len(w.nodes) == 1) {
				labels[name] = value
			}
		}
		for i, name := range w.resources {
			if has[name] = n.has[i]; name == v1.ResourceMemory || name == v1.ResourceEphemeralStorage {
				has[name] = n.has[i] >> 30
			}
		}
		key, _ := json.Marshal([]any{labels, has, n.Spec.Taints, n.Spec.Unschedulable})
		byKind[string(key)] = append(byKind[string(key)], n)
	}
	kinds := slices.Collect(maps.Values(byKind))
	slices.SortFunc(kinds, func(a, b []*node) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0].index, b[0].index))
	})
	return kinds
}

type sampled struct {
	node *node
	like int
}

// sample takes nodes of each kind in turn, spread over it, until there are most.
func sample(kinds [][]*node, most int) (all []sampled) {
	share := make([]int, len(kinds)) // how many of each kind
	for left := max(most, 0); left > 0; {
		before := left
		for i, kind := range kinds {
			if left > 0 && share[i] < len(kind) {
				share[i]++
				left--
			}
		}
		if left == before {
			break
		}
	}
	for i, kind := range kinds {
		for j := range share[i] {
			all = append(all, sampled{kind[j*len(kind)/share[i]], len(kind)})
		}
	}
	return all
}

// loss is what becomes of the pods of a lost node.
type loss struct {
	result             NodeLoss
	preempted, pending map[int]int // pods by workload
}

// maxSteps is how many scheduling cycles one loss is followed for.
const maxSteps = 300

// lose takes a node away. Its pods that a controller makes anew for any node come back pending, and
// are scheduled in the order of the queue: by priority, and then the one that has run longer. So are
// controlled pods that are preempted on the way. Each preemption has taken effect before the next pod
// comes.
func (w *world) lose(n *node) *loss {
	l := &loss{result: NodeLoss{Node: n.Name}, preempted: map[int]int{}, pending: map[int]int{}}
	s := newSimulation(w, n)
	var queue []*pod
	enqueue := func(p *pod) {
		at, _ := slices.BinarySearchFunc(queue, p, func(a, b *pod) int {
			return cmp.Or(cmp.Compare(b.priority, a.priority), startOf(a).Compare(startOf(b)), cmp.Compare(a.index, b.index))
		})
		queue = slices.Insert(queue, at, p)
	}
	for _, p := range n.pods {
		if workload.IsControlled(p.Pod) && p.DeletionTimestamp == nil && p.Spec.SchedulingGroup == nil && w.Settings.Schedules(p.Spec.SchedulerName) {
			enqueue(p)
			l.result.Back++
		}
	}
	for step := 0; len(queue) > 0; step++ {
		if step == maxSteps {
			l.result.Cut = true
			break
		}
		p := queue[0]
		queue = queue[1:]
		victims, o := s.schedule(p)
		switch {
		case o == unmodelled:
			l.result.NotModelled++
		case o == pending:
			l.pending[p.workload]++
			l.result.Pending++
		case len(victims) == 0:
			l.result.Placed++
		}
		for _, v := range victims {
			l.preempted[v.workload]++
			l.result.Preempted++
			if workload.IsControlled(v.Pod) && v.Spec.SchedulingGroup == nil && w.Settings.Schedules(v.Spec.SchedulerName) {
				enqueue(v)
			}
		}
	}
	return l
}

func startOf(p *pod) *timeOf {
	t := timeOf{p.CreationTimestamp.Time}
	if p.Status.StartTime != nil {
		t.Time = p.Status.StartTime.Time
	}
	return &t
}

// anew is a pod as its controller makes it after it is gone.
func anew(p *v1.Pod) *v1.Pod {
	again := *p
	again.Spec.NodeName, again.DeletionTimestamp = "", nil
	again.Status = v1.PodStatus{Phase: v1.PodPending, ResourceClaimStatuses: p.Status.ResourceClaimStatuses}
	return &again
}

// bound is a pod once it runs on a node.
func bound(p *v1.Pod, n string) *v1.Pod {
	there := *p
	there.Spec.NodeName = n
	return &there
}
