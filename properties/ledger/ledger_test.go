package ledger_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/aftermath"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/properties/groups"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/relation"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// Every known finding still occurs on its witness, is explained by its own entry
// and nothing else, and its quirk is what makes the model disagree. If not,
// upstream has changed, and the ledger must.
func TestWitnesses(t *testing.T) {
	system, err := systems.NewPool(inprocess.Version, 1)
	require.NoError(t, err)
	defer func() { assert.NoError(t, system.Close()) }()
	checker := &properties.Checker{System: system, Properties: slices.Concat(contract.All(), all.Cheap(), all.Repeating(), aftermath.Faults(), []properties.Property{properties.FiltersAlone()}, relation.Circumstances(), groups.All())}
	for _, entry := range ledger.Linked() {
		t.Run(entry.ID, func(t *testing.T) {
			s, err := corpus.Load("../../corpus/cases/" + entry.Witness + ".yaml")
			require.NoError(t, err)
			require.Len(t, s.Cases, 1)
			require.Equal(t, []string{entry.ID}, s.Cases[0].Findings)
			c := s.Cases[0].Cluster
			r, err := checker.Check(context.Background(), c)
			require.NoError(t, err)
			findings := slices.DeleteFunc(r.Findings, func(f properties.Finding) bool { // of others that show everywhere
				// Events that a plugin sleeps through may come in any cluster.
				return len(f.Known) == 1 && f.Known[0] != entry.ID && (ledger.IsRoutine(f.Known[0]) || contract.Is(f.Property))
			})
			require.NotEmpty(t, findings)
			broken := map[string]bool{}
			for _, f := range findings {
				assert.Equal(t, []string{entry.ID}, f.Known, "%v", f)
				broken[f.Property] = true
			}
			assert.Equal(t, entry.Quirk != "", broken[properties.Differential])
			switch {
			case entry.Quirk != "" && r.Group != nil:
				d, err := podgroups.Decide(c, release.With(answers.Documented(), entry.Quirk))
				require.NoError(t, err)
				assert.NotNil(t, r.Group.Admits(r.Observation), "quirk off")
				assert.Nil(t, d.Admits(r.Observation), "quirk on")
			case entry.Quirk != "":
				d, err := answers.Decide(c, release.With(answers.Documented(), entry.Quirk))
				require.NoError(t, err)
				assert.NotNil(t, r.Decision.Admits(r.Observation), "quirk off")
				assert.Nil(t, d.Admits(r.Observation), "quirk on")
			}
			if len(entry.Properties) > 0 {
				assert.True(t, slices.ContainsFunc(entry.Properties, func(p string) bool { return broken[p] }), "%v", broken)
			}
		})
	}
}

// No case of the corpus holds a finding that is not known.
func TestInvariantsOnCorpus(t *testing.T) {
	system := inprocess.New()
	defer func() { assert.NoError(t, system.Close()) }()
	checker := &properties.Checker{System: system, Properties: invariant.All()}
	s, err := corpus.Load("../../corpus/cases")
	require.NoError(t, err)
	for _, c := range s.Cases {
		r, err := checker.Check(context.Background(), c.Cluster)
		require.NoError(t, err, c.Name)
		assert.Empty(t, r.Unexplained(), c.Name)
		if len(r.Findings) > 0 {
			t.Logf("%s: %v", c.Name, r.Findings)
		}
	}
}

// A withdrawn finding has a witness that some release which has it can express, and
// breaks properties that there are. That it occurs is for the schedulers of those
// releases to show: preemptcheck check --reference all.
func TestWithdrawnFindings(t *testing.T) {
	names := []string{properties.Differential}
	for _, p := range all.Properties() {
		names = append(names, p.Name)
	}
	for _, entry := range ledger.All() {
		require.Subset(t, names, entry.Properties, entry.ID)
		if release.Linked.In(entry.Releases) {
			continue
		}
		s, err := corpus.Load("../../corpus/cases/" + entry.Witness + ".yaml")
		require.NoError(t, err)
		c := s.Cases[0]
		require.Equal(t, []string{entry.ID}, c.Findings)
		require.True(t, slices.ContainsFunc(release.Releases(), func(r release.Release) bool {
			return r.In(entry.Releases) && vocabulary.Unknown(r, c.Cluster) == nil
		}), entry.ID)
	}
}

// Every entry, open or withdrawn, says how sure it is and what it costs.
func TestClassesAndConsequences(t *testing.T) {
	for _, entry := range ledger.All() {
		assert.Contains(t, ledger.Classes(), entry.Class, entry.ID)
		assert.Regexp(t, `^[A-Z][^\n]*[^.]\.$`, entry.Consequence, entry.ID)
		assert.NotRegexp(t, `\. [A-Z]`, entry.Consequence, "%s: one sentence", entry.ID)
	}
}
