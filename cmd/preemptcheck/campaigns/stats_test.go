package campaigns_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// So few clusters leave probes below their floors: that is what the exit status
// says. Nothing is left behind.
func TestStats(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	status, out, errOut := preemptcheck(t, "", "stats", "--seed", "5", "--cases", "200")
	require.Equal(t, terminal.Found, status, errOut)
	require.Contains(t, errOut, "seed 5")
	require.Regexp(t, `(?m)^PROBE +CLUSTERS +FLOOR +MET +WHAT IT MEANS$`, out)
	require.Regexp(t, `(?m)^reprieve +\d+ +10 +yes +a pod that violates no budget is reprieved$`, out)
	require.Regexp(t, `(?m)^[A-Za-z:' -]+ +0 +\d+ +no `, out)
	require.Regexp(t, `\n\d+ probes, \d+ below the floor\n$`, out)
	require.Regexp(t, `(?m)^NodeResourcesFit +\d+ +[1-9][0-9.]+ % `, out)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)

	status, out, _ = preemptcheck(t, "", "stats", "--seed", "5", "--cases", "200", "-o", "json")
	require.Equal(t, terminal.Found, status)
	var r record.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, 200, r.Clusters)
	require.Len(t, r.Exercised, len(probe.Probes()))
	require.Positive(t, r.Short())
	require.Len(t, r.Filters, len(answers.FilterPlugins()))
	require.Greater(t, r.Filters[0].Changes, r.Filters[0].Pairs)
}

// What a finding's command line says has to work once the directory is gone.
func TestStatsTellsOfFindings(t *testing.T) {
	status, out, _ := preemptcheck(t, "", "stats", "--reference", "careless", "--seed", "1", "--cases", "100")
	require.Equal(t, terminal.Found, status)
	require.Contains(t, out, "FOUND ")
	require.Regexp(t, `reproduce: \S+ generate --seed 1 --first \d+ \| \S+ check -`, out)
}
