package inprocess

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// podGroup is a gang of so many pods at least, or has the policy basic if that is 0.
func podGroup(name string, priority, minCount int32, opts ...func(*schedulingv1beta1.PodGroup)) *schedulingv1beta1.PodGroup {
	g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: schedulingv1beta1.PodGroupSpec{Priority: &priority}}
	if g.Spec.SchedulingPolicy.Basic = &(schedulingv1beta1.BasicSchedulingPolicy{}); minCount > 0 {
		g.Spec.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: minCount}}
	}
	for _, o := range opts {
		o(g)
	}
	return g
}

// all has a group disrupted as a whole.
func all(g *schedulingv1beta1.PodGroup) {
	g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
}

func within(parent string) func(*schedulingv1beta1.PodGroup) {
	return func(g *schedulingv1beta1.PodGroup) { g.Spec.ParentCompositePodGroupName = &parent }
}

func compositeGroup(name string, priority, minGroupCount int32) *schedulingv1alpha3.CompositePodGroup {
	g := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: schedulingv1alpha3.CompositePodGroupSpec{Priority: &priority}}
	g.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: minGroupCount}
	return g
}

func memberOf(group string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group} }
}

// avoids has a pod shun, on its node, pods of an app.
func avoids(app string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}}}
	}
}

func maxPods(n *v1.Node, pods int64) *v1.Node {
	n.Status.Allocatable = maps.Clone(n.Status.Allocatable)
	n.Status.Allocatable[v1.ResourcePods] = *resource.NewQuantity(pods, resource.DecimalSI)
	return n
}

func gates(names ...string) (s model.Settings) {
	s.FeatureGates = map[string]bool{model.GateWorkload: true}
	for _, name := range names {
		s.FeatureGates[name] = true
	}
	return s
}

// told is what was observed of a group, in lines.
func told(o *model.Observation) string {
	var lines []string
	line := func(what string, words ...string) {
		if len(words) > 0 {
			lines = append(lines, what+": "+strings.ReplaceAll(strings.Join(words, ", "), "default/", ""))
		}
	}
	g := o.Group
	if g.Waits != "" {
		return "waits: " + g.Waits
	}
	pass := func(tries []model.MemberTry) (words []string) {
		for _, t := range tries {
			text := t.Pod + "=" + t.Node
			for _, node := range slices.Sorted(maps.Keys(t.Filters)) {
				text += " " + node + ":" + t.Filters[node].Plugin
			}
			words = append(words, text+t.Error)
		}
		return words
	}
	line("first", pass(g.First)...)
	line("second", pass(g.Second)...)
	if g.Eligible != nil && !g.Eligible.OK {
		line("not eligible", g.Code)
	}
	if g.Ongoing {
		line("ongoing", g.Code)
	}
	for _, u := range g.Tried {
		if text := strings.Join(u.Pods, "+"); u.GivenBack {
			line("given back", text)
		} else {
			line("not given back", fmt.Sprintf("%s for %s on %s: %s", text, u.Failed, u.Node, u.Verdict.Plugin))
		}
	}
	if len(g.Victims) > 0 {
		line("victims", append(slices.Clone(g.Victims), fmt.Sprintf("%d violations, %d disruptions", g.Violations, g.Disruptions))...)
	}
	var ends []string
	for _, key := range slices.Sorted(maps.Keys(g.Members)) {
		m := g.Members[key]
		ends = append(ends, strings.TrimSpace(fmt.Sprintf("%s %s %s", key, m.Nomination, m.NominatedNode)))
	}
	line("members", ends...)
	var bound, conditions []string
	for _, c := range o.Aftermath.Calls {
		if c.Verb == "bind" {
			bound = append(bound, c.Object+" to "+c.Node)
		}
		for _, cond := range c.Conditions {
			if c.Resource == "podgroups/status" {
				conditions = append(conditions, fmt.Sprintf("%s %s=%s %s", c.Object, cond.Type, cond.Status, cond.Reason))
			}
		}
	}
	slices.Sort(bound)
	slices.Sort(conditions)
	line("bound", bound...)
	line("deleted", o.Actuation.Deleted...)
	line("cleared", o.Actuation.Cleared...)
	line("other", o.Actuation.Other...)
	line("condition", conditions...)
	if o.CycleError != "" {
		line("error", o.CycleError)
	}
	return strings.Join(lines, "\n")
}

// unschedulable and scheduled are how lines end of a group g.
const (
	unschedulable = "\ncondition: g PodGroupInitiallyScheduled=False Unschedulable"
	scheduled     = "\ncondition: g PodGroupInitiallyScheduled=True Scheduled"
	failed        = "\ncondition: g PodGroupInitiallyScheduled=False SchedulerError"
)

type groupTest struct {
	name    string
	cluster model.Cluster
	want    string
}

func groupTests() []groupTest {
	groups := func(all ...runtime.Object) []runtime.Object { return all }
	nodes := func(all ...*v1.Node) []*v1.Node { return all }
	pods := func(all ...*v1.Pod) []*v1.Pod { return all }
	member := func(name string, cores int64, opts ...func(*v1.Pod)) *v1.Pod {
		return pod(name, 10, cores, append([]func(*v1.Pod){memberOf("g"), nominatedTo("")}, opts...)...)
	}
	cordon := func(n *v1.Node) *v1.Node { n.Spec.Unschedulable = true; return n }
	const full = ":NodeResourcesFit"
	return []groupTest{{
		"one placement fits all", model.Cluster{Extra: groups(podGroup("g", 10, 2)), Nodes: nodes(node("n", 2)), Pods: pods(member("g1", 1), member("g2", 1))},
		"first: g1=n, g2=n\nbound: g1 to n, g2 to n" + scheduled,
	}, {
		"the group is one pod short of its place", model.Cluster{Extra: groups(podGroup("g", 10, 2)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 1, 1, on("n")), member("g1", 1), member("g2", 1))},
		"first: g1=n, g2= n" + full + "\nsecond: g1=n, g2=n\nnot given back: v for g2 on n: NodeResourcesFit\nvictims: v, 0 violations, 0 disruptions\n" +
			"members: g1 set n, g2 set n\ndeleted: v" + unschedulable,
	}, {
		"too few members", model.Cluster{Extra: groups(podGroup("g", 10, 3)), Nodes: nodes(node("n", 2)), Pods: pods(pod("v", 1, 1, on("n")), member("g1", 1), member("g2", 1))},
		"waits: GangScheduling",
	}, {
		"too small even without the victim", model.Cluster{Extra: groups(podGroup("g", 10, 2)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 1, 1, on("n")), member("g1", 2), member("g2", 1))},
		"first: g1= n" + full + "\nsecond: g1=n, g2= n" + full + "\nmembers: g1 kept, g2 kept" + unschedulable,
	}, {
		"more are placed than must be", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 1, 2, on("n")), member("g1", 1), member("g2", 1), member("g3", 1))},
		"first: g1= n" + full + ", g2= n" + full + ", g3= n" + full + "\nsecond: g1=n, g2=n, g3= n" + full +
			"\nnot given back: v for g1 on n: NodeResourcesFit\nvictims: v, 0 violations, 0 disruptions\nmembers: g1 set n, g2 set n, g3 kept\ndeleted: v" + unschedulable,
	}, {
		"a preemption under way", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 1, 1, on("n"), preempted), pod("w", 1, 1, on("n")), member("g1", 2, nominatedTo("n")))},
		"first: g1= n" + full + "\nongoing: Success\nmembers: g1 set n" + unschedulable,
	}, {
		"under way on a node that is cordoned now", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(cordon(node("n", 2)), node("m", 2)),
			Pods: pods(pod("v", 1, 1, on("n"), preempted), pod("w", 1, 2, on("m")), member("g1", 2, nominatedTo("n")))},
		"first: g1= m" + full + " n:NodeUnschedulable\nongoing: Success\nmembers: g1 set n" + unschedulable,
	}, {
		"a policy of Never", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 1, 2, on("n")), member("g1", 2, never, nominatedTo("n")))},
		"first: g1= n" + full + "\nnot eligible: Unschedulable\nmembers: g1 kept" + unschedulable,
	}, {
		"all victims terminate already", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 1, 2, on("n"), preempted), member("g1", 2))},
		"first: g1= n" + full + "\nsecond: g1=n\nnot given back: v for g1 on n: NodeResourcesFit\nvictims: v, -1 violations, -1 disruptions\nmembers: g1 set n" + unschedulable,
	}, {
		"nobody of lower priority", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 10, 2, on("n")), member("g1", 2))},
		"first: g1= n" + full + "\nmembers: g1 kept" + unschedulable,
	}, {
		"a victim's anti-affinity is forgotten", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 4)),
			Pods: pods(pod("v", 1, 1, on("n"), avoids("g")), member("g1", 1, labelled("g")))},
		"first: g1= n:InterPodAffinity\nsecond: g1=n\ngiven back: v\nmembers: g1 set n" + unschedulable,
	}, {
		"evicted in vain", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 1, 1, on("n"), avoids("g")), pod("w", 1, 1, on("n"), startedAfter(60)), member("g1", 1, labelled("g")))},
		"first: g1= n" + full + "\nsecond: g1=n\ngiven back: v\nnot given back: w for g1 on n: NodeResourcesFit\nvictims: w, 0 violations, 0 disruptions\n" +
			"members: g1 set n\ndeleted: w" + unschedulable,
	}, {
		"a unit has a member on a node that is gone", model.Cluster{Extra: groups(podGroup("u", 50, 0, all), podGroup("g", 10, 1)), Nodes: nodes(node("n", 3)),
			Pods: pods(pod("u1", 50, 1, on("n"), memberOf("u")), pod("u2", 50, 1, on("gone"), memberOf("u")), pod("v", 0, 2, on("n")), member("g1", 1))},
		"first: g1= n" + full + "\nmembers: g1 cleared" + failed +
			"\nerror: error in \"DefaultPreemption\" PodGroupPostFilter plugins: pod group preemption: failed to create domain: failed to get node info for node \"gone\" from snapshot: nodeinfo not found for node name \"gone\"",
	}, {
		"a lower nomination stays", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 0, 2, on("n")), pod("low", 5, 2, nominatedTo("n")), member("g1", 2))},
		"first: g1= n" + full + "\nsecond: g1=n\nnot given back: v for g1 on n: NodeResourcesFit\nvictims: v, 0 violations, 0 disruptions\nmembers: g1 set n\ndeleted: v" + unschedulable,
	}, {
		"its own nominations are in its way", model.Cluster{Extra: groups(podGroup("g", 0, 2)), Nodes: nodes(maxPods(node("n", 4), 2), node("m", 2)),
			Pods: pods(pod("v", -5, 1, on("n")), pod("w", -5, 1, on("m"), startedAfter(60)),
				pod("g1", 0, 2, memberOf("g"), nominatedTo("n")), pod("g2", 0, 2, memberOf("g"), nominatedTo("n")))},
		"first: g1= m" + full + " n" + full + "\nsecond: g1=n, g2=n\nnot given back: v for g1 on n: NodeResourcesFit\nnot given back: w for g2 on n: NodeResourcesFit\n" +
			"victims: v, w, 0 violations, 0 disruptions\nmembers: g1 set n, g2 set n\ndeleted: v, w" + unschedulable,
	}, {
		"the same without nominations", model.Cluster{Extra: groups(podGroup("g", 0, 2)), Nodes: nodes(maxPods(node("n", 4), 2), node("m", 2)),
			Pods: pods(pod("v", -5, 1, on("n")), pod("w", -5, 1, on("m"), startedAfter(60)),
				pod("g1", 0, 2, memberOf("g"), nominatedTo("")), pod("g2", 0, 2, memberOf("g"), nominatedTo("")))},
		"first: g1=n, g2= m" + full + " n" + full + "\nsecond: g1=n, g2=n\nnot given back: v for g2 on n: NodeResourcesFit\ngiven back: w\n" +
			"victims: v, 0 violations, 0 disruptions\nmembers: g1 set n, g2 set n\ndeleted: v" + unschedulable,
	}, {
		"fewer are placed than were nominated", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 1, 2, on("n")), member("g1", 2, nominatedTo("n")), member("g2", 2, nominatedTo("n")))},
		"first: g1= n" + full + ", g2= n" + full + "\nsecond: g1=n, g2= n" + full + "\nnot given back: v for g1 on n: NodeResourcesFit\n" +
			"victims: v, 0 violations, 0 disruptions\nmembers: g1 set n, g2 kept\ndeleted: v" + unschedulable,
	}, {
		"not helped, and nominated", model.Cluster{Extra: groups(podGroup("g", 10, 3)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 1, 1, on("n")), member("g1", 1, nominatedTo("n")), member("g2", 1, nominatedTo("n")), member("g3", 1, nominatedTo("n")))},
		"first: g1=n, g2= n" + full + "\nsecond: g1=n, g2=n, g3= n" + full + "\nmembers: g1 cleared, g2 kept, g3 kept" + unschedulable,
	}, {
		"another unit's member terminates elsewhere", model.Cluster{Extra: groups(podGroup("u", 0, 0, all), podGroup("g", 10, 1)), Nodes: nodes(node("n", 2), node("m", 1)),
			Pods: pods(pod("u2", 0, 1, on("m"), memberOf("u"), preempted), pod("w", 0, 2, on("n")), member("g1", 2, nominatedTo("n")))},
		"first: g1= m" + full + " n" + full + "\nsecond: g1=n\ngiven back: u2\nnot given back: w for g1 on n: NodeResourcesFit\nvictims: w, 0 violations, 0 disruptions\n" +
			"members: g1 set n\ndeleted: w" + unschedulable,
	}, {
		"of a gang that runs, one more fits and one does not", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 3)),
			Pods: pods(member("g0", 1, on("n")), pod("v", 0, 1, on("n")), member("g1", 1), member("g2", 1))},
		"first: g1=n, g2= n" + full + "\nmembers: g2 kept\nbound: g1 to n" + scheduled,
	}, {
		"a member that terminates counts", model.Cluster{Extra: groups(podGroup("g", 10, 2)), Nodes: nodes(node("n", 2)),
			Pods: pods(member("g0", 1, on("n"), preempted), member("g1", 1))},
		"first: g1=n\nbound: g1 to n" + scheduled,
	}, {
		"the priority of a pod is not that of its group", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 2)),
			Pods: pods(pod("v", 1, 2, on("n")), pod("g1", 9, 1, memberOf("g"), nominatedTo("")))},
		"members: g1 cleared" + failed + "\nerror: all pods in a single pod group should have the same priority as the pod group's priority, got 9 and 10",
	}, {
		"a unit of two nodes comes first, and is given back", model.Cluster{Extra: groups(podGroup("u", 1, 0, all), podGroup("g", 10, 1)), Nodes: nodes(node("n", 3), node("m", 1)),
			Pods: pods(pod("u2", 1, 1, on("m"), memberOf("u")), pod("u1", 1, 1, on("n"), memberOf("u"), startedAfter(9)), pod("w", 1, 1, on("n")), pod("x", 1, 1, on("n"), startedAfter(60)),
				member("g1", 2))},
		"first: g1= m" + full + " n" + full + "\nsecond: g1=n\ngiven back: u1+u2\nnot given back: w for g1 on n: NodeResourcesFit\nnot given back: x for g1 on n: NodeResourcesFit\n" +
			"victims: w, x, 0 violations, 0 disruptions\nmembers: g1 set n\ndeleted: w, x" + unschedulable,
	}, {
		"a unit of two nodes is evicted whole", model.Cluster{Extra: groups(podGroup("u", 1, 0, all), podGroup("g", 10, 1)), Nodes: nodes(node("n", 2), node("m", 1)),
			Pods: pods(pod("u2", 1, 1, on("m"), memberOf("u")), pod("u1", 1, 1, on("n"), memberOf("u")), member("g1", 2))},
		"first: g1= m" + full + " n" + full + "\nsecond: g1=n\nnot given back: u1+u2 for g1 on n: NodeResourcesFit\n" +
			"victims: u1, u2, 0 violations, 1 disruptions\nmembers: g1 set n\ndeleted: u1, u2" + unschedulable,
	}, {
		"violations, in the order of the budgets", model.Cluster{Extra: groups(podGroup("g", 10, 1)), Nodes: nodes(node("n", 2)),
			Pods:                 pods(pod("v", 1, 1, on("n"), labelled("x")), pod("w", 1, 1, on("n"), labelled("x"), startedAfter(60)), pod("x", 1, 0, on("n"), startedAfter(90)), member("g1", 1)),
			PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{budget("b1", "x", 0), budget("b0", "x", 1)}},
		"first: g1= n" + full + "\nsecond: g1=n\ngiven back: v\nnot given back: w for g1 on n: NodeResourcesFit\ngiven back: x\n" +
			"victims: w, 1 violations, 0 disruptions\nmembers: g1 set n\ndeleted: w" + unschedulable,
	}}
}

// TestGroupCycles observes small clusters with asynchronous and with synchronous preemption: the same,
// up to the way in which it is done.
func TestGroupCycles(t *testing.T) {
	s := New()
	defer s.Close()
	for _, test := range groupTests() {
		for _, async := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%t", test.name, async), func(t *testing.T) {
				c := test.cluster.DeepCopy()
				c.PreemptorGroup, c.Settings = "podgroup/default/g", gates()
				c.Settings.FeatureGates[model.GateAsyncPreemption] = async
				o := observe(t, s, c)
				require.Nil(t, o.Crash)
				require.Equal(t, test.want, told(o))
				require.Empty(t, o.Filters)
				require.LessOrEqual(t, o.Group.SecondCalls, 1)
			})
		}
	}
}

// TestCompositeCycle: the groups of a composite group are scheduled as one.
func TestCompositeCycle(t *testing.T) {
	s := New()
	defer s.Close()
	c := &model.Cluster{PreemptorGroup: "compositepodgroup/default/r", Settings: gates(model.GateComposite, model.GateTopology),
		Extra: []runtime.Object{compositeGroup("r", 10, 2), podGroup("l1", 10, 1, within("r")), podGroup("l2", 10, 1, within("r"))},
		Nodes: []*v1.Node{node("n", 2), node("m", 2)},
		Pods: []*v1.Pod{pod("v", 0, 2, on("n")), pod("w", 0, 2, on("m"), startedAfter(60)),
			pod("g1", 10, 2, memberOf("l1"), nominatedTo("")), pod("g2", 10, 2, memberOf("l2"), nominatedTo(""))}}
	o := observe(t, s, c)
	require.Equal(t, 1, o.Group.SecondCalls)
	require.ElementsMatch(t, []string{"default/v", "default/w"}, o.Group.Victims)
	require.ElementsMatch(t, []string{"default/g1", "default/g2"}, o.Group.Placed)
	require.Equal(t, []string{"default/v", "default/w"}, o.Actuation.Deleted)
	for _, key := range o.Group.Placed {
		require.Equal(t, model.NominationSet, o.Group.Members[key].Nomination)
		require.Equal(t, o.Group.Members[key].NominatedNode, o.Group.Members[key].Held)
	}
}

// TestPodsAgainstUnits: the cycle of a pod shows what upstream makes of units.
func TestPodsAgainstUnits(t *testing.T) {
	s := New()
	defer s.Close()
	for _, test := range []struct {
		name    string
		cluster model.Cluster
		node    string
		victims []string
		runs    int
		err     string
	}{
		{"a unit of two nodes", model.Cluster{Extra: []runtime.Object{podGroup("u", 0, 0, all)}, Nodes: []*v1.Node{node("n", 2), node("m", 1)},
			Pods: []*v1.Pod{pod("u2", 0, 1, on("m"), memberOf("u"), startedAfter(60)), pod("u1", 0, 2, on("n"), memberOf("u"))}, Preemptor: pod("p", 10, 2)},
			"n", []string{"default/u1", "default/u2"}, 1, ""},
		{"a member of a group in mode Single ranks as a group", model.Cluster{Extra: []runtime.Object{podGroup("s", 0, 0)}, Nodes: []*v1.Node{node("n", 2)},
			Pods: []*v1.Pod{pod("a", 0, 1, on("n"), memberOf("s"), startedAfter(60)), pod("b", 0, 1, on("n"))}, Preemptor: pod("p", 10, 1)},
			"n", []string{"default/b"}, 1, ""},
		{"so does one of a group that is missing", model.Cluster{Nodes: []*v1.Node{node("n", 2)},
			Pods: []*v1.Pod{pod("a", 0, 1, on("n"), memberOf("s"), startedAfter(60)), pod("b", 0, 1, on("n"))}, Preemptor: pod("p", 10, 1)},
			"n", []string{"default/b"}, 1, ""},
		{"the pick looks at the pods' own priorities", model.Cluster{Extra: []runtime.Object{podGroup("u", 0, 0)}, Nodes: []*v1.Node{node("n", 2), node("m", 2)},
			Pods: []*v1.Pod{pod("u1", 9, 2, on("n"), memberOf("u")), pod("v", 5, 2, on("m"))}, Preemptor: pod("p", 10, 2)},
			"m", []string{"default/v"}, 2, ""},
		{"a member on a node that is gone", model.Cluster{Extra: []runtime.Object{podGroup("u", 0, 0, all)}, Nodes: []*v1.Node{node("n", 2)},
			Pods: []*v1.Pod{pod("u1", 0, 2, on("n"), memberOf("u")), pod("u2", 0, 1, on("gone"), memberOf("u"))}, Preemptor: pod("p", 10, 1)},
			"", nil, 0, `failed to get node info for node "gone"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cluster.Settings = gates()
			o := observe(t, s, &test.cluster)
			require.Nil(t, o.Group)
			if test.err != "" {
				require.Contains(t, o.PostFilterMessage, test.err)
				return
			}
			require.Equal(t, test.node, o.Pick.Node)
			require.Equal(t, test.victims, o.Pick.Victims)
			require.Len(t, o.DryRuns, test.runs)
			require.Equal(t, slices.Sorted(slices.Values(test.victims)), o.Actuation.Deleted)
		})
	}
}

// TestGroupsAreObservedTheSame: the same cluster 200 times, among others, with other gates and
// without, and after unloading, gives what a scheduler of its own does.
func TestGroupsAreObservedTheSame(t *testing.T) {
	if testing.Short() {
		t.Log("20 times only")
	}
	reused := New()
	defer reused.Close()
	tests := groupTests()
	ask := func(i int, s *System) *model.Observation {
		c := tests[i].cluster.DeepCopy()
		c.PreemptorGroup, c.Settings = "podgroup/default/g", gates()
		return observe(t, s, c)
	}
	want := make([]*model.Observation, len(tests))
	for i := range tests {
		fresh := New()
		want[i] = ask(i, fresh)
		fresh.Close()
	}
	times := 200 / len(tests)
	if testing.Short() {
		times = 2
	}
	for range times {
		for i := range tests {
			requireSame(t, i, want[i], ask(i, reused))
		}
		plain := observe(t, reused, &model.Cluster{Nodes: []*v1.Node{node("n", 1)}, Pods: []*v1.Pod{pod("v", 1, 1, on("n"))}, Preemptor: pod("p", 9, 1)})
		require.Equal(t, "n", plain.Pick.Node)
		require.Nil(t, plain.Group)
	}
	for range 20 * times {
		requireSame(t, 1, want[1], ask(1, reused))
	}
}

// TestGroupCycleWithAFault: a call that fails is seen, and leaves nothing behind.
func TestGroupCycleWithAFault(t *testing.T) {
	s := New()
	defer s.Close()
	short := groupTests()[1]
	for _, async := range []bool{true, false} {
		c := short.cluster.DeepCopy()
		c.PreemptorGroup, c.Settings = "podgroup/default/g", gates()
		c.Settings.FeatureGates[model.GateAsyncPreemption] = async
		whole := observe(t, s, c)
		for n, call := range whole.Aftermath.Calls {
			o, err := s.ObserveUnder(t.Context(), c, reference.Circumstances{Fault: &reference.Fault{Call: n, Error: reference.InternalError}})
			require.NoError(t, err)
			require.Nil(t, o.Crash, call)
			failed := o.Aftermath.Calls[n]
			require.NotEmpty(t, failed.Failed, call)
			require.Equal(t, []string{call.Verb, call.Resource, call.Object}, []string{failed.Verb, failed.Resource, failed.Object})
			if call.Verb == "delete" && !async {
				require.Contains(t, o.CycleError, "Internal error occurred", "the whole cycle fails")
			}
			requireSame(t, n, whole, observe(t, s, c))
		}
		require.Len(t, whole.Aftermath.Calls, 5, "condition and deletion of the victim, two members, the group")
	}
}

// TestGroupsThatCannotRun: what no scheduler schedules as a group is an error, not an answer.
func TestGroupsThatCannotRun(t *testing.T) {
	s := New()
	defer s.Close()
	gang := func() *model.Cluster {
		return &model.Cluster{PreemptorGroup: "podgroup/default/g", Settings: gates(), Extra: []runtime.Object{podGroup("g", 0, 1)},
			Nodes: []*v1.Node{node("n", 1)}, Pods: []*v1.Pod{pod("g1", 0, 1, memberOf("g"), nominatedTo(""))}}
	}
	for want, change := range map[string]func(*model.Cluster){
		"unless the feature gate GenericWorkload is on": func(c *model.Cluster) { c.Settings = model.Settings{} },
		"PodGroup default/g is not there":               func(c *model.Cluster) { c.Extra = nil },
		"has no pod that waits":                         func(c *model.Cluster) { c.Pods[0].Spec.NodeName = "n" },
		`is for the scheduler "other"`:                  func(c *model.Cluster) { c.Pods[0].Spec.SchedulerName = "other" },
		"two preemptors":                                func(c *model.Cluster) { c.Preemptor = pod("p", 0, 1) },
	} {
		c := gang()
		change(c)
		_, err := s.Observe(t.Context(), c)
		require.ErrorContains(t, err, want)
	}
	_, err := s.ObserveUnder(t.Context(), gang(), reference.Circumstances{Twin: true})
	require.ErrorContains(t, err, "unsupported")
	require.Equal(t, "n", observe(t, s, gang()).Group.First[0].Node)
}
