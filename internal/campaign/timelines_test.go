package campaign

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// liveLiar is the scheduler but for its timelines: it tells that it comes to no rest where
// somebody creates two pods, and that all is well elsewhere.
type liveLiar struct{ *inprocess.System }

func (liveLiar) Live(_ context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	trace := &timeline.Trace{System: inprocess.Version, Quiet: &timeline.State{}, Flushed: &timeline.State{}}
	created := 0
	for i := range t.Steps {
		if t.Steps[i].CreatedPod() != nil {
			created++
		}
	}
	if created > 1 {
		trace.Endless = "it goes on and on"
	}
	return trace, nil
}

var _ reference.LifeSystem = liveLiar{}

// liveOptions are those of a campaign against liveLiar.
func liveOptions(t *testing.T, dir string) Options {
	o := options(t, dir, honest)
	o.Launch = inProcess(func() (*properties.Checker, error) {
		return &properties.Checker{System: liveLiar{inprocess.New()}}, nil
	})
	life := liveLiar{inprocess.New()}
	t.Cleanup(func() { life.Close() })
	o.Life = life
	return o
}

// TestTimelineIsFound: a timeline with a finding is made small, saved as one that shows it, and
// is one finding however many show it.
func TestTimelineIsFound(t *testing.T) {
	o := liveOptions(t, t.TempDir())
	o.Cases = record.BlockSize
	s := run(t, record.Config{Seed: 1, Command: "preemptcheck", Timelines: 50}, o)
	require.Positive(t, s.Stats.Timelines)
	require.Len(t, s.Findings, 1)
	f := s.Findings[0]
	require.Greater(t, f.Count, 1)
	require.True(t, f.Timeline)
	require.True(t, f.Minimised.Minimal)
	require.Equal(t, 2, f.Minimised.To.Steps)
	require.Equal(t, "gets-through", f.Identity.Property)
	require.Equal(t, "endless", f.Identity.Kind)

	stream, err := corpus.Load(filepath.Join(o.Dir, f.File))
	require.NoError(t, err)
	c := stream.Cases[0]
	require.Len(t, c.Timeline.Steps, 2)
	require.Equal(t, "it goes on and on.", c.Description)
	require.Contains(t, c.Finding.Found, "preemptcheck generate --timeline --seed 1 --first ")
	require.Equal(t, replay.Found, replay.JudgeTimeline(t.Context(), o.Life, c).Result)

	first, err := GenerateTimeline(f.Seed, f.Number, "", "")
	require.NoError(t, err)
	require.Equal(t, f.Minimised.From, sizeOf(first))
}

// twoBugs is the scheduler but for its timelines: where somebody deletes a pod, it forgets one
// that is gated after its preemption, and else, where somebody creates a pod, one for which there was
// nothing to preempt.
type twoBugs struct{ *inprocess.System }

func (twoBugs) Live(_ context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	const pod = "default/forgotten"
	entry := func(what timeline.What) timeline.Entry {
		return timeline.Entry{What: what, Object: "Pod " + pod, Step: len(t.Steps)}
	}
	decided, requeued := entry(timeline.Decided), entry(timeline.Requeued)
	requeued.Queue = model.QueueUnschedulable
	deletes := slices.ContainsFunc(t.Steps, func(s timeline.Step) bool { return s.Delete != "" })
	creates := slices.ContainsFunc(t.Steps, func(s timeline.Step) bool { return s.CreatedPod() != nil })
	trace := &timeline.Trace{System: inprocess.Version, Quiet: &timeline.State{}, Flushed: &timeline.State{}}
	if !deletes && !creates {
		return trace, nil
	}
	if deletes {
		requeued.Gated, decided.Victims = true, []string{"default/victim"}
	}
	trace.Entries = []timeline.Entry{entry(timeline.Popped), entry(timeline.Unfit), decided, requeued, {What: timeline.Rested, Step: len(t.Steps)}}
	trace.FlushedAt = len(trace.Entries)
	trace.Entries = append(trace.Entries, entry(timeline.Popped), entry(timeline.Fits))
	return trace, nil
}

// TestTwoCauses: two bugs that break the same promise in the same way are two findings, each with
// a file, a row of the report and a failure of its own, in one run, resumed, and merged.
func TestTwoCauses(t *testing.T) {
	start := func(cases uint64) Options {
		o := options(t, t.TempDir(), honest)
		life := twoBugs{inprocess.New()}
		t.Cleanup(func() { life.Close() })
		o.Launch = inProcess(func() (*properties.Checker, error) { return &properties.Checker{System: life}, nil })
		o.Life, o.Cases = life, cases
		return o
	}
	config := record.Config{Seed: 1, Command: "preemptcheck", Timelines: 50}
	o := start(record.BlockSize)
	run(t, config, o)
	o.Resume, o.Cases = true, 2*record.BlockSize
	s := run(t, config, o)
	two := func(dir string, s *record.State) {
		require.Len(t, s.Findings, 2)
		var shapes, files []string
		for _, f := range s.Findings {
			require.Equal(t, "no-wait-for-the-flush", f.Identity.Property)
			require.Equal(t, "fits", f.Identity.Kind)
			require.True(t, f.Minimised.Minimal)
			require.Equal(t, 1, f.Minimised.To.Steps)
			require.FileExists(t, filepath.Join(dir, f.File))
			stream, err := corpus.Load(filepath.Join(dir, f.File))
			require.NoError(t, err)
			require.Equal(t, f.Identity.Shape, stream.Cases[0].Finding.Shape)
			shapes, files = append(shapes, f.Identity.Shape), append(files, f.File)
		}
		slices.Sort(shapes)
		require.Equal(t, []string{"preempts nothing", "preempts, preemption goes on"}, shapes)
		require.NotEqual(t, files[0], files[1])
		r := s.Report(dir)
		require.Len(t, r.Findings, 2)
		require.Equal(t, 2, strings.Count(outputs(t, r)["JUnit"], "<failure "))
	}
	two(o.Dir, s)
	other := start(record.BlockSize)
	config.Seed = 2
	run(t, config, other)
	into := filepath.Join(t.TempDir(), "merged")
	merged, err := record.Merge(into, []string{o.Dir, other.Dir}, record.Load)
	require.NoError(t, err)
	two(into, merged)
}

// fickle is the scheduler but for its timelines: it puts a pod on a node that is named after what
// is first deleted while the queue is held.
type fickle struct{ *inprocess.System }

func (fickle) Live(_ context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	p := timeline.PodState{Name: "default/a", Exists: true, Node: "none"}
	held := false
	for i := range t.Steps {
		s := &t.Steps[i]
		held = held && s.Release == nil || s.Hold != nil && s.Hold.Name == timeline.Pop
		if held && s.Delete != "" && p.Node == "none" {
			p.Node = s.Delete
		}
	}
	p.CachedOn = []string{p.Node}
	return &timeline.Trace{System: inprocess.Version, Quiet: &timeline.State{Pods: []timeline.PodState{p}}, Flushed: &timeline.State{}}, nil
}

// TestRelationIsFound: what a relation finds is found in a share of the timelines, made small, and
// shows when the timeline is checked.
func TestRelationIsFound(t *testing.T) {
	o := options(t, t.TempDir(), honest)
	life := fickle{inprocess.New()}
	t.Cleanup(func() { life.Close() })
	o.Life = life
	o.Launch = inProcess(func() (*properties.Checker, error) { return &properties.Checker{System: life}, nil })
	o.Cases = 2 * record.BlockSize
	s := run(t, record.Config{Seed: 1, Command: "preemptcheck", Timelines: 100}, o)
	require.Len(t, s.Findings, 1)
	f := s.Findings[0]
	require.Equal(t, "any-order-of-deliveries", f.Identity.Property)
	require.Equal(t, "bound", f.Identity.Kind)
	require.True(t, f.Minimised.Minimal)
	require.Equal(t, 3, f.Minimised.To.Steps) // a hold, and two deletions
	stream, err := corpus.Load(filepath.Join(o.Dir, f.File))
	require.NoError(t, err)
	require.Equal(t, replay.Found, replay.JudgeTimeline(t.Context(), life, stream.Cases[0]).Result)

	related := 0
	for n := range uint64(10000) {
		if isRelated(3, n) {
			related++
		}
	}
	require.InDelta(t, 10000/relatedEvery, related, 150)
}

// liveCrasher is liveLiar, but for what it tells of a scheduler that does not get through: it
// crashes where somebody creates two pods.
type liveCrasher struct {
	liveLiar
	crash *model.Crash // nil: it goes on for ever
}

const secret, secretStack = "secretly", "a.secretly()\n\t/b/secretly.go:18"

func (s liveCrasher) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	trace, err := s.liveLiar.Live(ctx, t)
	switch {
	case err != nil || trace.Endless == "":
	case s.crash != nil:
		return &timeline.Trace{System: trace.System, Crash: s.crash}, nil
	default:
		trace.Endless = "it goes on " + secret
	}
	return trace, err
}

// TestCrashInTimelineIsKeptBack: what may let others end or starve the scheduler while a timeline
// runs is kept back as what does so in a cluster: nothing that is for everybody tells of it.
func TestCrashInTimelineIsKeptBack(t *testing.T) {
	for name, crash := range map[string]*model.Crash{
		"panic":   {Kind: model.Panic, Where: secret + ".go:17", Message: secret, Stack: secretStack},
		"hang":    {Kind: model.Hang, Where: secret + ".go:17 (select)", Message: secret, Stack: secretStack},
		"endless": nil,
	} {
		t.Run(name, func(t *testing.T) {
			life := liveCrasher{liveLiar{inprocess.New()}, crash}
			t.Cleanup(func() { life.Close() })
			o := options(t, t.TempDir(), honest)
			o.Launch = inProcess(func() (*properties.Checker, error) {
				return &properties.Checker{System: liveCrasher{liveLiar{inprocess.New()}, crash}}, nil
			})
			o.Life, o.Cases = life, record.BlockSize
			s := run(t, record.Config{Seed: 1, Command: "preemptcheck", Timelines: 20}, o)
			require.Len(t, s.Findings, 1)
			f := s.Findings[0]
			require.True(t, f.Minimised.Minimal)
			require.Regexp(t, "^kept-back-timeline-gets-through-", f.File)
			saved, err := os.ReadFile(filepath.Join(o.Dir, f.File))
			require.NoError(t, err)
			require.Contains(t, string(saved), secret)
			require.Equal(t, crash != nil, strings.Contains(string(saved), "\nstack:\n- a.secretly (secretly.go:18)\n"))
			names := entries(t, o.Dir)
			require.NotContains(t, strings.Join(names, " "), " timeline-", "under no other name")

			told := s.Report(o.Dir)
			require.Contains(t, told.Findings[0].Detail, secret, "who runs it is told all")
			require.True(t, told.Findings[0].ToContact)
			forAll := outputs(t, told.Public(o.Dir))
			for format, text := range outputs(t, told) {
				require.Contains(t, text, secret, "who runs it is told all: %s", format)
				require.Equal(t, crash != nil, strings.Contains(text, "a.secretly (secretly.go:18)"), format)
				require.NotContains(t, forAll[format], secret, format)
				require.NotContains(t, forAll[format], f.File, format)
				require.NotContains(t, forAll[format], "--first", format)
				require.Regexp(t, "gets-through(,|%2C) kept back", forAll[format], format)
			}
		})
	}
}

// outputs are all that a report is written as.
func outputs(t *testing.T, r *record.Report) map[string]string {
	var forPeople, probes, annotations bytes.Buffer
	r.WriteText(&forPeople)
	r.WriteProbes(&probes)
	r.WriteAnnotations(&annotations)
	junit, summary := filepath.Join(t.TempDir(), "report.xml"), filepath.Join(t.TempDir(), "summary.md")
	require.NoError(t, r.WriteJUnit(junit))
	require.NoError(t, r.AppendSummary(summary))
	written := func(file string) string {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(data)
	}
	return map[string]string{
		"text": forPeople.String(), "probes": probes.String(), "annotations": annotations.String(),
		"JSON": text(t, r), "JUnit": written(junit), "summary": written(summary),
	}
}

// TestFoundInTimelines: what is told of a finding in timelines is about timelines.
func TestFoundInTimelines(t *testing.T) {
	o := liveOptions(t, t.TempDir())
	o.Cases = record.BlockSize
	s := run(t, record.Config{Seed: 1, Command: "preemptcheck", Timelines: 50}, o)
	require.Len(t, s.Findings, 1)
	r := s.Report(o.Dir)
	require.Contains(t, r.Findings[0].History(), fmt.Sprintf("Seen in %d timelines, first after ", s.Findings[0].Count))
	require.Regexp(t, ` to \d+ nodes?, .* 2 steps with `, r.Findings[0].History())
}

// TestShardsFindTheSameInTimelines: what several shards find in timelines is one finding of the
// campaign that they are merged to, with the counts of all, and as in one campaign.
func TestShardsFindTheSameInTimelines(t *testing.T) {
	config := record.Config{Seed: 3, Command: "preemptcheck", Timelines: 30}
	const clusters = 4 * record.BlockSize
	o := liveOptions(t, t.TempDir())
	o.Cases = clusters
	whole := run(t, config, o)
	require.Len(t, whole.Findings, 1)
	var dirs []string
	sum, timelines := 0, 0
	for index := range 2 {
		o := liveOptions(t, t.TempDir())
		o.Cases = clusters / 2
		config.Shard = record.Shard{Index: index + 1, Of: 2}
		s := run(t, config, o)
		require.Len(t, s.Findings, 1)
		f := s.Findings[0]
		require.Contains(t, f.Case, fmt.Sprintf("--shard %d/2, timeline %d", index+1, f.Number))
		dirs, sum, timelines = append(dirs, o.Dir), sum+f.Count, timelines+s.Stats.Timelines
	}
	into := filepath.Join(t.TempDir(), "merged")
	merged, err := record.Merge(into, dirs, record.Load)
	require.NoError(t, err)
	require.Len(t, merged.Findings, 1)
	require.Equal(t, sum, merged.Findings[0].Count)
	require.Equal(t, timelines, merged.Stats.Timelines)
	require.Equal(t, []int{whole.Findings[0].Count, whole.Stats.Timelines}, []int{sum, timelines})
	require.FileExists(t, filepath.Join(into, merged.Findings[0].File))
	require.Contains(t, merged.Report(into).Findings[0].History(), fmt.Sprintf("Seen in %d timelines", sum))
}

// TestTimelinesAreKept: what was found in timelines is kept over an interruption, and comes out
// as in one run.
func TestTimelinesAreKept(t *testing.T) {
	config := record.Config{Seed: 5, Command: "preemptcheck", Timelines: 30}
	o := liveOptions(t, t.TempDir())
	o.Cases = 3 * record.BlockSize
	want := run(t, config, o)
	require.Len(t, want.Findings, 1)

	o = liveOptions(t, t.TempDir())
	for cases := uint64(record.BlockSize); cases <= 3*record.BlockSize; cases += record.BlockSize {
		o.Cases = cases
		got := run(t, config, o)
		require.Len(t, got.Findings, 1)
		require.FileExists(t, filepath.Join(o.Dir, got.Findings[0].File))
		if o.Resume = true; cases == 3*record.BlockSize {
			require.Empty(t, differences(t, want, got))
			require.Equal(t, want.Stats.Timelines, got.Stats.Timelines)
			require.Len(t, got.Sessions, 3)
		}
	}
}

// TestShareOfTimelines: about so many clusters of 100 have a timeline, and the share says
// nothing of which timelines these are.
func TestShareOfTimelines(t *testing.T) {
	for share, want := range map[int]int{0: 0, 20: 2000, 100: 10000} {
		n := 0
		for i := range uint64(10000) {
			if HasTimeline(3, i, share, "") {
				n++
			}
		}
		if share == 20 { // and besides those that are timelines of the corpus
			want += len(casesOf("timelines/", "")) * 80 / 100
		}
		require.InDelta(t, want, n, 150, share)
	}
}

// TestLiesAboutTimelines: what a lie says of a timeline is found out, and what was seen stays as
// it is.
func TestLiesAboutTimelines(t *testing.T) {
	a := &answer{}
	for n := range uint64(40) {
		tl, err := GenerateTimeline(1, n, "", "")
		require.NoError(t, err)
		trace, err := life.Run(t.Context(), tl)
		require.NoError(t, err)
		if seen := (&lifetime.Life{Timeline: tl, Trace: trace}); len(lifetime.Check(seen)) == 0 {
			a.lieAbout(tl, trace)
			require.Empty(t, lifetime.Check(seen))
		}
	}
	require.Greater(t, a.Lives.Lies, 20)
	require.Equal(t, a.Lives.Lies, a.Lives.Caught)
	a.lieAbout(&timeline.Timeline{}, &timeline.Trace{}) // nothing to lie about
	require.Equal(t, a.Lives.Lies, a.Lives.Caught)
}
