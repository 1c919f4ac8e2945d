package properties

import (
	"cmp"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// explainAnswer finds the known findings that together account for an answer: with
// their quirks the model agrees at each stage, and with one of them less it does
// not. known is nil if even all of them do not; left is the first disagreement then.
func explainAnswer(s *Subject) (known []string, left *answers.Disagreement) {
	quirks := s.known()
	left, by, err := s.judge(s.rulesWith(quirks...))
	if err != nil {
		return nil, &answers.Disagreement{}
	}
	if left != nil {
		return nil, left
	}
	enough := func(fewer []release.Quirk) (bool, error) {
		d, err := by(s.rulesWith(fewer...))
		return err == nil && d == nil, nil
	}
	mostly := common
	if s.Group != nil {
		mostly = commonOfGroups
	}
	if q, ok := accountsAlone(mostly, quirks, enough); ok {
		return []string{string(q)}, nil
	}
	quirks, _ = needed(quirks, enough)
	ids := make([]string, len(quirks))
	for i, quirk := range quirks {
		ids[i] = string(quirk)
	}
	return ids, nil
}

// Common are the quirks that alone account for three of four answers about pods, and for one
// of two about pod groups, that the documented rules do not allow.
var (
	common         = []release.Quirk{release.UnlabelledPod, release.EmptySelector, release.PreFilterRejectionIsError, release.MissingDriverResolvable}
	commonOfGroups = []release.Quirk{release.MembersStayNominated, release.GroupKeepsLowerNominations}
)

// isCommon is 1 for the id of a common quirk, and else 0.
func isCommon(id string) int {
	if slices.Contains(common, release.Quirk(id)) {
		return 1
	}
	return 0
}

// accountsAlone is one of the common quirks that alone is enough, where none is not.
func accountsAlone(common, quirks []release.Quirk, enough func([]release.Quirk) (bool, error)) (release.Quirk, bool) {
	for _, q := range common {
		if !slices.Contains(quirks, q) {
			continue
		}
		if ok, _ := enough([]release.Quirk{q}); ok {
			none, _ := enough(nil)
			return q, !none
		}
	}
	return "", false
}

// Findings checks one property of a subject. Each finding is explained by itself,
// by entries of the ledger: once they are assumed, there is nothing to find at that
// place, and with one of them less there is.
func (p *Property) Findings(s *Subject) ([]Finding, error) {
	if !p.appliesTo(s) {
		return nil, nil
	}
	findings, err := p.Check(s)
	if err != nil || len(findings) == 0 {
		return nil, err
	}
	for i := range findings {
		findings[i].Property = p.Name
	}
	return findings, p.explain(s, findings)
}

func (p *Property) explain(s *Subject, findings []Finding) error {
	ids := slices.Clone(ledger.Breaking(s.Release, p.Name))
	if s.model != nil {
		ids = append(ids, ledger.BreakingByPlugin(s.model.Plugin, p.Name)...)
	}
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(isCommon(b), isCommon(a)) })
	checked := map[string][]Finding{} // by what was assumed: a check may ask the system hundreds of times
	with := func(ids []string) ([]Finding, error) {
		key := strings.Join(ids, " ")
		if found, known := checked[key]; known {
			return found, nil
		}
		found, err := p.Check(s.Assuming(ids...))
		checked[key] = found
		return found, err
	}
	// neededFor are those of ids, which explain f together, that it takes.
	neededFor := func(f *Finding, ids []string) ([]string, error) {
		return needed(ids, func(fewer []string) (bool, error) {
			remaining, err := with(fewer)
			return !slices.ContainsFunc(remaining, f.sameAs), err
		})
	}
	remaining, err := with(ids)
	if err != nil {
		return err
	}
	var left []*Finding // what all of them together explain
	for i := range findings {
		if !slices.ContainsFunc(remaining, findings[i].sameAs) {
			left = append(left, &findings[i])
		}
	}
	for _, id := range ids { // mostly it is one
		if len(left) == 0 {
			return nil
		}
		if remaining, err = with([]string{id}); err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(f *Finding) bool {
			if slices.ContainsFunc(remaining, f.sameAs) {
				return false
			}
			f.Known = []string{id}
			return true
		})
	}
	for len(left) > 0 { // what explains one mostly explains more
		together, err := neededFor(left[0], ids)
		if err != nil {
			return err
		}
		if remaining, err = with(together); err != nil {
			return err
		}
		unexplained := left[:0]
		for _, f := range left {
			if slices.ContainsFunc(remaining, f.sameAs) {
				unexplained = append(unexplained, f)
			} else if f.Known, err = neededFor(f, together); err != nil {
				return err
			}
		}
		left = unexplained
	}
	return nil
}

// sameAs tells whether two findings of one property are about the same thing.
func (f *Finding) sameAs(other Finding) bool {
	return f.Stage == other.Stage && f.Node == other.Node && f.about == other.about
}

// needed is a part of a list that is still enough, and is not without any one of its
// elements. It tries halves first, as mostly one or two of many are needed. A longer
// list must never be worse than a shorter one.
func needed[T any](all []T, enough func([]T) (bool, error)) ([]T, error) {
	for size := (len(all) + 1) / 2; size > 0; size /= 2 {
		for i := 0; i < len(all); {
			fewer := slices.Delete(slices.Clone(all), i, min(i+size, len(all)))
			ok, err := enough(fewer)
			if err != nil {
				return nil, err
			}
			if ok {
				all = fewer
			} else {
				i += size
			}
		}
	}
	return all, nil
}
