package releasediff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
)

// Lines say what each of the two schedulers did, in a line each: who is preempted
// where, and of what is written whatever the two do not have in common.
func (r *Comparison) Lines() (lines [2]string) {
	for i, o := range r.Did {
		if o == nil {
			return [2]string{}
		}
		lines[i] = strings.Join(append([]string{outcome(o)}, r.writes(i)...), ", ")
	}
	return lines
}

func outcome(o *model.Observation) string {
	switch {
	case o.CycleError != "":
		line, _, _ := strings.Cut(o.CycleError, "\n")
		return "ends in an error: " + line
	case o.ScheduledTo != "":
		return "fits on " + o.ScheduledTo
	case o.Pick != nil:
		return fmt.Sprintf("preempts %s on %s", names(o.Pick.Victims), o.Pick.Node)
	case o.Eligible != nil && !o.Eligible.OK:
		return "may not preempt"
	}
	return "preempts nobody"
}

// writes are what one of the two writes and the other does not.
func (r *Comparison) writes(i int) (phrases []string) {
	a, b := r.Did[i].Actuation, r.Did[1-i].Actuation
	if a == nil || b == nil {
		return nil
	}
	for _, list := range []struct {
		verb         string
		mine, theirs []string
		always       bool
	}{
		{"deletes", a.Deleted, b.Deleted, !slices.Equal(a.Deleted, sorted(r.Did[i])) || !slices.Equal(b.Deleted, sorted(r.Did[1-i]))},
		{"marks", a.DisruptionTarget, b.DisruptionTarget, !slices.Equal(a.DisruptionTarget, a.Deleted) || !slices.Equal(b.DisruptionTarget, b.Deleted)},
		{"withdraws the nomination of", a.Cleared, b.Cleared, true},
		{"deallocates", a.Deallocated, b.Deallocated, true},
	} {
		if list.always && !slices.Equal(list.mine, list.theirs) {
			phrases = append(phrases, list.verb+" "+names(list.mine))
		}
	}
	if !slices.Equal(a.Other, b.Other) && len(a.Other) > 0 {
		phrases = append(phrases, "writes besides: "+a.Other[0])
	}
	nominated := r.Cluster.Preemptor.Status.NominatedNodeName
	if nominated != "" && a.Nomination != b.Nomination && a.Nomination != model.NominationSet && a.Nomination != model.NominationUnseen {
		phrases = append(phrases, fmt.Sprintf("its nomination to %s is %s", nominated, a.Nomination))
	}
	return phrases
}

func sorted(o *model.Observation) []string {
	if o.Pick == nil {
		return nil
	}
	return slices.Sorted(slices.Values(o.Pick.Victims))
}

// names lists a few of many.
func names(list []string) string {
	const most = 5
	switch n := len(list); {
	case n == 0:
		return "nobody"
	case n > most:
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), n-most)
	}
	return strings.Join(list, ", ")
}
