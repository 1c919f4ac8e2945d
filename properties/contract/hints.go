package contract

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Hints is that a pod that waits is woken by what helps it.
func Hints(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-hints",
		Promise: "EventsToRegister returns the events that may make a pod schedulable that the plugin rejected. QueueingHintFn signals whether the event can do that: QueueSkip implies that it has no impact.",
		Source:  "doc comments of EnqueueExtensions (kube-scheduler/framework/interface.go:467@v0.37.1), QueueingHintFn (types.go:210@v0.37.1) and QueueSkip (types.go:244@v0.37.1)",
		Lies:    []string{"a plugin registers for nothing", "a hint says QueueSkip", "a hint panics", "PreFilter panics after an event"},
	}, plugins, filtering, hints)
}

// hints makes one change after another, looks at whether it turns a rejection into a pass, and has the scheduler's queue say
// whether the pod is woken.
func hints(x *interview) error {
	rejects := x.filtering
	events := drawEvents(x.Cluster)
	type asked struct{ before, after map[string]int }
	var s script
	all := make([]asked, len(events))
	says := func() map[string]int {
		at := map[string]int{}
		for _, plugin := range rejects {
			at[plugin] = s.add(calls.Call{Op: calls.Says, Plugin: plugin})
		}
		return at
	}
	for i, e := range events {
		s = append(s, e.before...)
		all[i].before = says()
		s.add(e.event)
		all[i].after = says()
		s.add(calls.Call{Op: calls.Restore})
	}
	answers, err := x.ask(s)
	if err != nil {
		return err
	}
	type woken struct {
		event        int
		plugin, node string
		// helps: the plugin passes a node that it rejected; fits: all other plugins pass it as well.
		helps, fits    bool
		park, waits    int
		before, afterV calls.Verdict
		reasons        string // why nodes were rejected before
	}
	var wakes []woken
	var second script
	random := properties.Random(x.Cluster, "events in vain")
	for i := range events {
		var inVain []woken
		for _, plugin := range x.plugins {
			before, after := answers[all[i].before[plugin]], answers[all[i].after[plugin]]
			w := woken{event: i, plugin: plugin}
			rejected := false
			for _, n := range slices.Sorted(maps.Keys(before.Nodes)) {
				if v := before.Nodes[n]; v.IsRejection() {
					rejected, w.reasons = true, w.reasons+v.Reason+"; "
				}
			}
			if !rejected {
				continue
			}
			for _, n := range slices.Sorted(maps.Keys(after.Nodes)) {
				was, existed := before.Nodes[n]
				if is := after.Nodes[n]; is.Passes() && (!existed || was.IsRejection()) {
					fits := !slices.ContainsFunc(rejects, func(other string) bool { return !answers[all[i].after[other]].Nodes[n].Passes() })
					if !w.helps || fits {
						w.node, w.helps, w.fits, w.before, w.afterV = n, true, fits, was, is
					}
				}
			}
			switch {
			case !x.hears(&events[i], w.fits):
			case w.helps:
				wakes = append(wakes, w)
			default:
				inVain = append(inVain, w)
			}
		}
		if len(inVain) > 0 {
			wakes = append(wakes, inVain[random.IntN(len(inVain))])
		}
	}
	for i := range wakes {
		w := &wakes[i]
		e := events[w.event]
		second = append(second, e.before...)
		w.park = second.add(calls.Call{Op: calls.Park, Plugin: w.plugin})
		second.add(e.event)
		w.waits = second.add(calls.Call{Op: calls.Waits})
		second.add(calls.Call{Op: calls.Restore})
	}
	if len(second) == 0 {
		return nil
	}
	if answers, err = x.ask(second); err != nil {
		return err
	}
	for _, w := range wakes {
		if !answers[w.park].Yes {
			continue
		}
		e, waits := events[w.event], answers[w.waits].Yes
		switch {
		case answers[w.waits].Verdict.Code == calls.Broken: // ask tells why
		case w.helps:
			x.Tally(w.plugin, Turned, 1)
			if waits {
				was := w.before.String()
				if w.before.Code == "" {
					was = "there was no such node"
				}
				kind, others := "it sleeps through: ", "Other plugins still reject that node"
				if w.fits {
					kind, others = "it sleeps, though the pod fits, through: ", "All plugins pass that node now"
				}
				x.foundBreach(breach{plugin: w.plugin, event: &e, reasons: w.reasons}, kind+e.kind, fmt.Sprintf("rejected the pod, which waits for an event. %s: of %s it said %s before, and now %s. %s. The pod is not woken", e, w.node, was, w.afterV, others))
			}
		case waits:
			x.Tally(w.plugin, Slept, 1)
		default:
			x.Tally(w.plugin, InVain, 1)
		}
	}
	return nil
}

// tellsAll is that the queue tells each plugin of each event that it is registered for. Before queueing hints were on by
// default (KEP-4247), it kept some to itself, for what it knew of the scheduler's own plugins.
const tellsAll properties.Premise = ">=1.32.0"

// hears tells whether the queue tells plugins of an event, by which the pod fits on a node or not. One that does not tell all keeps to
// itself that nodes are deleted, and, of pods that want nothing to do with others, that bound pods are added or updated; of nodes it
// asks first whether the pod's name, affinity, requests and tolerations let it on them (eventhandlers.go:470@v1.25.16, preCheckForNode;
// scheduling_queue.go:596@v1.25.16, AssignedPodAdded).
func (x *interview) hears(e *event, fits bool) bool {
	if x.Holds(tellsAll) {
		return true
	}
	switch e.object.Kind {
	case "Node":
		return fits && e.event.Op != calls.Delete
	case "Pod":
		return e.event.Op == calls.Delete || e.object.Namespace+"/"+e.object.Name == model.Key(x.Cluster.Preemptor)
	}
	return true
}
