package record

import (
	"fmt"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// KeptBack is what a public report says of a finding.
const KeptBack = fingerprint.KeptBack

// GoesToContact tells whether a finding goes to the Kubernetes security contact before it is
// published (fingerprint.GoesToContact).
func (f *Finding) GoesToContact() bool {
	return fingerprint.GoesToContact(f.Identity.Fingerprint, f.Detail)
}

// Public is the report, on the campaign in dir, for those who read public logs. Of new
// findings that go to the security contact, and of known ones that are kept back, it
// tells only that there are some, and where they go.
func (r *Report) Public(dir string) *Report {
	public := *r
	public.Findings = []ReportedFinding{}
	for _, f := range r.Findings {
		if f.ToContact {
			f = ReportedFinding{
				Identity: f.Property + ", " + KeptBack, Property: f.Property, Timeline: f.Timeline, KeptBack: true, ToContact: true,
				Explanation: fmt.Sprintf("The case lies in %s; it goes to the Kubernetes security contact before it is published.", dir),
			}
		}
		public.Findings = append(public.Findings, f)
	}
	known := func(id string) bool { e, ok := ledger.LookUp(id); return ok && e.KeptBack() }
	public.Known, public.KnownInTimelines = without(r.Known, known, KeptBack), without(r.KnownInTimelines, known, KeptBack)
	// The text of an error may be that of a finding.
	isError := func(reason string) bool { return strings.HasPrefix(reason, fingerprint.Failed+": ") }
	public.Rejected = without(r.Rejected, isError, fingerprint.Failed+", "+KeptBack)
	return &public
}

// without sums up, under a name that tells nothing, those of the counts whose names are kept
// back. Of nil it is nil.
func without(all []Count, isKept func(name string) bool, instead string) []Count {
	if all == nil {
		return nil
	}
	public, kept := []Count{}, Count{Name: instead}
	for _, c := range all {
		if isKept(c.Name) {
			kept.Clusters += c.Clusters
		} else {
			public = append(public, c)
		}
	}
	if kept.Clusters > 0 {
		public = append(public, kept)
	}
	return public
}
