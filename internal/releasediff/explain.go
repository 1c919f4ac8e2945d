package releasediff

import (
	"github.com/preemptcheck/preemptcheck/model"
)

// explainer finds the changes behind one difference.
type explainer struct {
	c   *Comparer
	r   *Comparison
	err error
}

// contrast is how what one of the two did, 0 or 1, is none of the answers after
// some of the changes; nil if it is one.
func (e *explainer) contrast(s subset, did int) *model.Contrast {
	if e.err != nil {
		return &model.Contrast{Undecided: true}
	}
	d, err := model.Decide(e.r.Cluster, e.c.rulesWith(s))
	if err != nil {
		e.err = err
		return &model.Contrast{Undecided: true}
	}
	return d.AdmitsVisible(e.r.Did[did])
}

// explain finds the least changes that account for a difference. Made to the older
// release they let it do what the newer one did; or taken back from the newer one,
// what the older one did. byFrom is how what the newer one did is none of the
// answers of the older one, byTo the opposite: one of both may be nil.
//
// One change that does both is preferred to one that does either, and that to
// several, which are found by leaving out what is not needed.
func (e *explainer) explain(byFrom, byTo *model.Contrast) []Effect {
	none, all := e.c.subset(false), e.c.subset(true)
	made := func(s subset) *model.Contrast { return e.contrast(s, 1) }
	takenBack := func(s subset) *model.Contrast { return e.contrast(all.without(s), 0) }
	first, firstIsMade := -1, false
	for i := range all {
		one := none.with(i, true)
		makes := byFrom == nil || made(one) == nil
		undoes := byTo == nil || takenBack(one) == nil
		if e.err != nil {
			return nil
		}
		if makes && undoes {
			return []Effect{e.effect(i, byFrom, byTo)}
		}
		if isMade := byFrom != nil && makes; isMade && !firstIsMade || first < 0 && byTo != nil && undoes {
			first, firstIsMade = i, isMade
		}
	}
	if first >= 0 {
		if firstIsMade {
			byTo = nil
		} else {
			byFrom = nil
		}
		return []Effect{e.effect(first, byFrom, byTo)}
	}
	var found subset
	var admits func(subset) *model.Contrast
	swapped := false
	for i, direction := range []struct {
		is     *model.Contrast
		admits func(subset) *model.Contrast
	}{{byFrom, made}, {byTo, takenBack}} {
		if direction.is == nil {
			continue
		}
		s := least(all, direction.admits)
		if found == nil || len(s.indices()) < len(found.indices()) {
			found, admits, swapped = s, direction.admits, i == 1
		}
	}
	if e.err != nil {
		return nil
	}
	var effects []Effect
	for _, i := range found.indices() {
		// What is still different if all but this one are made.
		contrast := admits(found.with(i, false))
		if swapped {
			contrast = contrast.Swapped()
		}
		effects = append(effects, Effect{&e.c.changes[i], kind(contrast)})
	}
	return effects
}

func (e *explainer) effect(i int, byFrom, byTo *model.Contrast) Effect {
	if byFrom != nil {
		return Effect{&e.c.changes[i], kind(byFrom)}
	}
	return Effect{&e.c.changes[i], kind(byTo.Swapped())}
}

// least leaves out of s what is not needed for an answer to be admitted, until each
// that is left is.
func least(s subset, admits func(subset) *model.Contrast) subset {
	for changed := true; changed; {
		changed = false
		for _, i := range s.indices() {
			if fewer := s.with(i, false); admits(fewer) == nil {
				s, changed = fewer, true
			}
		}
	}
	return s
}

// kind puts a difference between two releases in words, where Want is what the
// older one does.
func kind(c *model.Contrast) string {
	switch c.Aspect {
	case model.AspectOutcome:
		return c.Got + " instead of " + c.Want
	case model.AspectNode:
		return "another node"
	case model.AspectVictims:
		return c.Got + " victims"
	case model.AspectDeleted:
		return c.Got + " pods deleted"
	case model.AspectMarked:
		return c.Got + " victims marked DisruptionTarget"
	case model.AspectWithdrawn:
		return c.Got + " lower nominations withdrawn"
	case model.AspectNomination:
		return "the pod's own nomination " + c.Got + " instead of " + c.Want
	case model.AspectClaims:
		return "another claim loses its allocation"
	}
	return c.Got + " writes to other pods"
}
