package main

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

// TestExpectationsOfReleases holds what the cases expect against the algorithm of
// each release, which takes no scheduler. A case that a release cannot express says
// nothing about it.
func TestExpectationsOfReleases(t *testing.T) {
	s, err := corpus.Load(cases)
	require.NoError(t, err)
	different := map[string]bool{}
	for _, release := range model.Releases() {
		asked := 0
		for _, c := range s.Cases {
			if release.Unknown(c.Cluster) != nil {
				continue
			}
			d, err := model.Decide(c.Cluster, release.Rules())
			if errors.As(err, &model.Unmodelled{}) {
				continue
			}
			require.NoError(t, err, "%s with %s", c.Name, release)
			e := c.Expected(release.String())
			require.NotNil(t, e, "%s expects nothing of %s", c.Name, release)
			require.Empty(t, unmet(e, d), "%s with %s", c.Name, release)
			if e != c.Expected(model.Linked.String()) {
				different[release.String()] = true
			}
			asked++
		}
		require.Greater(t, asked, len(s.Cases)/3, "%s", release)
	}
	require.True(t, different["v1.13.0"] && different["v1.16.15"] && different["v1.36.3"], "%v", different)
}

func TestMatrix(t *testing.T) {
	args := []string{"check", "--reference", "careless," + inprocess.Version, "testdata/cases/preempts.yaml", "testdata/cases/order-matters.yaml", "testdata/cases/known.yaml"}
	status, out, errOut := preemptcheck(t, "", args...)
	require.Equal(t, statusFound, status, errOut)
	golden(t, "matrix", out)

	status, out, _ = preemptcheck(t, "", append(args, "-o", "json")...)
	require.Equal(t, statusFound, status)
	var m matrix
	require.NoError(t, json.Unmarshal([]byte(out), &m))
	require.Equal(t, []string{"careless", inprocess.Version}, m.References)
	require.Len(t, m.Cases, 3)
	require.Equal(t, found, m.Cases[0].Judgements[0].Result)
	require.Equal(t, agrees, m.Cases[0].Judgements[1].Result)
}

func TestReferences(t *testing.T) {
	require.Equal(t, []string{"v1.31.0"}, references("v1.31.0"))
	require.Equal(t, []string{"v1.31.0", "v1.16.15"}, references("v1.31.0,v1.16.15"))
	require.Equal(t, releases.All(), references("all"), "the oldest first, and the one linked in")
	require.Equal(t, []string{"1.16", "1.31.0", "1.31.14"}, shortNames([]string{"v1.16.15", "v1.31.0", "v1.31.14"}))
}
