package properties

import "slices"

// run checks one property of a subject, and explains each finding by itself: by
// entries of the ledger that, once granted, leave nothing to find at that place,
// none of which could be missed.
func (p Property) run(s *Subject) ([]Finding, error) {
	if p.Applies != nil && !p.Applies(s) {
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
	for _, e := range Ledger() {
		if slices.Contains(e.Properties, p.Name) {
			ids = append(ids, e.ID)
		}
	}
	with := func(ids []string) ([]Finding, error) {
		lenient := *s
		lenient.granted, lenient.judged, lenient.trial = ids, nil, nil
		return p.Check(&lenient)
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
	for _, f := range left {
		f.Known = slices.Clone(ids)
		for i := 0; i < len(f.Known); {
			fewer := slices.Delete(slices.Clone(f.Known), i, i+1)
			if remaining, err = with(fewer); err != nil {
				return err
			}
			if slices.ContainsFunc(remaining, f.sameAs) {
				i++
			} else {
				f.Known = fewer
			}
		}
	}
	return nil
}

// sameAs tells whether two findings of one property are about the same thing.
func (f *Finding) sameAs(other Finding) bool {
	return f.Stage == other.Stage && f.Node == other.Node && f.about == other.about
}
