package fingerprint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/mutant"
	"github.com/preemptcheck/preemptcheck/properties"
)

// unextended is a generated cluster without extenders, which the fake does not ask.
func unextended(seed uint64) *model.Cluster {
	c := generators.FromSeedWith(seed, map[string]bool{model.GateWorkload: false})
	c.Settings.Extenders = nil
	return c
}

// A scheduler that breaks one rule is said to behave as if it broke that rule, and
// what it does wrong has a kind that does not depend on the cluster.
func TestMutantsExplainThemselves(t *testing.T) {
	const enough = 3
	var clusters []*model.Cluster
	for seed := range uint64(400) {
		clusters = append(clusters, unextended(seed))
	}
	caught := 0
	for _, m := range mutant.All() {
		checker := &properties.Checker{System: fake{m.Decide}}
		suspects := 0
		for seed, c := range clusters {
			if suspects == enough {
				break
			}
			r, err := checker.Check(t.Context(), c)
			require.NoError(t, err)
			if len(r.Unexplained()) == 0 {
				continue
			}
			if suspects++; suspects == 1 {
				caught++
			}
			f := &r.Unexplained()[0]
			require.NotEmpty(t, f.Kind, f)
			require.NotRegexp(t, `[0-9"/]`, f.Kind)
			require.Contains(t, fingerprint.AsIf(r), m.Name, "seed %d: %s", seed, f)
			require.Contains(t, fingerprint.Presort(r, f), m.Name)
		}
	}
	require.Greater(t, caught, 40)
}

func TestExplain(t *testing.T) {
	for _, m := range mutant.All() {
		if m.Name != "budget: namespaces ignored" {
			continue
		}
		checker := &properties.Checker{System: fake{m.Decide}}
		for seed := uint64(0); ; seed++ {
			r, err := checker.Check(t.Context(), unextended(seed))
			require.NoError(t, err)
			if len(r.Unexplained()) == 0 || len(fingerprint.AsIf(r)) > 1 {
				continue
			}
			text := fingerprint.Explain(r, &r.Unexplained()[0])
			require.Regexp(t, `^On \d+ nodes? with .* budgets?, with .*budgets, .*the scheduler is wrong about .*: want .*, got .*, as if the rule were broken: budget: namespaces ignored\.$`, text)
			require.NotContains(t, text, "\n")
			return
		}
	}
}

func TestCovers(t *testing.T) {
	const fits, doesNotFit = answers.KindFits + ": ", answers.KindDoesNotFit + ": "
	at := func(stage model.Stage, kind string) fingerprint.Fingerprint {
		return fingerprint.Fingerprint{Property: properties.Differential, Stage: stage, Kind: kind}
	}
	known := at(model.StageFilter, fits+"NodePorts")
	known.Known = "host-ports-forgotten"
	for _, test := range []struct {
		name       string
		want, have fingerprint.Fingerprint
		covers     bool
	}{
		{"the same", at(model.StagePick, "a"), at(model.StagePick, "a"), true},
		{"another kind", at(model.StagePick, "a"), at(model.StagePick, "b"), false},
		{"any kind", at(model.StagePick, ""), at(model.StagePick, "b"), true},
		{"any kind is not any stage", at(model.StageDryRun, ""), at(model.StageFilter, fits+"NodePorts"), false},
		{"a choice in another form", at(model.StageDryRun, answers.KindChoice+": others"), at(model.StageDryRun, answers.KindChoice+": more violations"), true},
		{"in the filter stage it is plain", at(model.StageDryRun, fits+"NodePorts"), at(model.StageFilter, fits+"NodePorts"), true},
		{"but not the other way round", at(model.StageFilter, fits+"NodePorts"), at(model.StageDryRun, fits+"NodePorts"), false},
		{"another filter", at(model.StageDryRun, fits+"NodePorts"), at(model.StageFilter, fits+"NodeAffinity"), false},
		{"no room for something else", at(model.StageDryRun, fits+"NodePorts"), at(model.StageDryRun, fits+"NodeResourcesFit"), true},
		{"a needless victim", at(model.StageDryRun, answers.KindNeedless), at(model.StageFilter, doesNotFit+"NodeResourcesFit"), true},
		{"the wrong way round", at(model.StageDryRun, answers.KindNeedless), at(model.StageFilter, fits+"NodeResourcesFit"), false},
		{"resolvable, as more than one place is missing", at(model.StageFilter, answers.KindResolvable+": NodePorts"), at(model.StageFilter, fits+"NodePorts"), true},
		{"known", at(model.StageFilter, fits+"NodePorts"), known, false},
	} {
		require.Equal(t, test.covers, test.want.Covers(test.have), test.name)
	}
}

func TestNames(t *testing.T) {
	failed := fingerprint.OfFinding(&properties.Finding{Property: fingerprint.Failed, Detail: "panic: index 17 of \"a/b\"\nstack"})
	for _, test := range []struct {
		identity fingerprint.Identity
		name     string
	}{
		{fingerprint.Identity{
			Fingerprint: fingerprint.Fingerprint{Property: properties.Differential, Stage: model.StageDryRun, Kind: answers.KindChoice + ": more violations"},
			Shape:       "budgets, disrupted pods, terminating pods",
		}, "dry-run-chooses-victims-otherwise-more-violations-with-budgets-disrupted-pods-and-terminating-pods"},
		{fingerprint.Identity{
			Fingerprint: fingerprint.Fingerprint{Property: "violations-recounted", Stage: model.StagePick},
		}, "violations-recounted-pick"},
		{fingerprint.Identity{
			Fingerprint: fingerprint.Fingerprint{Property: properties.Differential, Stage: model.StageEligible, Kind: "may not preempt but should"},
			Shape:       "taints, preemption policy, nominated preemptor, terminating pods, pod conditions",
		}, "eligible-may-not-preempt-but-should-with-taints-preemption-policy-nominated-preemptor-terminating"},
		{fingerprint.Identity{Fingerprint: failed}, "error-panic-index-of"},
	} {
		require.Equal(t, test.name, test.identity.Name())
		require.LessOrEqual(t, len(test.name), 100)
	}
}
