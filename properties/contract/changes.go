package contract

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/properties"
)

// docExtensions is where AddPod and RemovePod are promised.
const docExtensions = "doc comment of PreFilterExtensions (kube-scheduler/framework/interface.go:502@v0.37.1)"

// Incremental is that a plugin that is told of changes says what it says of a cluster that is like that.
func Incremental(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-incremental",
		Promise: "AddPod and RemovePod evaluate the impact of adding a pod to the node, and of removing one from it, while scheduling another: in any order, and possibly more than once before Filter is called again.",
		Source:  docExtensions + "; doc comment of PreFilterPlugin.PreFilterExtensions (interface.go:534@v0.37.1)",
		Lies:    []string{"RemovePod forgets", "AddPod counts twice"},
	}, plugins, filtering, func(x *interview) error {
		r, err := x.runChanges()
		if err != nil {
			return err
		}
		for i, changes := range r.all {
			for _, plugin := range x.plugins {
				got, asked := r.told[plugin][i]
				if !asked {
					continue
				}
				x.Tally(plugin, AskedIncremental, 1)
				want := r.fresh[plugin][i]
				if node, kind, detail := differ(got, want.Nodes, x.Cluster.Nodes, nil); node != "" {
					x.foundBreach(breach{plugin: plugin, changes: changes}, "after "+changes.kind()+" it "+kind, fmt.Sprintf("was told: %s. It then %s of %s", changes, detail, node))
				}
			}
			if len(changes) > 0 && changes.nothing() {
				for _, plugin := range x.plugins {
					if got, asked := r.told[plugin][i]; asked {
						if node, kind, detail := differ(got, r.told[plugin][0], x.Cluster.Nodes, nil); node != "" {
							x.foundBreach(breach{plugin: plugin, changes: changes}, "after "+changes.kind()+" it "+kind, fmt.Sprintf("was told: %s, which is no change. It then %s of %s", changes, detail, node))
						}
					}
				}
			}
		}
		return nil
	})
}

// change is that a pod is removed from a node, or added to one.
type change struct {
	add  bool
	pod  *v1.Pod
	node string
}

// changes come one after another.
type changes []change

func (c changes) String() string {
	if len(c) == 0 {
		return "nothing"
	}
	var all []string
	for _, one := range c {
		what := "removed from "
		if one.add {
			what = "added to "
		}
		all = append(all, model.Key(one.pod)+" is "+what+one.node)
	}
	return strings.Join(all, ", ")
}

// kind is what of changes does not depend on the cluster.
func (c changes) kind() string {
	switch removes, adds := c.has(false), c.has(true); {
	case len(c) == 0:
		return "no change"
	case !adds:
		return "RemovePod"
	case !removes:
		return "AddPod"
	}
	return "RemovePod and AddPod"
}

func (c changes) has(add bool) bool {
	return slices.ContainsFunc(c, func(one change) bool { return one.add == add })
}

// nothing tells whether the changes take each other back.
func (c changes) nothing() bool {
	on := map[string]int{}
	for _, one := range c {
		by := -1
		if one.add {
			by = 1
		}
		on[model.Key(one.pod)+" "+one.node] += by
	}
	for _, n := range on {
		if n != 0 {
			return false
		}
	}
	return true
}

// cluster are the calls that make the same changes to the cluster.
func (c changes) cluster() (all []calls.Call) {
	at := map[*v1.Pod]string{}
	for _, one := range c {
		if at[one.pod] = ""; one.add {
			at[one.pod] = one.node
		}
	}
	var seen []*v1.Pod
	for _, one := range c {
		if slices.Contains(seen, one.pod) || at[one.pod] == one.pod.Spec.NodeName {
			continue
		}
		seen = append(seen, one.pod)
		if node := at[one.pod]; node == "" {
			all = append(all, calls.Call{Op: calls.Delete, Object: podObject(one.pod)})
		} else {
			all = append(all, calls.Call{Op: calls.Bind, Pod: model.Key(one.pod), Node: node})
		}
	}
	return all
}

// maxChanges bounds how many lists of changes a cluster is asked about.
const maxChanges = 24

// drawChanges are lists of changes, the first one empty: as a dry run makes them, and such that it does not make yet. Those of small
// clusters are all that are short.
func drawChanges(c *model.Cluster, running map[string][]*v1.Pod) (all []changes) {
	var bound, waiting []*v1.Pod
	for _, n := range c.Nodes {
		bound = append(bound, running[n.Name]...)
	}
	for _, p := range c.Pods {
		if p.Spec.NodeName == "" && c.KnowsNomination(p) {
			waiting = append(waiting, p)
		}
	}
	all = append(all, nil)
	for _, p := range bound {
		gone := change{pod: p, node: p.Spec.NodeName}
		all = append(all, changes{gone}, changes{gone, {true, p, p.Spec.NodeName}})
	}
	for _, p := range waiting {
		for _, n := range c.Nodes {
			all = append(all, changes{{true, p, n.Name}}, changes{{true, p, n.Name}, {false, p, n.Name}})
		}
	}
	for i, p := range bound {
		for _, q := range bound[i+1:] {
			one, two := change{pod: p, node: p.Spec.NodeName}, change{pod: q, node: q.Spec.NodeName}
			all = append(all, changes{one, two}, changes{one, two, {true, p, p.Spec.NodeName}}, changes{two, one, {true, q, q.Spec.NodeName}})
		}
	}
	random := properties.Random(c, "changes of plugins")
	if len(all) > maxChanges {
		rest := all[1:]
		random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		all = all[:maxChanges*2/3]
	}
	for range maxChanges - len(all) {
		if longer := drawLong(c, bound, waiting, random); len(longer) > 2 {
			all = append(all, longer)
		}
	}
	return all
}

// drawLong is a walk through the pods.
func drawLong(c *model.Cluster, bound, waiting []*v1.Pod, random *rand.Rand) (all changes) {
	at := map[*v1.Pod]string{}
	for _, p := range bound {
		at[p] = p.Spec.NodeName
	}
	pods := slices.Concat(bound, waiting)
	if len(pods) == 0 || len(c.Nodes) == 0 {
		return nil
	}
	for range 3 + random.IntN(6) {
		p := pods[random.IntN(len(pods))]
		switch node := at[p]; {
		case node != "":
			all = append(all, change{false, p, node})
			at[p] = ""
		case p.Spec.NodeName != "":
			all = append(all, change{true, p, p.Spec.NodeName})
			at[p] = p.Spec.NodeName
		default:
			node = c.Nodes[random.IntN(len(c.Nodes))].Name
			all = append(all, change{true, p, node})
			at[p] = node
		}
	}
	return all
}

// changed is what plugins say of changes.
type changed struct {
	all []changes
	// told is what a plugin says that was told of changes, fresh what it says of the cluster in which they were made: by plugin, and by
	// the index of the changes. Who skips, or rejects the pod before Filter, is told of none.
	told  map[string]map[int]map[string]calls.Verdict
	fresh map[string]map[int]calls.Answer
	// moves are the answers of AddPod and RemovePod that are no success.
	moves map[string][]calls.Verdict
}

// runChanges asks the plugins about lists of changes.
func (x *interview) runChanges() (*changed, error) {
	r := &changed{all: drawChanges(x.Cluster, x.running()), told: map[string]map[int]map[string]calls.Verdict{},
		fresh: map[string]map[int]calls.Answer{}, moves: map[string][]calls.Verdict{}}
	type asked struct {
		plugin string
		i      int
	}
	var s script
	filters, says, moves := map[int]asked{}, map[int]asked{}, map[int]string{}
	told := x.toldOfChanges()
	for _, plugin := range told {
		r.told[plugin] = map[int]map[string]calls.Verdict{}
		base := s.add(calls.Call{Op: calls.PreFilter, Plugin: plugin})
		for i, list := range r.all {
			state := s.add(calls.Call{Op: calls.Clone, State: base})
			for _, one := range list {
				op := calls.RemovePod
				if one.add {
					op = calls.AddPod
				}
				moves[s.add(calls.Call{Op: op, State: state, Pod: model.Key(one.pod), Node: one.node})] = plugin
			}
			filters[s.add(calls.Call{Op: calls.Filter, State: state})] = asked{plugin, i}
		}
	}
	for i, list := range r.all {
		s = append(s, list.cluster()...)
		for _, plugin := range x.plugins {
			if r.fresh[plugin] == nil {
				r.fresh[plugin] = map[int]calls.Answer{}
			}
			says[s.add(calls.Call{Op: calls.Says, Plugin: plugin})] = asked{plugin, i}
		}
		s.add(calls.Call{Op: calls.Restore})
	}
	answers, err := x.ask(s)
	if err != nil {
		return nil, err
	}
	for at, about := range filters {
		r.told[about.plugin][about.i] = answers[at].Nodes
	}
	for at, about := range says {
		r.fresh[about.plugin][about.i] = answers[at]
	}
	for at, plugin := range moves {
		if v := answers[at].Verdict; !v.Passes() {
			r.moves[plugin] = append(r.moves[plugin], v)
		}
	}
	return r, nil
}

// toldOfChanges are the plugins that a dry run tells of changes: those that neither skip, nor reject the pod before Filter.
func (x *interview) toldOfChanges() (all []string) {
	for _, plugin := range x.plugins {
		if x.says[plugin].Verdict.Code == calls.Success {
			all = append(all, plugin)
		}
	}
	return all
}
