package releasediff

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

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
	admits := func(s subset) *answers.Contrast { return e.contrast(s, 1) }
	opposite := func(s subset) *answers.Contrast { return e.contrast(e.c.all.Difference(s), 0) }
	if byFrom == nil {
		admits, opposite = opposite, admits
	}
	found := e.alone(admits, opposite)
	if found == nil {
		found = least(e.c.all, admits)
	}
	if e.err != nil {
		return nil
	}
	// First those without which the second release does what the first one did; the
	// others are seen only because of them.
	var first, others []int
	for _, i := range sets.List(found) {
		if opposite(sets.New(i)) == nil {
			first = append(first, i)
		} else {
			others = append(others, i)
		}
	}
	var effects []Effect
	for _, i := range append(first, others...) {
		// What is still different if all but this one are made.
		contrast := admits(found.Clone().Delete(i))
		if byFrom == nil {
			contrast = contrast.Swapped()
		}
		effects = append(effects, Effect{&e.c.changes[i], kind(contrast)})
	}
	return effects
}

// alone is a change that accounts for a difference by itself, if one does. Of
// several it is one that does so both ways, else the last, which is a known finding if
// one of them is.
func (e *explainer) alone(admits, opposite func(subset) *answers.Contrast) subset {
	var all []subset
	for i := range e.c.changes {
		if one := sets.New(i); admits(one) == nil {
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
		for _, i := range sets.List(s) {
			if fewer := s.Clone().Delete(i); admits(fewer) == nil {
				s, changed = fewer, true
			}
		}
	}
	return s
}

// kinds put differences between two releases in words, where WANT is what the older
// one does.
var kinds = map[answers.Aspect]string{
	answers.AspectOutcome:    "GOT instead of WANT",
	answers.AspectNode:       "another node",
	answers.AspectVictims:    "GOT victims",
	answers.AspectDeleted:    "GOT pods deleted",
	answers.AspectMarked:     "GOT victims marked DisruptionTarget",
	answers.AspectWithdrawn:  "GOT lower nominations withdrawn",
	answers.AspectNomination: "the pod's own nomination GOT instead of WANT",
	answers.AspectClaims:     "another claim loses its allocation",
	answers.AspectOther:      "GOT writes to other pods",
}

func kind(c *answers.Contrast) string {
	return strings.NewReplacer("GOT", c.Got, "WANT", c.Want).Replace(kinds[c.Aspect])
}
