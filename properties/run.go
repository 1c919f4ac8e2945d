package properties

import (
	"math/bits"
	"slices"
)

// run checks one property of a subject, and explains each finding by itself: by
// the fewest entries of the ledger that, once granted, leave nothing to find at
// that place.
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

// maxTried is up to how many known findings all that could together explain one
// are tried; what takes more is explained by some that are all needed.
const maxTried = 2

func (p Property) explain(s *Subject, findings []Finding) error {
	var ids []string
	for _, e := range Ledger() {
		if slices.Contains(e.Properties, p.Name) {
			ids = append(ids, e.ID)
		}
	}
	// remaining are the findings that are left once some entries are granted.
	remaining := func(granted []string) ([]Finding, error) {
		lenient := *s
		lenient.granted, lenient.judged, lenient.trial = granted, nil, nil
		return p.Check(&lenient)
	}
	// What is left with all of them granted, none of them explains.
	unexplained, err := remaining(ids)
	if err != nil {
		return err
	}
	var left []*Finding
	for i := range findings {
		if !slices.ContainsFunc(unexplained, findings[i].sameAs) {
			left = append(left, &findings[i])
		}
	}
	for size := 1; size <= min(len(ids), maxTried); size++ {
		for set := uint(1); set < 1<<len(ids) && len(left) > 0; set++ {
			if bits.OnesCount(set) != size {
				continue
			}
			var granted []string
			for i, id := range ids {
				if set&(1<<i) != 0 {
					granted = append(granted, id)
				}
			}
			found, err := remaining(granted)
			if err != nil {
				return err
			}
			left = slices.DeleteFunc(left, func(f *Finding) bool {
				if slices.ContainsFunc(found, f.sameAs) {
					return false
				}
				f.Known = granted
				return true
			})
		}
	}
	for _, f := range left {
		f.Known = ids
		for i := 0; i < len(f.Known); {
			fewer := slices.Delete(slices.Clone(f.Known), i, i+1)
			found, err := remaining(fewer)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(found, f.sameAs) {
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
