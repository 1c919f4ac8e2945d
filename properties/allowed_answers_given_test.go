package properties_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/mutant"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

const (
	// maxChoices bounds the sets that are checked for tightness: the more
	// answers, the more runs it takes to see each.
	maxChoices = 6
	// tightRuns is after how many runs an answer that was never given counts as
	// one that cannot be given.
	tightRuns = 400
)

// neverGiven is an answer that d allows, but that kube-scheduler does not give
// in many runs in which everything that is left open differs: the order of
// pods and of budgets, and the offset, which breaks ties. Clusters whose
// shortlist is shorter than their candidates are left out, since that depends on the
// offset of the search, too.
func neverGiven(t *testing.T, checker *properties.Checker, c *model.Cluster, d *answers.Set) (never *answers.Choice, choices int) {
	all := d.Choices()
	exact, _ := d.Exact()
	if len(all) < 2 || len(all) > maxChoices || !exact || d.NumCandidates < len(d.PotentialNodes) {
		return nil, 0
	}
	random := rand.New(rand.NewPCG(1, 2))
	missing := slices.Clone(all)
	for range tightRuns {
		shuffled := *c
		shuffled.Pods = slices.Clone(c.Pods)
		shuffled.PodDisruptionBudgets = slices.Clone(c.PodDisruptionBudgets)
		random.Shuffle(len(shuffled.Pods), func(i, j int) {
			shuffled.Pods[i], shuffled.Pods[j] = shuffled.Pods[j], shuffled.Pods[i]
		})
		random.Shuffle(len(shuffled.PodDisruptionBudgets), func(i, j int) {
			b := shuffled.PodDisruptionBudgets
			b[i], b[j] = b[j], b[i]
		})
		shuffled.Settings.DryRunOffset = ptr.To(random.Int32N(1000))
		o, err := checker.System.Observe(context.Background(), &shuffled)
		require.NoError(t, err)
		missing = slices.DeleteFunc(missing, func(choice answers.Choice) bool { return d.Gives(choice, o) })
		if len(missing) == 0 {
			return nil, len(all)
		}
	}
	return &missing[0], len(all)
}

// No set is wider than reality: of the answers that the model allows, each is
// given. Where upstream's known bugs rule an answer out, the model does so too. There are no
// groups: the reference takes the pods of one in the order of their names.
func TestEveryAllowedAnswerIsGiven(t *testing.T) {
	checker := checktest.Checker(t)
	checker.Decide = func(c *model.Cluster) (*answers.Set, error) {
		return answers.Decide(c, release.With(answers.Documented(), ledger.QuirksOf(release.Linked)...))
	}
	sets, answers := 0, 0
	for seed, enough := uint64(0), testsize.Times(500); sets < enough; seed++ {
		r, err := checker.Check(context.Background(), generators.Ungrouped(seed))
		require.NoError(t, err)
		if len(r.Findings) > 0 || r.Unmodelled != nil {
			continue
		}
		never, choices := neverGiven(t, checker, r.Cluster, r.Decision)
		if never != nil {
			t.Fatalf("seed %d: never given: %s, victims %v, %d violations", seed, never.Node, never.Outcome.Victims, never.Outcome.Violations)
		}
		if choices > 0 {
			sets, answers = sets+1, answers+choices
		}
	}
	t.Logf("%d sets, %d answers", sets, answers)
}

// A model that allows too much is caught: dropping the last criterion makes ties
// of what is none.
func TestLaxModelIsCaught(t *testing.T) {
	checker := checktest.Checker(t)
	last := probe.Criteria()[len(probe.Criteria())-2]
	mutants := mutant.All()
	i := slices.IndexFunc(mutants, func(m mutant.Mutant) bool { return m.Name == "criterion dropped: "+last })
	require.GreaterOrEqual(t, i, 0)
	checker.Decide = mutants[i].Decide
	for seed := range uint64(1000) {
		r, err := checker.Check(context.Background(), generators.FromSeed(seed))
		require.NoError(t, err)
		right, err := answers.Decide(r.Cluster, answers.Documented())
		if r.Unmodelled != nil {
			continue
		}
		require.NoError(t, err)
		if len(r.Findings) > 0 || len(right.Choices()) != 1 {
			continue
		}
		if never, _ := neverGiven(t, checker, r.Cluster, r.Decision); never != nil {
			t.Logf("caught at cluster %d: %s is never picked", seed+1, never.Node)
			return
		}
	}
	assert.Fail(t, "not caught")
}
