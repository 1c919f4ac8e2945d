package record

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
)

// KeptBack is what a public report says of a finding, and begins the names of the cases
// of such findings.
const KeptBack = "kept back"

// endings are what a process says that ends, of itself or of the check that it ran.
var endings = regexp.MustCompile(`(?i)panic|fatal error|runtime error|nil pointer|deadlock`)

// GoesToContact tells whether a new finding may let others end or starve the scheduler:
// it breaks down or goes on for ever, in a cycle or while a timeline runs, or a cycle ends in
// an error where none is promised, which one object may do to the cycles of all pods. Such
// findings go to the Kubernetes security contact before they are published
// (docs/findings/kept-back.md).
func (f *Finding) GoesToContact() bool {
	switch f.Identity.Property {
	case properties.GetsThrough().Name, "fault-gets-through", "no-internal-error", fingerprint.Failed:
		return true
	}
	kind := f.Identity.Kind
	return kind == variation.NoEnd || answers.IsError(kind) || endings.MatchString(kind) || endings.MatchString(f.Detail)
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
