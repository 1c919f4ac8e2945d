package model_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// fails is a plugin whose filter is an error on one node.
type fails struct{ node string }

func (fails) Name() string { return "fails" }

func (f fails) PreFilter(*filter.Snapshot) (filter.State, filter.Answer) {
	return filter.EachNode(func(n *v1.Node) *filter.Verdict {
		if n.Name != f.node {
			return nil
		}
		return &filter.Verdict{Plugin: "fails", Error: "disk on fire"}
	}), filter.Answer{}
}

// says is a plugin that answers the same to every PreFilter, and passes every node.
type says struct {
	plugin string
	answer filter.Answer
}

func (s says) Name() string { return s.plugin }

func (s says) PreFilter(*filter.Snapshot) (filter.State, filter.Answer) {
	return filter.EachNode(func(*v1.Node) *filter.Verdict { return nil }), s.answer
}

func TestPreFilter(t *testing.T) {
	passes, named := says{"passes", filter.Answer{}}, says{"named", filter.Answer{Nodes: map[string]bool{"n": true}}}
	resolvable := says{"resolvable", filter.Answer{Rejection: filter.Resolvable("r")}}
	final := says{"final", filter.Rejected("f")}
	broken := says{"broken", filter.Answer{Error: "disk on fire"}}
	for _, test := range []struct {
		name     string
		plugins  []filter.Plugin
		error    string
		fits     []string
		verdicts map[string]string // without a verdict the cycle ends in an error
		stopped  bool
	}{
		{"all pass", []filter.Plugin{passes}, "", []string{"n", "m"}, map[string]string{}, false},
		{"one names nodes", []filter.Plugin{passes, named}, "", []string{"n"}, map[string]string{"m": "named (unresolvable)"}, false},
		{"one names none", []filter.Plugin{says{"none", filter.Answer{Nodes: map[string]bool{}}}}, "", nil, map[string]string{"m": " (unresolvable)", "n": " (unresolvable)"}, true},
		{"two name others", []filter.Plugin{named, says{"m", filter.Answer{Nodes: map[string]bool{"m": true}}}}, "", nil, map[string]string{"m": "m,named (unresolvable)", "n": "m,named (unresolvable)"}, true},
		{"two name one in common", []filter.Plugin{named, says{"both", filter.Answer{Nodes: map[string]bool{"m": true, "n": true}}}}, "", []string{"n"}, map[string]string{"m": "both,named (unresolvable)"}, false},
		{"final", []filter.Plugin{named, final, resolvable, broken}, "", nil, map[string]string{"m": "final (unresolvable)", "n": "final (unresolvable)"}, true},
		{"resolvable", []filter.Plugin{resolvable, passes}, "", nil, map[string]string{"m": "resolvable", "n": "resolvable"}, false},
		{"final after resolvable", []filter.Plugin{resolvable, final}, "", nil, map[string]string{"m": "final (unresolvable)", "n": "final (unresolvable)"}, true},
		{"error on a node", []filter.Plugin{passes, fails{"m"}}, "disk on fire", nil, nil, false},
		{"error after resolvable", []filter.Plugin{resolvable, broken, final}, "disk on fire", nil, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			rules := answers.Documented()
			rules.Plugins = test.plugins
			d, err := answers.Decide(mk.Cluster(mk.Pod("p", 1), mk.Node("n", "1"), mk.Node("m", "1"), mk.Pod("v", 0, mk.On("m"))), rules)
			require.NoError(t, err)
			require.Equal(t, test.error, strings.Join(d.Errors, ", "))
			require.Equal(t, test.fits, d.Fits)
			require.Equal(t, test.stopped, d.Cycle.PreFiltered.Stopped)
			if test.verdicts == nil {
				require.Nil(t, d.Verdicts)
				require.NotNil(t, d.Admits(&model.Observation{}), "an error is what is observed")
				require.NotNil(t, d.Admits(&model.Observation{CycleError: "disk is full"}), "another error")
				require.Nil(t, d.Admits(&model.Observation{CycleError: `running PreFilter plugin "broken": disk on fire`, Actuation: &model.Actuation{Nomination: model.NominationCleared}}))
				return
			}
			got := map[string]string{}
			for name, v := range d.Verdicts {
				got[name] = v.String()
			}
			require.Equal(t, test.verdicts, got)
			if test.name == "resolvable" {
				require.Equal(t, []string{"m", "n"}, d.PotentialNodes, "in order of their names")
			}
		})
	}
}

// A pod that fits on its nominated node does not come to the error of another node (KEP-1923), unless an extender takes the nominated one away.
func TestErrorBehindNominatedNode(t *testing.T) {
	const none, fire = "", "disk on fire"
	for _, tt := range []struct {
		name, nominated string
		extenders       []model.Extender
		want            string
	}{
		{"it fits there", "n", nil, none},
		{"the error is there", "m", nil, fire},
		{"it is gone", "gone", nil, fire},
		{"it is nominated nowhere", "", nil, fire},
		{"an extender lets it", "n", []model.Extender{{Name: "e", Filter: &model.ExtenderFilter{Rejects: []string{"m"}}}}, none},
		{"an extender without the verb", "n", []model.Extender{{Name: "e", Preempt: &model.ExtenderPreempt{}}}, none},
		{"an extender rejects it", "n", []model.Extender{{Name: "e", Filter: &model.ExtenderFilter{Rejects: []string{"n"}}}}, fire},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules := answers.Documented()
			rules.Plugins = []filter.Plugin{fails{"m"}}
			c := mk.Cluster(mk.Pod("p", 1, mk.Nominated(tt.nominated)), mk.Node("m", "1"), mk.Node("n", "1"))
			c.Settings.Extenders = tt.extenders
			d, err := answers.Decide(c, rules)
			require.NoError(t, err)
			require.Equal(t, tt.want, strings.Join(d.Errors, ", "))
			if tt.want == none {
				require.Equal(t, []string{"n"}, d.Fits)
			}
		})
	}
}

// Plugins have the names that a configuration gives them (docs: reference/scheduling/config, "Scheduling plugins").
func TestDefaultPlugins(t *testing.T) {
	var names []string
	for _, p := range model.DefaultPlugins() {
		names = append(names, p.Name())
	}
	require.Equal(t, []string{"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits",
		"VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures"}, names)
}

// rejects is a plugin of that name whose filter rejects every node, for that reason.
type rejects string

func (r rejects) Name() string { return string(r) }

func (r rejects) PreFilter(*filter.Snapshot) (filter.State, filter.Answer) {
	return filter.EachNode(func(*v1.Node) *filter.Verdict { return filter.Resolvable(string(r)) }), filter.Answer{}
}

// Of plugins that reject a node, the verdict is that of the first one in the order of filters.
func TestOrderOfFilters(t *testing.T) {
	rules := model.Documented()
	rules.Plugins = []filter.Plugin{rejects("a"), rejects("b"), rejects("c")}
	cy := rules.NewCycle(mk.Cluster(mk.Pod("p", 1), mk.Node("n", "1")))
	first := func() string { return cy.RunFilters(cy.Nodes[0], cy.Nodes[0].View()).Plugin }
	require.Equal(t, "a", first())
	cy.PreFiltered.Sort(func(plugin string) int { return strings.Index("cab", plugin) })
	require.Equal(t, "c", first())
	var order []string
	cy.States(func(s filter.State) { order = append(order, s.Fits(cy.Nodes[0], cy.Nodes[0].View()).Reasons...) })
	require.Equal(t, []string{"c", "a", "b"}, order)
}

// A node that PreFilter leaves out has no status of its own, unlike one that a plugin rejects. Without nodes nothing is rejected, and nothing fails.
func TestNodesWithoutStatus(t *testing.T) {
	rules := model.Documented()
	rules.Plugins = []filter.Plugin{says{"named", filter.Answer{Nodes: map[string]bool{"n": true}}}, rejects("r")}
	d := rules.Decide(mk.Cluster(mk.Pod("p", 1), mk.Node("m", "1"), mk.Node("n", "1")))
	require.Equal(t, map[string]bool{"m": true}, d.Cycle.Absent)

	for name, answer := range map[string]filter.Answer{"rejects": filter.Rejected("r"), "fails": {Error: "disk on fire"}} {
		rules.Plugins = []filter.Plugin{says{name, answer}}
		d := rules.Decide(mk.Cluster(mk.Pod("p", 1)))
		require.Empty(t, d.Errors, name)
		require.Empty(t, d.Verdicts, name)
		require.Nil(t, d.Eligible, name)
	}
}

// Room that was made for a pod is left to it by pods of lower priority, and by its equals.
func TestRespectNomination(t *testing.T) {
	for nominated, want := range map[int32]bool{8: false, 9: true, 10: true} {
		require.Equal(t, want, model.RespectNomination(&filter.Pod{Priority: 9}, &filter.Pod{Priority: nominated}), nominated)
	}
}
