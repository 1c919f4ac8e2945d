package page_test

import (
	"cmp"
	"context"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus/diff"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/internal/page/cycle"
	"github.com/preemptcheck/preemptcheck/internal/page/lanes"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
	"github.com/preemptcheck/preemptcheck/properties/explanation/arrivals"
	"github.com/preemptcheck/preemptcheck/properties/exposure"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/story"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
)

// sample is a cluster with all kinds of pods, and what a model explains of it.
func sample(t testing.TB) (*model.Cluster, *explanation.Explanation) {
	c := mk.Cluster(mk.Pod("pp", 1000, mk.CPU("2")), mk.Node("n1", "3"), mk.Node("n2", "3"), mk.Node("n3", "1"),
		mk.Pod("ph", 20, mk.On("n1"), mk.CPU("1"), mk.Started(1)), mk.Pod("pl", 10, mk.On("n1"), mk.CPU("2"), mk.Started(2), mk.App("a")),
		mk.Pod("po", 50, mk.On("n2"), mk.CPU("3")), mk.Pod("pt", 5, mk.On("n2"), mk.CPU("100m"), mk.Terminating), mk.Pod("pn", 1, mk.CPU("100m"), mk.Nominated("n1")),
		mk.Budget("bb", 0, mk.ForApp("a")))
	checker := &properties.Checker{System: modelsystem.New(release.Linked)}
	r, err := checker.Check(context.Background(), c)
	require.NoError(t, err)
	e := explanation.Of(r, len(c.Nodes))
	e.File = "file"
	require.Len(t, e.Candidates, 2)
	return c, e
}

// sampleLife is a preemption as a scheduler is seen doing it.
func sampleLife() *lifetime.Life {
	pod := mk.Pod("pp", 10, mk.CPU("2"))
	c := mk.Cluster(nil, mk.Node("n1", "2"), mk.Pod("pv", 0, mk.On("n1"), mk.CPU("1")))
	at := func(ms int, e timeline.Entry) timeline.Entry {
		e.At, e.Object = time.Duration(ms)*time.Millisecond, cmp.Or(e.Object, "Pod default/pp")
		return e
	}
	return &lifetime.Life{
		Timeline: &timeline.Timeline{Cluster: c, Steps: []timeline.Step{{Create: pod}, {Wait: time.Minute}}},
		Trace: &timeline.Trace{System: "v1.37.1", Quiet: &timeline.State{}, Entries: []timeline.Entry{
			at(0, timeline.Entry{What: timeline.Created, Is: pod}), at(0, timeline.Entry{What: timeline.Popped}), at(1, timeline.Entry{What: timeline.Unfit, Text: "no room"}),
			at(1, timeline.Entry{What: timeline.Decided, Victims: []string{"default/pv"}, Node: "n1", Cycle: 1}), at(1, timeline.Entry{What: timeline.Begins, Cycle: 1}),
			at(1, timeline.Entry{What: timeline.Called, Object: "Pod default/pv", Call: timeline.Evict, By: "default/pp"}),
			at(1, timeline.Entry{What: timeline.Deleting, Object: "Pod default/pv", Text: "grace"}),
			at(2, timeline.Entry{What: timeline.Called, Call: timeline.Patch, Text: "nominated", Error: "Conflict"}),
			at(2, timeline.Entry{What: timeline.Requeued, Gated: true}), at(3, timeline.Entry{What: timeline.Ends, Text: "success", Cycle: 1}),
			at(30_000, timeline.Entry{What: timeline.Removed, Object: "Pod default/pv", Step: 1}), at(30_001, timeline.Entry{What: timeline.Popped, Step: 1}), at(30_002, timeline.Entry{What: timeline.Fits, Node: "n1", Step: 1}),
			at(30_003, timeline.Entry{What: timeline.Called, Call: timeline.Bind, Text: "to n1", Step: 1}),
		}},
	}
}

// sampleArrivals is of a workload of which one pod runs, by preempting another, which waits then.
func sampleArrivals() *arrivals.Story {
	return &arrivals.Story{
		Cluster:  "f",
		Coming:   []arrivals.Coming{{Workload: "Deployment d/web", Priority: 9, Pods: 2, Runs: 1}},
		Going:    []arrivals.Going{{Workload: "Job d/batch", Priority: 1, Pods: 1, Of: 4, Violates: map[string]int{"d/batch": 1}, Pending: 1, Victims: []string{"d/batch-1"}}},
		Budgets:  []arrivals.Budget{{Budget: "d/batch", Pods: 1}},
		Arrivals: []arrivals.Cycle{{Pod: "d/web-1", Node: "n1", Preempts: []string{"d/batch-1"}, Violates: []string{"d/batch"}, Ways: 2, Why: "only candidate"}, {Pod: "d/web-2", Why: "Insufficient cpu"}},
		Next:     []arrivals.Cycle{{Pod: "d/batch-1-again", Replaces: "d/batch-1", Level: 1, Why: "Insufficient cpu"}},
		Pending:  []arrivals.Pending{{Why: "Insufficient cpu", Comes: true, Workloads: []string{"Deployment d/web"}, Pods: []string{"d/web-2"}}},
		NotTried: 1, Bounds: "level 3", Waiting: 2, Open: 1,
		Reference: arrivals.Reference{System: "v1", Cycles: 3, Asked: 3, Agrees: 2, Disagrees: []string{"d/web-1: known finding"}, Unknown: []string{"d/web-2: why"}},
	}
}

// sampleExposure is of three workloads: one whose budget can be violated, one with a finding, and one that nobody preempts.
func sampleExposure() *exposure.Report {
	return &exposure.Report{File: "f", Release: "v1", Nodes: 3, Pods: 9, Notes: []string{"a note"}, Workloads: []*exposure.Workload{
		{
			Name: "deployment/d/web", Pods: 4, Lowest: 1, Highest: 5, Now: []exposure.Taker{{Pod: "d/p", Alike: 2, AtOnce: 1, Node: "n1"}}, Loss: exposure.Loss{Nodes: 1, Worst: "n1", WorstPreempted: 2},
			Threats: []exposure.Threat{{Class: "low", AtOnce: 1, Node: "n1", Asks: "cpu=1"}, {Class: "high", AtOnce: 2, AtMost: 3, Node: "n2"}},
			Budgets: []exposure.Budget{{Name: "d/web", Verdict: exposure.Violated, Class: "high", Over: 1, Node: "n2"}, {Name: "d/other", Verdict: exposure.Honoured}},
		},
		{Name: "deployment/d/cart", Pods: 2, Threats: []exposure.Threat{{Class: "low", AtOnce: 1, Node: "n1"}}, Budgets: []exposure.Budget{{Name: "d/cart", Verdict: exposure.ByFinding, Findings: []exposure.Finding{{ID: "a-finding", Why: "w"}}}}},
		{Name: "statefulset/d/db", Pods: 3},
	}}
}

// suffixed changes all texts of a value, those in its lists and structures too, but for those of the fields left out.
func suffixed(v reflect.Value, suffix string, leave ...string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.Len() > 0 {
			v.SetString(v.String() + suffix)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			suffixed(v.Elem(), suffix, leave...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			suffixed(v.Index(i), suffix, leave...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(leave, f.Name) {
				suffixed(v.Field(i), suffix, leave...)
			}
		}
	}
}

// rename gives nodes, pods and resources of a cluster other names.
func rename(c *model.Cluster, suffix string) {
	pods := c.Pods
	if c.Preemptor != nil {
		pods = append(slices.Clip(pods), c.Preemptor)
	}
	for _, n := range c.Nodes {
		n.Name += suffix
	}
	for _, p := range pods {
		p.Name += suffix
		if p.Spec.NodeName != "" {
			p.Spec.NodeName += suffix
		}
		if p.Status.NominatedNodeName != "" {
			p.Status.NominatedNodeName += suffix
		}
		requests := p.Spec.Containers[0].Resources.Requests
		requests[v1.ResourceName("example.com/r"+suffix)] = requests[v1.ResourceCPU]
	}
}

// pages are all pages, of things whose names end in the suffix.
func pages(t testing.TB, suffix string) map[string]func(io.Writer) error {
	c, e := sample(t)
	suffixed(reflect.ValueOf(e), suffix)
	rename(c, suffix)
	e.Reference.Agrees = false
	all := map[string]func(io.Writer) error{"cycle": func(w io.Writer) error { return cycle.Write(w, c, e) }}

	unmodelled := &explanation.NotModelled{File: "f", Pod: "default/pp", Fields: []string{"a field"}, Reference: explanation.Observed{System: "v", Pick: "n1", Victims: []string{"default/pl"}, Findings: []string{"a finding"}}}
	suffixed(reflect.ValueOf(unmodelled), suffix)
	all["unmodelled"] = func(w io.Writer) error { return cycle.WriteUnmodelled(w, c, unmodelled) }

	group := &explanation.OfGroup{
		File: "f", Group: "PodGroup default/g", Pods: []string{"default/pn"}, Nodes: 3, First: &explanation.Placement{}, Second: &explanation.Placement{Placed: []explanation.Placed{{OnNode: explanation.OnNode{Pod: "default/pn", Node: "n1"}, Nodes: []string{"n1"}}}, TakenBack: []explanation.OnNode{{Pod: "default/x", Node: "n1"}}, Untried: []string{"default/y"},
			Failed: []explanation.MembersFailed{{Pods: []string{"default/z"}, Nodes: 1, Failures: []explanation.Failure{{Plugin: "p", Reasons: []string{"r"}, Nodes: []string{"n1"}}}}}}, Nominated: []explanation.OnNode{{Pod: "default/pn", Node: "n1"}}, Eligible: &explanation.Eligibility{OK: true}, Helps: true,
		Evicted:   []explanation.Evicted{{TogetherOn: explanation.TogetherOn{Name: "default/pl", Pods: []string{"default/pl"}, Nodes: []string{"n1"}}, Violates: []string{"a budget"}, Pod: "default/pn", Node: "n1", Plugin: "a plugin", Reasons: []string{"a reason"}}},
		GivenBack: []explanation.TogetherOn{{Name: "default/ph", Pods: []string{"default/ph"}}},
		Reference: explanation.GroupObserved{Observed: explanation.Observed{System: "v", Victims: []string{"default/pl"}, Findings: []string{"a finding"}}},
	}
	suffixed(reflect.ValueOf(group), suffix)
	all["group"] = func(w io.Writer) error { return cycle.WriteGroup(w, c, group) }

	life := sampleLife()
	rename(life.Timeline.Cluster, suffix)
	life.Timeline.Steps[0].CreatedPod().Name += suffix
	for i := range life.Trace.Entries {
		entry := &life.Trace.Entries[i]
		for _, text := range []*string{&entry.Object, &entry.Node, &entry.Text, &entry.Error, &entry.By} {
			if *text != "" {
				*text += suffix
			}
		}
		for j := range entry.Victims {
			entry.Victims[j] += suffix
		}
	}
	broken := []lifetime.Finding{{Property: "p" + suffix, Detail: "d" + suffix}}
	told := story.Tell(life, broken)
	all["timeline"] = func(w io.Writer) error { return lanes.Write(w, life, broken, told) }

	checked := &replay.Report{}
	for _, j := range []*replay.Judgement{
		{Name: "a", Outcome: "o", DecidedBy: "d", Result: replay.Agrees}, {Name: "b", Result: replay.Found, Details: []string{"why"}, Reached: []string{"so far"}, Stack: []string{"f()"}, Note: "note", Reproduce: "command", ToContact: true},
		{Name: "c", Result: replay.Known + ": x", Known: []string{"x"}},
	} {
		suffixed(reflect.ValueOf(j), suffix)
		checked.Add(j)
	}
	all["check"] = func(w io.Writer) error { return reports.Check(w, checked) }

	matrix := &replay.Matrix{References: []string{"v1", "v2"}, TimelinesNotRun: map[string]int{"v0" + suffix: 2}}
	for _, j := range checked.Cases {
		matrix.Cases = append(matrix.Cases, replay.Row{Name: j.Name, Judgements: []*replay.Judgement{j, {Outcome: "other" + suffix, Result: replay.Agrees}}})
	}
	suffixed(reflect.ValueOf(&matrix.References), suffix)
	all["matrix"] = func(w io.Writer) error { return reports.Matrix(w, matrix) }

	entries := []ledger.Entry{{ID: "i", Title: "t", Class: ledger.Defect, Promise: "p", Source: "s", Happens: "h", Where: "w", Consequence: "c", Releases: "r", Upstream: "u"}, {ID: "j", Title: "t", Class: ledger.Debatable}}
	suffixed(reflect.ValueOf(&entries), suffix, "Class")
	all["findings"] = func(w io.Writer) error { return reports.Findings(w, entries) }

	state := &record.State{Samples: []record.Sample{{Seconds: 1, PerSecond: 5, Memory: 1 << 20}, {Seconds: 2, PerSecond: 4, Memory: 2 << 20}}}
	state.Findings = []*record.Finding{{Explanation: "because", Detail: "this", Case: "a case", Stack: []string{"f()"}}}
	campaign := state.Report("dir")
	suffixed(reflect.ValueOf(campaign), suffix, "Verdict")
	all["campaign"] = func(w io.Writer) error { return reports.Campaign(w, campaign, state) }

	different := &diff.Report{From: "v1", To: "v2", Command: "command", Comparisons: []*diff.Pair{{From: "v1", To: "v2", Cases: []*diff.Case{{Name: "a", Verdict: "different", Why: "so", FromDoes: "this", ToDoes: "that", Because: []string{"it changed"}}},
		Ways:      []*diff.Way{{Change: &releasediff.Change{Title: "t", Before: "b", After: "a", Source: "s"}, Kinds: []*diff.Difference{{Kind: "k", FromDoes: "this", ToDoes: "that", Cluster: "c", Reproduce: "r", Case: "no case"}}}},
		Timelines: &diff.Timelines{Kinds: []*diff.TimelineKind{{Kind: "k", Finding: "f", Upstream: "u", Promise: "p", Source: "s", Example: &diff.TimelineExample{Steps: []string{"step"}, Reproduce: "r", Case: "none"}}}, CannotRun: []string{"v0"}, Given: []*diff.GivenTimeline{{Name: "g", Why: "w", Differences: []diff.TimelineDifference{{Kind: "k", FromDoes: "f", ToDoes: "t"}}}}}}}}
	suffixed(reflect.ValueOf(different), suffix)
	all["diff"] = func(w io.Writer) error { return reports.Diff(w, different) }

	arrived := sampleArrivals()
	suffixed(reflect.ValueOf(arrived), suffix, "Verdict")
	all["arrivals"] = func(w io.Writer) error { return reports.Arrivals(w, arrived) }

	exposed := sampleExposure()
	suffixed(reflect.ValueOf(exposed), suffix, "Verdict")
	all["exposure"] = func(w io.Writer) error { return reports.Exposure(w, exposed) }
	return all
}
