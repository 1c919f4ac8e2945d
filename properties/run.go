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

func (p Property) explain(s *Subject, findings []Finding) error {
	var ids []string
	for _, e := range Ledger() {
		if slices.Contains(e.Properties, p.Name) {
			ids = append(ids, e.ID)
		}
	}
	// What is left with all of them granted, none of them explains.
	generous := *s
	generous.granted, generous.judged, generous.trial = ids, nil, nil
	unexplained, err := p.Check(&generous)
	if err != nil {
		return err
	}
	left := 0
	for i := range findings {
		if !slices.ContainsFunc(unexplained, findings[i].sameAs) {
			left++
		}
	}
	for size := 1; size <= len(ids); size++ {
		for set := uint(1); set < 1<<len(ids); set++ {
			if bits.OnesCount(set) != size || left == 0 {
				continue
			}
			lenient := *s
			lenient.granted, lenient.judged, lenient.trial = nil, nil, nil
			for i, id := range ids {
				if set&(1<<i) != 0 {
					lenient.granted = append(lenient.granted, id)
				}
			}
			remaining, err := p.Check(&lenient)
			if err != nil {
				return err
			}
			for i := range findings {
				f := &findings[i]
				if f.Known == nil && !slices.ContainsFunc(unexplained, f.sameAs) && !slices.ContainsFunc(remaining, f.sameAs) {
					f.Known = lenient.granted
					left--
				}
			}
		}
	}
	return nil
}

// sameAs tells whether two findings of one property are about the same thing.
func (f *Finding) sameAs(other Finding) bool {
	return f.Stage == other.Stage && f.Node == other.Node && f.about == other.about
}
