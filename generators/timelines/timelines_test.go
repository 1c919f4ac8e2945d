package timelines

import (
	"reflect"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// drawn is how many timelines the probes look at.
const drawn = 2000

// TestSameSeedSameTimeline: a seed gives the same timeline each time, and another seed another.
func TestSameSeedSameTimeline(t *testing.T) {
	for seed := range uint64(200) {
		require.Equal(t, FromSeed(seed), FromSeed(seed), "seed %d", seed)
		require.NotEqual(t, FromSeed(seed), FromSeed(seed+1), "seed %d", seed)
	}
}

// TestAllAreAdmitted: the API server would take all objects, and has something to fill in.
func TestAllAreAdmitted(t *testing.T) {
	for seed := range uint64(drawn) {
		require.NoError(t, apiserver.Timeline(FromSeed(seed)), "seed %d", seed)
	}
}

// TestFloors: of the drawn timelines, each kind of step, each place and each feature is in at
// least so many.
func TestFloors(t *testing.T) {
	floors := map[string]int{
		// Steps.
		"create Pod": drawn, "create Node": 80, "delete Pod": 1400, "delete Node": 80, "end": 1000,
		"change Node": 250, "change Pod": 300, "change PodDisruptionBudget": 200,
		"wait": 1600, "hold": 1300, "release": 800, "next": 400, "fail": 200, "fail, arrives": 80, "takeover": 60,
		"takeover with an older list": 80, "takeover with an older list of nodes": 20,
		"pod affinity": 30, "pod anti-affinity": 50, "topology spread": 50, "priority class": 60, "delete PriorityClass": 40, "create PriorityClass": 40, "change PriorityClass": 20,
		"resize": 80, "narrowed while gated": 30, "image or deadline": 60, "node selector": 200, "disk of a node": 80, "amount of a node": 60, "pod selects a disk": 60, "pod asks for an amount": 80,
		"relist Pod": 200, "relist Node": 80, "relist PodDisruptionBudget": 20, "relist while events are not stored": 200, "relist of a recreated pod": 40,
		"replace": 250, "replace several times": 150, "replace at once": 120, "replace later": 120,
		// What there is at the start.
		"second profile": 120, "synchronous": 120, "API calls are asynchronous": 120, "budget": 350, "taint": 60, "toleration": 150, "never preempts": 60,
		"several nodes": 800, "preemptors of several priorities": 800, "preemptors of one priority": 500,
		"several told at a standstill": 500, "events let go at a standstill": 300,
		"finalizer": 80, "scheduling gate": 50, "host port": 120, "short grace period": 900, "pod without room": 500,
		"node for few pods": 120, "pod of another scheduler": 100, "grace period beyond the flush": 60,
		"wait past the flush": 80, "node comes back": 25, "budget goes": 60, "budget is for others": 30,
		"takeover while something is held": 100, "hold of PodDisruptionBudget": 60,
		// Chains that the findings so far took.
		"hold and next of one place": 300, "next, then delete": 300, "wait past the backoff": 500,
	}
	for _, place := range timeline.Places() {
		floors["hold "+string(place)] = 150
	}
	floors["hold preBind"], floors["hold preBound"], floors["hold start"] = 120, 120, 30 // only where bindings are drawn
	for _, place := range timeline.Calls() {
		floors["fail "+string(place)] = 80
	}
	for _, err := range []string{"InternalError", "Timeout", "Conflict"} {
		floors["fails with "+err] = 80
	}
	count := map[string]int{}
	for seed := range uint64(drawn) {
		for what := range has(FromSeed(seed)) {
			count[what]++
		}
	}
	for what, floor := range floors {
		assert.GreaterOrEqual(t, count[what], floor, what)
	}
	on := map[string]int{}
	for seed := range uint64(drawn) {
		v := reflect.ValueOf(drawFeatures(draw.FromSeed(seed)))
		for i := range v.NumField() {
			if v.Field(i).Bool() {
				on[v.Type().Field(i).Name]++
			}
		}
	}
	for i, v := 0, reflect.TypeOf(generator{}.features); i < v.NumField(); i++ {
		name := v.Field(i).Name
		require.GreaterOrEqual(t, on[name], drawn/20, name)
		require.LessOrEqual(t, on[name], drawn*9/10, "%s is hardly ever off", name)
	}
}

// TestNarrowedWhileGated: a pod is told to go to one node only while it has scheduling gates, as the API
// server admits no such change of others.
func TestNarrowedWhileGated(t *testing.T) {
	for seed := range uint64(drawn) {
		gated := map[string]bool{}
		tl := FromSeed(seed)
		for i := range tl.Steps {
			s := &tl.Steps[i]
			switch p := s.CreatedPod(); {
			case p != nil:
				gated["Pod "+model.Key(p)] = len(p.Spec.SchedulingGates) > 0
			case strings.Contains(string(s.With), "schedulingGates"):
				delete(gated, s.Change)
			case strings.Contains(string(s.With), "nodeSelector"):
				require.True(t, gated[s.Change], "seed %d, step %d", seed, i+1)
			}
		}
	}
}

// TestHostPorts: at the start no two pods of a node have one host port: the kubelet would not
// run the second.
func TestHostPorts(t *testing.T) {
	for seed := range uint64(drawn) {
		has := map[string]bool{}
		for _, p := range FromSeed(seed).Cluster.Pods {
			if len(p.Spec.Containers[0].Ports) > 0 {
				require.False(t, has[p.Spec.NodeName], "seed %d", seed)
				has[p.Spec.NodeName] = true
			}
		}
	}
}

// has is what a timeline has.
func has(tl *timeline.Timeline) map[string]bool {
	is := map[string]bool{}
	s := tl.Cluster.Settings
	is["second profile"] = s.SecondProfile != nil
	is["synchronous"] = !s.AsyncPreemption()
	is["API calls are asynchronous"] = s.FeatureGates["SchedulerAsyncAPICalls"]
	is["budget"] = len(tl.Cluster.PodDisruptionBudgets) > 0
	is["several nodes"] = len(tl.Cluster.Nodes) > 1
	look := func(p *v1.Pod) {
		is["finalizer"] = is["finalizer"] || len(p.Finalizers) > 0
		is["scheduling gate"] = is["scheduling gate"] || len(p.Spec.SchedulingGates) > 0
		is["never preempts"] = is["never preempts"] || p.Spec.PreemptionPolicy != nil && *p.Spec.PreemptionPolicy == v1.PreemptNever
		is["pod of another scheduler"] = is["pod of another scheduler"] || !s.Schedules(p.Spec.SchedulerName)
		grace := p.Spec.TerminationGracePeriodSeconds
		is["grace period beyond the flush"] = is["grace period beyond the flush"] || grace != nil && *grace > 330
		if a := p.Spec.Affinity; a != nil {
			is["pod affinity"] = is["pod affinity"] || a.PodAffinity != nil
			is["pod anti-affinity"] = is["pod anti-affinity"] || a.PodAntiAffinity != nil
		}
		is["topology spread"] = is["topology spread"] || len(p.Spec.TopologySpreadConstraints) > 0
		is["priority class"] = is["priority class"] || p.Spec.PriorityClassName != ""
		is["node selector"] = is["node selector"] || len(p.Spec.NodeSelector) > 0
		is["pod selects a disk"] = is["pod selects a disk"] || p.Spec.NodeSelector["disk"] != ""
		is["pod asks for an amount"] = is["pod asks for an amount"] || len(p.Spec.Containers[0].Resources.Requests) > 1
		is["host port"] = is["host port"] || len(p.Spec.Containers[0].Ports) > 0
		is["short grace period"] = is["short grace period"] || p.Spec.TerminationGracePeriodSeconds != nil
	}
	for _, p := range tl.Cluster.Pods {
		look(p)
	}
	for _, n := range tl.Cluster.Nodes {
		is["node for few pods"] = is["node for few pods"] || n.Status.Allocatable.Pods().Value() < 6
	}
	of := map[int32]int{} // preemptors, by priority
	held, next := map[timeline.Place]bool{}, false
	lost := map[string]bool{} // kinds of events that are not stored
	told := 0                 // steps about objects since the queue was held
	created, again := map[string]bool{}, map[string]bool{}
	deleted, holding := map[string]bool{}, map[timeline.Place]bool{}
	for i := range tl.Steps {
		s := &tl.Steps[i]
		kind := func(name string) string { kind, _, _ := strings.Cut(name, " "); return kind }
		if held[timeline.Place{Name: timeline.Pop}] {
			is["several told at a standstill"] = is["several told at a standstill"] || told > 1
			is["events let go at a standstill"] = is["events let go at a standstill"] || told > 1 && s.Release != nil && s.Release.Name.OfKind()
		}
		switch {
		case s.Create != nil, s.Change != "", s.Delete != "":
			told++
		case s.Release == nil && s.Next == nil && s.End == "":
			told = 0
		}
		switch {
		case s.CreatedPod() != nil:
			is["create Pod"] = true
			if name := s.CreatedPod().Name; created[name] && lost["Pod"] {
				again[name] = true
			}
			created[s.CreatedPod().Name] = true
			look(s.CreatedPod())
			if strings.HasPrefix(s.CreatedPod().Name, "p") {
				of[model.Priority(s.CreatedPod())]++
			} else {
				is["pod without room"] = true
			}
		case s.Create != nil:
			_, isClass := s.Create.(*schedulingv1.PriorityClass)
			is["create PriorityClass"] = is["create PriorityClass"] || isClass
			node, ok := s.Create.(*v1.Node)
			is["create Node"] = is["create Node"] || ok
			is["node comes back"] = is["node comes back"] || ok && deleted["Node "+node.Name]
		case s.Change != "":
			is["change "+kind(s.Change)] = true
			is["budget is for others"] = is["budget is for others"] || strings.Contains(string(s.With), "matchLabels")
			is["disk of a node"] = is["disk of a node"] || strings.Contains(string(s.With), `"disk"`)
			is["amount of a node"] = is["amount of a node"] || strings.HasPrefix(s.Change, "Node ") && strings.Contains(string(s.With), "allocatable") && !strings.Contains(string(s.With), "cpu")
			is["taint"] = is["taint"] || strings.Contains(string(s.With), "taints")
			is["resize"] = is["resize"] || strings.Contains(string(s.With), "requests")
			is["narrowed while gated"] = is["narrowed while gated"] || strings.Contains(string(s.With), "nodeSelector")
			is["image or deadline"] = is["image or deadline"] || strings.Contains(string(s.With), "image") || strings.Contains(string(s.With), "activeDeadlineSeconds")
			is["toleration"] = is["toleration"] || strings.Contains(string(s.With), "tolerations")
		case s.Delete != "":
			is["delete "+kind(s.Delete)], deleted[s.Delete] = true, true
			is["budget goes"] = is["budget goes"] || kind(s.Delete) == "PodDisruptionBudget"
			is["next, then delete"] = is["next, then delete"] || next
		case s.End != "":
			is["end"] = true
		case s.Wait > 0:
			is["wait"] = true
			is["wait past the flush"] = is["wait past the flush"] || s.Wait > 330*time.Second
			is["wait past the backoff"] = is["wait past the backoff"] || s.Wait > 10*time.Second
		case s.Hold != nil:
			is["hold"], is["hold "+string(s.Hold.Name)], held[*s.Hold] = true, true, true
			is["hold of PodDisruptionBudget"] = is["hold of PodDisruptionBudget"] || s.Hold.Kind == "PodDisruptionBudget"
			holding[*s.Hold] = true
			lost[s.Hold.Kind] = lost[s.Hold.Kind] || s.Hold.Name == timeline.Store
		case s.Release != nil:
			is["release"] = true
			delete(holding, *s.Release)
			delete(lost, s.Release.Kind)
			delete(held, *s.Release)
		case s.Next != nil:
			is["next"], next = true, true
			is["hold and next of one place"] = is["hold and next of one place"] || held[*s.Next]
		case s.Fail != nil:
			is["fail"], is["fail "+string(s.Fail.Call)], is["fails with "+s.Fail.Error] = true, true, true
			is["fail, arrives"] = is["fail, arrives"] || s.Fail.Arrives
		case s.Relist != "":
			is["relist "+s.Relist] = true
			is["relist while events are not stored"] = is["relist while events are not stored"] || lost[s.Relist]
			is["relist of a recreated pod"] = is["relist of a recreated pod"] || s.Relist == "Pod" && len(again) > 0
			clear(again)
		case s.Replace != nil:
			is["replace"] = true
			is["replace several times"] = is["replace several times"] || s.Replace.Times > 1
			is["replace at once"] = is["replace at once"] || s.Replace.After == 0
			is["replace later"] = is["replace later"] || s.Replace.After > 0
		case s.Takeover:
			is["takeover"] = true
			is["takeover with an older list"] = is["takeover with an older list"] || s.Behind["Pod"] > 0
			is["takeover with an older list of nodes"] = is["takeover with an older list of nodes"] || s.Behind["Node"] > 0
			is["takeover while something is held"] = is["takeover while something is held"] || len(holding) > 0
		}
	}
	is["preemptors of several priorities"] = len(of) > 1
	for _, n := range of {
		is["preemptors of one priority"] = is["preemptors of one priority"] || n > 1
	}
	for what, so := range is {
		if !so {
			delete(is, what)
		}
	}
	return is
}
