package corpus

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

func TestCasesRoundTrip(t *testing.T) {
	s, err := Load("cases")
	require.NoError(t, err)
	for _, c := range s.Cases {
		text := written(t, c)
		again := readOne(t, text)
		require.Empty(t, diffCases(c, again), c.File)
		require.Equal(t, text, written(t, again), c.File)
	}
}

// The model covers every case, and a dump whose pods use everything that the default
// filters look at; take the Namespace objects away, and it says what is missing.
func TestEverythingIsModelled(t *testing.T) {
	cases, err := Load("cases")
	require.NoError(t, err)
	dump := testdata(t, "everything-dump.yaml")
	s, err := Read(strings.NewReader(dump), "dump")
	require.NoError(t, err)
	require.Len(t, s.Cases, 6)
	require.Empty(t, s.Notes)
	for _, c := range append(cases.Cases, s.Cases...) {
		var err error
		if c.Cluster.PreemptorGroup != "" {
			_, err = podgroups.Decide(c.Cluster, answers.Documented())
		} else {
			_, err = answers.Decide(c.Cluster, answers.Documented())
		}
		if what := (model.Unmodelled)(nil); errors.As(err, &what) && what.OnlySeen() {
			continue // the rest follows from what is observed
		} else if what != nil && len(c.Findings) > 0 && !slices.ContainsFunc(c.Findings, needsModel) {
			continue // as what a plugin breaks of its contract
		}
		require.NoError(t, err, c.Name)
	}
	s, err = Read(strings.NewReader(strings.ReplaceAll(dump, "kind: Namespace\n", "kind: Unknown\n")), "dump")
	require.NoError(t, err)
	_, err = answers.Decide(s.Cases[0].Cluster, answers.Documented())
	var unmodelled model.Unmodelled
	require.ErrorAs(t, err, &unmodelled)
}

// needsModel tells whether the model is asked where a known finding breaks a promise.
func needsModel(finding string) bool {
	e, ok := ledger.LookUp(finding)
	return !ok || e.Quirk != "" || slices.ContainsFunc(all.Properties(), func(p properties.Property) bool {
		return p.Needs == properties.NeedsModel && slices.Contains(e.Properties, p.Name)
	})
}

// Clusters with everything that generators make are written without what reading
// fills in, and read back as they were.
func TestGeneratedClustersRoundTrip(t *testing.T) {
	for seed := range uint64(testsize.Times(100)) {
		c := &Case{Name: "generated", Finding: &Finding{Property: "differential", Stage: "dry run", Kind: "fewer victims",
			Shape: "budgets, terminating pods", Found: "preemptcheck fuzz --seed 1 --first 4711 --cases 1"}, Stack: []string{"a.(*B).c (d.go:1)", "another goroutine:", "a.e (f.go:2)"}, Cluster: generators.FromSeed(seed)}
		text := written(t, c)
		require.Empty(t, cmp.Diff(c, readOne(t, text), cmpopts.IgnoreFields(Case{}, "File"), cmpopts.EquateEmpty()), "seed %d", seed)
		for _, filledIn := range []string{"status:\n  capacity:", "dnsPolicy:", "terminationMessagePath:", "\n    image:"} {
			require.NotContains(t, text, filledIn, "seed %d", seed)
		}
	}
}
