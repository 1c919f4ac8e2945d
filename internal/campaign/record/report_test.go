package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/golden"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/properties/probe"
	"github.com/preemptcheck/preemptcheck/properties/relation"
)

// night is a campaign that passed.
func night() *State {
	exercised := map[string]int{}
	for i, p := range probe.Probes() {
		exercised[p.Name] = p.Quota + 7*i
	}
	return &State{
		Config: Config{Seed: 42, Reference: "v1.37.1", Version: "preemptcheck v1.0.0, kube-scheduler v1.37.1", Relations: 2, Command: "preemptcheck"},
		Next:   12000,
		Stats: probe.Stats{
			Clusters: 12000, Scheduled: 1200, Ineligible: 600, NotHelpful: 2100, Preempted: 8095, Unmodelled: 5,
			Rejected:  map[string]int{"not modelled: spec.volumes[].csi (volume filters)": 5, "undecided: too many equally important pods": 7},
			Exercised: exercised,
			Known:     map[string]int{"unlabelled-pod": 400, "budget-order": 90, "empty-selector": 400},
		},
		Canary: Canary{Lies: 12, Caught: 12, Causes: Causes{Findings: []*Finding{{}}}},
		Sessions: []Session{
			{Started: time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC), Seconds: 3.5, CPUSeconds: 7, Clusters: 5000, Workers: 2},
			{Started: time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC), Seconds: 5000, CPUSeconds: 9000, Clusters: 7000, Workers: 2},
		},
		Samples: []Sample{
			{Seconds: 3, Clusters: 4200, PerSecond: 1400, Memory: 300 << 20},
			{Seconds: 60, Clusters: 6000, PerSecond: 31, Memory: 310 << 20},
			{Seconds: 5003, Clusters: 12000, PerSecond: 1.2, Memory: 320 << 20},
		},
		Deaths: 1,
	}
}

// nasty is what nothing that reads a report must take for its own.
const nasty = "<b>]]>&\"'|`*_ 100%,: ::error::x\x00\n\n```\nü"

// found adds two findings, one of which could not be minimised and is not saved.
func found(s *State) *State {
	s.Findings = []*Finding{
		{
			Identity: fingerprint.Identity{Fingerprint: fingerprint.Fingerprint{
				Property: properties.Differential, Stage: model.StageDryRun, Kind: "too few victims"}, Shape: "budgets, taints"},
			Explanation: "On node-0, 2 pods have to go, but only 1 is preempted.", Detail: "finding: …",
			Seed: 42, Number: 17, Count: 300, FoundAfter: 1.25, Clusters: 64,
			Minimised: Minimised{From: minimize.Size{Nodes: 6, Pods: 24, Budgets: 3}, To: minimize.Size{Nodes: 1, Pods: 2, Budgets: 1}, Checks: 421, Seconds: 2.5, Minimal: true},
			File:      "dry-run-too-few-victims.yaml",
		},
		{
			Identity:    fingerprint.Identity{Fingerprint: fingerprint.Fingerprint{Property: fingerprint.Failed, Kind: nasty}},
			Explanation: nasty, Detail: nasty, Seed: 42, Number: 4711, Count: 1, FoundAfter: 75, Clusters: 9000,
			Minimised: Minimised{From: minimize.Size{Nodes: 1, Pods: 1, Budgets: 0}, To: minimize.Size{Nodes: 1, Pods: 1, Budgets: 0}, Why: nasty},
		},
	}
	s.Errors = 1
	s.Kinds = map[string]*Kind{"a": {Count: 290, Minimised: 10}, "b": {Count: 11, Minimised: 2, Finding: 1}}
	return s
}

func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		name         string
		change       func(s *State)
		verdict      Verdict
		broken       string
		inconclusive string
	}{
		{"passed", func(s *State) {}, Passed, "", ""},
		{"found", func(s *State) { found(s) }, Found, "", ""},
		{"lie not noticed", func(s *State) { s.Canary.Caught = 11 }, Broken, "of 12 lies of the canary, only 11 were noticed", ""},
		{"no lie noticed", func(s *State) { s.Canary.Caught, s.Canary.Findings = 0, nil }, Broken, "only 0 were noticed", ""},
		{"lie about a timeline not noticed", func(s *State) { s.Canary.Lives = Lies{9, 8} }, Broken, "of 9 lies of the canary about timelines, only 8 were noticed", ""},
		{"no lie about timelines", func(s *State) { s.Stats.Timelines, s.Stats.Reached = 2000, allReached() }, Broken, "never lied about any of 2000 timelines", ""},
		{"two lies", func(s *State) { s.Canary.Findings = append(s.Canary.Findings, &Finding{}) }, Broken, "minimised to 2 findings instead of 1", ""},
		{"lie lost", func(s *State) { s.Canary.Findings = nil }, Broken, "minimised to 0 findings instead of 1", ""},
		{"no lie", func(s *State) { s.Canary = Canary{} }, Broken, "never lied, although 8095 clusters preempt", ""},
		{"no lie yet", func(s *State) { s.Canary, s.Stats.Clusters = Canary{}, 1000 }, Inconclusive, "", "the canary has not lied yet"},
		{"nothing to lie about", func(s *State) { s.Canary, s.Stats.Preempted = Canary{}, 0 }, Passed, "", ""},
		{"quota", func(s *State) { s.Stats.Exercised["reprieve"] = 9; delete(s.Stats.Exercised, "fits") }, Inconclusive, "",
			"decisions were exercised too rarely: fits (0 of 10), reprieve (9 of 10)"},
		{"all at once", func(s *State) { found(s).Canary.Caught = 1; s.Stats.Exercised = nil }, Found, "only 1 were noticed", "too rarely"},
		{"broken and short", func(s *State) { s.Canary.Caught = 1; s.Stats.Exercised = nil }, Broken, "only 1 were noticed", "too rarely"},
		{"nothing", func(s *State) { *s = State{} }, Inconclusive, "", "too rarely"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := night()
			test.change(s)
			r := s.Report("out")
			require.Equal(t, test.verdict, r.Verdict)
			require.True(t, strings.HasPrefix(r.Headline(), string(test.verdict)), r.Headline())
			for got, want := range map[string]string{strings.Join(r.Broken, "; "): test.broken, strings.Join(r.Inconclusive, "; "): test.inconclusive} {
				require.Contains(t, got, want)
				require.Equal(t, want == "", got == "", got)
			}
			if test.verdict != Passed {
				require.NotContains(t, r.markdown(), "nothing new")
			}
		})
	}
}

func TestReport(t *testing.T) {
	r := found(night()).Report("my out")
	require.Equal(t, 280+9, r.CountedOnly)
	require.Equal(t, []Count{{"empty-selector", 400}, {"unlabelled-pod", 400}, {"budget-order", 90}}, r.Known)
	require.Equal(t, "undecided: too many equally important pods", r.Rejected[0].Name)
	require.Equal(t, Effort{
		Started: time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC), Sessions: 2, Deaths: 1, Seconds: 5003.5, CPUSeconds: 9007,
		PerSecond: 12000 / 5003.5, PerCPUSecond: 12000 / 9007., AtStart: 1400, AtEnd: 1.2, MemoryStart: 300 << 20, MemoryEnd: 320 << 20,
	}, r.Effort)
	saved, unsaved := r.Findings[0], r.Findings[1]
	require.Equal(t, "preemptcheck check 'my out/dry-run-too-few-victims.yaml'", saved.Reproduce)
	require.Equal(t, "preemptcheck minimize 'my out/dry-run-too-few-victims.yaml'", saved.Minimise)
	require.Equal(t, "my out/dry-run-too-few-victims.yaml", saved.File)
	require.Equal(t, "preemptcheck generate --seed 42 --first 4711 | preemptcheck check -", unsaved.Reproduce)
	require.Empty(t, unsaved.File)
}

func TestJUnit(t *testing.T) {
	s := found(night())
	s.Stats.Exercised["fits"] = 2
	s.Canary.Caught = 11
	file := filepath.Join(t.TempDir(), "report.xml")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	require.NoError(t, s.Report("out").WriteJUnit(file))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	golden.Compare(t, filepath.Join("testdata", "report.xml"), string(data))

	suite := s.Report("out").junit()
	require.Equal(t, []int{2, 2}, []int{suite.Failures, suite.Errors})
	require.Len(t, suite.Cases, suite.Tests)
	names := map[string]bool{}
	for _, c := range suite.Cases {
		require.False(t, names[c.Class+c.Name], c.Name)
		names[c.Class+c.Name] = true
	}
	require.True(t, names["preemptcheck.properties"+relation.All()[0].Name])
	require.False(t, names["preemptcheck.properties"+properties.Differential], "it has a finding")

	s = night()
	s.Config.Relations = 0
	suite = s.Report("out").junit()
	require.Zero(t, suite.Failures+suite.Errors)
	require.Len(t, suite.Cases, 2+len(all.Cheap())+len(all.Repeating())+1+len(probe.Probes()))

	require.Error(t, s.Report("out").WriteJUnit(filepath.Join(t.TempDir(), "nowhere", "report.xml")))
}

func TestAnnotations(t *testing.T) {
	s := found(night())
	s.Stats.Exercised["fits"] = 2
	s.Canary.Caught = 11
	var out bytes.Buffer
	s.Report("out,put:1").WriteAnnotations(&out)
	golden.Compare(t, filepath.Join("testdata", "annotations.txt"), out.String())
	for line := range strings.Lines(out.String()) {
		require.Regexp(t, `^::(error|warning) `, line, "no line but commands")
	}
	out.Reset()
	night().Report("out").WriteAnnotations(&out)
	require.Empty(t, out.String())
}

func TestSummary(t *testing.T) {
	s := found(night())
	s.Stats.Exercised["fits"] = 2
	file := filepath.Join(t.TempDir(), "summary.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n"), 0o644))
	require.NoError(t, s.Report("out").AppendSummary(file))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	golden.Compare(t, filepath.Join("testdata", "summary.md"), string(data))
}

// Above its limit GitHub shows nothing of a summary, so a report is cut.
func TestSummaryIsLimited(t *testing.T) {
	s := night()
	for range 3000 {
		s.Findings = append(s.Findings, found(night()).Findings[0])
	}
	file := filepath.Join(t.TempDir(), "summary.md")
	size := func() int {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		return len(data)
	}
	require.NoError(t, s.Report("out").AppendSummary(file), "it need not be there")
	require.LessOrEqual(t, size(), maxSummary)
	require.Greater(t, size(), maxSummary-1000)
	data, _ := os.ReadFile(file)
	require.True(t, strings.HasSuffix(string(data), "limits the size of a summary._\n"))
	require.Zero(t, strings.Count(string(data), "```")%2, "no fence is left open")
	require.NoError(t, s.Report("out").AppendSummary(file))
	require.LessOrEqual(t, size(), maxSummary)
	require.NoError(t, os.WriteFile(file, make([]byte, 2*maxSummary), 0o644))
	require.NoError(t, s.Report("out").AppendSummary(file))
	require.Equal(t, 2*maxSummary, size())
}

// TestJUnitOfTimelines: JUnit names the properties that hold of timelines apart from those that
// hold of clusters.
func TestJUnitOfTimelines(t *testing.T) {
	s := night()
	s.Config.Timelines, s.Stats.Timelines = 50, 6000
	finding := &Finding{Timeline: true, Count: 2}
	finding.Identity.Property = "gets-through"
	s.Findings = []*Finding{finding}
	classes := map[string][]string{}
	for _, c := range s.Report("out").junit().Cases {
		if c.Failure == nil {
			classes[c.Class] = append(classes[c.Class], c.Name)
		}
	}
	require.Len(t, classes[classTimelines], len(lifetime.All())+len(variation.All())-1)
	require.Contains(t, classes[classTimelines], "no-wait-for-the-flush")
	require.NotContains(t, classes[classTimelines], "gets-through")
	require.Contains(t, classes[classProperties], "gets-through", "it holds of clusters")

	s.Findings, s.Stats.Timelines = nil, 0
	for _, c := range s.Report("out").junit().Cases {
		require.NotEqual(t, classTimelines, c.Class, "none was run")
	}
}

// TestClustersAndTimelinesApart: the same that is found in clusters and in timelines is two
// findings, each with its own count.
func TestClustersAndTimelinesApart(t *testing.T) {
	one := func(inTimeline bool, count int) Causes {
		f := &Finding{Timeline: inTimeline, Count: count}
		f.Identity.Property, f.Identity.Kind = "gets-through", "hang in x"
		return Causes{Findings: []*Finding{f}}
	}
	var all Causes
	for _, c := range []Causes{one(false, 3), one(true, 5), one(false, 4), one(true, 1)} {
		all.add(c)
	}
	require.Len(t, all.Findings, 2)
	require.Equal(t, []int{7, 6}, []int{all.Findings[0].Count, all.Findings[1].Count})
}

// TestOwnPanic: a panic of preemptcheck's own code is no secret of the scheduler, and any other
// panic of a check may be one.
func TestOwnPanic(t *testing.T) {
	for begin, want := range map[string]bool{properties.OwnPanic: false, "panic: ": true} {
		failed := properties.Finding{Property: fingerprint.Failed, Detail: begin + "runtime error: makeslice: cap out of range\ngoroutine 1"}
		f := &Finding{Identity: fingerprint.Identity{Fingerprint: fingerprint.OfFinding(&failed)}, Detail: failed.String()}
		require.Equal(t, want, f.GoesToContact(), begin)
	}
}

func TestFewAreWorded(t *testing.T) {
	s := night()
	s.Canary = Canary{}
	s.Kinds = map[string]*Kind{"a": {Count: 2, Minimised: 1}}
	require.Contains(t, s.Report("d").Tried(), "The canary has not lied yet.")
	require.Contains(t, s.Report("d").Tried(), " 1 more suspect looks like the findings and was only counted")
}

// A finding that is not as small as can be does not pass for one that is.
func TestWayOfMinimising(t *testing.T) {
	large, small := minimize.Size{Nodes: 9, Pods: 9}, minimize.Size{Nodes: 1, Pods: 2}
	for want, m := range map[string]Minimised{
		"minimised": {From: small, To: small, Minimal: true},
		"made smaller, not minimised: it took too long": {From: large, To: small, Why: "it took too long"},
		"not minimised: it did not occur again":         {From: large, To: large, Why: "it did not occur again"},
	} {
		require.Equal(t, want, m.Way())
		f := &ReportedFinding{Minimised: m, Count: 1}
		require.Contains(t, f.History(), "; "+want)
		require.Equal(t, m.Minimal || m.To != m.From, strings.Contains(f.History(), " with 0 checks"), want)
	}
}
