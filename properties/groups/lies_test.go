package groups_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/groups"
	"github.com/preemptcheck/preemptcheck/reference"
)

type observed = model.Observation

// gang is a cluster on which group g, of which two pods have to run, preempts the two pods of group u, one
// on each of its nodes; pod high stays.
func gang(change ...func(c *model.Cluster)) *model.Cluster {
	g := mk.Group("g", 10, func(g *schedulingv1beta1.PodGroup) {
		g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}
	})
	c := mk.Cluster(nil, g, mk.Group("u", 1, mk.AsAWhole), mk.WithGroups(), mk.Node("n", "1"), mk.Node("m", "1"), mk.Node("o", "1"),
		mk.Pod("u1", 1, mk.On("n"), mk.Member("u"), mk.CPU("1")), mk.Pod("u2", 1, mk.On("m"), mk.Member("u"), mk.CPU("1")), mk.Pod("high", 10, mk.On("o"), mk.CPU("1")),
		mk.Pod("g1", 10, mk.Member("g"), mk.CPU("1")), mk.Pod("g2", 10, mk.Member("g"), mk.CPU("1")))
	c.PreemptorGroup = model.PodGroupKey("default", "g")
	for _, f := range change {
		f(c)
	}
	return c
}

// fits makes room for both.
func fits(c *model.Cluster) { c.Nodes = append(c.Nodes, mk.Node("free", "2")) }

// ofOne leaves one pod in the group, which is enough.
func ofOne(c *model.Cluster) {
	c.Extra[0].(*schedulingv1beta1.PodGroup).Spec.SchedulingPolicy.Gang.MinCount = 1
	c.Pods = slices.Delete(c.Pods, 4, 5)
}

// withoutANode has the node of a pod of group u be gone, which ends in an error (finding member-on-deleted-node-is-error).
func withoutANode(c *model.Cluster) {
	c.Nodes = slices.DeleteFunc(c.Nodes, func(n *v1.Node) bool { return n.Name == "m" })
}

func never(c *model.Cluster) {
	for _, p := range c.Pods[3:] {
		p.Spec.PreemptionPolicy = new(v1.PreemptNever)
	}
}

// awaiting has a victim terminate where g1 is nominated.
func awaiting(c *model.Cluster) {
	mk.ByPreemption(c.Pods[0])
	c.Pods[3].Status.NominatedNodeName = "n"
}

func scheduledBefore(c *model.Cluster) {
	g := c.Extra[0].(*schedulingv1beta1.PodGroup)
	g.Status.Conditions = []metav1.Condition{{Type: schedulingv1beta1.PodGroupInitiallyScheduled, Status: metav1.ConditionTrue}}
}

// triedBefore has members whose status says already that they are not scheduled, for another reason.
func triedBefore(c *model.Cluster) {
	for _, p := range c.Pods[3:] {
		p.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonSchedulerError, Message: "before"}}
	}
}

// inRacks has each node but o in a rack, and the group in one of them.
func inRacks(c *model.Cluster) {
	c.Settings.FeatureGates[model.GateTopology] = true
	c.Extra[0].(*schedulingv1beta1.PodGroup).Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{
		Topology: []schedulingv1beta1.TopologyConstraint{{Key: "rack"}}}
	for _, n := range c.Nodes {
		if n.Name != "o" {
			n.Labels = map[string]string{"rack": "1"}
		}
	}
}

// inOthers has room in another rack, and on a node that is in none.
func inOthers(c *model.Cluster) {
	fits(c)
	c.Nodes = append(c.Nodes, mk.Node("far", "2"), mk.Node("nowhere", "2"))
	inRacks(c)
	c.Nodes[4].Labels["rack"] = "2"
	c.Nodes[5].Labels = nil
}

// runsIn has a member that runs in that rack.
func runsIn(c *model.Cluster) {
	inOthers(c)
	c.Pods = append(c.Pods, mk.Pod("g0", 10, mk.On("far"), mk.Member("g")))
}

// inTree makes a tree of the group and another one, h, for which there is room. All of it has to be in one region; the group in one rack of it.
func inTree(c *model.Cluster) {
	inRacks(c)
	g, h := c.Extra[0].(*schedulingv1beta1.PodGroup), mk.Group("h", 10, mk.PartOf("t"))
	g.Spec.ParentCompositePodGroupName = h.Spec.ParentCompositePodGroupName
	root := mk.Composite("t", "", 10, false)
	root.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: 2}
	root.Spec.SchedulingConstraints = &schedulingv1alpha3.CompositePodGroupSchedulingConstraints{Topology: []schedulingv1alpha3.TopologyConstraint{{Key: "region"}}}
	c.Extra, c.Pods = append(c.Extra, h, root), append(c.Pods, mk.Pod("h1", 10, mk.Member("h")))
	c.PreemptorGroup = model.CompositePodGroupKey("default", "t")
	for _, n := range c.Nodes {
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels["region"] = "1"
	}
	far := mk.Node("far", "0")
	far.Labels = map[string]string{"region": "2"}
	c.Nodes = append(c.Nodes, far)
}

// nominates says that a member is nominated to another node.
func nominates(member, node string) func(o *observed) {
	return func(o *observed) {
		m := o.Group.Members[member]
		m.NominatedNode = node
		o.Group.Members[member] = m
	}
}

// binds says that a member is bound to another node.
func binds(member, node string) func(o *observed) {
	return func(o *observed) {
		o.Aftermath.Calls = slices.Clone(o.Aftermath.Calls)
		for i, c := range o.Aftermath.Calls {
			if c.Verb == "bind" && c.Object == member {
				o.Aftermath.Calls[i].Node = node
			}
		}
	}
}

func tells(f func(o *observed)) checktest.Liar {
	return checktest.Liar{Tell: func(_ *model.Cluster, o *observed) { f(o) }}
}

// without leaves out the calls, or the events, that are of a kind about an object.
func without(resource, object string) func(o *observed) {
	return func(o *observed) {
		o.Aftermath.Calls = slices.DeleteFunc(slices.Clone(o.Aftermath.Calls), func(c model.Call) bool { return c.Resource == resource && c.Object == object })
		o.Aftermath.Events = slices.DeleteFunc(slices.Clone(o.Aftermath.Events), func(e model.Event) bool { return e.Reason == resource && e.Regarding == "Pod "+object })
	}
}

// eventOf changes the event that tells a pod that it is preempted.
func eventOf(pod string, change func(e *model.Event)) func(o *observed) {
	return func(o *observed) {
		o.Aftermath.Events = slices.Clone(o.Aftermath.Events)
		for i := range o.Aftermath.Events {
			if e := &o.Aftermath.Events[i]; e.Reason == "Preempted" && e.Regarding == "Pod "+pod {
				change(e)
			}
		}
	}
}

// marks changes the condition that a victim is given.
func marks(pod string, change func(c *model.Condition)) func(o *observed) {
	return func(o *observed) {
		for _, c := range o.Aftermath.Calls {
			if c.Object == pod && len(c.Conditions) > 0 {
				change(&c.Conditions[0])
			}
		}
	}
}

func says(status string) func(o *observed) {
	return func(o *observed) {
		o.Aftermath.Calls = append(o.Aftermath.Calls, model.Call{Verb: "patch", Resource: "podgroups/status", Object: "default/g",
			Conditions: []model.Condition{{Type: schedulingv1beta1.PodGroupInitiallyScheduled, Status: status}}})
		slices.Reverse(o.Aftermath.Calls)
	}
}

// lies are what a lying scheduler does to break each property, by the names in Property.Lies.
var lies = []struct {
	property, name string
	cluster        func(c *model.Cluster)
	counts         func(m *model.Metrics)
	checktest.Liar
}{
	{property: "group-lower-priority-only", name: "a victim of its priority", Liar: tells(func(o *observed) { o.Group.Victims = append(o.Group.Victims, "default/high") })},
	{property: "group-evicts-groups-whole", name: "a pod of a group stays", Liar: tells(func(o *observed) { o.Group.Victims = o.Group.Victims[:1] })},
	{property: "group-enough-or-none", name: "one member too few is bound", cluster: fits, Liar: tells(func(o *observed) {
		o.Aftermath.Calls = slices.DeleteFunc(slices.Clone(o.Aftermath.Calls), func(c model.Call) bool { return c.Verb == "bind" && c.Object == "default/g1" })
	})},
	{property: "group-enough-or-none", name: "one member too few is nominated", Liar: tells(func(o *observed) {
		o.Group.Members["default/g1"] = model.MemberEnd{Nomination: model.NominationKept}
	})},
	{property: "group-enough-or-none", name: "preempts for nobody", Liar: tells(func(o *observed) { clear(o.Group.Members) })},
	{property: "group-never-preempts", name: "the policy is not seen", cluster: never, Liar: checktest.Liar{Change: func(c *model.Cluster) {
		c.Pods = slices.Clone(c.Pods)
		for i, p := range c.Pods {
			c.Pods[i] = p.DeepCopy()
			c.Pods[i].Spec.PreemptionPolicy = nil
		}
	}}},
	{property: "group-waits-for-its-victims", name: "its nominations are not seen", cluster: awaiting, Liar: checktest.Liar{Change: func(c *model.Cluster) {
		c.Pods = slices.Clone(c.Pods)
		c.Pods[3] = c.Pods[3].DeepCopy()
		c.Pods[3].Status.NominatedNodeName = ""
	}}},
	{property: "group-gated-while-preempting", name: "the group is free while a victim is deleted", Liar: tells(func(o *observed) {
		o.Aftermath.Calls = slices.Clone(o.Aftermath.Calls)
		for i := range o.Aftermath.Calls {
			o.Aftermath.Calls[i].Gated = false
		}
	})},
	{property: "group-gated-while-preempting", name: "the group stays gated", Liar: tells(func(o *observed) { o.Aftermath.Gated = true })},
	{property: "group-members-are-told", name: "a member is not told", Liar: tells(without("pods/status", "default/g1"))},
	{property: "group-members-are-told", name: "a member that was tried before is told that it is scheduled", cluster: triedBefore, Liar: tells(func(o *observed) {
		for i := range o.Aftermath.Calls {
			if c := &o.Aftermath.Calls[i]; c.Resource == "pods/status" && c.Object == "default/g1" {
				for j := range c.Conditions {
					c.Conditions[j].Status = "True"
				}
			}
		}
	})},
	{property: "group-members-are-told", name: "a member gets no event", Liar: tells(without("FailedScheduling", "default/g2"))},
	{property: "group-members-are-told", name: "a member that is bound gets no event", cluster: fits, Liar: tells(without("Scheduled", "default/g2"))},
	{property: "group-victims-are-told", name: "a victim gets no event", Liar: tells(without("Preempted", "default/u1"))},
	{property: "group-victims-are-told", name: "an event is of another action", Liar: tells(eventOf("default/u1", func(e *model.Event) { e.Action = "Binding" }))},
	{property: "group-victims-are-told", name: "an event does not say that a group preempts", Liar: tells(eventOf("default/u2", func(e *model.Event) { e.Note = "Preempted by pod x on node cluster" }))},
	{property: "group-victims-are-told", name: "another object is related", Liar: tells(eventOf("default/u2", func(e *model.Event) { e.Related = "PodGroup default/u" }))},
	{property: "group-victims-are-told", name: "a condition has another reason", Liar: tells(marks("default/u2", func(c *model.Condition) { c.Reason = "DeletionByTaintManager" }))},
	{property: "group-victims-are-told", name: "a condition does not say that a group preempts", Liar: tells(marks("default/u1", func(c *model.Condition) {
		c.Message = "default-scheduler: preempting to accommodate a higher priority pod"
	}))},
	{property: "group-victims-are-told", name: "a condition does not name the scheduler", Liar: tells(marks("default/u1", func(c *model.Condition) {
		c.Message = strings.TrimPrefix(c.Message, "default-scheduler")
	}))},
	{property: "group-preemption-error-is-named", name: "the error is told without its origin", cluster: withoutANode, Liar: tells(func(o *observed) {
		o.Group.Message = strings.ReplaceAll(o.Group.Message, "pod group preemption: ", "")
	})},
	{property: "group-preemption-error-is-named", name: "no member is told of the error", cluster: withoutANode, Liar: tells(func(o *observed) {
		o.Aftermath.Events = slices.Clone(o.Aftermath.Events)
		for i := range o.Aftermath.Events {
			o.Aftermath.Events[i].Note = "0/2 nodes are available: 2 Insufficient cpu."
		}
	})},
	{property: "group-is-told", name: "it is scheduled, and is not told", cluster: fits, Liar: tells(without("podgroups/status", "default/g"))},
	{property: "group-is-told", name: "it is told that it is scheduled", Liar: tells(says("True"))},
	{property: "group-is-told", name: "it is told that it is not, after it was", cluster: scheduledBefore, Liar: tells(says("False"))},
	{property: "group-placed-fit", name: "a victim too few", Liar: tells(func(o *observed) {
		o.Group.Victims = o.Group.Victims[:min(1, len(o.Group.Victims))]
	})},
	{property: "group-placed-fit", name: "a member is nominated to a full node", Liar: tells(func(o *observed) {
		if m, known := o.Group.Members["default/g1"]; known {
			m.NominatedNode = "o"
			o.Group.Members["default/g1"] = m
		}
	})},
	{property: "group-in-one-domain", name: "a member is nominated to another domain", cluster: inRacks, Liar: tells(func(o *observed) {
		m := o.Group.Members["default/g1"]
		m.NominatedNode = "o"
		o.Group.Members["default/g1"] = m
	})},
	{property: "group-in-one-domain", name: "a member is bound in another domain", cluster: inOthers, Liar: tells(func(o *observed) {
		binds("default/g1", "far")(o)
		binds("default/g2", "free")(o)
	})},
	{property: "group-in-one-domain", name: "a member is bound in no domain", cluster: inOthers, Liar: tells(binds("default/g2", "nowhere"))},
	{property: "group-in-one-domain", name: "those that run are not seen", cluster: runsIn, Liar: checktest.Liar{Change: func(c *model.Cluster) {
		c.Pods = slices.Clone(c.Pods)[:len(c.Pods)-1]
		c.Nodes = slices.DeleteFunc(slices.Clone(c.Nodes), func(n *v1.Node) bool { return n.Name == "far" })
	}}},
	{property: "group-in-one-domain", name: "a group of a tree is nominated to another domain than the rest", cluster: inTree, Liar: tells(nominates("default/h1", "far"))},
	{property: "group-in-one-domain", name: "a member of a group of a tree is nominated to another domain", cluster: inTree, Liar: tells(nominates("default/g1", "o"))},
	{property: "group-metrics-count", name: "victims count as those of a pod", counts: func(m *model.Metrics) {
		m.Preemptions, m.Victims, m.OfWorkloads, m.WorkloadVictims = m.OfWorkloads, m.WorkloadVictims, 0, 0
	}},
	{property: "group-metrics-count", name: "a victim is not counted", counts: func(m *model.Metrics) { m.WorkloadVictims-- }},
	{property: "group-metrics-count", name: "a preemption is not counted", counts: func(m *model.Metrics) { m.OfWorkloads-- }},
	{property: "group-no-worse-than-its-pod", name: "nobody is preempted for the group", cluster: ofOne, Liar: tells(func(o *observed) {
		if o.Group != nil {
			o.Group.Placed, o.Group.Victims = nil, nil
		}
	})},
}

// miscounting is a system whose metrics lie.
type miscounting struct {
	reference.StressSystem
	lie func(*model.Metrics)
}

func (m miscounting) ObserveUnder(ctx context.Context, c *model.Cluster, under reference.Circumstances) (*observed, error) {
	o, err := m.StressSystem.ObserveUnder(ctx, c, under)
	if err == nil && under.Metrics {
		m.lie(o.Aftermath.Metrics)
	}
	return o, err
}

// Each property holds of kube-scheduler, and each of its lies breaks it.
func TestLies(t *testing.T) {
	system := checktest.System(t)
	all, named := append(groups.All(), groups.Costly()...), map[string][]string{}
	for _, lie := range lies {
		named[lie.property] = append(named[lie.property], lie.name)
		t.Run(lie.property+": "+lie.name, func(t *testing.T) {
			c := gang()
			if lie.cluster != nil {
				lie.cluster(c)
			}
			at := slices.IndexFunc(all, func(p properties.Property) bool { return p.Name == lie.property })
			require.GreaterOrEqual(t, at, 0)
			property := all[at]
			findings := func(checker properties.Checker) []properties.Finding {
				checker.Properties = []properties.Property{property}
				r, err := checker.Check(context.Background(), c)
				require.NoError(t, err)
				require.Empty(t, r.Unmodelled)
				return slices.DeleteFunc(r.Findings, func(f properties.Finding) bool { return f.Property != property.Name })
			}
			assert.Empty(t, findings(properties.Checker{System: system}))
			lie.System = system
			var liar reference.System = lie.Liar
			if lie.counts != nil {
				liar = miscounting{system.(reference.StressSystem), lie.counts}
			}
			assert.NotEmpty(t, findings(properties.Checker{System: liar}))
		})
	}
	for _, p := range all {
		assert.ElementsMatch(t, p.Lies, named[p.Name], p.Name)
	}
}
