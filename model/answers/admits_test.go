package answers_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// lie is a change to an observation that is as it should be, and how it shows; a kind of "" is none.
type lie struct {
	name       string
	change     func(o *model.Observation)
	stage      model.Stage
	node, kind string
}

// findsLies checks that an observation is admitted, and not with any of the lies.
func findsLies(t *testing.T, name string, c *model.Cluster, truth func() *model.Observation, lies []lie) {
	for _, l := range append([]lie{{"as it should", func(*model.Observation) {}, "", "", ""}}, lies...) {
		t.Run(name+", "+l.name, func(t *testing.T) {
			d, err := answers.Decide(c, answers.Documented())
			require.NoError(t, err)
			o := truth()
			l.change(o)
			dis := d.Admits(o)
			if l.kind == "" {
				require.Nil(t, dis)
				return
			}
			require.NotNil(t, dis)
			require.Equal(t, []string{string(l.stage), l.node, l.kind}, []string{string(dis.Stage), dis.Node, dis.Kind})
		})
	}
}

var (
	resources   = model.Verdict{Plugin: "NodeResourcesFit"}
	unsolvable  = model.Verdict{Plugin: "NodeResourcesFit", Unresolvable: true}
	noneOfLower = model.Verdict{Unresolvable: true}
)

// onANode are the pods that go for p, from a node, and what is written then.
func onANode(node string, pods ...string) (*model.Pick, *model.Actuation) {
	return &model.Pick{Node: node, Victims: pods},
		&model.Actuation{Deleted: pods, DisruptionTarget: pods, Nomination: model.NominationSet, NominatedNode: node}
}

// cheapAndDear is a cluster in which the pod on a should go for p, and not that on b, which a budget protects.
func cheapAndDear() *model.Cluster {
	return mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("a", "1"), mk.Node("b", "1"), mk.Node("c", "500m"), mk.Budget("g", 0, mk.ForApp("guarded")),
		mk.Pod("on-a", 1, mk.CPU("1"), mk.On("a")), mk.Pod("on-b", 0, mk.CPU("1"), mk.On("b"), mk.App("guarded")))
}

// takesCheap is what a scheduler does with it.
func takesCheap() *model.Observation {
	o := &model.Observation{
		Filters:  map[string]model.Verdict{"a": resources, "b": resources, "c": unsolvable},
		Eligible: &model.Eligibility{OK: true}, PotentialNodes: []string{"b", "a"},
		DryRuns:    map[string]model.DryRun{"a": {Victims: []string{"default/on-a"}}, "b": {Victims: []string{"default/on-b"}, Violations: 1}},
		Candidates: []string{"a", "b"}, PostFilterCode: "Success", PinnedDryRuns: true,
	}
	o.Pick, o.Actuation = onANode("a", "default/on-a")
	return o
}

// Each stage that shows is compared, and a disagreement says how it differs.
func TestAdmitsNothingElse(t *testing.T) {
	const fits, fails = "fits but should not: NodeResourcesFit", "does not fit but should: "
	filter, run := func(node string, v model.Verdict) func(*model.Observation) {
		return func(o *model.Observation) { o.Filters[node] = v }
	}, func(node string, r model.DryRun) func(*model.Observation) {
		return func(o *model.Observation) { o.DryRuns[node] = r }
	}
	findsLies(t, "preempts", cheapAndDear(), takesCheap, []lie{
		{"an earlier plugin", filter("a", model.Verdict{Plugin: "NodeAffinity"}), model.StageFilter, "a", fails + "NodeAffinity"},
		{"a later plugin", filter("a", model.Verdict{Plugin: "NodeVolumeLimits"}), model.StageFilter, "a", fits},
		{"an extender", filter("a", model.Verdict{Plugin: model.ExtenderName}), model.StageFilter, "a", fits},
		{"unresolvable", filter("a", unsolvable), model.StageFilter, "a", "unresolvable but should be resolvable: NodeResourcesFit"},
		{"resolvable", filter("c", resources), model.StageFilter, "c", "resolvable but should be unresolvable: NodeResourcesFit"},
		{"a node passes", func(o *model.Observation) { delete(o.Filters, "c") }, model.StageFilter, "c", fits},
		{"no such node", filter("d", resources), model.StageFilter, "d", fails + "NodeResourcesFit"},
		{"scheduled", func(o *model.Observation) { o.ScheduledTo = "a" }, model.StageFilter, "a", fits},
		{"an error", func(o *model.Observation) { o.CycleError = "oops" }, model.StageFilter, "", "ends in an error: oops"},
		{"not eligible", func(o *model.Observation) { o.Eligible.OK = false }, model.StageEligible, "", "may not preempt but should"},
		{"a potential node less", func(o *model.Observation) { o.PotentialNodes = []string{"a"} }, model.StagePotential, "", "tries: too few"},
		{"one more", func(o *model.Observation) { o.PotentialNodes = []string{"a", "b", "c"} }, model.StagePotential, "", "tries: too many"},
		{"another one", func(o *model.Observation) { o.PotentialNodes = []string{"a", "c"} }, model.StagePotential, "", "tries: others"},
		{"tried for nothing", run("c", model.DryRun{Failed: &resources}), model.StageDryRun, "c", "tries a node that it should not"},
		{"nobody to preempt", run("b", model.DryRun{Failed: &noneOfLower}), model.StageDryRun, "b", "spares what it may preempt"},
		{"it still does not fit", run("b", model.DryRun{Failed: &resources}), model.StageDryRun, "b", fails + "NodeResourcesFit"},
		{"a dry run ends in an error", run("b", model.DryRun{Error: "oops"}), model.StageDryRun, "b", "ends in an error: oops"},
		{"more violations", run("a", model.DryRun{Victims: []string{"default/on-a"}, Violations: 1}), model.StageDryRun, "a", "chooses victims otherwise: more violations"},
		{"fewer violations", run("b", model.DryRun{Victims: []string{"default/on-b"}}), model.StageDryRun, "b", "chooses victims otherwise: fewer violations"},
		{"the victim of another node", run("a", model.DryRun{Victims: []string{"default/on-b"}}), model.StageDryRun, "a", fits},
		{"a victim twice", run("a", model.DryRun{Victims: []string{"default/on-a", "default/on-a"}}), model.StageDryRun, "a", "chooses victims otherwise: others"},
		{"no candidate", func(o *model.Observation) { o.Candidates = append(o.Candidates, "c") }, model.StageCandidates, "c", "shortlists a node that is no candidate"},
		{"a short list", func(o *model.Observation) { o.Candidates = []string{"a"} }, model.StageCandidates, "", "shortlist too short"},
		{"a long list", func(o *model.Observation) { o.Candidates = append(o.Candidates, "b") }, model.StageCandidates, "", "shortlist too long"},
		{"the search ends early", func(o *model.Observation) { delete(o.DryRuns, "b"); o.Candidates = []string{"a"} }, model.StageCandidates, "", "tries too few nodes"},
		{"an error after the dry runs", func(o *model.Observation) { o.PostFilterCode, o.PostFilterMessage = "Error", "oops" }, model.StageExtenders, "", "ends in an error: oops"},
		{"none is picked", func(o *model.Observation) { o.Pick = nil }, model.StagePick, "", "picks none"},
		{"the worse is picked", func(o *model.Observation) { o.Pick, o.Actuation = onANode("b", "default/on-b") }, model.StagePick, "", "not the best by: fewest budget violations"},
		{"another is picked", func(o *model.Observation) { o.Pick.Node = "c" }, model.StagePick, "", "picks something else than the dry run found"},
		{"others are preempted", func(o *model.Observation) { o.Pick.Victims = []string{"default/on-b"} }, model.StagePick, "a", "picks something else than the dry run found"},
		{"another number is handed over", func(o *model.Observation) { o.Pick.Violations = 1 }, model.StagePick, "a", "picks something else than the dry run found"},
		{"it is not told", func(o *model.Observation) { o.PostFilterCode = "Unschedulable" }, model.StagePick, "", "answers Unschedulable but should answer Success"},
		{"nor that", func(o *model.Observation) { o.PostFilterCode = "UnschedulableAndUnresolvable" }, model.StagePick, "", "answers Unschedulable but should answer Success"},
		{"what is answered does not show", func(o *model.Observation) { o.PostFilterCode = "" }, "", "", ""},
		{"none is deleted", func(o *model.Observation) { o.Actuation.Deleted = nil }, model.StageActuate, "", "deletes: too few"},
		{"one more is marked", func(o *model.Observation) { o.Actuation.DisruptionTarget = []string{"default/on-a", "default/on-b"} }, model.StageActuate, "", "marks: too many"},
		{"a nomination is withdrawn", func(o *model.Observation) { o.Actuation.Cleared = []string{"default/on-b"} }, model.StageActuate, "", "clears nominations of: too many"},
		{"something else is written", func(o *model.Observation) { o.Actuation.Other = []string{"patch"} }, model.StageActuate, "", "writes: too many"},
		{"nominated to another node", func(o *model.Observation) { o.Actuation.NominatedNode = "b" }, model.StageActuate, "", "nomination set but should be set"},
		{"not nominated", func(o *model.Observation) { o.Actuation.Nomination = model.NominationKept }, model.StageActuate, "", "nomination kept but should be set"},
		{"nominations do not show", func(o *model.Observation) {
			o.Actuation.Nomination, o.Actuation.NominatedNode = model.NominationUnseen, ""
		}, "", "", ""},
		{"writes do not show", func(o *model.Observation) { o.Actuation = nil }, "", "", ""},
		{"a claim loses its devices", func(o *model.Observation) { o.Actuation.Deallocated = []string{"default/c"} }, model.StageActuate, "", "deallocates: too many"},
	})
	// Here just the answer shows.
	findsLies(t, "shows the answer only", cheapAndDear(), func() *model.Observation {
		o := takesCheap()
		return &model.Observation{Pick: o.Pick, Actuation: o.Actuation}
	}, []lie{
		{"none is picked", func(o *model.Observation) { o.Pick = nil }, model.StagePick, "", "picks none"},
		{"the worse is picked", func(o *model.Observation) { o.Pick, o.Actuation = onANode("b", "default/on-b"); o.Pick.Violations = 1 }, model.StagePick, "", "picks something else than the dry run found"},
		{"another number is handed over", func(o *model.Observation) { o.Pick.Violations = 1 }, model.StagePick, "", "picks something else than the dry run found"},
		{"a victim that is not there", func(o *model.Observation) { o.Pick.Victims = []string{"default/on-b"} }, model.StagePick, "", "picks something else than the dry run found"},
		{"an error", func(o *model.Observation) { o.Pick, o.PostFilterCode, o.PostFilterMessage = nil, "Error", "oops" }, model.StagePick, "", "ends in an error: oops"},
		{"none is deleted", func(o *model.Observation) { o.Actuation.Deleted = nil }, model.StageActuate, "", "deletes: too few"},
	})
}

// So it is where nobody is preempted.
func TestAdmitsNothingElseWithoutPreemption(t *testing.T) {
	never := v1.PreemptNever
	code := func(code, message string) func(*model.Observation) {
		return func(o *model.Observation) { o.PostFilterCode, o.PostFilterMessage = code, message }
	}
	picks := func(o *model.Observation) { o.Pick, _ = onANode("a", "default/on-a") }
	nomination := func(mode model.NominationMode) func(*model.Observation) {
		return func(o *model.Observation) { o.Actuation.Nomination = mode }
	}
	cleared, kept := nomination(model.NominationCleared), nomination(model.NominationKept)
	run := func(r model.DryRun) func(*model.Observation) {
		return func(o *model.Observation) { o.DryRuns["a"] = r }
	}

	findsLies(t, "it may not", mk.Cluster(mk.Pod("p", 9, mk.CPU("1"), func(p *v1.Pod) { p.Spec.PreemptionPolicy = &never }), mk.Node("a", "1"), mk.Pod("on-a", 1, mk.CPU("1"), mk.On("a"))), func() *model.Observation {
		return &model.Observation{Filters: map[string]model.Verdict{"a": resources}, Eligible: &model.Eligibility{}, PostFilterCode: "UnschedulableAndUnresolvable",
			Actuation: &model.Actuation{Nomination: model.NominationKept}}
	}, []lie{
		{"it may", func(o *model.Observation) { o.Eligible.OK = true }, model.StageEligible, "", "may preempt but should not"},
		{"it is told that it did", code("Success", ""), model.StagePick, "", "answers Success but should answer Unschedulable"},
		{"an error", code("Error", "oops"), model.StagePick, "", "ends in an error: oops"},
		{"its nomination is lost", cleared, model.StageActuate, "", "nomination cleared but should be kept"},
	})
	findsLies(t, "it does not help", mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("a", "1"), mk.Pod("on-a", 10, mk.CPU("1"), mk.On("a"))), func() *model.Observation {
		return &model.Observation{Filters: map[string]model.Verdict{"a": resources}, Eligible: &model.Eligibility{OK: true}, PotentialNodes: []string{"a"},
			DryRuns: map[string]model.DryRun{"a": {Failed: &noneOfLower}}, PostFilterCode: "Unschedulable", Actuation: &model.Actuation{Nomination: model.NominationCleared}}
	}, []lie{
		{"it does not fit", run(model.DryRun{Failed: &resources}), model.StageDryRun, "a", "preempts what it may not"},
		{"a victim", run(model.DryRun{Victims: []string{"default/on-a"}}), model.StageDryRun, "a", "preempts what it may not"},
		{"resolvable", run(model.DryRun{Failed: &model.Verdict{}}), model.StageDryRun, "a", "spares what it may preempt"},
		{"a dry run ends in an error", run(model.DryRun{Error: "oops"}), model.StageDryRun, "a", "ends in an error: oops"},
		{"a candidate", func(o *model.Observation) { o.Candidates = []string{"a"} }, model.StageCandidates, "a", "shortlists a node that is no candidate"},
		{"one is picked", picks, model.StagePick, "", "picks one of none"},
		{"it is told that it did", code("Success", ""), model.StagePick, "", "answers Success but should answer Unschedulable"},
		{"an error", code("Error", "oops"), model.StagePick, "", "ends in an error: oops"},
		{"its nomination stays", kept, model.StageActuate, "", "nomination kept but should be cleared"},
	})
	findsLies(t, "there are no nodes", mk.Cluster(mk.Pod("p", 9, mk.CPU("1"))), func() *model.Observation {
		return &model.Observation{CycleError: "no nodes available to schedule pods", Actuation: &model.Actuation{Nomination: model.NominationCleared}}
	}, []lie{
		{"no error", func(o *model.Observation) { o.CycleError = "" }, model.StageFilter, "", "does not end in an error"},
		{"another error", func(o *model.Observation) { o.CycleError = "oops" }, model.StageFilter, "", "ends in an error: oops"},
		{"its nomination stays", kept, model.StageActuate, "", "nomination kept but should be cleared"},
	})
	findsLies(t, "it fits", mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("a", "1"), mk.Node("b", "1"), mk.Node("c", "0")), func() *model.Observation {
		return &model.Observation{ScheduledTo: "b"}
	}, []lie{
		{"nowhere", func(o *model.Observation) { o.ScheduledTo = "" }, model.StageFilter, "", "scheduled to another node than the nominated one"},
		{"elsewhere", func(o *model.Observation) { o.ScheduledTo = "c" }, model.StageFilter, "", "fits but should not: NodeResourcesFit"},
		{"not on a", func(o *model.Observation) { o.Filters = map[string]model.Verdict{"a": resources} }, model.StageFilter, "a", "does not fit but should: NodeResourcesFit"},
	})
}

// What extenders leave is compared, and whether they fail.
func TestAdmitsExtenders(t *testing.T) {
	with := func(p model.ExtenderPreempt) *model.Cluster {
		c := cheapAndDear()
		c.Settings.Extenders = []model.Extender{{Name: "e", Preempt: &p}}
		return c
	}
	code := func(code, message string) func(*model.Observation) {
		return func(o *model.Observation) { o.PostFilterCode, o.PostFilterMessage = code, message }
	}
	picks := func(o *model.Observation) { o.Pick, _ = onANode("a", "default/on-a") }
	findsLies(t, "drops b", with(model.ExtenderPreempt{Drops: []string{"b"}}), func() *model.Observation {
		o := takesCheap()
		o.AfterExtenders = map[string]model.DryRun{"a": o.DryRuns["a"]}
		return o
	}, []lie{
		{"b stays", func(o *model.Observation) { o.AfterExtenders["b"] = o.DryRuns["b"] }, model.StageExtenders, "b", "shortlists a node that is no candidate"},
		{"a does not", func(o *model.Observation) { delete(o.AfterExtenders, "a") }, model.StageExtenders, "a", "chooses victims otherwise"},
		{"another number", func(o *model.Observation) {
			o.AfterExtenders["a"] = model.DryRun{Victims: []string{"default/on-a"}, Violations: 1}
		}, model.StageExtenders, "a", "chooses victims otherwise"},
		{"it does not show", func(o *model.Observation) { o.AfterExtenders = nil }, "", "", ""},
		{"an error", code("Error", "extender e: oops"), model.StageExtenders, "", "ends in an error: extender e: oops"},
	})
	findsLies(t, "fails", with(model.ExtenderPreempt{Fails: model.PreemptError}), func() *model.Observation {
		o := takesCheap()
		o.Pick, o.Actuation, o.PostFilterCode, o.PostFilterMessage = nil, &model.Actuation{Nomination: model.NominationKept}, "Error", "extender e: oops"
		return o
	}, []lie{
		{"it does not show", code("", ""), "", "", ""},
		{"no error", code("Unschedulable", ""), model.StageExtenders, "", "does not end in an error"},
		{"another error", code("Error", "oops"), model.StageExtenders, "", "ends in an error: oops"},
		{"one is picked", picks, model.StageExtenders, "", "does not end in an error"},
		{"its nomination is lost", func(o *model.Observation) { o.Actuation.Nomination = model.NominationCleared }, model.StageActuate, "", "nomination cleared but should be kept"},
	})
	findsLies(t, "leaves nothing", with(model.ExtenderPreempt{Nothing: true}), func() *model.Observation {
		o := takesCheap()
		o.Pick, o.Actuation, o.PostFilterCode = nil, &model.Actuation{Nomination: model.NominationCleared}, "Unschedulable"
		o.AfterExtenders = map[string]model.DryRun{}
		return o
	}, []lie{
		{"one is picked", picks, model.StagePick, "", "picks one of none"},
		{"it is told that it did", code("Success", ""), model.StagePick, "", "answers Success but should answer Unschedulable"},
		{"its nomination stays", func(o *model.Observation) { o.Actuation.Nomination = model.NominationKept }, model.StageActuate, "", "nomination kept but should be cleared"},
	})
}

// Dry runs that are made one after another begin where they should, and end as soon as there is one candidate without violations.
func TestAdmitsOrderOfDryRuns(t *testing.T) {
	for _, tt := range []struct {
		name   string
		offset int32
		pinned bool
		tried  string
		kind   string
	}{
		{"up to the first without", 0, true, "ab", ""},
		{"one too many", 0, true, "abd", "tries: too many"},
		{"not the first", 0, true, "b", "tries: others"},
		{"from the second on", 1, true, "b", ""},
		{"the first is not the second", 1, true, "ab", "tries: too many"},
		{"from the third on", 2, true, "d", ""},
		{"side by side", 0, false, "abd", ""},
		{"side by side, and not the first", 0, false, "d", ""},
		{"none without", 0, false, "a", "tries too few nodes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Budget("g", 0, mk.ForApp("guarded")),
				model.Settings{MinCandidateNodesAbsolute: new(int32(1)), MinCandidateNodesPercentage: new(int32(0)), DryRunOffset: &tt.offset})
			o := &model.Observation{Filters: map[string]model.Verdict{}, Eligible: &model.Eligibility{OK: true}, PotentialNodes: []string{"a", "b", "d"},
				DryRuns: map[string]model.DryRun{}, PinnedDryRuns: tt.pinned}
			for _, node := range o.PotentialNodes {
				victim := mk.Pod("on-"+node, 1, mk.CPU("1"), mk.On(node))
				if node == "a" {
					mk.App("guarded")(victim)
				}
				c.Nodes, c.Pods, o.Filters[node] = append(c.Nodes, mk.Node(node, "1")), append(c.Pods, victim), resources
			}
			best := ""
			for _, r := range tt.tried {
				node := string(r)
				run := model.DryRun{Victims: []string{"default/on-" + node}}
				switch {
				case node == "a":
					run.Violations = 1
					o.Candidates = append(o.Candidates, node)
				case best == "":
					best = node
					o.Candidates = append(o.Candidates, node)
				}
				o.DryRuns[node] = run
			}
			if best != "" {
				o.Pick, o.Actuation = onANode(best, "default/on-"+best)
			}
			d, err := answers.Decide(c, answers.Documented())
			require.NoError(t, err)
			dis := d.Admits(o)
			if tt.kind == "" {
				require.Nil(t, dis)
				return
			}
			require.NotNil(t, dis)
			require.Equal(t, tt.kind, dis.Kind)
			require.Equal(t, model.StageCandidates, dis.Stage)
		})
	}
}
