// Package exposure says of each workload of a cluster who can preempt it, how many of its pods
// could go at once, whether its budgets are honoured, and what it loses with a node.
//
// Each number is an answer of the model: the node that arithmetic finds is decided by package
// answers, with a pod that is written down (Witness).
package exposure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// Options are what Of is asked for. The zero value of each is its default.
type Options struct {
	// Release is the one whose documentation and known findings count; the linked one by default.
	Release release.Release
	// Rules are those of the release, unless they are set.
	Rules *answers.Rules
	// Requests is what the pod of a class asks for; nil is the worst case.
	Requests v1.ResourceList
	// MaxPending is how many kinds of pending pods are decided; MaxLosses how many node losses are
	// tried. 0 is DefaultMaxPending and DefaultMaxLosses, below 0 none.
	MaxPending, MaxLosses int
	// Progress, if it is not nil, is told which share is done, from 0 to 1.
	Progress func(share float64)

	steps steps
}

// The defaults of Options.
const (
	DefaultMaxPending = 50
	DefaultMaxLosses  = 30
)

// steps are those that a test replaces by wrong ones.
type steps struct {
	preempts func(c *schedulingv1.PriorityClass) bool
	// count is how many pods of a workload go with these of a node.
	count     func(its *Workload, here []Pod) int
	protected func(p *pod, b int) bool
}

func documented() steps {
	return steps{
		preempts: func(c *schedulingv1.PriorityClass) bool {
			return c.PreemptionPolicy == nil || *c.PreemptionPolicy != v1.PreemptNever
		},
		count:     func(_ *Workload, here []Pod) int { return len(here) },
		protected: func(p *pod, b int) bool { return slices.Contains(p.budgets, b) },
	}
}

func (o Options) withDefaults() Options {
	if o.Release == (release.Release{}) {
		o.Release = release.Linked
	}
	if o.Rules == nil {
		o.Rules = o.Release.Rules()
	}
	o.MaxPending, o.MaxLosses = cmp.Or(o.MaxPending, DefaultMaxPending), cmp.Or(o.MaxLosses, DefaultMaxLosses)
	if o.Progress == nil {
		o.Progress = func(float64) {}
	}
	if o.steps.preempts == nil {
		o.steps = documented()
	}
	return o
}

// Of looks at a cluster of which all pods are in Pods and nobody is the preemptor, as
// corpus.Stream.Dump has it. pending are its questions: each is the cluster with one of the waiting
// pods as the preemptor. Nothing of them is changed. The error is that of ctx.
func Of(ctx context.Context, c *model.Cluster, pending []*model.Cluster, o Options) (*Report, error) {
	o = o.withDefaults()
	w := newWorld(c, o)
	r := &Report{Release: o.Release.String(), Nodes: len(w.nodes), Pods: len(w.pods), Classes: w.classes(), Workloads: w.workloads}
	if o.Requests != nil {
		r.Asks = words.Resources(o.Requests)
	}
	steps := []func(context.Context, *Report) error{
		w.threaten, w.keepBudgets,
		func(ctx context.Context, r *Report) error { return w.askPending(ctx, r, pending) },
		w.loseNodes,
	}
	for _, step := range steps {
		if err := step(ctx, r); err != nil {
			return nil, err
		}
	}
	if homeless := len(slices.DeleteFunc(slices.Clone(w.pods), func(p *pod) bool { return p.node != nil })); homeless > 0 {
		r.Notes = append(r.Notes, words.Plural(homeless, "pod")+" on nodes that are not there: nothing preempts them")
	}
	slices.SortStableFunc(r.Workloads, r.hurtsMore)
	return r, nil
}

// classes are those of the cluster, those of the system, and none, the highest first.
func (w *world) classes() []Class {
	var all []Class
	byDefault := false
	for _, c := range w.PriorityClasses {
		all = append(all, Class{c.Name, c.Value, w.options.steps.preempts(c), strings.HasPrefix(c.Name, "system-")})
		byDefault = byDefault || c.GlobalDefault
	}
	// Every cluster has these (docs: concepts/scheduling-eviction/pod-priority-preemption,
	// "PriorityClass").
	for name, value := range map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000} {
		if !slices.ContainsFunc(all, func(c Class) bool { return c.Name == name }) {
			all = append(all, Class{name, value, true, true})
		}
	}
	if !byDefault {
		all = append(all, Class{NoClass, 0, true, false})
	}
	slices.SortFunc(all, func(a, b Class) int { return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name)) })
	return all
}

// preempting are the classes that preempt, the lowest first.
func preempting(classes []Class) []Class {
	some := slices.DeleteFunc(slices.Clone(classes), func(c Class) bool { return !c.Preempts })
	slices.Reverse(some)
	return some
}

// hurtsMore orders workloads: first those of which pending pods are expected to take more pods now; then
// those that node losses leave with more pods pending, then those of which they preempt more; then
// those whose budgets can be violated; then those all of whose pods one pod of a class can take,
// then those of which it takes more; then by name. Classes of the system count for the last two
// only if no other class takes a pod.
func (r *Report) hurtsMore(a, b *Workload) int {
	one := func(yes bool) int {
		if yes {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(b.expected(), a.expected()),
		cmp.Compare(b.Loss.Pending, a.Loss.Pending),
		cmp.Compare(b.Loss.Preempted, a.Loss.Preempted),
		cmp.Compare(one(b.verdict() == Violated), one(a.verdict() == Violated)),
		cmp.Compare(one(b.verdict() == ByFinding), one(a.verdict() == ByFinding)),
		cmp.Compare(one(r.atOnce(b) == b.Pods), one(r.atOnce(a) == a.Pods)),
		cmp.Compare(r.atOnce(b), r.atOnce(a)),
		a.Ref.Compare(b.Ref),
	)
}

// expected is how many of its pods the pending pods take on average, each by itself.
func (w *Workload) expected() (pods float64) {
	for _, t := range w.Now {
		pods += t.Expected * float64(1+t.Alike)
	}
	return pods
}

// verdict is the worst of its budgets, "" if there is none.
func (w *Workload) verdict() (worst Verdict) {
	for _, b := range w.Budgets {
		if b.Verdict == Violated || worst == "" || worst == Honoured {
			worst = b.Verdict
		}
	}
	return worst
}

// atOnce is the most that a class that is not the system's takes; of the system's if no other
// takes any.
func (r *Report) atOnce(w *Workload) int {
	most, ofSystem := 0, 0
	for _, t := range w.Threats {
		if r.isSystem(t.Class) {
			ofSystem = max(ofSystem, t.AtOnce)
		} else {
			most = max(most, t.AtOnce)
		}
	}
	return cmp.Or(most, ofSystem)
}

func (r *Report) isSystem(class string) bool {
	return slices.ContainsFunc(r.Classes, func(c Class) bool { return c.Name == class && c.System })
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}
