package minimize

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

// kind is one of a cluster's lists of objects.
type kind struct {
	length func(c *model.Cluster) int
	name   func(c *model.Cluster, i int) string
	// cut removes the objects from up to, and not including, to.
	cut func(c *model.Cluster, from, to int)
}

var kinds = []kind{
	listed(func(c *model.Cluster) *[]*v1.Node { return &c.Nodes }, "", cutNodes),
	listed(podList, "", nil),
	listed(podList, " and its room", cutRoom),
	listed(func(c *model.Cluster) *[]*policyv1.PodDisruptionBudget { return &c.PodDisruptionBudgets }, "", nil),
	listed(func(c *model.Cluster) *[]*schedulingv1.PriorityClass { return &c.PriorityClasses }, "", nil),
	{func(c *model.Cluster) int { return len(c.Extra) },
		func(c *model.Cluster, i int) string { return fmt.Sprintf("other object %d, %T", i+1, c.Extra[i]) },
		func(c *model.Cluster, from, to int) { c.Extra = cut(c.Extra, from, to) }},
}

func podList(c *model.Cluster) *[]*v1.Pod { return &c.Pods }

// listed is the kind of a list; cutting is nil where only the list changes.
func listed[T runtime.Object](of func(c *model.Cluster) *[]T, with string, cutting func(c *model.Cluster, from, to int)) kind {
	if cutting == nil {
		cutting = func(c *model.Cluster, from, to int) { *of(c) = cut(*of(c), from, to) }
	}
	return kind{func(c *model.Cluster) int { return len(*of(c)) }, func(c *model.Cluster, i int) string { return title((*of(c))[i]) + with }, cutting}
}

// cutNodes removes nodes with the pods bound to them.
func cutNodes(c *model.Cluster, from, to int) {
	gone := map[string]bool{}
	for _, n := range c.Nodes[from:to] {
		gone[n.Name] = true
	}
	c.Nodes = cut(c.Nodes, from, to)
	c.Pods = slices.DeleteFunc(slices.Clone(c.Pods), func(p *v1.Pod) bool { return gone[p.Spec.NodeName] })
}

// cutRoom removes pods together with the room that they take on their nodes: a
// full node stays full.
func cutRoom(c *model.Cluster, from, to int) {
	gone := used(c.Pods[from:to])
	c.Pods = cut(c.Pods, from, to)
	for i, n := range c.Nodes {
		if gone[n.Name] != nil {
			c.Nodes[i] = resized(n, gone[n.Name], minus)
		}
	}
}

// resized is a node with other room. Room for no pod at all becomes room for one.
func resized(n *v1.Node, by v1.ResourceList, sum func(room, by int64) int64) *v1.Node {
	n = n.DeepCopy()
	n.Status.Capacity = nil // admitting makes it the same as allocatable
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = v1.ResourceList{}
	}
	for name, q := range by {
		if _, there := n.Status.Allocatable[name]; !there && sum(0, 1) < 0 {
			continue // nothing to take away
		}
		room := max(0, sum(inUnits(name, n.Status.Allocatable[name]), inUnits(name, q)))
		if name == v1.ResourcePods {
			room = max(1, room)
		}
		n.Status.Allocatable[name] = quantity(name, room)
	}
	return n
}

func plus(a, b int64) int64    { return a + b }
func minus(a, b int64) int64   { return a - b }
func greater(a, b int64) int64 { return max(a, b) }

// merges make one node of two, with the pods of both, and the room of the larger
// or of both. More than a few nodes are rarely left: then it is not worth the
// checks.
func merges(c *model.Cluster) []step {
	const most = 10
	var steps []step
	if len(c.Nodes) > most {
		return nil
	}
	for i, from := range c.Nodes {
		for j, to := range c.Nodes {
			if i == j {
				continue
			}
			merge := func(how string, sum func(a, b int64) int64) {
				what := fmt.Sprintf("Node %s: taken over by %s, with %s", from.Name, to.Name, how)
				steps = append(steps, step{what, func(c *model.Cluster) *model.Cluster {
					next := editPods(c, func(p *v1.Pod) bool {
						moves := p.Spec.NodeName == from.Name
						if moves {
							p.Spec.NodeName = to.Name
						}
						return moves
					})
					next.Nodes[j] = resized(to, from.Status.Allocatable, sum)
					next.Nodes = cut(next.Nodes, i, i+1)
					return next
				}})
			}
			merge("the room of the larger", greater)
			merge("the room of both", plus)
		}
	}
	return steps
}

// chunks remove as many objects at once as they can, in halves, quarters and so
// on of what c holds: a large cluster comes down to few objects in a number of
// checks that grows with the logarithm of its size.
func chunks(c *model.Cluster) []family {
	size := make([]int, len(kinds))
	for i, k := range kinds {
		size[i] = k.length(c)
	}
	var families []family
	for slices.Max(size) > 1 {
		for i, k := range kinds {
			if size := size[i]; size > 1 {
				families = append(families, func(c *model.Cluster) []step {
					var steps []step
					for from := 0; from < k.length(c); from += size {
						steps = append(steps, removal(k, "", from, min(from+size, k.length(c))))
					}
					return steps
				})
			}
			size[i] /= 2
		}
	}
	return families
}

// without begins the description of a step that removes an object.
const without = "without "

// removals remove single objects.
func removals(c *model.Cluster) []step {
	var steps []step
	for _, k := range kinds {
		for i := range k.length(c) {
			steps = append(steps, removal(k, without+k.name(c, i), i, i+1))
		}
	}
	return steps
}

func removal(k kind, what string, from, to int) step {
	return step{what, func(c *model.Cluster) *model.Cluster {
		next := shallow(c)
		k.cut(next, from, to)
		return next
	}}
}

// cut is list without list[from:to], in an array of its own.
func cut[T any](list []T, from, to int) []T {
	return slices.Concat(list[:from], list[to:])
}

// shallow copies a cluster with its lists, but not the objects in them.
func shallow(c *model.Cluster) *model.Cluster {
	next := *c
	next.Nodes = slices.Clone(c.Nodes)
	next.Pods = slices.Clone(c.Pods)
	next.PodDisruptionBudgets = slices.Clone(c.PodDisruptionBudgets)
	next.PriorityClasses = slices.Clone(c.PriorityClasses)
	next.Extra = slices.Clone(c.Extra)
	return &next
}

// pods are all pods of a cluster, the preemptor last if it is one.
func pods(c *model.Cluster) []*v1.Pod {
	if c.Preemptor == nil {
		return c.Pods
	}
	return append(slices.Clip(c.Pods), c.Preemptor)
}

// replace puts with(o) in the place of each object o of a cluster, in the order of
// its Objects. It writes to the cluster's lists.
func replace(c *model.Cluster, with func(o runtime.Object) runtime.Object) {
	replaceIn(c.Nodes, with)
	replaceIn(c.Pods, with)
	if c.Preemptor != nil {
		c.Preemptor = with(c.Preemptor).(*v1.Pod)
	}
	replaceIn(c.PodDisruptionBudgets, with)
	replaceIn(c.PriorityClasses, with)
	replaceIn(c.Extra, with)
}

func replaceIn[T runtime.Object](list []T, with func(o runtime.Object) runtime.Object) {
	for i, o := range list {
		list[i] = with(o).(T)
	}
}

// same tells whether two clusters are equal. Where they share objects, this is
// quick.
func same(a, b *model.Cluster) bool {
	x, y := a.Objects(), b.Objects()
	if len(x) != len(y) || a.PreemptorGroup != b.PreemptorGroup || !equality.Semantic.DeepEqual(a.Settings, b.Settings) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && !equality.Semantic.DeepEqual(x[i], y[i]) {
			return false
		}
	}
	return true
}
