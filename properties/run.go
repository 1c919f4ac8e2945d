package properties

import (
	"slices"
	"strings"
)

// run checks one property of a subject, and explains each finding by itself: by
// entries of the ledger that, once granted, leave nothing to find at that place,
// none of which could be missed.
func (p Property) run(s *Subject) ([]Finding, error) {
	if !s.makes(p.Name) || p.Applies != nil && !p.Applies(s) {
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

func (p Property) explain(s *Subject, findings []Finding) error {
	var ids []string
	for _, e := range LedgerOf(s.Release) {
		if slices.Contains(e.Properties, p.Name) {
			ids = append(ids, e.ID)
		}
	}
	checked := map[string][]Finding{} // by what was granted: a check may ask the system hundreds of times
	with := func(ids []string) ([]Finding, error) {
		key := strings.Join(ids, " ")
		if found, known := checked[key]; known {
			return found, nil
		}
		lenient := *s
		lenient.granted, lenient.judged, lenient.trial = ids, nil, nil
		found, err := p.Check(&lenient)
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
