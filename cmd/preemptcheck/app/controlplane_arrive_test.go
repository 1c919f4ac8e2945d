//go:build controlplane

package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
)

// What comes to a live cluster is told as of the file from which the cluster was made.
func TestLiveClusterTakesWhatComes(t *testing.T) {
	const cluster, manifests = "testdata/arrivals/cluster.yaml", "testdata/arrivals/several.yaml"
	s, err := corpus.Load(cluster)
	require.NoError(t, err)
	p := plane(t, s.Dump.Objects())
	status, want, errOut := preemptcheck(t, "", "explain", cluster, "-f", manifests)
	require.Zero(t, status, errOut)
	status, got, errOut := preemptcheck(t, "", "explain", "--kubeconfig", kubeconfig(t, p, reader), "-f", manifests)
	require.Zero(t, status, errOut)
	require.Equal(t, want, got)
	require.Contains(t, errOut, "note: the server is v1.37.1")

	// Claims name what is missing in a dump of some kinds only; a live cluster was asked for all.
	status, got, errOut = preemptcheck(t, "", "explain", "--kubeconfig", kubeconfig(t, p, reader), "-f", "testdata/arrivals/claims.yaml")
	require.Zero(t, status, "%s%s", got, errOut)
	require.NotContains(t, got, "the dump holds no")

	status, _, errOut = preemptcheck(t, "", "explain", "--kubeconfig", kubeconfig(t, p, nobody), "-f", manifests)
	require.Equal(t, 2, status)
	require.Contains(t, errOut, "error: ")
}
