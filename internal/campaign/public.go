package campaign

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/properties"
)

// Public is the report, on the campaign in dir, for those who read public logs. Of a finding that lets others
// end the scheduler it tells only that there is one, and where it lies: such findings
// go to the Kubernetes security contact first (docs/findings/kept-back.md).
func (r *Report) Public(dir string) *Report {
	public := *r
	public.Findings = []ReportedFinding{}
	for _, f := range r.Findings {
		if property := properties.GetsThrough().Name; f.Property == property {
			f = ReportedFinding{
				Identity: property + ", kept back", Property: property, KeptBack: true,
				Explanation: fmt.Sprintf("The case lies in %s; it goes to the Kubernetes security contact before it is published.", dir),
			}
		}
		public.Findings = append(public.Findings, f)
	}
	return &public
}
