// Package story tells a life to people: what happened when, who waited for what, and what the
// known findings in it come from.
//
// It judges nothing. What is promised, and what explains a finding, is asked of package
// lifetime.
package story

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
)

// Story is a life told to people.
type Story struct {
	Name, File string `json:",omitempty"`
	System     string
	// Start says what there is at the start, a line for each object.
	Start []string
	// Told are the sentences, in the order in which things happened.
	Told []Sentence
	// Waits are the pods that were pending at some time, by name, and each life of a name.
	Waits []Wait
	// Findings are what was promised otherwise, Why says what known ones come from.
	Findings []string
	Why      []string `json:",omitempty"`
	// Crash is how the scheduler broke, if it did.
	Crash string `json:",omitempty"`
	// Stack holds the functions on the way to it.
	Stack []string `json:",omitempty"`
}

// Sentence is one thing that happened.
type Sentence struct {
	// At is the scheduler's clock since the start, in seconds.
	At float64
	// Step is the number of the step during which it happened, from 1 on; one more than the
	// last step for what came after it.
	Step int
	Text string
	// Entry is the index of the entry of the trace that it tells; -1 if it tells none.
	Entry int `json:"-"`
}

// teller tells a life.
type teller struct{ *lifetime.Life }

// Tell tells a life, and what was found in it.
func Tell(l *lifetime.Life, findings []lifetime.Finding) *Story {
	t := teller{l}
	s := &Story{System: t.Trace.System, Start: Start(l.Timeline.Cluster)}
	step, clock := 0, time.Duration(0)
	silent := func(until int) { // steps that the trace has no entry of
		for ; step < min(until, len(t.Timeline.Steps)); step++ {
			if text := t.silent(step); text != "" {
				s.Told = append(s.Told, Sentence{clock.Seconds(), step + 1, text, -1})
			}
			clock += t.Timeline.Steps[step].Wait
		}
	}
	for _, i := range t.causesFirst() {
		e := &t.Trace.Entries[i]
		silent(e.Step + 1)
		clock = max(clock, e.At)
		if text := t.sentence(i); text != "" {
			s.Told = append(s.Told, Sentence{e.At.Seconds(), e.Step + 1, text, i})
		}
	}
	if t.Trace.Quiet != nil { // it was not broken off before
		silent(len(t.Timeline.Steps))
	}
	if c := t.Trace.Crash; c != nil {
		s.Crash, s.Stack = c.String(), c.Frames()
		s.Told = append(s.Told, Sentence{clock.Seconds(), max(step, 1), crashWords(c), -1})
	}
	s.Waits = waits(l)
	for _, f := range findings {
		s.Findings = append(s.Findings, f.String())
	}
	s.Why = t.why(findings)
	return s
}

// silent says what step i is, if it is one that only waits or only expects.
func (t teller) silent(i int) string {
	s := &t.Timeline.Steps[i]
	switch {
	case s.Wait > 0:
		return strings.Replace(s.Wait.String(), "m0s", "m", 1) + " pass."
	case s.Expect != nil:
		text := "Expected here: " + s.Expect.String()
		for _, u := range t.Trace.Unmet {
			if u.Step == i {
				return text + ". But " + u.Was + "."
			}
		}
		return text + ". So it is."
	}
	return ""
}

// sentence says what entry i is; "" if it needs no telling.
func (t teller) sentence(i int) string {
	e := &t.Trace.Entries[i]
	pod, name := e.Pod(), strings.TrimPrefix(e.Object, "Pod ")
	if e.Error != "" && e.What == timeline.Created {
		return fmt.Sprintf("Somebody wants to create %s, but %s.", e.Object, e.Error)
	}
	if e.Error != "" && e.What != timeline.Called {
		return fmt.Sprintf("Somebody wants to change %s, but %s.", e.Object, e.Error)
	}
	switch e.What {
	case timeline.Created:
		if e.By != "" {
			return fmt.Sprintf("The controller of %s creates %s in its place.", e.By, name)
		}
		if p := t.Timeline.Steps[e.Step].CreatedPod(); p != nil {
			return fmt.Sprintf("%s is created: %s.", name, podWords(p))
		}
		return fmt.Sprintf("%s is created.", name)
	case timeline.Updated:
		return fmt.Sprintf("%s is changed: %s.", name, e.Text)
	case timeline.Removed:
		return fmt.Sprintf("%s is gone.", name)
	case timeline.Deleting:
		return fmt.Sprintf("%s is told to end: %s.", name, e.Text)
	case timeline.Started:
		return fmt.Sprintf("The kubelet starts %s.", name)
	case timeline.Handled:
		if e.Listed {
			return t.listed(i)
		}
		met := ""
		if e.Text == "deleted" {
			met = t.metByGate(i)
		}
		switch {
		case t.late(i):
			return fmt.Sprintf("Only now the scheduler is told that %s was %s.%s", name, e.Text, met)
		case met != "":
			return fmt.Sprintf("The scheduler is told that %s was %s.%s", name, e.Text, met)
		}
	case timeline.Popped:
		if e.Group != "" {
			return "" // told of its group
		}
		if members := t.popped(i); len(members) > 0 {
			name += ", with " + words.Some(members, 5)
		}
		return fmt.Sprintf("The scheduler tries %s%s.", name, t.again(i))
	case timeline.Fits:
		return fmt.Sprintf("%s fits on %s.", name, e.Node)
	case timeline.Unfit:
		if e.Group != "" {
			return fmt.Sprintf("%s is put back: %s.%s", name, strings.TrimSuffix(e.Text, "."), ifSo(e.Node != "", " It is nominated to "+e.Node+"."))
		}
		return fmt.Sprintf("%s does not fit: %s", name, e.Text)
	case timeline.Decided:
		switch {
		case len(e.Victims) > 0 && e.OfGroup():
			return fmt.Sprintf("For %s, the scheduler decides to preempt %s.", name, words.Some(e.Victims, 5)) + t.goneAlready(i)
		case len(e.Victims) > 0:
			return fmt.Sprintf("For %s, the scheduler decides to preempt %s on %s.", name, words.Some(e.Victims, 5), e.Node) + t.goneAlready(i)
		case e.Node != "":
			return fmt.Sprintf("Nothing is preempted for %s, and it stays nominated to %s: %s", name, e.Node, strings.TrimPrefix(e.Text, "preemption: "))
		}
		return fmt.Sprintf("Nothing is preempted for %s: %s", name, strings.TrimPrefix(strings.TrimPrefix(e.Text, "pod group "), "preemption: "))
	case timeline.Requeued:
		switch {
		case e.Gated:
			text := fmt.Sprintf("The cycle of %s is over.", name)
			if gone := t.metInFlight(i); len(gone) > 0 {
				text += fmt.Sprintf(" Meanwhile %s was deleted, so it should be tried again.", words.Some(gone, 3))
			}
			if p := t.Trace.LastPreemption(cmp.Or(e.Group, pod), i); p != nil {
				return text + fmt.Sprintf(" But PreEnqueue keeps it out of the queue, as %s.", t.goesOn(p))
			}
			return text + " PreEnqueue keeps it out of the queue."
		case e.Queue == model.QueueUnschedulable:
			return fmt.Sprintf("The cycle of %s is over. It waits for an event that may help.", name)
		case e.Queue == "":
			return fmt.Sprintf("The cycle of %s is over. It is in no queue.", name)
		}
		return fmt.Sprintf("The cycle of %s is over. It is in the %s queue.", name, e.Queue)
	case timeline.Begins:
		return fmt.Sprintf("The goroutine that preempts for %s begins.", name)
	case timeline.Ends:
		text := fmt.Sprintf("The goroutine that preempts for %s ends: %s.", name, e.Text)
		if p := t.Trace.LastPreemption(e.Preemptor(), i+1); p != nil && p.Ended == i && p.Deleted == 0 {
			text += " It has deleted nothing."
		}
		return text
	case timeline.Called:
		text := calls[e.Call] + " " + name
		if e.Text != "" {
			text += " (" + e.Text + ")"
		}
		if e.By != "" && e.By != pod {
			text += ", for " + e.By
		}
		if e.Error != "" {
			text += ". The answer is an error: " + e.Error
		}
		return "The scheduler " + text + "."
	case timeline.Holding, timeline.Releasing, timeline.Failing:
		return placed(&t.Timeline.Steps[e.Step], e.Text)
	case timeline.Replacing:
		return "A controller takes care of a pod from here on: " + t.Timeline.Steps[e.Step].Replace.String() + ", when it is told to end or is gone."
	case timeline.Relisted:
		return fmt.Sprintf("The watch of %s ends, and the scheduler's informer lists them anew: events that it has not stored are lost.", kindWords(e.Object))
	case timeline.TakenOver:
		text := "The scheduler dies, and another one takes over."
		if behind := t.Timeline.Steps[e.Step].BehindWords(); behind != "" {
			text += " It lists from an API server that is behind by the last " + behind + ": so it knows less than the one before it."
		}
		return text
	case timeline.Rested:
		return "All is at rest. Now the clock goes on, past the scheduler's flush of pods that have waited for five minutes."
	}
	return ""
}

// popped are the members of a group that is popped at entry i.
func (t teller) popped(i int) (members []string) {
	group := t.Trace.Entries[i].Preemptor()
	for _, e := range t.Trace.Entries[i+1:] {
		if e.What != timeline.Popped || e.Group != group {
			break
		}
		members = append(members, e.Pod())
	}
	return members
}

// listed says what the scheduler is told of by entry i, which is of a new list.
func (t teller) listed(i int) string {
	e := &t.Trace.Entries[i]
	name := strings.TrimPrefix(e.Object, "Pod ")
	switch {
	case e.Replaced && e.Text == "deleted": // told with what follows
		return ""
	case e.Replaced:
		return fmt.Sprintf("By the new list the scheduler is told of one update of %s: it is another one of that name now, with another UID.", name)
	case e.Text == "deleted":
		return fmt.Sprintf("By the new list the scheduler is told that %s was deleted, and not how it was in the end.", name) + t.metByGate(i)
	}
	return fmt.Sprintf("By the new list the scheduler is told that %s was %s.", name, e.Text)
}

// late tells whether entry i is of an event that the scheduler handles later than at once.
func (t teller) late(i int) bool {
	e := &t.Trace.Entries[i]
	for j := i - 1; j >= 0; j-- {
		before := &t.Trace.Entries[j]
		if before.Object != e.Object {
			continue
		}
		switch before.What {
		case timeline.Created, timeline.Updated, timeline.Removed, timeline.Deleting, timeline.Started:
			return before.Step != e.Step || e.At-before.At > 10*time.Millisecond
		case timeline.Called:
			return before.Step != e.Step
		}
	}
	return false
}

// goneAlready says which victims of a decision are gone from the API though the scheduler has
// not been told so.
func (t teller) goneAlready(i int) string {
	var gone []string
	for _, v := range t.Trace.Entries[i].Victims {
		removed := false
		for j := range t.Trace.Entries[:i] {
			if e := &t.Trace.Entries[j]; e.Object == "Pod "+v {
				removed = e.What == timeline.Removed || removed && e.What != timeline.Created
			}
		}
		if removed {
			gone = append(gone, v)
		}
	}
	if len(gone) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s is gone already: the scheduler has not been told.)", words.Some(gone, 5))
}

// tried are the pods that the scheduler has tried, by name.
func (t teller) tried() (pods []string) {
	for i := range t.Trace.Entries {
		if e := &t.Trace.Entries[i]; e.What == timeline.Popped && !slices.Contains(pods, e.Pod()) {
			pods = append(pods, e.Pod())
		}
	}
	slices.Sort(pods)
	return pods
}

// WriteText tells the story, with a line for each sentence, and a table of who waited for
// what.
func (s *Story) WriteText(w io.Writer) {
	fmt.Fprintf(w, "The timeline as kube-scheduler %s goes through it, with the times of its clock and the\nnumbers of the steps. At the start:\n\n", s.System)
	for _, line := range s.Start {
		fmt.Fprintf(w, "  %s\n", line)
	}
	fmt.Fprintln(w)
	step := 0
	for i := 0; i < len(s.Told); i++ {
		told := s.Told[i]
		number := ""
		if told.Step != step {
			step, number = told.Step, fmt.Sprint(told.Step)
		}
		writeSentence(w, fmt.Sprintf("%10.3fs %4s  ", told.At, number), told.Text)
		if period, times := s.repetition(i); times >= manyTimes {
			i += period * times
			writeSentence(w, fmt.Sprintf("%10.3fs %4s  ", s.Told[i].At, ""), fmt.Sprintf(
				"The last %d sentences came to pass %d times more, with nothing else between them.", period, times))
		}
	}
	fmt.Fprintln(w)
	if len(s.Waits) > 0 {
		fmt.Fprintln(w, "How long each pod was pending, and what for:")
		fmt.Fprintln(w)
		writeWaits(w, s.Waits)
		fmt.Fprintln(w)
	}
	if len(s.Findings) == 0 {
		fmt.Fprintln(w, "It goes as promised.")
	}
	writeFindings(w, s.Findings)
	words.WriteList(w, "", "stack", s.Stack)
	for _, why := range s.Why {
		fmt.Fprintln(w)
		words.WriteWrapped(w, "", why)
	}
}

// atTime is when something happened, as findings tell it.
var atTime = regexp.MustCompile(`\b[0-9]+\.[0-9]{3}s\b`)

// writeFindings writes what was promised otherwise. Of those that differ in when they happened alone it writes the first, and how many more there are.
func writeFindings(w io.Writer, all []string) {
	alike := func(f string) string { return atTime.ReplaceAllString(f, "then") }
	times := map[string]int{}
	for _, f := range all {
		times[alike(f)]++
	}
	for _, f := range all {
		n := times[alike(f)]
		if n == 0 { // it is told
			continue
		}
		times[alike(f)] = 0
		words.WriteWrapped(w, "", "Not as promised: "+f)
		if n > 1 {
			fmt.Fprintf(w, "So %s more, at other times.\n", words.Plural(n-1, "time"))
		}
	}
}

// What a scheduler does over and over is told once: at most so many sentences that come so
// often once more.
const (
	maxPeriod = 20
	manyTimes = 5
)

// repetition tells how often what the sentences up to i say, of the shortest period, is said
// once more right after them.
func (s *Story) repetition(i int) (period, times int) {
	same := func(i, j int) bool { return s.Told[i].Text == s.Told[j].Text && s.Told[i].Step == s.Told[j].Step }
	for period = 1; period <= maxPeriod && period <= i+1; period++ {
		n := i + 1
		for n < len(s.Told) && same(n, n-period) {
			n++
		}
		if times = (n - i - 1) / period; times >= manyTimes {
			return period, times
		}
	}
	return 0, 0
}

// writeSentence breaks a long sentence into lines, which begin below one another.
func writeSentence(w io.Writer, head, text string) {
	const width = 110
	for len(text) > width {
		cut := strings.LastIndexByte(text[:width+1], ' ')
		if cut <= 0 {
			break
		}
		fmt.Fprintf(w, "%s%s\n", head, text[:cut])
		head, text = strings.Repeat(" ", len(head)), text[cut+1:]
	}
	fmt.Fprintf(w, "%s%s\n", head, text)
}
