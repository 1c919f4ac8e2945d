package contract

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/properties"
)

// docFilter is where Filter is promised.
const docFilter = "doc comment of FilterPlugin.Filter (kube-scheduler/framework/interface.go:563@v0.37.1)"

// Pure is that asking changes nothing.
func Pure(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-pure",
		Promise: "Filter says whether a pod may be on the node that it is given, many nodes at once; what it is given is to be read only. Clone makes a copy of the state for AddPod and RemovePod.",
		Source:  docFilter + "; doc comments of StateData.Clone (cycle_state.go:32@v0.37.1) and of PreFilterExtensions (interface.go:509@v0.37.1)",
		Lies:    []string{"Clone shares its map", "Filter counts how often it was asked", "Filter takes a pod off the node", "Filter depends on the node asked before", "Filter panics when it is asked again"},
	}, plugins, filtering, pure)
}

// maxDigested is up to how many objects all plugins are looked at.
const maxDigested = 6

func pure(x *interview) error {
	removed := drawChanges(x.Cluster, x.running())[1:]
	if len(removed) > 3 {
		removed = removed[:3]
	}
	type one struct {
		plugin                   string
		first, backwards, atOnce int
		before, then             int
		clones                   []int
		movedBefore, movedThen   int
	}
	var s script
	var all []one
	told := x.toldOfChanges()
	// What everything holds takes long to write down, so that of large clusters it is for one plugin only.
	looked := len(told)
	if len(x.Cluster.Objects()) > maxDigested && looked > 0 {
		looked = properties.Random(x.Cluster, "digests").IntN(looked)
	}
	for i, plugin := range told {
		digest := calls.Digest
		if looked != len(told) && looked != i {
			digest = calls.List // which changes nothing either
		}
		base := s.add(calls.Call{Op: calls.PreFilter, Plugin: plugin})
		o := one{plugin: plugin}
		o.before = s.add(calls.Call{Op: digest, State: base})
		o.first = s.add(calls.Call{Op: calls.Filter, State: base})
		o.backwards = s.add(calls.Call{Op: calls.Filter, State: base, Reversed: true})
		o.atOnce = s.add(calls.Call{Op: calls.FilterAtOnce, State: base})
		o.then = s.add(calls.Call{Op: digest, State: base})
		for _, list := range removed {
			// Neither what becomes of a clone changes what it was made of, nor the other way round.
			moved := s.add(calls.Call{Op: calls.Clone, State: base})
			other := s.add(calls.Call{Op: calls.Clone, State: moved})
			for _, change := range list {
				op := calls.RemovePod
				if change.add {
					op = calls.AddPod
				}
				s.add(calls.Call{Op: op, State: moved, Pod: model.Key(change.pod), Node: change.node})
			}
			o.movedBefore = s.add(calls.Call{Op: digest, State: moved})
			s.add(calls.Call{Op: calls.Filter, State: moved})
			o.movedThen = s.add(calls.Call{Op: digest, State: moved})
			o.clones = append(o.clones, s.add(calls.Call{Op: calls.Filter, State: other}), s.add(calls.Call{Op: calls.Filter, State: base}))
		}
		all = append(all, o)
	}
	answers, err := x.ask(s)
	if err != nil {
		return err
	}
	for _, o := range all {
		x.Tally(o.plugin, AskedPure, 1)
		first := answers[o.first].Nodes
		same := func(i int, kind, what string) {
			if node, how, detail := differ(answers[i].Nodes, first, x.Cluster.Nodes, nil); node != "" {
				x.found(o.plugin, kind+" it "+how, what+" it "+detail+" of "+node)
			}
		}
		same(o.backwards, "asked again", "was asked about the nodes, and then in the opposite order:")
		same(o.atOnce, "asked by many at once", "was asked by many goroutines at once:")
		if differs := answers[o.atOnce].Text; differs != "" {
			x.found(o.plugin, "asked by many at once it gives several answers", "gives several answers to many goroutines: "+differs)
		}
		for i, at := range o.clones {
			if i%2 == 0 {
				same(at, "once another clone was told of changes", "has a clone of its state, and a clone of that; the first was told of changes. Of the second")
			} else {
				same(at, "once a clone was told of changes", "has a clone of its state, which was told of changes. Of the state itself")
			}
		}
		changed := func(before, then int) {
			a, b := strings.Split(answers[before].Text, "\n"), strings.Split(answers[then].Text, "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					what, _, _ := strings.Cut(a[i], " ")
					x.found(o.plugin, "Filter changes the "+what, fmt.Sprintf("changes the %s that Filter is given", what))
				}
			}
		}
		changed(o.before, o.then)
		if len(removed) > 0 {
			changed(o.movedBefore, o.movedThen)
		}
	}
	return nil
}

// Skips is that a plugin that skips has nothing to say.
func Skips(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-skip",
		Promise: "When PreFilter returns Skip, the coupled Filter plugin and PreFilterExtensions are skipped in this scheduling cycle: also in the dry runs of preemption, so nothing that happens there would make Filter reject the pod.",
		Source:  "doc comment of PreFilterPlugin.PreFilter (kube-scheduler/framework/interface.go:529@v0.37.1)",
		Lies:    []string{"PreFilter skips where Filter would reject"},
	}, plugins, filtering, func(x *interview) error {
		r, err := x.runChanges()
		if err != nil {
			return err
		}
		for _, plugin := range x.plugins {
			if x.says[plugin].Verdict.Code != calls.Skip {
				continue
			}
			x.Tally(plugin, AskedSkip, len(r.all)-1)
			for i, changes := range r.all {
				for _, n := range x.Cluster.Nodes {
					if v := r.fresh[plugin][i].Nodes[n.Name]; v.IsRejection() {
						x.foundBreach(breach{plugin: plugin, changes: changes}, "it skips, and after "+changes.kind()+" it would say "+code(v), fmt.Sprintf("skips. In the cluster in which %s, it says of %s: %s", changes, n.Name, v))
					}
				}
			}
		}
		return nil
	})
}

// LeavesOut is that a PreFilterResult leaves out only nodes that do not do.
func LeavesOut(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-leaves-out",
		Promise: "Nodes that the PreFilterResult leaves out count as UnschedulableAndUnresolvable: the pod may not be there, so Filter would say the same of them.",
		Source:  "doc comment of PreFilterPlugin.PreFilter (kube-scheduler/framework/interface.go:533@v0.37.1)",
		Lies:    []string{"PreFilter leaves a node out that Filter passes"},
	}, plugins, []string{"Filter"}, func(x *interview) error {
		var s script
		asked := map[string]int{}
		for _, plugin := range x.toldOfChanges() {
			asked[plugin] = s.add(calls.Call{Op: calls.Filter, State: s.add(calls.Call{Op: calls.PreFilter, Plugin: plugin})})
		}
		answers, err := x.ask(s)
		if err != nil {
			return err
		}
		for _, plugin := range x.toldOfChanges() {
			for _, n := range x.Cluster.Nodes {
				v := answers[asked[plugin]].Nodes[n.Name]
				if !v.LeftOut {
					continue
				}
				x.Tally(plugin, AskedLeftOut, 1)
				if v.Passes() {
					x.found(plugin, "its PreFilterResult leaves out a node that Filter passes", "leaves "+n.Name+" out of its PreFilterResult, and Filter passes it")
				}
			}
		}
		return nil
	})
}

// Unresolvable is that a plugin that says so cannot be helped.
func Unresolvable(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-unresolvable",
		Promise: "UnschedulableAndUnresolvable says that preemption would not change anything. Plugins should return Unschedulable if it is possible that the pod can get scheduled after preemption.",
		Source:  "doc comment of UnschedulableAndUnresolvable (kube-scheduler/framework/interface.go:66@v0.37.1)",
		Lies:    []string{"Filter says unresolvable of a node that is only full"},
	}, plugins, filtering, func(x *interview) error {
		r, err := x.runRemovals()
		if err != nil {
			return err
		}
		for _, plugin := range x.plugins {
			for _, n := range x.Cluster.Nodes {
				is := x.says[plugin].Nodes[n.Name]
				if len(r[n.Name]) == 0 || !is.IsRejection() {
					continue
				}
				helped := slices.IndexFunc(r[n.Name], func(one removal) bool { return one.says[plugin].Nodes[n.Name].Passes() })
				switch {
				case is.Code != calls.Unresolvable && helped < 0:
					x.Tally(plugin, Helpless, 1)
				case is.Code == calls.Unresolvable:
					x.Tally(plugin, AskedUnresolvable, 1)
					if helped >= 0 {
						gone := r[n.Name][helped].pods
						x.found(plugin, code(is)+", and a removal of pods helps", fmt.Sprintf("says of %s: %s. Without %s, which the pod may preempt, it passes", n.Name, is, strings.Join(keys(gone), ", ")))
					}
				}
				x.Tally(plugin, Rejected, 1)
			}
		}
		return nil
	})
}

// removal is a cluster without some pods of a node that the preemptor may preempt.
type removal struct {
	pods []*v1.Pod
	says map[string]calls.Answer // by plugin
}

// maxRemovals bounds how many sets of pods are removed from one node.
const maxRemovals = 8

// runRemovals asks the plugins about each node without pods of lower priority.
func (x *interview) runRemovals() (map[string][]removal, error) {
	all := map[string][]removal{}
	type asked struct {
		node, plugin string
		i            int
	}
	var s script
	says := map[int]asked{}
	running := x.running()
	for _, n := range x.Cluster.Nodes {
		lower := slices.DeleteFunc(slices.Clone(running[n.Name]), func(p *v1.Pod) bool {
			return model.Priority(p) >= model.Priority(x.Cluster.Preemptor)
		})
		for i, pods := range subsets(lower) {
			all[n.Name] = append(all[n.Name], removal{pods, map[string]calls.Answer{}})
			for _, p := range pods {
				s.add(calls.Call{Op: calls.Delete, Object: podObject(p)})
			}
			for _, plugin := range x.plugins {
				says[s.add(calls.Call{Op: calls.Says, Plugin: plugin})] = asked{n.Name, plugin, i}
			}
			s.add(calls.Call{Op: calls.Restore})
		}
	}
	answers, err := x.ask(s)
	if err != nil {
		return nil, err
	}
	for at, about := range says {
		all[about.node][about.i].says[about.plugin] = answers[at]
	}
	return all, nil
}

// subsets are all sets of a few pods, the whole one first; of many the whole, each one, and all but each one.
func subsets(pods []*v1.Pod) (all [][]*v1.Pod) {
	if len(pods) == 0 {
		return nil
	}
	if len(pods) <= 3 {
		for mask := 1<<len(pods) - 1; mask > 0; mask-- {
			var some []*v1.Pod
			for i, p := range pods {
				if mask&(1<<i) != 0 {
					some = append(some, p)
				}
			}
			all = append(all, some)
		}
		return all
	}
	all = append(all, pods)
	for i := range pods {
		all = append(all, pods[i:i+1], slices.Delete(slices.Clone(pods), i, i+1))
	}
	return all[:min(len(all), maxRemovals)]
}
