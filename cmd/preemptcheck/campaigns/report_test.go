package campaigns_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/apptest"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/golden"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// night is a campaign that passed.
func night() *record.State {
	exercised := map[string]int{}
	for i, p := range probe.Probes() {
		exercised[p.Name] = p.Quota + 7*i
	}
	return &record.State{
		Config: record.Config{Seed: 42, Shard: record.Shard{Index: 2, Of: 4}, Reference: "v1.37.1",
			Version: "preemptcheck v1.0.0, kube-scheduler v1.37.1", Relations: 2, Command: "preemptcheck"},
		Stats: probe.Stats{
			Clusters: 12000, Scheduled: 1200, Ineligible: 600, NotHelpful: 2100, Preempted: 8095, Unmodelled: 5,
			Rejected:  map[string]int{"not modelled: spec.volumes[].csi (volume filters)": 5},
			Partly:    map[string]int{"spec.perDeviceNodeSelection (devices for nodes of their own)": 7},
			Exercised: exercised,
			Known:     map[string]int{"unlabelled-pod": 400, "budget-order": 90},
		},
		Canary:   record.Canary{Lies: 12, Caught: 12, Causes: record.Causes{Findings: []*record.Finding{{}}}},
		Sessions: []record.Session{{Started: time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC), Seconds: 6.5, CPUSeconds: 13, Clusters: 12000, Workers: 2}},
		Samples: []record.Sample{
			{Seconds: 3, Clusters: 6000, PerSecond: 2000, Memory: 300 << 20}, {Seconds: 6, Clusters: 12000, PerSecond: 1990, Memory: 305 << 20}},
	}
}

func foundTwo(s *record.State) {
	s.Findings = []*record.Finding{
		{
			Identity: fingerprint.Identity{Fingerprint: fingerprint.Fingerprint{
				Property: properties.Differential, Stage: model.StageDryRun, Kind: "fewer victims"}, Shape: "budgets, taints"},
			Explanation: "On node-0 both pods have to go for the preemptor to fit, and evicting them violates the budget default/budget-0, but only one of them is preempted.",
			Count:       300, FoundAfter: 1.25, Clusters: 64,
			Minimised: record.Minimised{From: minimize.Size{Nodes: 6, Pods: 24, Budgets: 3}, To: minimize.Size{Nodes: 1, Pods: 2, Budgets: 1}, Checks: 421, Seconds: 2.5, Minimal: true},
			File:      "dry-run-fewer-victims-with-budgets-and-taints.yaml",
		},
		{
			Identity:    fingerprint.Identity{Fingerprint: fingerprint.Fingerprint{Property: fingerprint.Failed, Kind: "worker died"}},
			Explanation: "the process that ran the scheduler died: exit status 2", Seed: 42, Number: 4711, Count: 1, FoundAfter: 75, Clusters: 9000,
			Minimised: record.Minimised{Why: "no process survives it"},
		},
	}
	s.Kinds = map[string]*record.Kind{"a": {Count: 300, Minimised: 10}, "b": {Count: 1, Minimised: 1}}
	s.Deaths = 1
}

// campaignIn writes the state of a campaign to a directory.
func campaignIn(t *testing.T, dir string, s *record.State) {
	data, err := json.Marshal(s)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.state"), data, 0o644))
}

func TestReport(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		change func(s *record.State)
	}{
		{"passed", 0, func(*record.State) {}},
		{"found", 1, foundTwo},
		{"broken", 2, func(s *record.State) { s.Canary.Caught = 9 }},
		{"inconclusive", 2, func(s *record.State) {
			for _, name := range []string{"reprieve", "DisruptedPods", "tie between candidates", "fits"} {
				s.Stats.Exercised[name] = 2
			}
		}},
		{"merged", 0, func(s *record.State) {
			s.Config.Seed, s.Config.Shard, s.Samples = 0, record.Shard{}, nil
			s.Parts = []record.Part{{Dir: "shard-1", Seed: 42, Shard: record.Shard{Index: 1, Of: 2}, Clusters: 7000}, {Dir: "shard-2", Seed: 42, Shard: record.Shard{Index: 2, Of: 2}, Clusters: 5000}}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := night()
			test.change(s)
			t.Chdir(t.TempDir())
			campaignIn(t, "nightly", s)
			status, out, errOut := preemptcheck(t, "", "report", "nightly")
			require.Equal(t, test.status, status)
			require.Empty(t, errOut)
			for line := range strings.Lines(out) {
				require.LessOrEqual(t, len(line), 130, line)
			}
			for _, output := range []string{"json", "yaml"} {
				status, data, _ := preemptcheck(t, "", "report", "nightly", "-o", output)
				require.Equal(t, test.status, status)
				var r record.Report
				require.NoError(t, yaml.UnmarshalStrict([]byte(data), &r))
				require.Equal(t, s.Report("nightly"), &r)
			}
			t.Chdir(packageDir)
			golden.Compare(t, filepath.Join("testdata", "report-"+test.name+".golden"), out)
		})
	}
}

// The page of a campaign shows what was found, and how the campaign went.
func TestReportOnAPage(t *testing.T) {
	dir := t.TempDir()
	s := night()
	foundTwo(s)
	s.Findings[0].Case = "kind: no case"
	campaignIn(t, dir, s)
	status, page, _ := preemptcheck(t, "", "report", dir, "-o", "html")
	require.Equal(t, terminal.Found, status)
	require.Contains(t, apptest.DataOfPage(t, page), `"verdict`)
	for _, says := range []string{"FOUND 2 new findings", "kind: no case", "Memory over 6 seconds", "floor"} {
		require.Contains(t, page, says)
	}
}

var packageDir, _ = os.Getwd()

func TestReportCannot(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	campaignIn(t, bad, night())
	require.NoError(t, os.WriteFile(filepath.Join(bad, "campaign.state"), []byte(`{"config":`), 0o644))
	good := filepath.Join(dir, "good")
	campaignIn(t, good, night())
	for _, test := range []struct{ args, message string }{
		{filepath.Join(dir, "none"), "none: there is no campaign in it"},
		{bad, "campaign.state: unexpected end of JSON input"},
		{"", "accepts 1 arg(s), received 0"},
		{good + " --junit " + filepath.Join(dir, "nowhere", "report.xml"), "error: --junit: "},
	} {
		status, _, errOut := preemptcheck(t, "", append([]string{"report"}, strings.Fields(test.args)...)...)
		require.Equal(t, terminal.CouldNot, status, test.args)
		require.Contains(t, errOut, test.message)
	}
}

// In a GitHub workflow the run is annotated, where no program reads, and its
// summary is added to; JUnit is written wherever it is asked for.
func TestReportInWorkflow(t *testing.T) {
	dir := t.TempDir()
	s := night()
	foundTwo(s)
	campaignIn(t, dir, s)
	junit, summary := filepath.Join(dir, "report.xml"), filepath.Join(dir, "summary.md")
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)

	status, out, errOut := preemptcheck(t, "", "report", dir, "--junit", junit)
	require.Equal(t, terminal.Found, status)
	require.Empty(t, errOut)
	require.Contains(t, out, "\n::error file="+dir+"/dry-run-fewer-victims-with-budgets-and-taints.yaml,title=preemptcheck%3A differential at stage dry run%2C fewer victims")
	require.FileExists(t, junit)
	text, err := os.ReadFile(summary)
	require.NoError(t, err)
	require.Contains(t, string(text), "## preemptcheck: FOUND 2")

	status, out, errOut = preemptcheck(t, "", "report", dir, "-o", "json")
	require.Equal(t, terminal.Found, status)
	require.True(t, json.Valid([]byte(out)))
	require.Contains(t, errOut, "::error file=")
	text, err = os.ReadFile(summary)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(text), "## preemptcheck: FOUND 2"))

	t.Setenv("GITHUB_ACTIONS", "")
	_, out, errOut = preemptcheck(t, "", "report", dir)
	require.NotContains(t, out+errOut, "::")
}

// What ends in public logs tells of a finding that may let others end or starve the
// scheduler only that there is one, and where it lies; and of known ones not even that.
func TestReportKeepsBack(t *testing.T) {
	const known = "invalid-score-fails-cycle"
	e, ok := ledger.LookUp(known)
	require.True(t, ok && e.KeptBack())
	secret := regexp.MustCompile(`(?i)secret\b|\b4711\b|dry run.*panic|` + known)
	for _, test := range []struct {
		property, kind, detail string
		timeline               bool
	}{
		{properties.GetsThrough().Name, "panic in secret.(*Secret).Score", "panic in secret.go:503", false},
		{"fault-gets-through", "", "hang in secret.go:503", false},
		{"no-internal-error", "secret score", "the cycle ended in an error: secret score", false},
		{properties.Differential, "ends in an error: secret score", "want no error, got secret score", false},
		{"duplicating-a-node", answers.ErrorChanged("", "secret score"), `error "" became error "secret score"`, false},
		{"incremental-load-agrees", "panic", "panic in secret.go:503", false},
		{properties.FiltersAlone().Name, "", "panic: secret", false},
		{fingerprint.Failed, "", "secret", false},
		{properties.GetsThrough().Name, "endless", "it goes on, secret", true},
		{"any-order-of-deliveries", variation.NoEnd, "secret", true},
		{fingerprint.Failed, "timeline", "secret", true},
	} {
		t.Run(fmt.Sprint(test.property, test.timeline), func(t *testing.T) {
			dir := t.TempDir()
			s := night()
			foundTwo(s)
			s.Stats.Known[known] = 17
			s.Stats.Timelines, s.Stats.KnownInTimelines = 9, map[string]int{known: 23, "evicts-namesake": 8}
			s.Stats.Reject(errors.New("secret"))
			f := s.Findings[1]
			f.Identity = fingerprint.Identity{Fingerprint: fingerprint.Fingerprint{Property: test.property, Stage: model.StageDryRun, Kind: test.kind}, Shape: "secret"}
			f.Explanation, f.Detail, f.File, f.Case = "It breaks in secret.go:503.", test.detail, "kept-back-secret.yaml", "kind: Secret"
			f.Minimised.Why, f.Timeline, f.Stack = "secret", test.timeline, []string{"secret.(*Secret).Stack (secret.go:503)"}
			campaignIn(t, dir, s)
			junit, summary := filepath.Join(t.TempDir(), "report.xml"), filepath.Join(t.TempDir(), "summary.md")

			t.Setenv("GITHUB_ACTIONS", "")
			_, out, _ := preemptcheck(t, "", "report", dir, "--junit", junit)
			require.Regexp(t, secret, out, "who runs it is told all")
			require.Contains(t, out, "   stack:\n     "+f.Stack[0]+"\n")
			require.Contains(t, out, "It goes to the Kubernetes security contact before it is published", "and what to do with it")

			t.Setenv("GITHUB_ACTIONS", "true")
			t.Setenv("GITHUB_STEP_SUMMARY", summary)
			for _, format := range []string{"text", "json", "yaml", "html"} {
				status, out, errOut := preemptcheck(t, "", "report", dir, "-o", format)
				require.Equal(t, terminal.Found, status)
				require.NotRegexp(t, secret, strings.ReplaceAll(out, ",", ",\n")+errOut) // what a page holds as JSON is one line
				require.Contains(t, out, test.property+", kept back")
				require.Contains(t, out, dir)
				require.Contains(t, out+errOut, "::error title=preemptcheck%3A "+test.property+"%2C kept back::The case lies in "+dir)
				require.Contains(t, out, "dry-run-fewer-victims-with-budgets-and-taints.yaml", "the other is told")
			}
			for _, file := range []string{junit, summary} {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				require.NotRegexp(t, secret, string(text))
				require.Contains(t, string(text), "kept back")
			}
		})
	}
}

// Of a finding that is kept back, "findings" tells only that, and where it goes.
func TestFindingsKeepsBack(t *testing.T) {
	for _, e := range slices.Concat(ledger.Linked(), ledger.Timelines()) {
		if !e.KeptBack() {
			continue
		}
		for _, args := range [][]string{{"findings"}, {"findings", e.ID}, {"findings", "-o", "json"}, {"findings", e.ID, "-o", "yaml"}} {
			status, out, _ := preemptcheck(t, "", args...)
			require.Equal(t, 0, status)
			require.Contains(t, out, "it goes to the Kubernetes security contact before it is published")
			for _, secret := range []string{e.Title, e.Consequence, e.Happens, e.Where, e.Witness} {
				require.NotContains(t, out, secret)
			}
		}
	}
}
