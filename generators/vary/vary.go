// Package vary makes clusters that are nearly like a given one, such as a case that a scheduler once decided
// wrongly: where one fault was, others are near.
//
// What it makes need not be valid: objects are to be admitted again.
package vary

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// Cluster is base with one to four changes: an object is left out or copied, a pod is moved, an amount, a priority or a
// time is another one, or an object gets a part of another object of its kind, of base or of donor. It shares nothing
// with either. Some have decoys besides.
func Cluster(s draw.Source, base, donor *model.Cluster) *model.Cluster {
	v := varying(s, base, donor)
	for again := 0; again < 5 && (again == 0 || equality.Semantic.DeepEqual(base, v.Cluster)); again++ {
		for range 1 + draw.Weighted(s, 50, 25, 15, 10) {
			v.change()
		}
	}
	if s.Chance(25) {
		return Decoyed(v.Cluster)
	}
	return v.Cluster
}

// varied is a cluster that is being changed.
type varied struct {
	draw.Source
	*model.Cluster
	donor *model.Cluster
	taken map[string]bool // the names of nodes and pods that there were
	live  bool            // it is the start of a timeline, in which pods that wait mount nothing
	later []*v1.Pod       // pods that come later
}

func varying(s draw.Source, base, donor *model.Cluster) *varied {
	v := &varied{Source: s, Cluster: base.DeepCopy(), donor: donor.DeepCopy(), taken: map[string]bool{}}
	for _, n := range v.Nodes {
		v.taken[n.Name] = true
	}
	for _, p := range v.pods(v.Cluster) {
		v.taken[p.Name] = true
	}
	return v
}

// changes are the kinds of changes, and how often each is made.
var changes = []struct {
	weight int
	make   func(v *varied)
}{
	{17, func(v *varied) { v.amend(one(v, v.pods(v.Cluster)), one(v, v.pods(v.giver()))) }},
	{12, func(v *varied) { v.amend(v.preemptor(), one(v, v.pods(v.giver()))) }},
	{12, func(v *varied) { v.refit(one(v, v.Nodes), one(v, v.giver().Nodes)) }},
	{12, func(v *varied) { v.copyPod(one(v, v.Pods)) }},
	{10, func(v *varied) { v.copyNode(one(v, v.Nodes)) }},
	{6, func(v *varied) { v.movePod(one(v, v.Pods), one(v, v.Nodes)) }},
	{5, (*varied).dropPod},
	{4, (*varied).dropNode},
	{4, (*varied).dropOther},
	{3, (*varied).respend},
	{9, func(v *varied) { v.transplant(v.Extra, v.giver().Extra) }},
	{6, func(v *varied) { v.transplant(v.objects(v.Cluster), v.objects(v.giver())) }},
}

// change makes one change. It may come to nothing, as where there is no pod to leave out.
func (v *varied) change() {
	weights := make([]int, len(changes))
	for i := range changes {
		weights[i] = changes[i].weight
	}
	changes[draw.Weighted(v.Source, weights...)].make(v)
}

// objects are those of a cluster of which any field may change: pods, nodes and budgets.
func (v *varied) objects(c *model.Cluster) []runtime.Object {
	return slices.Concat(model.ObjectsOf(v.pods(c)), model.ObjectsOf(c.Nodes), model.ObjectsOf(c.PodDisruptionBudgets))
}

// giver is the cluster that parts are taken from.
func (v *varied) giver() *model.Cluster {
	if v.Chance(40) {
		return v.donor
	}
	return v.Cluster
}

// pods are all pods of a cluster, the preemptor first, and those that come later.
func (v *varied) pods(c *model.Cluster) (all []*v1.Pod) {
	if c.Preemptor != nil {
		all = append(all, c.Preemptor)
	}
	return slices.Concat(all, c.Pods, v.later)
}

// preemptor is the pod that is scheduled, or any of those of a group or of those that come later.
func (v *varied) preemptor() *v1.Pod {
	switch {
	case v.Preemptor != nil:
		return v.Preemptor
	case len(v.later) > 0:
		return one(v, v.later)
	}
	return one(v, v.Pods)
}

// one is one of the values, or the zero value if there is none.
func one[T any](v *varied, values []T) (drawn T) {
	if len(values) == 0 {
		return drawn
	}
	return values[v.Intn(len(values))]
}

// named is a name that is not taken yet, made of another one.
func (v *varied) named(name string) string {
	for name += "-copy"; v.taken[name]; {
		name += "-2"
	}
	v.taken[name] = true
	return name
}

// anew makes the copy of an object one of its own.
func anew(o interface {
	GetUID() types.UID
	SetUID(types.UID)
	SetName(string)
}, name string) {
	o.SetName(name)
	if o.GetUID() != "" {
		o.SetUID(types.UID(name))
	}
}

// without is a list without one of its objects.
func without[T comparable](list []T, object T) (left []T) {
	for _, o := range list {
		if o != object {
			left = append(left, o)
		}
	}
	return left
}
