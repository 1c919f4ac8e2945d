package app

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestArrivals holds what explain -f tells against golden files: standard output, then standard error if there is any.
func TestArrivals(t *testing.T) {
	web, err := os.ReadFile("testdata/arrivals/web.yaml")
	require.NoError(t, err)
	const cluster, manifests = "testdata/arrivals/cluster.yaml", "testdata/arrivals/web.yaml"
	for _, test := range []struct {
		name, stdin string
		status      int
		args        []string
	}{
		{"arrivals-deployment", "", 0, []string{cluster, "-f", manifests}},
		{"arrivals-deployment", "", 0, []string{"-f", cluster, "-f", manifests}},
		{"arrivals-json", "", 0, []string{cluster, "-f", manifests, "-o", "json"}},
		{"arrivals-several", "", 0, []string{cluster, "-f", "testdata/arrivals/several.yaml"}},
		{"arrivals-gang", "", 0, []string{cluster, "-f", "testdata/arrivals/gang.yaml"}},
		{"arrivals-cut", "", 0, []string{cluster, "-f", manifests, "--nodes", "1", "--cascade", "0"}},
		{"arrivals-in-a-case", "", 0, []string{"testdata/cases/preempts.yaml", "-f", "testdata/arrivals/bare.yaml"}},
		{"arrivals-stdin", string(web), 0, []string{cluster, "-f", "-"}},
		{"arrivals-claims", "", 0, []string{"../../../corpus/testdata/storage-dump.yaml", "-f", "testdata/arrivals/claims.yaml"}},
		{"arrivals-not-modelled", "", 2, []string{cluster, "-f", "testdata/arrivals/claims.yaml"}},
		{"arrivals-no-pods", "", 0, []string{cluster, "-f", "testdata/arrivals/none.yaml"}},
		{"arrivals-no-class", "", 2, []string{"testdata/cases/preempts.yaml", "-f", manifests}},
		{"arrivals-no-cluster", "", 2, []string{manifests, "-f", manifests}},
		{"arrivals-argument", "", 2, []string{manifests}},
		{"arrivals-two-clusters", "", 2, []string{cluster, "-f", cluster, "-f", manifests}},
		{"arrivals-pod", "", 2, []string{cluster, "-f", manifests, "--pod", "shop/web"}},
		{"arrivals-twice-stdin", string(web), 2, []string{"-", "-f", "-"}},
		{"arrivals-no-cascade", "", 2, []string{cluster, "--cascade", "1"}},
	} {
		status, out, errOut := preemptcheck(t, test.stdin, append([]string{"explain"}, test.args...)...)
		require.Equal(t, test.status, status, test.args)
		if errOut != "" {
			out += "--- stderr\n" + errOut
		}
		compare(t, test.name, out)
	}
}

// TestAClusterByStandardInputIsReadOnce: what -f - holds is looked at, and then read as before.
func TestAClusterByStandardInputIsReadOnce(t *testing.T) {
	text, err := os.ReadFile("testdata/cases/preempts.yaml")
	require.NoError(t, err)
	_, want, _ := preemptcheck(t, "", "explain", "testdata/cases/preempts.yaml")
	status, got, _ := preemptcheck(t, string(text), "explain", "-f", "-")
	require.Zero(t, status)
	require.Equal(t, want, got)
}
