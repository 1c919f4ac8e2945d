package fingerprint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
)

// OfLife is the fingerprint of a finding in a timeline.
func OfLife(f *lifetime.Finding) Fingerprint {
	return Fingerprint{Property: f.Property, Kind: f.Kind, Known: strings.Join(f.Known, ",")}
}

// IdentifyLife is the identity of a finding in a minimised timeline.
func IdentifyLife(f *lifetime.Finding, minimised *lifetime.Life) Identity {
	return Identity{OfLife(f), strings.Join(ShapeOfLife(f, minimised), ", ")}
}

// PresortLife is what Presort is for clusters.
func PresortLife(f *lifetime.Finding, l *lifetime.Life) string {
	return strings.Join(append([]string{"timeline: " + OfLife(f).String()}, history(f, l)...), "; ")
}

// ShapeOfLife names what a finding comes from: what came of the last attempt to schedule the pod
// that it is about, or that keeps its room, what happened since that the scheduler has seen, and
// what goes wrong besides. By which holds and steps that is brought about does not count: one cause
// has many ways there.
func ShapeOfLife(f *lifetime.Finding, l *lifetime.Life) []string {
	return append(history(f, l), circumstances(l.Timeline)...)
}

// Outcome says what came of the last attempt to schedule the pod that a finding comes from. It is
// to stay the same while the timeline is minimised: a smaller one may show another bug that breaks
// the same promise.
func Outcome(f *lifetime.Finding, l *lifetime.Life) string {
	names := history(f, l)
	if l.Trace.Endless != "" || len(names) == 0 {
		return ""
	}
	if slices.Contains(names, isGated) {
		return names[0] + ", " + isGated
	}
	return names[0]
}

const isGated = "gated"

// history names what became of the pod of a finding.
func history(f *lifetime.Finding, l *lifetime.Life) []string {
	h := &historian{entries: l.Trace.Entries[:min(f.Entry, len(l.Trace.Entries))], pod: f.Pod}
	switch {
	case l.Trace.Endless != "":
		return h.repeated()
	case f.Pod == "":
		return nil
	case l.Trace.Quiet == nil || f.Entry < l.Trace.FlushedAt:
		return h.names(nil)
	}
	h.entries = l.Trace.Entries[:l.Trace.FlushedAt]
	rests := culprit(f, l)
	h.pod = rests.Name
	return h.names(&rests)
}

// culprit is the pod that a finding at rest comes from: the one that it is about, or one that keeps
// room on the node that was free for that pod in the end.
func culprit(f *lifetime.Finding, l *lifetime.Life) timeline.PodState {
	found := l.Trace.Quiet.Pod(f.Pod)
	if found.Gated || len(found.NominatedTo) > 0 || f.Entry >= len(l.Trace.Entries) {
		return found
	}
	for _, p := range l.Trace.Quiet.Pods {
		if slices.Contains(p.NominatedTo, l.Trace.Entries[f.Entry].Node) && p.Node == "" {
			return p
		}
	}
	return found
}

// historian reads what happened to a pod.
type historian struct {
	entries []timeline.Entry
	pod     string
}

// names are what came of the last attempt that is over, and what happened since. rests is how the
// pod is when all is at rest; nil if it is not.
func (h *historian) names(rests *timeline.PodState) (names []string) {
	from := h.lastAttempt()
	if from < 0 {
		names = append([]string{"never tried"}, h.seen(0)...)
	} else {
		outcome, why := h.outcome(from)
		names = append(names, outcome)
		switch {
		case outcome != preempts:
			names = append(append(names, why...), h.seen(from)...)
		case rests != nil || !h.tried(from): // it waits
			names = append(names, h.preemption(from)...)
		}
	}
	if rests != nil && rests.Gated {
		names = append(names, isGated)
	}
	if rests != nil && rests.Terminating {
		names = append(names, "terminating")
	}
	return names
}

// lastAttempt is the entry at which the last attempt begins that is over; -1 if there is none.
func (h *historian) lastAttempt() (last int) {
	last, open := -1, -1
	for i := range h.entries {
		switch e := &h.entries[i]; {
		case e.Pod() != h.pod:
		case e.What == timeline.Popped:
			open = i
		case e.What == timeline.Requeued, e.What == timeline.Called && e.Call == timeline.Bind:
			last = max(last, open)
		}
	}
	return last
}

// tried tells whether the pod is tried again after the attempt that begins at an entry.
func (h *historian) tried(from int) bool {
	return slices.ContainsFunc(h.entries[from+1:], func(e timeline.Entry) bool { return e.What == timeline.Popped && e.Pod() == h.pod })
}

// preempts is the outcome of an attempt that chooses victims.
const preempts = "preempts"

// outcome names what came of the attempt that begins at an entry, and why the pod does not fit.
func (h *historian) outcome(from int) (outcome string, why []string) {
	outcome = "ends"
	for i := range h.entries[from:] {
		e := &h.entries[from+i]
		if e.Pod() != h.pod {
			continue
		}
		switch {
		case e.What == timeline.Fits:
			outcome, why = "fits", nil
		case e.What == timeline.Unfit:
			why = reasons(e.Text)
		case e.What == timeline.Decided && len(e.Victims) > 0:
			outcome = preempts
		case e.What == timeline.Decided && e.Failed:
			outcome = "fails to preempt"
		case e.What == timeline.Decided && strings.Contains(e.Text, "not eligible"):
			outcome = "may not preempt"
		case e.What == timeline.Decided:
			outcome = "preempts nothing"
		case e.What == timeline.Requeued && e.Text == "error" && outcome == "fits":
			outcome = "is not bound"
		case e.What == timeline.Requeued && e.Text == "error":
			outcome = "fails"
		}
	}
	return outcome, why
}

// preemption names how the preemption ended that was decided on after an entry, and when its victims
// were gone.
func (h *historian) preemption(from int) []string {
	var victims []string
	gone, ends, before, again := map[string]bool{}, "preemption goes on", false, false
	for i := range h.entries[from:] {
		switch e := &h.entries[from+i]; {
		case e.What == timeline.Decided && e.Pod() == h.pod && len(e.Victims) > 0:
			victims = e.Victims
		case e.Creates():
			again = again || slices.Contains(victims, e.Pod())
		case e.What == timeline.Handled && e.Text == "deleted":
			gone[e.Pod()] = true
		case e.What == timeline.Ends && e.Pod() == h.pod:
			ends = "preemption ends in " + e.Text
			before = !slices.ContainsFunc(victims, func(v string) bool { return !gone[v] })
		}
	}
	names := []string{ends}
	switch {
	case before:
		names = append(names, "victims gone before that")
	case !slices.ContainsFunc(victims, func(v string) bool { return !gone[v] }):
		names = append(names, "victims gone")
	case slices.ContainsFunc(victims, func(v string) bool { return gone[v] }):
		names = append(names, "one of its victims gone")
	}
	if again {
		names = append(names, "victim created again")
	}
	return names
}

// seen names what happened since an entry that the scheduler has seen: events, and what it did with
// other pods.
func (h *historian) seen(from int) (names []string) {
	for i := range h.entries[from:] {
		e := &h.entries[from+i]
		name := ""
		switch {
		case e.What == timeline.Handled && e.Pod() == h.pod:
			if e.Text == "added" || strings.HasPrefix(e.Text, "updated") && !h.changed(from, from+i) {
				continue // as ever
			}
			what, _, _ := strings.Cut(e.Text, ",")
			name = "itself " + what
		case e.What == timeline.Handled:
			kind, _, _ := strings.Cut(e.Object, " ")
			what, _, _ := strings.Cut(e.Text, ",")
			if kind == "Pod" && strings.HasPrefix(what, "updated") {
				continue // most pods are, now and then
			}
			name = strings.ToLower(kind) + " " + what
		case e.What == timeline.Fits && e.Pod() != h.pod:
			name = "another fits"
		case e.What == timeline.Decided && e.Pod() != h.pod && len(e.Victims) > 0:
			name = "another preempts"
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// changed tells whether somebody has changed the pod between two entries.
func (h *historian) changed(from, to int) bool {
	return slices.ContainsFunc(h.entries[from:to], func(e timeline.Entry) bool { return e.What == timeline.Updated && e.Pod() == h.pod })
}

// lastEntries is how many of the last entries are looked at for what is done over and over.
const lastEntries = 60

// repeated names what a scheduler does at last that comes to no end.
func (h *historian) repeated() (names []string) {
	for _, e := range h.entries[max(0, len(h.entries)-lastEntries):] {
		var name string
		switch e.What {
		case timeline.Called:
			name = string(e.Call)
		case timeline.Decided, timeline.Fits, timeline.Requeued, timeline.Ends:
			name = string(e.What)
		default:
			continue
		}
		if e.Error != "" {
			name += " fails"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// counts is what differs from one reason to another that is the same: numbers, and keys of taints.
var counts = regexp.MustCompile(`^\d+ (node\(s\) )?| ?\{[^}]*\}`)

// reasons are those for which a pod fits on no node, without counts and names.
func reasons(text string) (all []string) {
	_, text, _ = strings.Cut(text, "available: ")
	for r := range strings.SplitSeq(strings.TrimSuffix(text, "."), ", ") {
		if r = counts.ReplaceAllString(r, ""); r != "" && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	slices.Sort(all)
	return all
}

// circumstances names what goes wrong in a timeline, and the settings that are not the default.
func circumstances(t *timeline.Timeline) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range t.Steps {
		switch s := &t.Steps[i]; {
		case s.Fail != nil:
			add(string(s.Fail.Call) + " fails")
		case s.Takeover:
			add("takeover")
		case s.Relist != "":
			add("new list")
		case s.Replace != nil:
			add("replacements")
		}
	}
	for gate := range t.Cluster.Settings.FeatureGates {
		add("gate " + gate)
	}
	if t.Cluster.Settings.SecondProfile != nil {
		add("second profile")
	}
	slices.Sort(names)
	return names
}
