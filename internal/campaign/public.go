package campaign

import (
	"fmt"
	"regexp"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
)

// keptBack is what a public report says of a finding, and begins the names of the cases
// of such findings.
const keptBack = "kept back"

// endings are what a process says that ends, of itself or of the check that it ran.
var endings = regexp.MustCompile(`(?i)panic|fatal error|runtime error|nil pointer|deadlock`)

// goesToContact tells whether a new finding may let others end or starve the scheduler:
// it breaks down, or a cycle ends in an error where none is promised, which one object
// may do to the cycles of all pods. Such findings go to the Kubernetes security
// contact before they are published (docs/findings/kept-back.md).
func goesToContact(property, kind, detail string) bool {
	switch property {
	case properties.GetsThrough().Name, "fault-gets-through", "no-internal-error", fingerprint.Failed:
		return true
	}
	return answers.IsError(kind) || endings.MatchString(kind) || endings.MatchString(detail)
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
				Identity: f.Property + ", " + keptBack, Property: f.Property, KeptBack: true, ToContact: true,
				Explanation: fmt.Sprintf("The case lies in %s; it goes to the Kubernetes security contact before it is published.", dir),
			}
		}
		public.Findings = append(public.Findings, f)
	}
	public.Known = []Count{}
	kept := Count{Name: keptBack}
	for _, k := range r.Known {
		if e, ok := properties.LookUp(k.Name); ok && e.KeptBack() {
			kept.Clusters += k.Clusters
		} else {
			public.Known = append(public.Known, k)
		}
	}
	if kept.Clusters > 0 {
		public.Known = append(public.Known, kept)
	}
	return &public
}
