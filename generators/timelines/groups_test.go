package timelines

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// grouped is the timeline of a number with pod groups.
func grouped(seed uint64) *timeline.Timeline {
	return FromSeedWith(seed, map[string]bool{model.GateWorkload: true})
}

// hasGroups tells whether the scheduler of a timeline knows pod groups.
func hasGroups(tl *timeline.Timeline) bool {
	return tl.Cluster.Settings.FeatureGates[model.GateWorkload]
}

// TestGroupsComeBesides: a share of the timelines has groups, and the others are as they are without any; all have them,
// or none, where the gate is pinned.
func TestGroupsComeBesides(t *testing.T) {
	n := 0
	for seed := range uint64(drawn) {
		tl, without := FromSeed(seed), Ungrouped(seed)
		require.True(t, hasGroups(grouped(seed)))
		require.False(t, hasGroups(without))
		if hasGroups(tl) {
			n++
			continue
		}
		require.Equal(t, without, tl, "seed %d", seed)
	}
	require.InDelta(t, drawn*groupsPercent/100, n, drawn*3/100)
	for seed := range uint64(100) {
		gates := FromSeedWith(seed, map[string]bool{model.GateWorkload: true, model.GateComposite: false, podgroup.GatePolicy: true}).Cluster.Settings.FeatureGates
		require.False(t, gates[model.GateComposite], "seed %d", seed)
	}
}

// TestGroupsAreAdmitted: the API server would take the objects of all timelines with groups.
func TestGroupsAreAdmitted(t *testing.T) {
	for seed := range uint64(drawn) {
		require.NoError(t, apiserver.Timeline(grouped(seed)), "seed %d", seed)
	}
}

// TestFloorsOfGroups: of the timelines with groups, each kind of group and each thing that happens to one is in at least
// so many.
func TestFloorsOfGroups(t *testing.T) {
	floors := map[string]int{
		"runs": 800, "several run": 130, "comes": 1500, "several come": 400,
		"mode All": 1200, "mode Single": 800, "no mode": 500, "basic": 600, "minCount below": 500, "minCount at": 800, "minCount above": 150,
		"no priority": 100, "pods of another priority": 180, "one pod of another priority": 80, "never preempts": 60, "says itself whether it preempts": 100,
		"composite": 150, "composite of several": 20, "composite, Single": 40,
		"created first": 200, "created after pods": 400, "missing": 150, "there at the start": 1200, "created again": 100, "goes": 100,
		"scheduling gate": 30, "node selector": 150, "minCount changes": 80,
		"late pod": 500, "pod is deleted": 700, "pod is replaced": 150, "pod is replaced several times": 100,
		"calls fail": 400, "evictions of a pod of a group fail": 150, "bindings of a pod of a group fail": 60, "failing calls take effect": 100,
		"relist PodGroup": 50, "hold of PodGroup": 150, "takeover": 120, "its preemption is held": 70,
		"skipped": 200, "nothing else happens": 180, "much else happens": 300,
	}
	count := map[string]int{}
	for seed := range uint64(drawn) {
		for what, so := range hasOfGroups(grouped(seed)) {
			if so {
				count[what]++
			}
		}
	}
	for what, floor := range floors {
		assert.GreaterOrEqual(t, count[what], floor, what)
	}
}

// hasOfGroups is what a timeline has of groups.
func hasOfGroups(tl *timeline.Timeline) map[string]bool {
	is := map[string]bool{}
	groups, pods := map[string]*schedulingv1beta1.PodGroup{}, map[string][]*v1.Pod{}
	groupOf := map[string]string{}
	composites := map[string]int{}
	join := func(p *v1.Pod) {
		if p.Spec.SchedulingGroup != nil {
			name := *p.Spec.SchedulingGroup.PodGroupName
			pods[name], groupOf[model.Key(p)] = append(pods[name], p), name
		}
	}
	meet := func(o runtime.Object) {
		switch g := o.(type) {
		case *schedulingv1beta1.PodGroup:
			groups[g.Name] = g
			if g.Spec.ParentCompositePodGroupName != nil {
				composites[*g.Spec.ParentCompositePodGroupName]++
			}
		case *schedulingv1alpha3.CompositePodGroup:
			is["composite"] = true
			is["composite, Single"] = g.Spec.DisruptionMode.Single != nil
		}
	}
	for _, p := range tl.Cluster.Pods {
		join(p)
	}
	running := len(pods)
	is["runs"], is["several run"] = running > 0, running > 1
	for _, o := range tl.Cluster.Extra {
		meet(o)
		_, of := o.(*schedulingv1beta1.PodGroup)
		is["there at the start"] = is["there at the start"] || of
	}
	created, gone := map[string]bool{}, map[string]bool{}
	deleted, skipped := map[string]bool{}, map[string]bool{} // pods, and groups of which each pod was then
	late, own := false, 0
	for i := range tl.Steps {
		s := &tl.Steps[i]
		about := strings.TrimPrefix(s.Delete, "Pod ")
		switch g, of := s.Create.(*schedulingv1beta1.PodGroup); {
		case of:
			is["created first"] = is["created first"] || len(pods[g.Name]) == 0
			is["created after pods"] = is["created after pods"] || len(pods[g.Name]) > 0
			is["created again"] = is["created again"] || gone[g.Name]
			meet(g)
		case s.CreatedPod() != nil:
			join(s.CreatedPod())
			member := groupOf[model.Key(s.CreatedPod())] != ""
			is["late pod"] = is["late pod"] || member && late && !created[s.CreatedPod().Name]
			created[s.CreatedPod().Name] = true
			is["skipped"] = is["skipped"] || skipped[groupOf[model.Key(s.CreatedPod())]]
			if !member {
				own++
			}
		case s.Wait > 0:
			late = late || len(created) > 0
		case groupOf[about] != "":
			is["pod is deleted"], deleted[about] = true, true
		case s.Release != nil && s.Release.Name == timeline.Pop:
			for name, members := range pods {
				skipped[name] = !slices.ContainsFunc(members, func(p *v1.Pod) bool { return len(p.Finalizers) == 0 || !deleted[model.Key(p)] })
			}
		case strings.HasPrefix(s.Delete, "PodGroup default/"):
			is["goes"], gone[strings.TrimPrefix(s.Delete, "PodGroup default/")] = true, true
		case s.Change != "":
			is["minCount changes"] = is["minCount changes"] || strings.Contains(string(s.With), "minCount")
		case s.Replace != nil && groupOf[s.Replace.Pod] != "":
			is["pod is replaced"] = true
			is["pod is replaced several times"] = is["pod is replaced several times"] || s.Replace.Times > 1
		case s.Fail != nil:
			is["calls fail"] = true
			is["failing calls take effect"] = is["failing calls take effect"] || s.Fail.Arrives
			is["evictions of a pod of a group fail"] = is["evictions of a pod of a group fail"] || s.Fail.Call == timeline.Evict && groupOf[s.Fail.Pod] != ""
			is["bindings of a pod of a group fail"] = is["bindings of a pod of a group fail"] || s.Fail.Call == timeline.Bind && strings.HasPrefix(s.Fail.Pod, "default/m")
		case s.Relist != "":
			is["relist "+s.Relist] = true
		case s.Hold != nil:
			is["hold of "+s.Hold.Kind] = true
			is["its preemption is held"] = is["its preemption is held"] || s.Hold.Name == timeline.Preempt && strings.HasPrefix(s.Hold.Pod, "podgroup/")
		case s.Takeover:
			is["takeover"] = true
		}
	}
	is["comes"], is["several come"] = len(pods) > running, len(pods) > running+1
	is["nothing else happens"], is["much else happens"] = own == 0, own > 5
	for _, n := range composites {
		is["composite of several"] = is["composite of several"] || n > 1
	}
	for name, members := range pods {
		g := groups[name]
		if g == nil {
			is["missing"] = true
			continue
		}
		one, all := false, true
		for _, p := range members {
			other := g.Spec.Priority != nil && model.Priority(p) != *g.Spec.Priority
			one, all = one || other, all && other
			is["never preempts"] = is["never preempts"] || p.Spec.PreemptionPolicy != nil && *p.Spec.PreemptionPolicy == v1.PreemptNever
			is["scheduling gate"] = is["scheduling gate"] || len(p.Spec.SchedulingGates) > 0
			is["node selector"] = is["node selector"] || len(p.Spec.NodeSelector) > 0
		}
		is["pods of another priority"], is["one pod of another priority"] = is["pods of another priority"] || all, is["one pod of another priority"] || one && !all
		mode, gang := g.Spec.DisruptionMode, g.Spec.SchedulingPolicy.Gang
		is["mode All"] = is["mode All"] || mode != nil && mode.All != nil
		is["mode Single"] = is["mode Single"] || mode != nil && mode.Single != nil
		is["no mode"] = is["no mode"] || mode == nil
		is["no priority"] = is["no priority"] || g.Spec.Priority == nil
		is["says itself whether it preempts"] = is["says itself whether it preempts"] || g.Spec.PreemptionPolicy != nil
		is["basic"] = is["basic"] || gang == nil
		if gang != nil {
			is["minCount below"] = is["minCount below"] || int(gang.MinCount) < len(members)
			is["minCount at"] = is["minCount at"] || int(gang.MinCount) == len(members)
			is["minCount above"] = is["minCount above"] || int(gang.MinCount) > len(members)
		}
	}
	return is
}
