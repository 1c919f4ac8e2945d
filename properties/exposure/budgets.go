package exposure

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// keepBudgets says of each budget of a workload whether it is honoured.
func (w *world) keepBudgets(ctx context.Context, r *Report) error {
	classes := preempting(r.Classes)
	kept := make([]*kept, len(w.budgets))
	of := make([][]*pod, len(w.budgets))
	for _, p := range w.pods {
		for b := range w.budgets {
			if w.options.steps.protected(p, b) {
				of[b] = append(of[b], p)
			}
		}
	}
	for b := range w.budgets {
		if err := ctx.Err(); err != nil {
			return err
		}
		kept[b] = w.keep(b, of[b], classes)
	}
	protecting := make([]map[int][]*pod, len(w.workloads)) // the pods of a workload, by budget
	for b, pods := range of {
		for _, p := range pods {
			if protecting[p.workload] == nil {
				protecting[p.workload] = map[int][]*pod{}
			}
			protecting[p.workload][b] = append(protecting[p.workload][b], p)
		}
	}
	for at, its := range w.workloads {
		for b, budget := range w.budgets {
			pods := protecting[at][b]
			if len(pods) == 0 {
				continue
			}
			k := kept[b]
			out := Budget{Name: budget.name, Allowed: budget.Status.DisruptionsAllowed, Verdict: Honoured}
			if k.over > 0 {
				out.Verdict, out.Class, out.Node, out.Over = Violated, k.class, k.node, k.over
			}
			if len(its.Threats) > 0 {
				out.Findings = w.findings(b, pods, k)
			}
			if out.Verdict == Honoured && slices.ContainsFunc(out.Findings, func(f Finding) bool { return f.Ignored }) {
				out.Verdict = ByFinding
			}
			its.Budgets = append(its.Budgets, out)
		}
	}
	return nil
}

// kept is what one pod of a class does to a budget at most.
type kept struct {
	class string
	node  string
	over  int // how many pods more than it allows
	// charged is set where more pods are charged to it than it allows, and some of them may stay.
	charged string // the node
}

// keep looks for the lowest class, and the node, where a pod takes more of the pods that a budget
// protects than it allows: a pod that asks for everything, on no other node.
func (w *world) keep(b int, pods []*pod, classes []Class) *kept {
	k := &kept{}
	allowed := int(max(w.budgets[b].Status.DisruptionsAllowed, 0))
	on := map[*node]int{}
	for _, p := range pods {
		if p.node != nil {
			on[p.node]++
		}
	}
	var nodes []*node
	for n := range on {
		if w.protectedOn(n, b) > allowed {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b *node) int { return cmp.Or(cmp.Compare(on[b], on[a]), cmp.Compare(a.index, b.index)) })
	for _, class := range classes {
		for _, n := range nodes {
			room := w.roomFor(n, class.Value)
			if room.slots < 0 {
				continue
			}
			full, empty := w.protectedIn(room.full, b), w.protectedIn(room.empty, b)
			if full+empty > allowed && full+empty > 1 && allowed > 0 && k.charged == "" {
				k.charged = n.Name
			}
			for _, s := range []shape{everything, nothing} {
				if s == nothing && len(room.full)+len(room.empty) <= room.slots {
					continue
				}
				if most := full + empty; most-allowed <= k.over || k.class != "" && k.class != class.Name {
					continue
				}
				for _, way := range w.run(n, class, s).ways {
					if over := w.protectedBy(way, b) - allowed; over > k.over {
						k.class, k.node, k.over = class.Name, n.Name, over
					}
				}
			}
		}
	}
	return k
}

// protectedOn is how many pods a budget protects that can go with those of a node.
func (w *world) protectedOn(n *node, b int) int { return w.protectedIn(n.units, b) }

func (w *world) protectedIn(all []*units, b int) (count int) {
	for _, u := range all {
		for _, p := range u.pods {
			if w.options.steps.protected(p, b) {
				count++
			}
		}
	}
	return count
}

// protectedBy is how many of the victims a budget protects.
func (w *world) protectedBy(victims map[int][]Pod, b int) (count int) {
	for _, pods := range victims {
		for _, v := range pods {
			if p := w.byKey[v.Key]; p != nil && w.options.steps.protected(p, b) {
				count++
			}
		}
	}
	return count
}

// findings are those of the known ones of the release whose situation a budget is in with the pods
// of a workload.
func (w *world) findings(b int, pods []*pod, k *kept) (all []Finding) {
	add := func(id string, ignored, holds bool, why string, args ...any) {
		if e, known := ledger.LookUp(id); holds && known && w.options.Release.In(e.Releases) {
			all = append(all, Finding{id, ignored, fmt.Sprintf(why, args...)})
		}
	}
	those := func(are func(p *pod) bool) []*pod {
		return slices.DeleteFunc(slices.Clone(pods), func(p *pod) bool { return !are(p) })
	}
	budget := w.budgets[b]
	selector := budget.Spec.Selector
	add("empty-selector", true, selector != nil && len(selector.MatchLabels)+len(selector.MatchExpressions) == 0,
		"its selector is empty: it should protect every pod of the namespace, and protects none")
	bare := those(func(p *pod) bool { return len(p.Labels) == 0 })
	add("unlabelled-pod", true, len(bare) > 0, "%s without labels, which it does not protect", words.Plural(len(bare), "pod"))
	add("budget-status-lags", true, budget.Status.ObservedGeneration < budget.Generation,
		"its status is of generation %d, and it of %d", budget.Status.ObservedGeneration, budget.Generation)
	several := those(func(p *pod) bool { return len(p.budgets) > 1 })
	add("budget-order", true, len(several) > 0, "%s with more than one budget: which is charged depends on their order", words.Plural(len(several), "pod"))
	add("budget-spent-by-reprieved-pod", false, k.charged != "", "on node %s, pods that stay are charged to it, too", k.charged)
	ending := those(func(p *pod) bool { return p.DeletionTimestamp != nil })
	add("terminating-victim-violates-budget", false, len(ending) > 0, "%s terminating, which is charged to it", words.Plural(len(ending), "pod"))
	starting := those(func(p *pod) bool { return p.Status.Phase == v1.PodPending })
	add("pending-victim-violates-budget", false, len(starting) > 0, "%s not started yet, which is charged to it", words.Plural(len(starting), "pod"))
	policy := budget.Spec.UnhealthyPodEvictionPolicy
	unhealthy := those(func(p *pod) bool { return p.Status.Phase == v1.PodRunning && !isReady(p.Pod) })
	add("unhealthy-pod-eviction-policy", false, policy != nil && *policy == policyv1.AlwaysAllow && len(unhealthy) > 0,
		"%s not ready, which it would let go", words.Plural(len(unhealthy), "pod"))
	return all
}

func isReady(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodReady && c.Status == v1.ConditionTrue })
}
