package minimize

import (
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus/minimize/fields"
	"github.com/preemptcheck/preemptcheck/generators/bounded"
	"github.com/preemptcheck/preemptcheck/model"
)

// Certificate says which smaller clusters were searched for the finding, and do
// not have it. A cluster is smaller than another if it has no more nodes, no more
// pods and no more budgets, and fewer of one of them; its settings are the same.
// Those are searched that bounded.Bounds holds, one of each
// bounded.Class. Any that has the finding is what Minimise goes on with, and
// what is smaller than that is searched then.
type Certificate struct {
	// Bound is the number of the bounded.Bounds searched: the largest with no
	// more classes of smaller clusters than Options.Certify.
	Bound int `json:"bound"`
	// Classes is how many classes of smaller clusters Bound holds, and Clusters
	// the clusters they stand for.
	Classes  uint64 `json:"classes"`
	Clusters uint64 `json:"clusters"`
	// Searched is how many of Classes were searched, and Complete that all were.
	Searched uint64 `json:"searched"`
	Complete bool   `json:"complete"`
	// OfGroups: in the clusters searched, the preemptor is made a group of one pod.
	OfGroups bool `json:"ofGroups,omitempty"`
	// Beyond lists the fields of Result.Cluster that no cluster of the bounds has,
	// for example "Node spec.taints": where there are any, smaller clusters with
	// such fields were not searched.
	Beyond []string `json:"beyond,omitempty"`
}

func (c *Certificate) String() string {
	var text string
	switch {
	case c.Classes == 0:
		text = fmt.Sprintf("there is no smaller cluster within exhaustive bound %d", c.Bound)
	case c.Complete:
		text = fmt.Sprintf("none of the %d clusters with fewer nodes, pods or budgets, and no more of any, within exhaustive bound %d has the finding (%d were checked, one of each class)", c.Clusters, c.Bound, c.Classes)
	default:
		text = fmt.Sprintf("of the clusters with fewer nodes, pods or budgets, and no more of any, within exhaustive bound %d, only %d of %d classes were checked; none of these has the finding", c.Bound, c.Searched, c.Classes)
	}
	if c.OfGroups {
		text += "; in these, one pod is the group"
	}
	if len(c.Beyond) > 0 {
		text += "; no cluster within the bound has " + strings.Join(c.Beyond, ", ")
	}
	return text
}

// smaller searches the smaller clusters, and goes over to the first that has the
// finding, if one has.
func (m *minimiser) smaller() (found bool) {
	smaller, certificate := smallerThan(m.c, m.options.Certify)
	if certificate == nil {
		return false
	}
	m.result.Smallest, m.searching = certificate, certificate
	defer func() { m.searching = nil }()
	settings := m.c.Settings
	inOrder(m, func(yield func(bounded.Class, func() *model.Cluster) bool) {
		for class := range smaller {
			if !yield(class, func() *model.Cluster {
				c := class.Cluster()
				if certificate.OfGroups {
					c = ofGroup(c)
				}
				c.Settings = settings
				return c
			}) {
				return
			}
		}
	}, m.ask, func(_ bounded.Class, c *model.Cluster, a answer) bool {
		if a.becomes == kept {
			m.c, m.result.Finding = c, a.finding
			found = true
			return false
		}
		certificate.Searched++
		return true
	})
	certificate.Complete = !found && certificate.Searched == certificate.Classes
	return found
}

// smallerThan gives the classes of clusters smaller than c of the largest bound
// that has at most so many, and an empty certificate for them; or nil if no bound
// has so few.
func smallerThan(c *model.Cluster, most uint64) (classes iter.Seq[bounded.Class], certificate *Certificate) {
	size := c
	if c.PreemptorGroup != "" { // one of its pods is the preemptor of the bounds
		size = shallow(c)
		size.Pods = size.Pods[1:]
	}
	for number := 1; number <= bounded.MaxBound; number++ {
		var bounds []bounded.Bound
		for _, b := range bounded.Bounds(number) {
			bounds = append(bounds, below(b, size)...)
		}
		next := &Certificate{Bound: number, OfGroups: c.PreemptorGroup != ""}
		for class := range bounded.Classes(bounds...) {
			next.Clusters += class.Labelled
			if next.Classes++; next.Classes > most {
				return classes, certificate
			}
		}
		next.Beyond = beyond(c)
		classes, certificate = bounded.Classes(bounds...), next
	}
	return classes, certificate
}

// below are bounds that together hold the clusters of b that are smaller than c.
func below(b bounded.Bound, c *model.Cluster) []bounded.Bound {
	b.Nodes, b.Pods, b.Budgets = min(b.Nodes, len(c.Nodes)), min(b.Pods, len(c.Pods)), min(b.Budgets, len(c.PodDisruptionBudgets))
	fewerNodes, fewerPods, fewerBudgets := b, b, b
	fewerNodes.Nodes = min(b.Nodes, len(c.Nodes)-1)
	fewerPods.Pods = min(b.Pods, len(c.Pods)-1)
	fewerBudgets.Budgets = min(b.Budgets, len(c.PodDisruptionBudgets)-1)
	return slices.DeleteFunc([]bounded.Bound{fewerNodes, fewerPods, fewerBudgets}, func(b bounded.Bound) bool {
		return b.Nodes < 1 || b.Pods < 0 || b.Budgets < 0
	})
}

// beyond lists the fields of c that no cluster of the bounds has.
func beyond(c *model.Cluster) []string {
	var list []string
	for _, path := range paths(c) {
		inside := func(outer string) bool {
			return strings.HasPrefix(path, outer+" ") || strings.HasPrefix(path, outer+".")
		}
		if !searchedPaths()[path] && !slices.ContainsFunc(list, inside) {
			list = append(list, path)
		}
	}
	return list
}

// searchedPaths are the paths of the clusters of all bounds: of a bound that has
// everything, as the others have no other fields.
var searchedPaths = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for class := range bounded.Classes(bounded.Bound{
		Nodes: 1, Pods: 1, Ranks: 2, Sizes: 1, Lack: 1, Starts: 1, Budgets: 1, Allowed: 1,
		NoStart: true, Lowest: true, Staying: true, Terminating: true, Nominated: true,
	}) {
		for _, path := range paths(class.Cluster()) {
			all[path] = true
		}
	}
	return all
})

// inBrackets matches what is particular to one element of a list or map.
var inBrackets = regexp.MustCompile(`\[[^]]*\]`)

// paths are the fields that are set in a cluster, each after those that it is in.
func paths(c *model.Cluster) []string {
	var list []string
	add := func(path string) {
		if !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	for _, o := range c.Objects() {
		kind := reflect.TypeOf(o).Elem().Name()
		if o == runtime.Object(c.Preemptor) {
			kind = "preemptor"
		}
		add(kind)
		for _, f := range fields.Of(o) {
			add(kind + " " + inBrackets.ReplaceAllString(f.Path, ""))
		}
	}
	return list
}
