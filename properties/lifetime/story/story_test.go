package story_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/story"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// told is the story of a timeline of the corpus.
func told(t *testing.T, name string) (*story.Story, string) {
	s, err := corpus.Load("../../../corpus/timelines/" + name + ".yaml")
	require.NoError(t, err)
	return tell(t, s.Cases[0].Timeline)
}

func tell(t *testing.T, tl *timeline.Timeline) (*story.Story, string) {
	trace, err := life.Run(t.Context(), tl)
	require.NoError(t, err)
	l := &lifetime.Life{Timeline: tl, Trace: trace}
	s := story.Tell(l, lifetime.Check(l))
	var text bytes.Buffer
	s.WriteText(&text)
	return s, text.String()
}

// TestWhy: the story of each known finding says what it comes from, and one in which all goes
// as promised says nothing of that kind.
func TestWhy(t *testing.T) {
	for _, e := range ledger.Timelines() {
		if !release.Linked.In(e.Releases) {
			continue
		}
		story, _ := told(t, e.Witness)
		require.NotEmpty(t, story.Why, e.ID)
	}
	story, text := told(t, "preempted-and-bound")
	require.Empty(t, story.Why)
	require.Contains(t, text, "It goes as promised.")
	require.NotContains(t, text, "PreEnqueue")
}

// TestLostEvent: the story marks where the event of the victim's end is met by the gate, be the
// pod in a cycle at that time or not.
func TestLostEvent(t *testing.T) {
	_, text := told(t, "kubernetes-141694")
	flat := strings.Join(strings.Fields(text), " ")
	require.Contains(t, flat, "default/v was deleted. This is the event that default/p waits for. default/p is still in its scheduling cycle")
	require.Contains(t, flat, "Meanwhile default/v was deleted, so it should be tried again. But PreEnqueue keeps it out of the queue, "+
		"as the preemption of default/v for it counts as going on since 2.002s, though its goroutine has not begun.")
	require.Contains(t, flat, "Why default/p waits: at 4.002s, in step 11, the scheduler was told that default/v is gone.")

	_, text = told(t, "finding-gated-by-vain-preemption")
	flat = strings.Join(strings.Fields(text), " ")
	require.Contains(t, flat, "This is the event that default/p waits for. But PreEnqueue keeps default/p out of the queue")
}

// TestEachStepIsTold: no step is silent, and each place has its words.
func TestEachStepIsTold(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/preempted-and-bound.yaml")
	require.NoError(t, err)
	base := s.Cases[0].Timeline
	words, nothing := map[string]bool{}, false
	for _, name := range timeline.Places() {
		place := timeline.Place{Name: name, Pod: "default/p"}
		if name.OfKind() {
			place = timeline.Place{Name: name, Kind: "Pod"}
		}
		if name == timeline.Pop {
			place.Pod = ""
		}
		steps := []timeline.Step{{Hold: &place}, base.Steps[0], {Wait: 1e9}, {Next: &place}, {Next: &place}, {Release: &place}, {Takeover: true},
			{Fail: &timeline.Failure{Call: timeline.Bind, Error: "Timeout"}}, {Expect: &timeline.Expectation{Pod: "default/p", Exists: new(bool)}}}
		story, text := tell(t, &timeline.Timeline{Cluster: base.Cluster, Steps: steps})
		seen := map[int]bool{}
		for _, sentence := range story.Told {
			require.NotContains(t, sentence.Text, "%!")
			if sentence.Step == 1 {
				require.False(t, words[sentence.Text], sentence.Text)
				words[sentence.Text] = true
			}
			seen[sentence.Step] = true
		}
		for i := range steps {
			require.True(t, seen[i+1], "place %s: step %d is not told\n%s", name, i+1, text)
		}
		nothing = nothing || strings.Contains(text, "so nothing is let go")
		require.Contains(t, text, "Expected here: default/p is gone. But it is")
	}
	require.Len(t, words, len(timeline.Places()))
	require.True(t, nothing)
}

// TestTell: there is a story of each timeline, and it says who waited.
func TestTell(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines")
	require.NoError(t, err)
	for _, c := range s.Cases {
		told, _ := tell(t, c.Timeline)
		require.NotEmpty(t, told.Told)
		require.NotEmpty(t, told.Waits)
	}
}

// What goes on and on is told once, and how often it came to pass.
func TestRepetition(t *testing.T) {
	s := &story.Story{Told: []story.Sentence{{Step: 1, Text: "it begins"}}}
	for i := range 30 {
		s.Told = append(s.Told, story.Sentence{At: float64(i), Step: 2, Text: "it tries"}, story.Sentence{At: float64(i) + 0.5, Step: 2, Text: "it fails"})
	}
	s.Told = append(s.Told, story.Sentence{At: 40, Step: 2, Text: "it ends"})
	var text strings.Builder
	s.WriteText(&text)
	require.Equal(t, 1, strings.Count(text.String(), "it tries"))
	require.Equal(t, 1, strings.Count(text.String(), "it fails"))
	require.Contains(t, text.String(), "    29.500s       The last 2 sentences came to pass 29 times more, with nothing else between them.\n    40.000s       it ends\n")

	few := &story.Story{Told: s.Told[:9]}
	text.Reset()
	few.WriteText(&text)
	require.Equal(t, 4, strings.Count(text.String(), "it tries"))
}
