package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
)

// NoErrors is that valid objects are judged.
func NoErrors(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-no-errors",
		Promise: "Error is for unexpected failures. Objects that the API server admits are none, but for what nobody could read: a plugin passes them or rejects them, and does not panic.",
		Source:  "doc comments of Error (kube-scheduler/framework/interface.go:55@v0.37.1) and of FilterPlugin.Filter (kube-scheduler/framework/interface.go:573@v0.37.1)",
		Lies:    []string{"Filter returns an error", "PreFilter panics"},
	}, plugins, filtering, func(x *interview) error {
		r, err := x.runChanges()
		if err != nil {
			return err
		}
		for _, plugin := range x.plugins {
			x.Tally(plugin, AskedNoErrors, 1)
			told := func(v calls.Verdict, when string, codes ...calls.Code) {
				if slices.Contains(codes, v.Code) && !v.LeftOut && !x.unexpected(plugin, v) {
					x.foundBreach(breach{plugin: plugin, reasons: v.Reason}, v.Word()+": "+answers.Cause(v.Reason), fmt.Sprintf("%s %s", when, v))
				}
			}
			says := x.says[plugin]
			told(says.Verdict, "ends in", calls.Fails, calls.Panics)
			for _, n := range x.Cluster.Nodes {
				told(says.Nodes[n.Name], "asked about "+n.Name+" ends in", calls.Fails, calls.Panics)
			}
			// Of what panics once the cluster has changed, ask tells.
			for i, changes := range r.all {
				for _, n := range x.Cluster.Nodes {
					told(r.told[plugin][i][n.Name], fmt.Sprintf("was told: %s. Asked about %s it ends in", changes, n.Name), calls.Fails)
					told(r.fresh[plugin][i].Nodes[n.Name], fmt.Sprintf("is in the cluster in which %s. Asked about %s it ends in", changes, n.Name), calls.Fails)
				}
			}
			for _, v := range r.moves[plugin] {
				told(v, "was told of a change, which ends in", calls.Fails)
			}
		}
		return nil
	})
}

// unexpected tells whether an error is about what nobody can read, as it is "used for internal plugin errors, unexpected input": that the API
// server takes a label for a zone does not make it one that a CSI driver knows.
func (x *interview) unexpected(plugin string, v calls.Verdict) bool {
	return plugin == "VolumeBinding" && v.Code == calls.Fails && strings.Contains(v.Reason, "could not translate pv") &&
		volume.MountsUntranslatable(x.Cluster.Preemptor, x.Cluster.Extra)
}

// Reasons is that who rejects a pod says why.
func Reasons(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-reasons",
		Promise: "When the status code is not Success, the reasons should explain why: a plugin that rejects a pod gives one reason at least, and none that is empty.",
		Source:  "doc comment of Status (kube-scheduler/framework/interface.go:112@v0.37.1)",
		Lies:    []string{"Filter rejects without a reason", "Filter gives an empty reason"},
	}, plugins, filtering, func(x *interview) error {
		for _, plugin := range x.plugins {
			says := x.says[plugin]
			told := func(v calls.Verdict, about string) {
				if !v.IsRejection() || v.LeftOut {
					return
				}
				x.Tally(plugin, AskedReasons, 1)
				if v.Mute {
					x.found(plugin, "rejects without a reason", fmt.Sprintf("says %s %s, and gives no reason, or an empty one: %q", v.Word(), about, v.Reason))
				}
			}
			told(says.Verdict, "about all nodes")
			for _, n := range x.Cluster.Nodes {
				told(says.Nodes[n.Name], "about "+n.Name)
			}
		}
		return nil
	})
}

// Undone is that what is kept for a pod is given back.
func Undone(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-undone",
		Promise: "If a reserved pod is rejected, or an error occurs later, Unreserve is called: it is idempotent, may be called although Reserve was not, and leaves everything as it was.",
		Source:  "doc comment of ReservePlugin (kube-scheduler/framework/interface.go:670@v0.37.1); docs: concepts/scheduling-eviction/scheduling-framework, \"Reserve\"",
		Lies:    []string{"Unreserve keeps what Reserve took", "Reserve keeps what it took when PreBind fails"},
	}, plugins, keeping, undone)
}

func undone(x *interview) error {
	type one struct {
		plugin, node, what string
		pod                string
		before, after      int
	}
	var s script
	var all []one
	reached := map[string][]int{}
	for _, plugin := range x.plugins {
		if x.says[plugin].Verdict.Code != calls.Success {
			continue
		}
		before := map[string]int{}
		for _, pod := range []string{"", calls.Twin} {
			before[pod] = s.add(calls.Call{Op: calls.Says, Plugin: plugin, Pod: pod})
		}
		ask := func(node, what string) {
			for _, pod := range []string{"", calls.Twin} {
				all = append(all, one{plugin, node, what, pod, before[pod], s.add(calls.Call{Op: calls.Says, Plugin: plugin, Pod: pod})})
			}
		}
		for _, n := range x.Cluster.Nodes {
			if !x.says[plugin].Nodes[n.Name].Passes() {
				continue
			}
			state := func() int {
				base := s.add(calls.Call{Op: calls.PreFilter, Plugin: plugin})
				s.add(calls.Call{Op: calls.Filter, State: base})
				return base
			}
			base := state()
			s.add(calls.Call{Op: calls.Unreserve, State: base, Node: n.Name})
			ask(n.Name, "Unreserve without Reserve")
			base = state()
			reached[plugin] = append(reached[plugin], s.add(calls.Call{Op: calls.Reserve, State: base, Node: n.Name}))
			s.add(calls.Call{Op: calls.Unreserve, State: base, Node: n.Name})
			s.add(calls.Call{Op: calls.Unreserve, State: base, Node: n.Name})
			ask(n.Name, "Reserve and Unreserve")
			base = state()
			s.add(calls.Call{Op: calls.Reserve, State: base, Node: n.Name})
			s.add(calls.Call{Op: calls.PreBind, State: base, Node: n.Name})
			s.add(calls.Call{Op: calls.Unreserve, State: base, Node: n.Name})
			ask(n.Name, "Reserve, a PreBind that fails and Unreserve")
			break // one node is as good as another
		}
	}
	if len(s) == 0 {
		return nil
	}
	got, err := x.ask(s)
	if err != nil {
		return err
	}
	for _, plugin := range x.plugins {
		for _, at := range reached[plugin] {
			if got[at].Verdict.Code == calls.Success {
				x.Tally(plugin, AskedUndone, 1)
			}
		}
	}
	for _, o := range all {
		whom := "the pod"
		if o.pod != "" {
			whom = "a pod like it"
		}
		if node, how, detail := differ(got[o.after].Nodes, got[o.before].Nodes, x.Cluster.Nodes, nil); node != "" {
			x.found(o.plugin, "after "+o.what+" it "+how, fmt.Sprintf("was called for %s: %s. Asked about %s it then %s of %s", o.node, o.what, whom, detail, node))
		}
	}
	return nil
}
