package campaign

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
)

// A case of the corpus as it is has to be as it says, too: a known finding that no longer occurs, or a step that does not go as expected,
// tells of a change that breaks no promise that is asked.

// saying is the case of a folder that a number stands for, if the scheduler has to do what it says: that is so of the release that
// is linked in, without plugins, feature gates and a configuration of the campaign's own.
func saying(checker *properties.Checker, req request, n uint64, folder string) *corpus.Case {
	if !checker.HoldsCases || checker.Release != release.Linked || checker.Outside != nil || Adorn != nil || len(req.FeatureGates.Map()) > 0 || req.Configuration != "" {
		return nil
	}
	return asIs(req.Seed, n, folder, req.FeatureGates)
}

// compare holds the result of a cluster against the case that it is, if it is one.
func (a *answer) compare(checker *properties.Checker, req request, n uint64, r *properties.Result) {
	if c := saying(checker, req, n, "cases/"); c != nil && r.Unmodelled == nil && r.Undecided == "" {
		a.suspect(suspect{Number: n}, c, replay.Unmet(checker, c, r))
	}
}

// compareLife is compare for a timeline.
func (a *answer) compareLife(checker *properties.Checker, req request, n uint64, lived *lifetime.Life, findings []lifetime.Finding) {
	if c := saying(checker, req, n, "timelines/"); c != nil && (c.Releases == "" || lived.Release().In(c.Releases)) {
		a.suspect(suspect{Number: n, Timeline: true}, c, replay.UnmetByLife(c, lived, findings))
	}
}

func (a *answer) suspect(s suspect, c *corpus.Case, unmet []string) {
	if len(unmet) == 0 {
		return
	}
	s.Fingerprint = fingerprint.Fingerprint{Property: fingerprint.Unmet, Kind: c.Name}
	s.Kind, s.Detail = "not as it says: "+c.Name, fmt.Sprintf("case %s of the corpus: %s", c.Name, strings.Join(unmet, "; "))
	a.Suspects = append(a.Suspects, s)
}

// unmet is the finding that a case is not as it says. It holds of the case as it is, and so is not made small.
func (c *campaign) unmet(s *suspect) (*record.Finding, error) {
	c.clock()
	f := &record.Finding{
		Seed: c.Config.Seed, Number: s.Number, Detail: s.Detail, Explanation: s.Detail + ".", Timeline: s.Timeline,
		FoundAfter: c.Seconds(), Clusters: s.nth, Identity: fingerprint.Identity{Fingerprint: s.Fingerprint},
	}
	folder := "cases/"
	if s.Timeline {
		folder = "timelines/"
	}
	as := asIs(c.Config.Seed, s.Number, folder, c.Config.FeatureGates)
	if as == nil {
		return nil, fmt.Errorf("number %d of seed %d is no case of the corpus", s.Number, c.Config.Seed)
	}
	f.Minimised.From = minimize.SizeOf(as.Cluster)
	if as.Timeline != nil {
		f.Minimised.From = sizeOf(as.Timeline)
	}
	f.Minimised.To, f.Minimised.Why = f.Minimised.From, "it is a case of the corpus, and says something of itself only"
	var text bytes.Buffer
	err := as.Write(&text)
	f.Case = text.String()
	return f, err
}
