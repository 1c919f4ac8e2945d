package record

import "github.com/preemptcheck/preemptcheck/properties/probe"

// Certain is what two campaigns over the same clusters with the same program agree in. Missing are how long they took, who did it, and what
// depends on chance: which of equally good nodes the scheduler picks, and in which order it goes through a map. By chance a known crash may
// end a cycle that ends otherwise another time, and a known finding may show or not.
func (s *State) Certain() *State {
	c := &State{Config: s.Config, Next: s.Next, Errors: s.Errors, Causes: s.Causes, Canary: s.Canary}
	c.Findings, c.Canary.Findings = timeless(s.Findings), timeless(s.Canary.Findings)
	c.Stats = probe.Stats{
		Clusters: s.Stats.Clusters, Scheduled: s.Stats.Scheduled + s.Stats.Broken, Ineligible: s.Stats.Ineligible, NotHelpful: s.Stats.NotHelpful,
		Preempted: s.Stats.Preempted, InError: s.Stats.InError, SeveralCandidates: s.Stats.SeveralCandidates, DecidedBy: s.Stats.DecidedBy, Findings: s.Stats.Findings,
		Timelines: s.Stats.Timelines, KnownInTimelines: s.Stats.KnownInTimelines,
	}
	return c
}

// timeless are findings without when they were found, and how long they were made small.
func timeless(findings []*Finding) (same []*Finding) {
	for _, f := range findings {
		copied := *f
		copied.FoundAfter, copied.Minimised.Seconds = 0, 0
		same = append(same, &copied)
	}
	return same
}
