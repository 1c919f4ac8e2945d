// Package fingerprint tells the causes of findings apart: by the property that
// does not hold, the first stage at which it shows, the kind of the difference,
// and what is in play in the smallest cluster that shows it.
package fingerprint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Fingerprint is what stays the same while a cluster is minimised: minimising
// must not slip from one bug to another.
type Fingerprint struct {
	// Property does not hold, or is Failed or Unmet.
	Property string `json:"property"`
	// Stage is the first stage at which it shows.
	Stage model.Stage `json:"stage,omitempty"`
	// Kind is that of the finding (properties.Finding.Kind), or what is particular
	// to no single error. As the fingerprint to look for, "" stands for all kinds.
	Kind string `json:"kind,omitempty"`
	// Known is the ids of the ledger entries that explain the finding, sorted
	// and joined by commas; "" if it is new.
	Known string `json:"known,omitempty"`
}

// Failed is the Property of a fingerprint that stands for a check that ended in
// an error or a panic. The Detail of such a finding is the error.
const Failed = "error"

// Unmet is the Property of a fingerprint that stands for a case of the corpus that is not as it says; the Kind is its name.
const Unmet = "as-the-case-says"

func (f Fingerprint) String() string {
	text := f.Property
	if f.Stage != "" {
		text += " at stage " + string(f.Stage)
	}
	if f.Kind != "" {
		text += ", " + f.Kind
	}
	if f.Known != "" {
		text += " (known: " + Named(strings.Split(f.Known, ",")) + ")"
	}
	return text
}

// Covers tells whether a finding with the fingerprint other is one of those that
// f stands for: the same, or the same in a plainer form, which minimising may turn
// it into. Forms only become plainer, so that a cause ends up in few of them.
func (f Fingerprint) Covers(other Fingerprint) bool {
	if f.Kind == "" {
		other.Kind = ""
	}
	if f == other {
		return true
	}
	if f.Property != other.Property || f.Known != other.Known || f.Kind == "" {
		return false
	}
	kind, about, _ := strings.Cut(f.Kind, ": ")
	otherKind, otherAbout, _ := strings.Cut(other.Kind, ": ")
	switch earlier := f.Stage == model.StageDryRun && other.Stage == model.StageFilter; {
	case f.Stage != other.Stage && !earlier:
		return false
	case kind == answers.KindChoice:
		// It shows in another way with each pod less.
		return otherKind == kind
	case kind == answers.KindFits && f.Stage == other.Stage:
		// Too few victims: what there is no room for hardly matters.
		return otherKind == kind && otherAbout == "NodeResourcesFit"
	case kind == answers.KindNeedless:
		// A pod could have stayed, so the scheduler saw no room for it.
		return otherKind == answers.KindDoesNotFit
	case kind == answers.KindResolvable:
		return otherKind == answers.KindFits && about == otherAbout
	case kind == answers.KindUnresolvable:
		return otherKind == answers.KindDoesNotFit && about == otherAbout
	default:
		// The dry run asks the filters too, and there they are not asked alone.
		return earlier && f.Kind == other.Kind
	}
}

// OfFinding is the fingerprint of one finding.
func OfFinding(f *properties.Finding) Fingerprint {
	kind := f.Kind
	if f.Property == Failed {
		kind = answers.Cause(f.Detail)
	}
	return Fingerprint{f.Property, f.Stage, kind, strings.Join(slices.Sorted(slices.Values(f.Known)), ",")}
}

// Of is the fingerprints of all that was found, each once: new findings before
// known ones, else in the order in which they were found.
func Of(r *properties.Result) []Fingerprint {
	var all []Fingerprint
	for i := range r.Findings {
		if f := OfFinding(&r.Findings[i]); !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b Fingerprint) int {
		return cmp.Compare(min(len(a.Known), 1), min(len(b.Known), 1))
	})
	return all
}
