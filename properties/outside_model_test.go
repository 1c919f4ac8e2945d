package properties_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators"
	adorning "github.com/preemptcheck/preemptcheck/generators/outside"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	modelled "github.com/preemptcheck/preemptcheck/model/outside"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference/outside"
)

var with134 = release.Release{Minor: 34, Patch: 7}

// modelOf is the model of a plugin without arguments.
func modelOf(t *testing.T, plugin string) *modelled.Variant {
	v, err := modelled.Of(plugin, nil)
	require.NoError(t, err)
	require.NotNil(t, v)
	return v
}

// schedulerOf does what the likeliest reading of a plugin's documents has, with some bugs, and what change makes of it.
func schedulerOf(t *testing.T, plugin string, change func(*answers.Rules), quirks ...release.Quirk) *modelsystem.System {
	s := modelsystem.New(with134)
	s.Rules = modelOf(t, plugin).Readings[0](with134.Rules(), quirks...)
	if change != nil {
		change(s.Rules)
	}
	return s
}

// checkModelled holds a scheduler against the model of a plugin: the result without what other properties say.
func checkModelled(t *testing.T, plugin string, s *modelsystem.System, c *model.Cluster) *properties.Result {
	checker := &properties.Checker{System: s, Release: with134, Outside: &properties.Outside{Plugins: []string{plugin}, Model: modelOf(t, plugin), Keeps: func(string) bool { return false }}}
	r, err := checker.Check(context.Background(), c)
	require.NoError(t, err)
	return r
}

var modelledPlugins = map[string]string{modelled.PreemptionToleration: "preemption-toleration", modelled.CapacityScheduling: "capacity-scheduling"}

// Each finding about a modelled plugin is explained by its own entry, and nothing else, on its witness, of which the real scheduler
// says the same: see docs/plugins-from-outside.md.
func TestWitnessesOfPlugins(t *testing.T) {
	for plugin, name := range modelledPlugins {
		f, err := outside.Read("../corpus/outside/" + name + ".plugins.yaml")
		require.NoError(t, err)
		require.Equal(t, plugin, f.Plugins[0].Name)
		outside.RegisterKinds(f)
		require.NotEmpty(t, ledger.OfPlugin(plugin))
		for _, e := range ledger.OfPlugin(plugin) {
			t.Run(e.ID, func(t *testing.T) {
				found, ok := ledger.LookUp(e.ID)
				require.True(t, ok)
				require.Equal(t, e, found)
				s, err := corpus.Load(filepath.Join("../corpus/outside", e.Witness+".yaml"))
				require.NoError(t, err)
				require.Equal(t, []string{e.ID}, s.Cases[0].Findings)
				c := s.Cases[0].Cluster
				require.Empty(t, checkModelled(t, plugin, schedulerOf(t, plugin, nil), c).Findings, "without the bug")
				r := checkModelled(t, plugin, schedulerOf(t, plugin, nil, e.Quirk), c)
				require.Len(t, r.Findings, 1)
				require.Equal(t, []string{e.ID}, r.Findings[0].Known)
				require.Equal(t, plugin, r.Modelled)
			})
		}
	}
	page, err := os.ReadFile("../docs/plugins-from-outside.md")
	require.NoError(t, err)
	for plugin := range modelledPlugins {
		for _, e := range ledger.OfPlugin(plugin) {
			require.Contains(t, string(page), fmt.Sprintf("| `%s` | %s |", e.ID, e.Class))
		}
	}
	files, err := filepath.Glob("../corpus/outside/finding-*.yaml")
	require.NoError(t, err)
	require.Len(t, files, len(ledger.OfPlugin(modelled.PreemptionToleration))+len(ledger.OfPlugin(modelled.CapacityScheduling)))
}

// forPlugin is cluster number n for a plugin, without extenders: a model that acts as a scheduler does not show how they fail.
func forPlugin(plugin string, n uint64) *model.Cluster {
	seed := rand.NewPCG(11, n).Uint64()
	c := generators.FromSeed(seed)
	c.Settings.Extenders = nil
	adorning.Adorn(plugin, c, seed)
	return c
}

// A scheduler that goes by any reading of the documents agrees with the model; a wrong one is found out.
func TestLiesAboutModelledPlugins(t *testing.T) {
	mayPreempt := func(change func(cy *model.Cycle, u *unit.Unit, may bool) bool) func(*answers.Rules) {
		return func(r *answers.Rules) {
			right := r.MayPreempt
			r.MayPreempt = func(cy *model.Cycle, u *unit.Unit) bool { return change(cy, u, right(cy, u)) }
		}
	}
	standing := func(from modelled.Standing) func(*answers.Rules) {
		return mayPreempt(func(cy *model.Cycle, u *unit.Unit, may bool) bool {
			return may != (modelled.StandingOf(cy, u.Pods[0]) == from && u.Priority < cy.Preemptor.Priority)
		})
	}
	lies := map[string]map[string]func(*answers.Rules){
		modelled.PreemptionToleration: {
			"for ever is not for ever":                 standing(modelled.ForEver),
			"what is tolerated still is over":          standing(modelled.Still),
			"what is over is tolerated":                standing(modelled.Over),
			"the minimum has to be exceeded":           standing(modelled.MinimumMet),
			"nobody tolerates anything":                func(r *answers.Rules) { r.MayPreempt = model.MayPreempt },
			"the cluster's arguments are the plugin's": func(r *answers.Rules) { r.NumCandidates = func(int32, int32, int, int) int { return 1 } },
		},
		modelled.CapacityScheduling: {
			"max is not looked at":       func(r *answers.Rules) { r.Plugins = r.Plugins[:len(r.Plugins)-1] },
			"victims need not be enough": func(r *answers.Rules) { r.Fits = model.Fits },
			"any lower priority may go":  func(r *answers.Rules) { r.MayPreempt = model.MayPreempt },
			"borrowers are never preempted": mayPreempt(func(cy *model.Cycle, u *unit.Unit, may bool) bool {
				return may && u.Pods[0].Namespace == cy.Preemptor.Namespace
			}),
			"who borrows does not matter": mayPreempt(func(cy *model.Cycle, u *unit.Unit, may bool) bool {
				q := modelled.QuotasOf(cy)
				return may || q.Own && !q.Min && u.Pods[0].Namespace != cy.Preemptor.Namespace && q.Has(u.Pods[0])
			}),
		},
	}
	for plugin, wrong := range lies {
		t.Run(plugin, func(t *testing.T) {
			t.Parallel()
			for i, reading := range modelOf(t, plugin).Readings {
				s := modelsystem.New(with134)
				s.Rules = reading(with134.Rules())
				for n := range uint64(60) {
					r := checkModelled(t, plugin, s, forPlugin(plugin, n))
					require.Empty(t, r.Findings, "reading %d, cluster %d", i, n)
				}
			}
			left := wrong
			for n := uint64(0); len(left) > 0 && n < 3000; n++ {
				c := forPlugin(plugin, n)
				for name, lie := range left {
					s := schedulerOf(t, plugin, lie)
					if r := checkModelled(t, plugin, s, c); len(r.Unexplained()) > 0 {
						t.Logf("%s: cluster %d", name, n)
						delete(left, name)
					}
				}
			}
			require.Empty(t, left, "not found out")
		})
	}
}

// What is no plugin of these, or has arguments that cannot be read, has no model.
func TestModelOf(t *testing.T) {
	v, err := modelled.Of("NodeResourceTopologyMatch", nil)
	require.NoError(t, err)
	require.Nil(t, v)
	_, err = modelled.Of(modelled.PreemptionToleration, []byte(`{"minCandidateNodesPercentage": "x"}`))
	require.ErrorContains(t, err, "args of PreemptionToleration")
}
