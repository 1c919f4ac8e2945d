package lifetime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// The properties that hold the cycles of a timeline against the model.
const (
	triedAsTold     = "tried-as-told"
	fitsAsTold      = "fits-as-told"
	keepsNominated  = "nominated-room-is-kept"
	eligibleAsTold  = "eligible-as-told"
	preemptsAllowed = "preempts-as-allowed"
)

// notOfCycles is what Property.Groups says of the promises about a single cycle.
const notOfCycles = notOfMembers + ": group-goes-as-told holds the cycles of groups against the model"

// decisions are the promises about each cycle: what the scheduler decides is admissible, from
// what it had been told by then.
func decisions() []Property {
	of := func(name string) func(l *Life) []Finding {
		return func(l *Life) []Finding {
			return slices.DeleteFunc(l.judgeCycles(), func(f Finding) bool { return f.Property != name })
		}
	}
	return []Property{{
		Name:    triedAsTold,
		Promise: "a pod is tried as it is, as far as the scheduler has been told",
		Source:  "doc comment of PriorityQueue.Update (scheduling_queue.go:1349@v1.37.1); comment in Update, \"The inflight pod will be requeued using the latest version from the informer cache\" (scheduling_queue.go:1382@v1.37.1)",
		Groups:  notOfCycles,
		Lies:    []string{"tries an old version of a pod"},
		Check:   of(triedAsTold),
	}, {
		Name: fitsAsTold,
		Promise: "a pod goes to a node on which it fits, and it goes to one if there is one, by the nodes and the pods that the scheduler has been told of, " +
			"and those that it has assumed, when the cycle begins",
		Source: "doc comments of Snapshot (backend/cache/snapshot.go:82@v1.37.1) and of Cache (backend/cache/interface.go:29@v1.37.1); docs: concepts/scheduling-eviction/kube-scheduler, \"Node selection in kube-scheduler\"",
		Groups: notOfCycles,
		Lies:   []string{"takes a node that is full", "finds no node though one is free", "forgets a pod that it has assumed"},
		Check:  of(fitsAsTold),
	}, {
		Name:    keepsNominated,
		Promise: "room of a nominated pod is not taken by another one of lower or equal priority",
		Source:  properties.DocsNominated + "; doc comment of RunFilterPluginsWithNominatedPods (runtime/framework.go:1265@v1.37.1)",
		Groups:  notOfCycles,
		Lies:    []string{"takes the room of a nominated pod"},
		Check:   of(keepsNominated),
	}, {
		Name:    eligibleAsTold,
		Promise: "a pod preempts only while it is pending and if it may, and if it may it is tried",
		Source: "doc comment of PodEligibleToPreemptOthers (default_preemption.go:443@v1.37.1); " + properties.DocsPreemption + ", \"preemption logic is triggered for the pending Pod\"; " +
			"comment in evaluate, \"Fetch the latest version of <pod>\" (preemption.go:101@v1.37.1)",
		Groups: notOfCycles,
		Lies:   []string{"waits for victims that it does not have", "preempts while its victims terminate there", "preempts for a pod that is bound"},
		Check:  of(eligibleAsTold),
	}, {
		Name:    preemptsAllowed,
		Promise: "the node that is preempted on and the victims there are an answer that the documented algorithm allows",
		Source:  properties.DocsPreemption + "; as the property " + properties.Differential,
		Groups:  notOfCycles,
		Lies:    []string{"preempts a pod too many", "preempts on another node", "preempts nothing though that would help"},
		Check:   of(preemptsAllowed),
	}}
}

// judgeCycles holds each cycle against the model. The findings name their properties.
func (l *Life) judgeCycles() []Finding {
	if !l.judged {
		l.judged = true
		for _, c := range account.Cycles(l.Timeline, l.Trace) {
			if c.Stale() {
				l.cycles = append(l.cycles, Finding{Property: triedAsTold, Pod: model.Key(c.Pod), Kind: "stale", Entry: c.Began, Detail: fmt.Sprintf(
					"pod %s is tried as it was in version %s, though the scheduler had handled version %s", model.Key(c.Pod), c.Pod.ResourceVersion, c.Told.ResourceVersion)})
			}
			if c.Result.What == timeline.Decided && c.Namesakes() {
				continue // a victim is told by its name
			}
			if f := (judge{c, l.Release()}).finding(); f != nil {
				l.cycles = append(l.cycles, *f)
			}
		}
	}
	return slices.Clone(l.cycles)
}

// judge holds a cycle against the model of a release.
type judge struct {
	*account.Cycle
	release release.Release
}

// finding is how the cycle is not as the model allows; nil if it is.
func (c judge) finding() *Finding {
	v := c.verdict()
	if v.admitted && !v.otherNomination {
		return nil
	}
	f := &Finding{Property: v.property, Pod: model.Key(c.Pod), Kind: v.kind, Entry: c.Ended,
		Detail: fmt.Sprintf("in a cycle of pod %s, at %.3fs, %s", model.Key(c.Pod), c.Result.At.Seconds(), v.detail)}
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
	quirks := quirksOf(c.release)
	all := c.verdict(quirks...)
	if !all.admitted {
		return nil
	}
	explains := func(quirks []release.Quirk) bool {
		v := c.verdict(quirks...)
		return v.admitted && v.otherNomination == all.otherNomination
	}
	for _, q := range leastOf(quirks, explains) {
		ids = append(ids, string(q))
	}
	if all.otherNomination {
		ids = append(ids, known.SecondPreemption)
	}
	return ids
}

// ofClusters are the findings that change which clusters the cycles of a scheduler are about.
var ofClusters = []release.Quirk{known.DeletedStays, known.BoundPreempts, known.NamesakePreempts, known.LateDeletion, known.NominationOutlives, known.CycleCutShort}

// quirksOf are the quirks of a release, and those of ofClusters that it has.
func quirksOf(r release.Release) []release.Quirk {
	quirks := ledger.QuirksOf(r)
	for _, q := range ofClusters {
		if e, _ := ledger.LookUp(string(q)); r.In(e.Releases) {
			quirks = append(quirks, q)
		}
	}
	return quirks
}

// rulesWith are the rules of a release with some of quirksOf, and what these are of the clusters.
func rulesWith(r release.Release, quirks []release.Quirk) (*answers.Rules, account.Bugs) {
	bugs := account.Bugs{
		PortsForgotten:     slices.Contains(quirks, release.HostPortsForgotten),
		DeletedStay:        slices.Contains(quirks, known.DeletedStays),
		BoundPreempt:       slices.Contains(quirks, known.BoundPreempts),
		NamesakePreempts:   slices.Contains(quirks, known.NamesakePreempts),
		LateStay:           slices.Contains(quirks, known.LateDeletion),
		NominationOutlives: slices.Contains(quirks, known.NominationOutlives),
		LeftBehind:         slices.Contains(quirks, known.CycleCutShort),
	}
	rules := r.Rules()
	if quirks = slices.DeleteFunc(slices.Clone(quirks), func(q release.Quirk) bool { return slices.Contains(ofClusters, q) }); len(quirks) > 0 {
		rules = release.With(rules, quirks...)
	}
	return rules, bugs
}

// rulesIn are the rules in a state of a cycle.
func rulesIn(s *account.State, rules *answers.Rules) *answers.Rules {
	if s.Units == nil {
		return rules
	}
	rules = rules.Clone()
	rules.Units = s.Units
	return rules
}

// leastOf drops the quirks without which the others still explain something.
func leastOf(quirks []release.Quirk, explain func([]release.Quirk) bool) []release.Quirk {
	for i := 0; i < len(quirks); {
		if fewer := slices.Delete(slices.Clone(quirks), i, i+1); explain(fewer) {
			quirks = fewer
		} else {
			i++
		}
	}
	return quirks
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
	rules, bugs := rulesWith(c.release, quirks)
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
			if property == fitsAsTold && c.Result.What == timeline.Fits && fitsAlone(c.Cycle, s.Cluster, rules) {
				v.property, v.kind = keepsNominated, "takes nominated room"
			}
		}
		first = false
		if property != "" {
			return true
		}
		// It is no excuse for a second preemption that a status says nothing yet.
		v.otherNomination = !s.Own && v.property == eligibleAsTold && v.kind == kindPreempts
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
		o.CycleError = e.Text
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
			return eligibleAsTold, kindBound, fmt.Sprintf("it %s, though it is bound, by the version of it that the scheduler has looked up", did(e))
		case waits && set.Eligible.OK:
			return eligibleAsTold, kindWaits, fmt.Sprintf("it does not preempt (%s), though it may", e.Text)
		case !waits && !set.Eligible.OK:
			return eligibleAsTold, kindPreempts, fmt.Sprintf("it %s, though %s", did(e), set.Eligible.Reason)
		}
	}
	dis := set.Admits(o)
	switch {
	case dis == nil || dis.Undecided:
		return "", "", ""
	case dis.Stage == model.StageFilter:
		return fitsAsTold, dis.Kind, fmt.Sprintf("it %s. The model wants: %s", did(e), want(dis, set))
	}
	if exact, _ := set.Exact(); !exact {
		return "", "", ""
	}
	return preemptsAllowed, dis.Kind, fmt.Sprintf("it %s. The model wants: %s", did(e), dis.Want)
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
