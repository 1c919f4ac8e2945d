package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPreFilter(t *testing.T) {
	says := func(plugin string, a *preFilterAnswer) Filter {
		return Filter{Plugin: plugin, preFilter: func(*question) *preFilterAnswer { return a },
			fails: func(*question, *node, view) *Verdict { return nil }}
	}
	passes, named := says("passes", nil), says("named", &preFilterAnswer{nodes: map[string]bool{"n": true}})
	resolvable := says("resolvable", &preFilterAnswer{rejection: resolvable("r")})
	final := says("final", &preFilterAnswer{rejection: unresolvable("f")})
	broken := says("broken", &preFilterAnswer{err: "disk on fire"})
	for _, test := range []struct {
		name     string
		filters  []Filter
		error    string
		fits     []string
		verdicts map[string]string // without a verdict the cycle ends in an error
		stopped  bool
	}{
		{"all pass", []Filter{passes}, "", []string{"m", "n"}, map[string]string{}, false},
		{"one names nodes", []Filter{passes, named}, "", []string{"n"}, map[string]string{"m": "named (unresolvable)"}, false},
		{"final", []Filter{named, final, resolvable, broken}, "", nil, map[string]string{"m": "final (unresolvable)", "n": "final (unresolvable)"}, true},
		{"resolvable", []Filter{resolvable, passes}, "", nil, map[string]string{"m": "resolvable", "n": "resolvable"}, false},
		{"final after resolvable", []Filter{resolvable, final}, "", nil, map[string]string{"m": "final (unresolvable)", "n": "final (unresolvable)"}, true},
		{"error after resolvable", []Filter{resolvable, broken, final}, `running PreFilter plugin "broken": disk on fire`, nil, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			rules := Documented()
			rules.filters = test.filters
			d, err := Decide(aCluster(aPod("p", 1), aNode("m", "1"), aNode("n", "1"), aPod("v", 0, on("m"))), rules)
			require.NoError(t, err)
			require.Equal(t, test.error, d.Error)
			require.Equal(t, test.fits, d.Fits)
			require.Equal(t, test.stopped, d.q.pre.stopped)
			if test.verdicts == nil {
				require.Nil(t, d.Verdicts)
				require.NotNil(t, d.Admits(&Observation{}), "an error is what is observed")
				require.Nil(t, d.Admits(&Observation{CycleError: "e", Actuation: &Actuation{Nomination: NominationCleared}}))
				return
			}
			got := map[string]string{}
			for name, v := range d.Verdicts {
				got[name] = v.String()
			}
			require.Equal(t, test.verdicts, got)
			if test.name == "resolvable" {
				require.Equal(t, []string{"m", "n"}, d.PotentialNodes)
			}
		})
	}
}
