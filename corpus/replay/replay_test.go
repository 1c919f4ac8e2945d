package replay

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
	"github.com/preemptcheck/preemptcheck/properties"
)

// TestExpectationsOfReleases holds what the cases expect against the algorithm of
// each release, which takes no scheduler. A case that a release cannot express says
// nothing about it.
func TestExpectationsOfReleases(t *testing.T) {
	s, err := corpus.Load("../cases")
	require.NoError(t, err)
	different := map[string]bool{}
	for _, version := range release.Releases() {
		asked := 0
		for _, c := range s.Cases {
			if vocabulary.Unknown(version, c.Cluster) != nil {
				continue
			}
			d, err := answers.Decide(c.Cluster, version.Rules())
			if errors.As(err, &model.Unmodelled{}) {
				continue
			}
			require.NoError(t, err, "%s with %s", c.Name, version)
			e := c.Expected(version.String())
			require.NotNil(t, e, "%s expects nothing of %s", c.Name, version)
			require.Empty(t, unmetByPod(e, d), "%s with %s", c.Name, version)
			if e != c.Expected(release.Linked.String()) {
				different[version.String()] = true
			}
			asked++
		}
		require.Greater(t, asked, len(s.Cases)/3, "%s", version)
	}
	require.True(t, different["v1.13.0"] && different["v1.16.15"] && different["v1.36.3"], "%v", different)
}

func TestShortNames(t *testing.T) {
	var schedulers []Scheduler
	for _, name := range []string{"v1.16.15", "v1.31.0", "v1.31.14"} {
		version, err := release.Parse(name)
		require.NoError(t, err)
		schedulers = append(schedulers, Scheduler{Name: name, Checker: &properties.Checker{Release: version}})
	}
	require.Equal(t, []string{"1.16", "1.31.0", "1.31.14"}, shortNames(schedulers))
}
