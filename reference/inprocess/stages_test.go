package inprocess

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

var (
	full      = model.Verdict{Plugin: "NodeResourcesFit"}
	tooSmall  = model.Verdict{Plugin: "NodeResourcesFit", Unresolvable: true}
	cordoned  = model.Verdict{Plugin: "NodeUnschedulable", Unresolvable: true}
	noVictims = model.Verdict{Unresolvable: true}
	eligible  = &model.Eligibility{OK: true}
	kept      = &model.Actuation{Nomination: model.NominationKept}
	cleared   = &model.Actuation{Nomination: model.NominationCleared}
	one       = int32(1)
	both      = []model.Settings{{}, gate(model.GateAsyncPreemption, false)} // asynchronous, synchronous
	// alike: which of its own lines a framework went through is no part of an answer, nor in which order it lacks several resources,
	// which come from a map.
	alike = cmp.Options{cmpopts.IgnoreFields(model.Crash{}, "Stack"),
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Reasons" }, cmpopts.SortSlices(func(a, b string) bool { return a < b }))}
	ignoreText = cmp.Options{
		cmpopts.IgnoreFields(model.Observation{}, "System", "PostFilterMessage", "Aftermath", "PinnedBudgetOrder", "PinnedDryRuns"),
		cmpopts.IgnoreFields(model.Verdict{}, "Reasons"),
		cmpopts.IgnoreFields(model.Eligibility{}, "Reason"),
		cmpopts.EquateEmpty(),
	}
)

func preempts(node string, victims ...string) *model.Actuation {
	return &model.Actuation{Deleted: victims, DisruptionTarget: victims, Nomination: model.NominationSet, NominatedNode: node}
}

// TestStages observes small clusters with asynchronous and with synchronous
// preemption: the same, unless wantSync says otherwise.
func TestStages(t *testing.T) {
	const a, b, c = "default/a", "default/b", "default/c"
	cordon := func(n *v1.Node) *v1.Node { n.Spec.Unschedulable = true; return n }
	tests := []struct {
		name     string
		cluster  model.Cluster
		want     model.Observation
		wantSync func(*model.Observation)
	}{{
		name:    "fits, and the first name wins a tie",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n3", 2), node("n2", 2), node("n1", 0)}, Preemptor: pod("p", 0, 1)},
		want:    model.Observation{ScheduledTo: "n2", Filters: map[string]model.Verdict{"n1": tooSmall}},
	}, {
		name:    "no nodes",
		cluster: model.Cluster{Preemptor: pod("p", 0, 1)},
		want:    model.Observation{CycleError: "no nodes available to schedule pods", Actuation: cleared},
	}, {
		name: "not eligible: policy Never",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n1", 1)}, Pods: []*v1.Pod{pod("a", 0, 1, on("n1"))},
			Preemptor: pod("p", 9, 1, never)},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full}, Eligible: &model.Eligibility{},
			Actuation: kept, PostFilterCode: "Unschedulable"},
	}, {
		name: "not eligible: a victim terminates on the nominated node",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n1", 1)}, Pods: []*v1.Pod{pod("a", 0, 1, on("n1"), preempted)},
			Preemptor: pod("p", 9, 1, nominatedTo("n1"))},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full}, Eligible: &model.Eligibility{},
			Actuation: kept, PostFilterCode: "Unschedulable"},
	}, {
		name: "no potential node",
		cluster: model.Cluster{Nodes: []*v1.Node{cordon(node("n1", 1)), node("n2", 1)}, Pods: []*v1.Pod{pod("a", 0, 1, on("n1"))},
			Preemptor: pod("p", 9, 2)},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": cordoned, "n2": tooSmall}, Eligible: eligible, PotentialNodes: []string{},
			Actuation: cleared, PostFilterCode: "Unschedulable"},
	}, {
		name: "nobody of lower priority, or not enough of them",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n1", 2), node("n2", 2)},
			Pods:      []*v1.Pod{pod("a", 9, 2, on("n1")), pod("b", 9, 1, on("n2")), pod("c", 0, 1, on("n2"))},
			Preemptor: pod("p", 9, 2, nominatedTo("n2"))},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full, "n2": full}, Eligible: eligible, PotentialNodes: []string{"n1", "n2"},
			DryRuns:   map[string]model.DryRun{"n1": {Failed: &noVictims}, "n2": {Failed: &full}},
			Actuation: cleared, PostFilterCode: "Unschedulable"},
	}, {
		name: "one candidate; its victims in order of importance, one reprieved",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n1", 4)},
			Pods:      []*v1.Pod{pod("a", 1, 1, on("n1"), startedAfter(5)), pod("b", 1, 1, on("n1")), pod("c", 0, 2, on("n1"))},
			Preemptor: pod("p", 9, 3)},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full}, Eligible: eligible, PotentialNodes: []string{"n1"},
			DryRuns:    map[string]model.DryRun{"n1": {Victims: []string{a, c}}},
			Candidates: []string{"n1"}, Pick: &model.Pick{Node: "n1", Victims: []string{a, c}},
			Actuation: preempts("n1", a, c), PostFilterCode: "Success"},
	}, {
		name: "two candidates: the budget decides",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n2", 1), node("n1", 1)},
			Pods:                 []*v1.Pod{pod("a", 1, 1, on("n1"), labelled("x")), pod("b", 2, 1, on("n2"))},
			PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{budget("x", "x", 0)},
			Preemptor:            pod("p", 9, 1)},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full, "n2": full}, Eligible: eligible, PotentialNodes: []string{"n1", "n2"},
			DryRuns:    map[string]model.DryRun{"n1": {Victims: []string{a}, Violations: 1}, "n2": {Victims: []string{b}}},
			Candidates: []string{"n2", "n1"}, Pick: &model.Pick{Node: "n2", Victims: []string{b}},
			Actuation: preempts("n2", b), PostFilterCode: "Success"},
	}, {
		name: "a shortlist of one",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n2", 1), node("n1", 1)},
			Pods:      []*v1.Pod{pod("a", 2, 1, on("n1")), pod("b", 1, 1, on("n2"))},
			Preemptor: pod("p", 9, 1), Settings: model.Settings{MinCandidateNodesAbsolute: &one}},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full, "n2": full}, Eligible: eligible, PotentialNodes: []string{"n1", "n2"},
			DryRuns:    map[string]model.DryRun{"n1": {Victims: []string{a}}},
			Candidates: []string{"n1"}, Pick: &model.Pick{Node: "n1", Victims: []string{a}},
			Actuation: preempts("n1", a), PostFilterCode: "Success"},
	}, {
		name: "a shortlist of one drops the second that violates",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n1", 1), node("n2", 1)},
			Pods:                 []*v1.Pod{pod("a", 2, 1, on("n1"), labelled("x")), pod("b", 1, 1, on("n2"), labelled("x"))},
			PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{budget("x", "x", 0)},
			Preemptor:            pod("p", 9, 1), Settings: model.Settings{MinCandidateNodesAbsolute: &one}},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full, "n2": full}, Eligible: eligible, PotentialNodes: []string{"n1", "n2"},
			DryRuns:    map[string]model.DryRun{"n1": {Victims: []string{a}, Violations: 1}, "n2": {Victims: []string{b}, Violations: 1}},
			Candidates: []string{"n1"}, Pick: &model.Pick{Node: "n1", Victims: []string{a}, Violations: 1},
			Actuation: preempts("n1", a), PostFilterCode: "Success"},
	}, {
		name: "a lower nomination on the node picked is cleared, there only, with a victim that terminates left alone",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n1", 2), node("n2", 1)},
			Pods: []*v1.Pod{pod("a", 1, 1, on("n1"), terminating), pod("b", 1, 1, on("n1")), pod("c", 9, 1, on("n2")),
				pod("low", 3, 1, nominatedTo("n1")), pod("high", 10, 0, nominatedTo("n1")), pod("elsewhere", 3, 1, nominatedTo("n2"))},
			Preemptor: pod("p", 9, 2, nominatedTo("n1"))},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full, "n2": tooSmall}, Eligible: eligible, PotentialNodes: []string{"n1"},
			DryRuns:    map[string]model.DryRun{"n1": {Victims: []string{a, b}}},
			Candidates: []string{"n1"}, Pick: &model.Pick{Node: "n1", Victims: []string{a, b}},
			Actuation: &model.Actuation{Deleted: []string{b}, DisruptionTarget: []string{b}, Cleared: []string{"default/low"},
				Nomination: model.NominationSet, NominatedNode: "n1"}, PostFilterCode: "Success"},
	}, {
		// executor.go:215@v1.37.1: prepareCandidateAsync returns before it would
		// clear nominations if it has nothing to delete; prepareCandidate does not.
		name: "all victims terminating: only synchronous preemption clears the lower nomination",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n1", 1)},
			Pods:      []*v1.Pod{pod("a", 1, 1, on("n1"), terminating), pod("low", 3, 1, nominatedTo("n1"))},
			Preemptor: pod("p", 9, 1)},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full}, Eligible: eligible, PotentialNodes: []string{"n1"},
			DryRuns:    map[string]model.DryRun{"n1": {Victims: []string{a}}},
			Candidates: []string{"n1"}, Pick: &model.Pick{Node: "n1", Victims: []string{a}},
			Actuation: &model.Actuation{Nomination: model.NominationSet, NominatedNode: "n1"}, PostFilterCode: "Success"},
		wantSync: func(o *model.Observation) {
			actuation := *o.Actuation
			actuation.Cleared = []string{"default/low"}
			o.Actuation = &actuation
		},
	}, {
		name: "a victim that is marked already is deleted without a patch",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n1", 1)},
			Pods: []*v1.Pod{pod("a", 1, 1, on("n1"), func(p *v1.Pod) {
				p.Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
					Message: "default-scheduler: preempting to accommodate a higher priority pod"}}
			})},
			Preemptor: pod("p", 9, 1)},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full}, Eligible: eligible, PotentialNodes: []string{"n1"},
			DryRuns:    map[string]model.DryRun{"n1": {Victims: []string{a}}},
			Candidates: []string{"n1"}, Pick: &model.Pick{Node: "n1", Victims: []string{a}},
			Actuation: &model.Actuation{Deleted: []string{a}, Nomination: model.NominationSet, NominatedNode: "n1"}, PostFilterCode: "Success"},
	}, {
		name: "two nominated pods keep the room they wait for; terminal pods and other schedulers' nominations do not",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n1", 4)},
			Pods: []*v1.Pod{pod("a", 1, 2, on("n1")), pod("b", 9, 1, nominatedTo("n1")), pod("c", 10, 1, nominatedTo("n1"), terminating),
				pod("done", 1, 4, on("n1"), func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded }),
				pod("foreign", 9, 4, nominatedTo("n1"), func(p *v1.Pod) { p.Spec.SchedulerName = "other" })},
			Preemptor: pod("p", 9, 1)},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full}, Eligible: eligible, PotentialNodes: []string{"n1"},
			DryRuns:    map[string]model.DryRun{"n1": {Victims: []string{a}}},
			Candidates: []string{"n1"}, Pick: &model.Pick{Node: "n1", Victims: []string{a}},
			Actuation: preempts("n1", a), PostFilterCode: "Success"},
	}, {
		name: "nodes that PreFilter leaves out",
		cluster: model.Cluster{Nodes: []*v1.Node{node("n1", 1), node("n2", 1)}, Pods: []*v1.Pod{pod("a", 1, 1, on("n1"))},
			Preemptor: pod("p", 9, 1, func(p *v1.Pod) {
				p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
					MatchFields: []v1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{"n1"}}}}}}}}
			})},
		want: model.Observation{Filters: map[string]model.Verdict{"n1": full, "n2": {Plugin: "NodeAffinity", Unresolvable: true}}, Absent: []string{"n2"}, Eligible: eligible, PotentialNodes: []string{"n1"},
			DryRuns:    map[string]model.DryRun{"n1": {Victims: []string{a}}},
			Candidates: []string{"n1"}, Pick: &model.Pick{Node: "n1", Victims: []string{a}},
			Actuation: preempts("n1", a), PostFilterCode: "Success"},
	}}
	s := New()
	defer s.Close()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, settings := range both {
				c, want := test.cluster, test.want
				c.Settings.FeatureGates = settings.FeatureGates
				if !c.Settings.AsyncPreemption() && test.wantSync != nil {
					test.wantSync(&want)
				}
				got := observe(t, s, &c)
				if diff := cmp.Diff(want, *got, ignoreText); diff != "" {
					t.Errorf("async %t: want (-), got (+):\n%s", c.Settings.AsyncPreemption(), diff)
				}
			}
		})
	}
}
