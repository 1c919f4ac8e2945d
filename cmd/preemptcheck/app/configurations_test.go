package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/golden"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
)

var (
	sourceOf = regexp.MustCompile(`(?m)\A# Source: (.*)$`)
	ofTable  = regexp.MustCompile(`(?s)(<!-- configurations: [^\n]*-->\n).*(<!-- end -->)`)
)

// TestConfigurations reads each configuration from the wild, and has the scheduler decide a cluster with it, for each
// of its profiles. The table in the page says how that went.
func TestConfigurations(t *testing.T) {
	const page = "../../../docs/configuration.md"
	files, err := filepath.Glob("../../../corpus/configurations/*.yaml")
	require.NoError(t, err)
	checker, err := checkers.New("v1.37.1", 1, all.Properties()...)
	require.NoError(t, err)
	defer checker.System.Close()
	table, ran := "| file | source | profile | decides | not modelled |\n|---|---|---|---|---|\n", 0
	for _, file := range files {
		name := filepath.Base(file)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		from := sourceOf.FindSubmatch(text)
		require.NotNil(t, from, file)
		c, err := source.ReadConfiguration(file)
		if err != nil {
			line, _, _ := strings.Cut(err.Error(), "\n")
			line, _, _ = strings.Cut(strings.TrimPrefix(line, file+": "), "; it has ")
			assert.True(t, strings.HasPrefix(err.Error(), file+": "), "%s", err)
			table += fmt.Sprintf("| %s | %s | | refused: %s | |\n", name, from[1], line)
			continue
		}
		ran++
		for _, profile := range (model.Settings{Configuration: c.JSON}).Schedulers() {
			decides, unmodelled := decidesWith(t, checker, c, profile)
			table += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", name, from[1], profile, decides, unmodelled)
		}
	}
	assert.GreaterOrEqual(t, ran, 20)
	is, err := os.ReadFile(page)
	require.NoError(t, err)
	got := ofTable.ReplaceAllString(string(is), "${1}"+strings.ReplaceAll(table, "$", "$$")+"${2}")
	if *golden.Update {
		require.NoError(t, os.WriteFile(page, []byte(got), 0o644))
		return
	}
	if diff := cmp.Diff(string(is), got); diff != "" {
		t.Errorf("%s (-page +table; go test -update writes it anew):\n%s", page, diff)
	}
}

// decidesWith says what the scheduler does for a pod of a profile in a cluster in which it has to preempt by default,
// and what of that is not modelled. Nothing new may be found.
func decidesWith(t *testing.T, checker *properties.Checker, c source.Configuration, profile string) (decides, unmodelled string) {
	t.Helper()
	s, err := corpus.Load("../../../corpus/cases/budget-is-spent-by-a-reprieved-pod.yaml")
	require.NoError(t, err)
	cluster := s.Cases[0].Cluster.DeepCopy()
	generators.Configure(cluster, c.JSON)
	cluster.Preemptor.Spec.SchedulerName = profile
	r, err := checker.Check(t.Context(), cluster)
	require.NoError(t, err, "%s, %s", c.File, profile)
	assert.Empty(t, r.Unexplained(), "%s, %s", c.File, profile)
	_, err = answers.Decide(cluster, release.Linked.Rules())
	var missing model.Unmodelled
	if errors.As(err, &missing) {
		var fields []string
		for _, f := range missing {
			fields = append(fields, "`"+f.Field+"`")
		}
		unmodelled = strings.Join(fields, ", ")
	}
	switch o := r.Observation; {
	case o.Crash != nil:
		t.Errorf("%s, %s: %s", c.File, profile, o.Crash)
	case o.Pick != nil:
		decides = fmt.Sprintf("preempts %d on %s", len(o.Pick.Victims), o.Pick.Node)
	case o.ScheduledTo != "":
		decides = "it fits"
	case o.CycleError != "":
		decides = "an error"
	default:
		decides = "waits"
	}
	return decides, unmodelled
}

// A case that was made with a configuration carries it: it is judged alike without the flag.
func TestConfigInCase(t *testing.T) {
	const config, file = "../../../corpus/configurations/added-affinity.yaml", "../../../corpus/cases/budget-is-spent-by-a-reprieved-pod.yaml"
	status, given, errOut := preemptcheck(t, "", "check", "--config", config, "-o", "name", file)
	require.Zero(t, status, errOut)
	_, drawn, _ := preemptcheck(t, "", "generate", "--seed", "5", "--config", config)
	require.Contains(t, drawn, "configuration:")
	s, err := corpus.Load(file)
	require.NoError(t, err)
	c, err := source.ReadConfiguration(config)
	require.NoError(t, err)
	s.Configure(c.JSON, c.Flag())
	var text strings.Builder
	require.NoError(t, s.Cases[0].Write(&text))
	require.Contains(t, text.String(), "configuration:")
	status, carried, errOut := preemptcheck(t, text.String(), "check", "-o", "name", "-")
	require.Zero(t, status, errOut)
	assert.Equal(t, given, carried)
	again, err := corpus.Read(strings.NewReader(text.String()), "again")
	require.NoError(t, err)
	assert.JSONEq(t, string(c.JSON), string(again.Cases[0].Cluster.Settings.Configuration))

	both := strings.Replace(text.String(), "  configuration:", "  parallelism: 2\n  configuration:", 1)
	status, _, errOut = preemptcheck(t, both, "check", "-")
	assert.Equal(t, terminal.CouldNot, status)
	assert.Contains(t, errOut, "scheduler.parallelism: forbidden besides configuration")
}

// A bad file ends with status 2, and each line names the file and the field.
func TestConfigIsBad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 200\nparallelism: -1\n"), 0o600))
	for _, command := range []string{"check", "explain", "minimize", "diff", "exposure", "generate", "fuzz", "stats"} {
		status, _, errOut := preemptcheck(t, "", command, "--config", file)
		assert.Equal(t, terminal.CouldNot, status, command)
		assert.Contains(t, errOut, file+": parallelism: Invalid value: -1", command)
		assert.Contains(t, errOut, file+": percentageOfNodesToScore: Invalid value: 200: not in valid range [0-100]", command)
	}
	status, _, errOut := preemptcheck(t, "", "generate", "--config", filepath.Join(t.TempDir(), "none.yaml"))
	assert.Equal(t, terminal.CouldNot, status)
	assert.Contains(t, errOut, "no such file")
}

// Fuzz goes by the configuration, remembers it, and does not go on with another one.
func TestFuzzWithConfig(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "campaign")
	const config = "../../../corpus/configurations/added-affinity.yaml"
	status, out, errOut := preemptcheck(t, "", "fuzz", "--cases", "40", "--seed", "3", "--timelines", "10", "--out", dir, "--config", config)
	assert.NotEqual(t, 1, status, "%s%s", out, errOut)
	state, err := os.ReadFile(filepath.Join(dir, "campaign.state"))
	require.NoError(t, err)
	assert.Contains(t, string(state), "foo-scheduler")
	_, _, errOut = preemptcheck(t, "", "fuzz", "--cases", "45", "--seed", "3", "--out", dir, "--resume")
	assert.NotContains(t, errOut, "holds another campaign")
	status, _, errOut = preemptcheck(t, "", "fuzz", "--cases", "50", "--seed", "3", "--out", dir, "--resume", "--config", "../../../corpus/configurations/default.yaml")
	assert.Equal(t, terminal.CouldNot, status)
	assert.Contains(t, errOut, "holds another campaign")
}
