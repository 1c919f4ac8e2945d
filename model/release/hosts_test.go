package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// TestPeersElsewhereCountBesideHostsOfOneName: with the fast path for host names a peer on a node without one counts, also where two
// others have one name: the preemptor is not the first of its kind, and fits nowhere.
func TestPeersElsewhereCountBesideHostsOfOneName(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9, mk.App("a"), mk.Near(v1.LabelHostname, "a")), mk.Node("n", "1", labelled(v1.LabelHostname, "h")), mk.Node("m", "1", labelled(v1.LabelHostname, "h")),
		mk.Node("unnamed", "1"), mk.Pod("peer", 1, mk.App("a"), mk.On("unnamed")))
	verdict := func(quirks ...release.Quirk) any {
		d, err := answers.Decide(c, release.With(answers.Documented(), quirks...))
		require.NoError(t, err)
		return verdictOn("n")(d)
	}
	require.Equal(t, "fits", verdict(release.UnlabelledNodesHideFirst))
	c.Settings.FeatureGates = map[string]bool{"InterPodAffinityHostnameFastPath": true}
	const rejected = "InterPodAffinity (unresolvable)"
	require.Equal(t, rejected, verdict(release.UnlabelledNodesHideFirst))
	require.Equal(t, rejected, verdict(release.HostsOfOneNameApart))
	require.Equal(t, rejected, verdict(release.UnlabelledNodesHideFirst, release.HostsOfOneNameApart))
}
