// Package cycles holds the scheduling cycles of a timeline against the model: each has to be one that the documented algorithm allows, by
// what the scheduler had been told by then.
package cycles

import (
	"fmt"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// The names of the properties of single cycles.
const (
	TriedAsTold     = "tried-as-told"
	FitsAsTold      = "fits-as-told"
	KeepsNominated  = "nominated-room-is-kept"
	EligibleAsTold  = "eligible-as-told"
	PreemptsAllowed = "preempts-as-allowed"
	GroupGoesAsTold = "group-goes-as-told"
)

// Broken is how a cycle is not as the model allows.
type Broken struct {
	// Broken is the promise that is broken, to whom, and the known findings that together account for it.
	known.Broken
	// Detail is a sentence about it.
	Detail string
}

// OfPods holds each cycle of a pod against the model of a release.
func OfPods(t *timeline.Timeline, trace *timeline.Trace, r release.Release) (all []Broken) {
	judged := map[string]int{} // by pod
	for _, c := range account.Cycles(t, trace) {
		if judged[model.Key(c.Pod)]++; trace.Endless != "" && judged[model.Key(c.Pod)] > enough {
			continue
		}
		if c.Stale() {
			all = append(all, Broken{known.Broken{Property: TriedAsTold, Pod: model.Key(c.Pod), Kind: "stale", Entry: c.Began}, fmt.Sprintf(
				"pod %s is tried as it was in version %s, though the scheduler had handled version %s", model.Key(c.Pod), c.Pod.ResourceVersion, c.Told.ResourceVersion)})
		}
		if c.Result.What == timeline.Decided && c.Namesakes() {
			continue // a victim is told by its name
		}
		if b := (judge{c, r}).broken(); b != nil {
			all = append(all, *b)
		}
	}
	return all
}

// enough is how many cycles of a pod, or of a group, are judged where there is no end to them: the rest is the same over and over, and each may
// take hundreds of decisions of the model, and thousands if it is to be explained.
const enough = 50

// Allows tells whether the model of a release allows what a cycle came to as the result of another one.
func Allows(c *account.Cycle, result *timeline.Entry, r release.Release) bool {
	other := *c
	other.Result = result
	v := judge{&other, r}.verdict()
	return v.admitted && !v.otherNomination
}

// judge holds a cycle against the model of a release.
type judge struct {
	*account.Cycle
	release release.Release
}

// broken is how the cycle is not as the model allows; nil if it is.
func (c judge) broken() *Broken {
	v := c.verdict()
	if v.admitted && !v.otherNomination {
		return nil
	}
	f := &Broken{known.Broken{Property: v.property, Pod: model.Key(c.Pod), Kind: v.kind, Entry: c.Ended},
		fmt.Sprintf("in a cycle of pod %s, at %.3fs, %s", model.Key(c.Pod), c.Result.At.Seconds(), v.detail)}
	if v.admitted { // only by a nomination that the scheduler knows better of
		f.Known = []string{known.SecondPreemption}
		return f
	}
	f.Known = c.quirks()
	return f
}

// quirks are the known findings that together account for the cycle; nil if
// they do not.
func (c judge) quirks() (ids []string) {
	quirks := QuirksOf(c.release)
	all := c.verdict(quirks...)
	if !all.admitted {
		return nil
	}
	explains := func(quirks []release.Quirk) bool {
		v := c.verdict(quirks...)
		return v.admitted && v.otherNomination == all.otherNomination
	}
	for _, q := range LeastOf(quirks, explains) {
		ids = append(ids, string(q))
	}
	if all.otherNomination {
		ids = append(ids, known.SecondPreemption)
	}
	return ids
}

// verdict is what the model says of a cycle.
type verdict struct {
	admitted bool
	// otherNomination: it is admitted only if the pod is nominated as its status says, and
	// not as the scheduler has decided, so that it need not wait for its victims.
	otherNomination bool
	// property, kind and detail say what is wrong with it in the likeliest state.
	property, kind, detail string
}

// verdict looks for a state of the cycle in which the documented rules, with some quirks,
// allow what was seen.
func (c judge) verdict(quirks ...release.Quirk) (v verdict) {
	rules, bugs := RulesWith(c.release, quirks)
	first := true
	all := c.States(bugs, func(s *account.State) bool {
		set, err := answers.Decide(s.Cluster, rulesIn(s, rules))
		if err != nil { // it is not modelled
			v = verdict{admitted: true}
			return false
		}
		property, kind, detail := disagrees(c.Cycle, set, bugs)
		if first {
			v.property, v.kind, v.detail = property, kind, detail
			if property == FitsAsTold && c.Result.What == timeline.Fits && fitsAlone(c.Cycle, s.Cluster, rules) {
				v.property, v.kind = KeepsNominated, "takes nominated room"
			}
		}
		first = false
		if property != "" {
			return true
		}
		// It is no excuse for a second preemption that a status says nothing yet.
		v.otherNomination = !s.Own && v.property == EligibleAsTold && v.kind == kindPreempts
		v.admitted = true
		return v.otherNomination
	})
	v.admitted = v.admitted || !all
	return v
}

// fitsAlone tells whether a pod may go where it goes if nobody else is nominated.
func fitsAlone(c *account.Cycle, cluster *model.Cluster, rules *answers.Rules) bool {
	alone := *cluster
	alone.Pods = nil
	for _, p := range cluster.Pods {
		if p.Spec.NodeName != "" {
			alone.Pods = append(alone.Pods, p)
		}
	}
	set, err := answers.Decide(&alone, rules)
	if err != nil {
		return false
	}
	property, _, _ := disagrees(c, set, account.Bugs{})
	return property == ""
}

const (
	kindPreempts = "preempts though it has to wait"
	kindWaits    = "waits though it may preempt"
	kindBound    = "preempts though it is bound"
)

// disagrees holds what was seen of a cycle against what the model allows: which property is
// broken, in what way, and a sentence about it; "" if none is.
func disagrees(c *account.Cycle, set *answers.Set, bugs account.Bugs) (property, kind, detail string) {
	e := c.Result
	o := &model.Observation{}
	switch e.What {
	case timeline.Fits:
		o.ScheduledTo = e.Node
	case timeline.Unfit:
		if o.CycleError = e.Text; set.NeverPreempts() && strings.Contains(e.Text, " nodes are available: ") {
			o.CycleError = "" // nobody is asked what to do about it
		}
	case timeline.Decided:
		if len(e.Victims) > 0 {
			o.Pick = &model.Pick{Node: e.Node, Victims: e.Victims, Violations: e.Violations}
		}
		o.PostFilterCode, o.PostFilterMessage = code(e), e.Text
	}
	if e.What == timeline.Decided && set.Eligible != nil {
		waits := e.Nomination == model.NominationKept && !e.Failed
		switch {
		case len(e.Victims) == 0 && (!c.Stored || c.Bound):
			return "", "", "" // the pod is gone or bound, and finding nothing for it has no effect
		case len(e.Victims) > 0 && c.PreemptsBound() && !bugs.BoundPreempt:
			return EligibleAsTold, kindBound, fmt.Sprintf("it %s, though it is bound, by the version of it that the scheduler has looked up", did(e))
		case waits && set.Eligible.OK:
			return EligibleAsTold, kindWaits, fmt.Sprintf("it does not preempt (%s), though it may", e.Text)
		case !waits && !set.Eligible.OK:
			return EligibleAsTold, kindPreempts, fmt.Sprintf("it %s, though %s", did(e), set.Eligible.Reason)
		}
	}
	dis := set.Admits(o)
	switch {
	case dis == nil || dis.Undecided:
		return "", "", ""
	case dis.Stage == model.StageFilter:
		return FitsAsTold, dis.Kind, fmt.Sprintf("it %s. The model wants: %s", did(e), want(dis, set))
	}
	if exact, _ := set.Exact(); !exact {
		return "", "", ""
	}
	return PreemptsAllowed, dis.Kind, fmt.Sprintf("it %s. The model wants: %s", did(e), dis.Want)
}

// want says what the model wants of a pod that fits somewhere, or nowhere.
func want(dis *answers.Disagreement, set *answers.Set) string {
	if len(set.Fits) > 0 || len(set.Errors) > 0 {
		return dis.Want
	}
	var all []string
	for _, n := range set.Cycle.Nodes {
		if v := set.Verdicts[n.Name]; v != nil {
			all = append(all, n.Name+" is rejected by "+v.String())
		}
	}
	return strings.Join(all, ", ")
}

func code(e *timeline.Entry) string {
	switch {
	case e.Failed:
		return "Error"
	case len(e.Victims) > 0:
		return "Success"
	}
	return "Unschedulable"
}

// did says what a cycle came to.
func did(e *timeline.Entry) string {
	text := strings.TrimSuffix(e.Text, ".")
	switch {
	case e.What == timeline.Fits:
		return "goes to " + e.Node
	case e.What == timeline.Unfit, e.Failed:
		return "ends in an error: " + text
	case len(e.Victims) > 0:
		return fmt.Sprintf("preempts %s on %s", strings.Join(e.Victims, ", "), e.Node)
	case e.Nomination == model.NominationKept:
		return "waits: " + text
	}
	return "finds no node and preempts nothing: " + text
}
