// Package fingerprint tells the causes of findings apart: by the property that
// does not hold, the first stage at which it shows, and what is in play in the
// smallest cluster that shows it.
package fingerprint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Fingerprint is what stays the same while a cluster is minimised: minimising
// must not slip from one bug to another.
type Fingerprint struct {
	// Property does not hold, or is Failed.
	Property string `json:"property"`
	// Stage is the first stage at which it shows.
	Stage model.Stage `json:"stage,omitempty"`
	// Known is the ids of the ledger entries that explain the finding, sorted
	// and joined by commas; "" if it is new.
	Known string `json:"known,omitempty"`
}

// Failed is the Property of a fingerprint that stands for a check that ended in
// an error or a panic.
const Failed = "error"

func (f Fingerprint) String() string {
	text := f.Property
	if f.Stage != "" {
		text += " at stage " + string(f.Stage)
	}
	if f.Known != "" {
		text += " (known: " + f.Known + ")"
	}
	return text
}

// OfFinding is the fingerprint of one finding.
func OfFinding(f *properties.Finding) Fingerprint {
	return Fingerprint{f.Property, f.Stage, strings.Join(slices.Sorted(slices.Values(f.Known)), ",")}
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
