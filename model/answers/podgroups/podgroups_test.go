package podgroups

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// gangOf is the cycle of a group of a and b on a node with so much room, where v, w and x are.
func gangOf(t *testing.T, cpu string) *Set {
	c := mk.Cluster(nil, mk.WithGroups(), mk.Node("n", cpu), mk.Group("g", 9), mk.Pod("a", 9, mk.CPU("1"), mk.Member("g")), mk.Pod("b", 9, mk.CPU("1"), mk.Member("g")),
		mk.Pod("v", 1, mk.CPU("1"), mk.On("n")), mk.Pod("w", 2, mk.CPU("1"), mk.On("n")), mk.Pod("x", 3, mk.CPU("1"), mk.On("n")))
	c.PreemptorGroup = "podgroup/default/g"
	s, err := Decide(c, release.Linked.Rules())
	require.NoError(t, err)
	return s
}

var full = model.Verdict{Plugin: "NodeResourcesFit"}

// preempts is what a scheduler does where x may stay, and v and w may not.
func preempts() *model.Observation {
	fails := map[string]model.Verdict{"n": full}
	refused := func(pod string) model.UnitTry {
		return model.UnitTry{Pods: []string{pod}, Failed: "default/b", Node: "n", Verdict: &full}
	}
	gone, nominated := []string{"default/v", "default/w"}, model.MemberEnd{Nomination: model.NominationSet, NominatedNode: "n", Held: "n"}
	return &model.Observation{
		Actuation: &model.Actuation{Deleted: gone, DisruptionTarget: gone},
		Aftermath: &model.Aftermath{},
		Group: &model.GroupCycle{
			First:       []model.MemberTry{{Pod: "default/a", Filters: fails}, {Pod: "default/b", Filters: fails}},
			Eligible:    &model.Eligibility{OK: true},
			SecondCalls: 1,
			Second:      []model.MemberTry{{Pod: "default/a", Node: "n"}, {Pod: "default/b", Node: "n"}},
			Placed:      []string{"default/a", "default/b"},
			PlacedTo:    []string{"n", "n"},
			Tried:       []model.UnitTry{{Pods: []string{"default/x"}, GivenBack: true}, refused("default/w"), refused("default/v")},
			Victims:     []string{"default/w", "default/v"},
			Members:     map[string]model.MemberEnd{"default/a": nominated, "default/b": nominated},
		},
	}
}

// groupLie is a change to what is as it should be, and how it shows; a kind of "" is none.
type groupLie struct {
	name   string
	change func(o *model.Observation, g *model.GroupCycle)
	stage  model.Stage
	kind   string
}

func findsGroupLies(t *testing.T, cpu string, truth func() *model.Observation, lies []groupLie) {
	for _, l := range append([]groupLie{{"as it should be", func(*model.Observation, *model.GroupCycle) {}, "", ""}}, lies...) {
		t.Run(l.name, func(t *testing.T) {
			o := truth()
			l.change(o, o.Group)
			dis := gangOf(t, cpu).Admits(o)
			if l.kind == "" {
				require.Nil(t, dis)
				return
			}
			require.NotNil(t, dis)
			require.Equal(t, []string{string(l.stage), "group: " + l.kind}, []string{string(dis.Stage), dis.Kind})
		})
	}
}

// Each step of a group that preempts is compared, and a disagreement says how it differs.
func TestAdmitsNoOtherPreemption(t *testing.T) {
	end := func(name string, change func(*model.MemberEnd)) func(*model.Observation, *model.GroupCycle) {
		return func(_ *model.Observation, g *model.GroupCycle) {
			e := g.Members[name]
			change(&e)
			g.Members[name] = e
		}
	}
	findsGroupLies(t, "3", preempts, []groupLie{
		{"it waits", func(_ *model.Observation, g *model.GroupCycle) { g.Waits = "GangScheduling" }, model.StageFilter, "waits for members"},
		{"the other first", func(_ *model.Observation, g *model.GroupCycle) { g.First[0], g.First[1] = g.First[1], g.First[0] }, "", ""},
		{"a member is not tried", func(_ *model.Observation, g *model.GroupCycle) { g.First = g.First[:1] }, model.StageFilter, "tries"},
		{"a member is tried twice", func(_ *model.Observation, g *model.GroupCycle) { g.First = append(g.First, g.First[0]) }, model.StageFilter, "tries"},
		{"another plugin", func(_ *model.Observation, g *model.GroupCycle) {
			g.First[0].Filters = map[string]model.Verdict{"n": {Plugin: "NodeName"}}
		}, model.StageFilter, "does not fit but should: NodeName"},
		{"it fits", func(_ *model.Observation, g *model.GroupCycle) { g.First[0].Node, g.First[0].Filters = "n", nil }, model.StageFilter, "fits but should not: NodeResourcesFit"},
		{"a domain of nobody", func(_ *model.Observation, g *model.GroupCycle) { g.FirstChoices = []model.DomainChoice{{Domain: "d"}} }, model.StageFilter, "chooses a domain"},
		{"not eligible", func(_ *model.Observation, g *model.GroupCycle) { g.Eligible.OK = false }, model.StageEligible, "eligible"},
		{"not asked", func(_ *model.Observation, g *model.GroupCycle) { g.Eligible = nil }, model.StageEligible, "eligible"},
		{"an error instead", func(o *model.Observation, g *model.GroupCycle) { g.Eligible, o.CycleError = nil, "oops" }, model.StageEligible, "ends in an error"},
		{"it waits for victims", func(_ *model.Observation, g *model.GroupCycle) { g.Ongoing = true }, model.StageEligible, "waits for victims"},
		{"placed anew twice", func(_ *model.Observation, g *model.GroupCycle) { g.SecondCalls = 2 }, model.StagePlacement, "times that the group is placed anew"},
		{"not placed anew", func(_ *model.Observation, g *model.GroupCycle) { g.SecondCalls = 0 }, model.StagePlacement, "times that the group is placed anew"},
		{"a member is not tried anew", func(_ *model.Observation, g *model.GroupCycle) { g.Second = g.Second[:1] }, model.StagePlacement, "tries"},
		{"a member finds no place", func(_ *model.Observation, g *model.GroupCycle) {
			g.Second[1].Node, g.Second[1].Filters = "", map[string]model.Verdict{"n": full}
		}, model.StagePlacement, "does not fit but should: NodeResourcesFit"},
		{"a member is not helped", func(_ *model.Observation, g *model.GroupCycle) { g.Placed, g.PlacedTo = g.Placed[:1], g.PlacedTo[:1] }, model.StagePlacement, "placed"},
		{"one is helped twice", func(_ *model.Observation, g *model.GroupCycle) { g.Placed[1] = "default/a" }, model.StagePlacement, "placed"},
		{"in another order", func(_ *model.Observation, g *model.GroupCycle) { g.Placed[0], g.Placed[1] = g.Placed[1], g.Placed[0] }, model.StagePlacement, "placed"},
		{"elsewhere", func(_ *model.Observation, g *model.GroupCycle) { g.PlacedTo[1] = "m" }, model.StagePlacement, "placed"},
		{"a unit is not tried", func(_ *model.Observation, g *model.GroupCycle) { g.Tried = g.Tried[:2] }, model.StageReprieve, "gives back"},
		{"a unit is tried twice", func(_ *model.Observation, g *model.GroupCycle) { g.Tried[2] = g.Tried[1] }, model.StageReprieve, "gives back"},
		{"no such unit", func(_ *model.Observation, g *model.GroupCycle) { g.Tried[2].Pods = []string{"default/y"} }, model.StageReprieve, "gives back"},
		{"x is not given back", func(_ *model.Observation, g *model.GroupCycle) {
			g.Tried[0].GivenBack, g.Tried[0].Verdict = false, &full
		}, model.StageReprieve, "unit given back"},
		{"w is", func(_ *model.Observation, g *model.GroupCycle) { g.Tried[1].GivenBack = true }, model.StageReprieve, "unit given back"},
		{"for another member", func(_ *model.Observation, g *model.GroupCycle) { g.Tried[1].Failed = "default/a" }, model.StageReprieve, "unit refused"},
		{"on another node", func(_ *model.Observation, g *model.GroupCycle) { g.Tried[1].Node = "m" }, model.StageReprieve, "unit refused"},
		{"by another plugin", func(_ *model.Observation, g *model.GroupCycle) {
			g.Tried[1].Verdict = &model.Verdict{Plugin: "NodePorts"}
		}, model.StageReprieve, "unit refused"},
		{"the less important first", func(_ *model.Observation, g *model.GroupCycle) { g.Tried[1], g.Tried[2] = g.Tried[2], g.Tried[1] }, model.StageReprieve, "order"},
		{"a violation", func(_ *model.Observation, g *model.GroupCycle) { g.Violations = 1 }, model.StageReprieve, "order"},
		{"victims in another order", func(_ *model.Observation, g *model.GroupCycle) { g.Victims = []string{"default/v", "default/w"} }, model.StageReprieve, "victims"},
		{"a victim less", func(_ *model.Observation, g *model.GroupCycle) { g.Victims = g.Victims[:1] }, model.StageReprieve, "victims"},
		{"a victim more", func(_ *model.Observation, g *model.GroupCycle) { g.Victims = append(g.Victims, "default/x") }, model.StageReprieve, "victims"},
		{"a group is disrupted", func(_ *model.Observation, g *model.GroupCycle) { g.Disruptions = 1 }, model.StageReprieve, "disruptions of groups"},
		{"nobody handed them over", func(_ *model.Observation, g *model.GroupCycle) { g.Violations, g.Disruptions = -1, -1 }, "", ""},
		{"an error at the end", func(o *model.Observation, _ *model.GroupCycle) { o.CycleError = "oops" }, model.StageActuate, "ends in an error"},
		{"a member is bound", func(o *model.Observation, _ *model.GroupCycle) {
			o.Aftermath.Calls = []model.Call{{Verb: "bind", Object: "default/a", Node: "n"}}
		}, model.StageActuate, "binds"},
		{"binding it fails", func(o *model.Observation, _ *model.GroupCycle) {
			o.Aftermath.Calls = []model.Call{{Verb: "bind", Object: "default/a", Node: "n", Failed: "conflict"}}
		}, "", ""},
		{"a victim stays", func(o *model.Observation, _ *model.GroupCycle) { o.Actuation.Deleted = o.Actuation.Deleted[:1] }, model.StageActuate, "deletes"},
		{"a victim is not marked", func(o *model.Observation, _ *model.GroupCycle) { o.Actuation.DisruptionTarget = nil }, model.StageActuate, "marks"},
		{"a nomination is withdrawn", func(o *model.Observation, _ *model.GroupCycle) { o.Actuation.Cleared = []string{"default/v"} }, model.StageActuate, "withdraws"},
		{"something else is written", func(o *model.Observation, _ *model.GroupCycle) { o.Actuation.Other = []string{"patch"} }, model.StageActuate, "writes besides"},
		{"a member is not told", func(_ *model.Observation, g *model.GroupCycle) { delete(g.Members, "default/b") }, model.StageActuate, "tells members that are not bound"},
		{"nominated elsewhere", end("default/b", func(e *model.MemberEnd) { e.NominatedNode = "m" }), model.StageActuate, "nominations"},
		{"not nominated", end("default/b", func(e *model.MemberEnd) { e.Nomination = model.NominationCleared }), model.StageActuate, "nominations"},
		{"as it was", end("default/b", func(e *model.MemberEnd) { e.Nomination = model.NominationKept }), model.StageActuate, "nominations"},
		{"it is not held", end("default/b", func(e *model.MemberEnd) { e.Held = "" }), model.StageActuate, "nominations"},
	})
}

// Members that fit are bound, and nobody is told otherwise.
func TestAdmitsNoOtherBinding(t *testing.T) {
	bind := func(pod string) model.Call { return model.Call{Verb: "bind", Object: pod, Node: "n"} }
	findsGroupLies(t, "5", func() *model.Observation {
		return &model.Observation{Actuation: &model.Actuation{}, Aftermath: &model.Aftermath{Calls: []model.Call{bind("default/b"), bind("default/a")}},
			Group: &model.GroupCycle{First: []model.MemberTry{{Pod: "default/a", Node: "n"}, {Pod: "default/b", Node: "n"}}}}
	}, []groupLie{
		{"one is not bound", func(o *model.Observation, _ *model.GroupCycle) { o.Aftermath.Calls = o.Aftermath.Calls[:1] }, model.StageActuate, "binds"},
		{"one is bound elsewhere", func(o *model.Observation, _ *model.GroupCycle) { o.Aftermath.Calls[0].Node = "m" }, model.StageActuate, "binds"},
		{"one is told that it is not", func(_ *model.Observation, g *model.GroupCycle) {
			g.Members = map[string]model.MemberEnd{"default/a": {}}
		}, model.StageActuate, "tells members that are not bound"},
		{"somebody is preempted", func(_ *model.Observation, g *model.GroupCycle) { g.Victims = []string{"default/v"} }, model.StageActuate, "victims"},
		{"a pod is deleted", func(o *model.Observation, _ *model.GroupCycle) { o.Actuation.Deleted = []string{"default/v"} }, model.StageActuate, "deletes"},
	})
	o := &model.Observation{Group: &model.GroupCycle{First: []model.MemberTry{{Pod: "default/a", Node: "n"}, {Pod: "default/b", Node: "n"}}}}
	course := func(binds ...string) *answers.Disagreement { return gangOf(t, "5").AdmitsCourse(o, binds) }
	assert.Nil(t, course("default/b to n", "default/a to n"))
	assert.NotNil(t, course("default/b to n"))
	assert.NotNil(t, course())
}
