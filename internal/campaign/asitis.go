package campaign

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
)

// firstAsIs is the number from which on each case of the corpus comes as it is: what they show is found within seconds. First each cluster
// comes without what is most costly to ask, one after another; then each timeline, besides clusters that are drawn; then each case comes
// once more, asked for everything and held to what it says, and each one beside that with decoys, without what is most costly.
const firstAsIs = 64

// The looks at a case as it is: without what is most costly, for everything, and at the case with decoys. A timeline is asked for everything at
// once.
const (
	firstLook = iota
	lastLook
	withDecoys
)

// asFor is the look for which a cluster is asked as much as for this one: with decoys it is the first look once more.
func asFor(look int) int {
	if look == withDecoys {
		return firstLook
	}
	return look
}

// asIs is the case of a folder that a number of a seed stands for, and which look at it that is; nil for all other numbers, and for
// schedulers without groups, which do not know most cases. Each seed has an order of its own.
func asIs(seed, n uint64, folder string, gates record.Gates) (c *corpus.Case, look int) {
	if n < firstAsIs || gates == record.Ungrouped {
		return nil, 0
	}
	n -= firstAsIs
	clusters, timelines := casesOf("cases/", gates), casesOf("timelines/", gates)
	first, second := uint64(len(clusters)), uint64(len(clusters)+len(timelines))
	switch isTimeline := folder == "timelines/"; {
	case !isTimeline && n < first:
		return inOrder(seed, clusters)[n].Case, firstLook
	case isTimeline && n >= first && n < second:
		return inOrder(seed, timelines)[n-first].Case, lastLook
	case !isTimeline && n >= second && (n-second)%2 == 0 && (n-second)/2 < first:
		return inOrder(seed, clusters)[(n-second)/2].Case, lastLook
	case !isTimeline && n >= second && (n-second)/2 < first:
		return inOrder(seed, clusters)[(n-second)/2].Case, withDecoys
	}
	return nil, 0
}

// inOrder are cases in the order of a seed.
func inOrder(seed uint64, cases []candidate) []candidate {
	return slices.SortedFunc(slices.Values(cases), func(a, b candidate) int { return cmp.Compare(a.rank(seed), b.rank(seed)) })
}

// A case of the corpus as it is has to be as it says, too: a known finding that no longer occurs, or a step that does not go as expected,
// tells of a change that breaks no promise that is asked.

// saying is the case of a folder that a number stands for, if the scheduler has to do what it says: that is so of the release that
// is linked in, without plugins, feature gates and a configuration of the campaign's own, and of cases that may be told of.
func saying(checker *properties.Checker, req request, n uint64, folder string) *corpus.Case {
	if !checker.HoldsCases || checker.Release != release.Linked || checker.Outside != nil || Adorn != nil || len(req.FeatureGates.Map()) > 0 || req.Configuration != "" {
		return nil
	}
	c, look := asIs(req.Seed, n, folder, req.FeatureGates)
	if c == nil || look != lastLook || slices.ContainsFunc(c.Findings, isKeptBack) {
		return nil
	}
	return c
}

// isKeptBack tells whether nobody is to read of a known finding yet.
func isKeptBack(id string) bool {
	entry, known := ledger.LookUp(id)
	return known && entry.KeptBack()
}

// compare holds the result of a cluster against the case that it is, if it is one.
func (a *answer) compare(checker *properties.Checker, req request, n uint64, r *properties.Result) {
	if c := saying(checker, req, n, "cases/"); c != nil && r.Observation != nil && r.Undecided == "" {
		a.unmet(suspect{Number: n}, c, replay.Unmet(checker, c, r))
	}
}

// compareLife is compare for a timeline.
func (a *answer) compareLife(checker *properties.Checker, req request, n uint64, lived *lifetime.Life, findings []lifetime.Finding) {
	if c := saying(checker, req, n, "timelines/"); c != nil && (c.Releases == "" || lived.Release().In(c.Releases)) {
		a.unmet(suspect{Number: n, Timeline: true}, c, replay.UnmetByLife(c, lived, findings))
	}
}

// unmet adds a suspect if there is something in which a case is not as it says.
func (a *answer) unmet(s suspect, c *corpus.Case, unmet []string) {
	if len(unmet) == 0 {
		return
	}
	s.Fingerprint = fingerprint.Fingerprint{Property: fingerprint.Unmet, Kind: c.Name}
	s.Kind, s.Detail = "not as it says: "+c.Name, fmt.Sprintf("case %s of the corpus: %s", c.Name, strings.Join(unmet, "; "))
	a.Suspects = append(a.Suspects, s)
}

// unmet is the finding that a case is not as it says. It holds of the case as it is, and so is not made small.
func (c *campaign) unmet(checker *properties.Checker, s *suspect) (*record.Finding, error) {
	start := time.Now()
	c.clock()
	f := &record.Finding{
		Seed: c.Config.Seed, Number: s.Number, Detail: s.Detail, Explanation: s.Detail + ".", Timeline: s.Timeline,
		FoundAfter: c.Seconds(), Clusters: s.nth, Identity: fingerprint.Identity{Fingerprint: s.Fingerprint},
	}
	again := &answer{}
	req := request{Seed: f.Seed, First: f.Number, Count: 1, Timelines: c.Config.Timelines}
	folder := "cases/"
	if s.Timeline {
		folder = "timelines/"
	}
	as := saying(checker, req, f.Number, folder)
	if as == nil {
		return nil, fmt.Errorf("number %d of seed %d is no case of the corpus", f.Number, f.Seed)
	}
	said := *as
	f.Minimised.Why = "it is a case of the corpus, and says something of itself only"
	if s.Timeline {
		f.Minimised.From = sizeOf(said.Timeline)
		if err := again.live(c.ctx, checker, c.Life, req, f.Number); err != nil {
			return nil, err
		}
	} else {
		f.Minimised.From = minimize.SizeOf(said.Cluster)
		r, err := asking(checker, req, f.Number).Check(c.ctx, Generate(f.Seed, f.Number, "", ""))
		if err == nil {
			again.compare(checker, req, f.Number, r)
		}
	}
	if c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	if !slices.ContainsFunc(again.Suspects, func(other suspect) bool { return other.Fingerprint == s.Fingerprint }) {
		f.Minimised.Why = "it did not occur again"
	}
	f.Minimised.To, f.Minimised.Checks, f.Minimised.Seconds = f.Minimised.From, 1, time.Since(start).Seconds()
	said.Description = strings.TrimSpace("Not as it says: " + f.Explanation + "\n" + said.Description)
	var text bytes.Buffer
	err := said.Write(&text)
	f.Case = text.String()
	return f, err
}
