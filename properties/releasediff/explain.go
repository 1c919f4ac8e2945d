package releasediff

import (
	"cmp"
	"slices"

	"github.com/preemptcheck/preemptcheck/model/answers"
)

// explainer finds the changes behind one difference.
type explainer struct {
	c   *Comparer
	r   *Comparison
	err error
}

// contrast is how what one of the two did, 0 or 1, is none of the answers after
// some of the changes; nil if it is one.
func (e *explainer) contrast(s subset, did int) *answers.Contrast {
	if e.err != nil {
		return &answers.Contrast{Undecided: true}
	}
	d, err := answers.Decide(e.r.Cluster, e.c.rulesWith(s))
	if err != nil {
		e.err = err
		return &answers.Contrast{Undecided: true}
	}
	return d.AdmitsVisible(e.r.Did[did])
}

// explain finds the least changes that account for a difference: made to the first
// release, they let it do what the second one did, and none of them can be missed.
// byFrom is how what the second one did is none of the first one's answers, byTo the
// opposite. If byFrom is nil the second one just does less: the changes are then
// those that, taken back, let it do what the first one did.
func (e *explainer) explain(byFrom, byTo *answers.Contrast) []Effect {
	all := e.c.subset(true)
	admits := func(s subset) *answers.Contrast { return e.contrast(s, 1) }
	opposite := func(s subset) *answers.Contrast { return e.contrast(all.without(s), 0) }
	if byFrom == nil {
		admits, opposite = opposite, admits
	}
	found := e.alone(admits, opposite)
	if found == nil {
		found = least(all, admits)
	}
	if e.err != nil {
		return nil
	}
	// First those without which the second release does what the first one did; the
	// others are seen only because of them.
	indices := found.indices()
	slices.SortStableFunc(indices, func(i, j int) int {
		return cmp.Compare(rank(opposite, e.c.subset(false).with(i, true)), rank(opposite, e.c.subset(false).with(j, true)))
	})
	var effects []Effect
	for _, i := range indices {
		// What is still different if all but this one are made.
		contrast := admits(found.with(i, false))
		if byFrom == nil {
			contrast = contrast.Swapped()
		}
		effects = append(effects, Effect{&e.c.changes[i], kind(contrast)})
	}
	return effects
}

func rank(admits func(subset) *answers.Contrast, s subset) int {
	if admits(s) == nil {
		return 0
	}
	return 1
}

// alone is a change that accounts for a difference by itself, if one does. Of
// several it is one that does so both ways, else the last, which is a known finding if
// one of them is.
func (e *explainer) alone(admits, opposite func(subset) *answers.Contrast) subset {
	var all []subset
	for i := range e.c.changes {
		if one := e.c.subset(false).with(i, true); admits(one) == nil {
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if i := slices.IndexFunc(all, func(s subset) bool { return len(all) > 1 && opposite(s) == nil }); i >= 0 {
		return all[i]
	}
	return all[len(all)-1]
}

// least leaves out of s what is not needed for an answer to be admitted, until each
// that is left is.
func least(s subset, admits func(subset) *answers.Contrast) subset {
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
func kind(c *answers.Contrast) string {
	switch c.Aspect {
	case answers.AspectOutcome:
		return c.Got + " instead of " + c.Want
	case answers.AspectNode:
		return "another node"
	case answers.AspectVictims:
		return c.Got + " victims"
	case answers.AspectDeleted:
		return c.Got + " pods deleted"
	case answers.AspectMarked:
		return c.Got + " victims marked DisruptionTarget"
	case answers.AspectWithdrawn:
		return c.Got + " lower nominations withdrawn"
	case answers.AspectNomination:
		return "the pod's own nomination " + c.Got + " instead of " + c.Want
	case answers.AspectClaims:
		return "another claim loses its allocation"
	}
	return c.Got + " writes to other pods"
}
