// Package podgroups holds what a scheduler did with a pod group against the steps of package podgroup.
//
// Which of several nodes a member takes is left open, and so is which of equally important units
// is given back first. Both are taken as observed: that they are allowed is checked, and that everything else
// follows from them.
package podgroups

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

// Set is what the rules allow for the cycle of a pod group.
type Set struct {
	*podgroup.Cycle
	rules *answers.Rules
	// told are the cycle itself, and as it is with the nominations of others that it may have been told of meanwhile.
	told []*podgroup.Cycle
}

// Decide makes a cluster ready whose preemptor is a pod group. The error is a model.Unmodelled if something
// in it could matter that the model does not cover.
func Decide(c *model.Cluster, rules *answers.Rules) (*Set, error) {
	rules = rules.In(c)
	if missing := append(unmodelled.InGroup(c), rules.UnmodelledIn(c)...); len(missing) > 0 {
		return nil, missing
	}
	cy := rules.OfGroups.NewCycle(c, rules.Algorithm)
	return &Set{Cycle: cy, rules: rules, told: []*podgroup.Cycle{cy}}, nil
}

// Admits compares an observation with what is allowed, step by step, and returns the first disagreement, or nil.
func (s *Set) Admits(o *model.Observation) *answers.Disagreement {
	e, dis := s.admitsCourse(o)
	if dis != nil {
		return dis
	}
	return s.admitsEnd(o, e)
}

// AdmitsCourse is Admits for who only sees the cycle itself, which members are about to be bound, as "default/a to n", and not what
// reaches the API.
func (s *Set) AdmitsCourse(o *model.Observation, binds []string) *answers.Disagreement {
	e, dis := s.admitsCourse(o)
	if dis == nil && o.Group.Waits == "" {
		dis = s.admitsOutcome(o, e, binds)
	}
	return dis
}

// admitsCourse is how far the cycle came.
func (s *Set) admitsCourse(o *model.Observation) (e end, dis *answers.Disagreement) {
	g := o.Group
	switch waits := s.Waits(s.Cycle); {
	case waits != (g.Waits != ""):
		return e, disagree(model.StageFilter, "", "waits for members", waits, g.Waits != "")
	case waits:
		return e, nil
	}
	fails := func(reasons ...string) (end, *answers.Disagreement) {
		e.Failed = true
		return e, s.admitsError(o, reasons...)
	}
	if reasons := s.Fails(s.Cycle); len(reasons) > 0 {
		return fails(reasons...)
	}
	first, dis := s.admitsPass(model.StageFilter, g.First, g.FirstChoices, nil, o.CycleError != "")
	switch {
	case dis != nil:
		return e, dis
	case first.failure != "":
		return fails(first.failure)
	}
	for _, try := range g.First {
		e.Asked = append(e.Asked, try.Pod)
	}
	if e.First = first.Tried; first.Enough {
		e.binds, e.First = true, first.Placed
		return e, nil
	}
	possible, failure := s.Domain(s.Cycle)
	if s.AsksOfDevices() {
		failure, e.idle = cmp.Or(first.postFilter, failure), first.idle
	}
	if failure != "" {
		return fails(failure)
	}
	if dis := s.admitsEligible(o, possible); dis != nil {
		return e, dis
	}
	e.waits = g.Ongoing
	if g.SecondCalls == 0 {
		return e, nil
	}
	second, dis := s.admitsPass(model.StagePlacement, g.Second, g.SecondChoices, possible, o.CycleError != "")
	switch {
	case dis != nil:
		return e, dis
	case second.failure != "":
		return fails(second.failure)
	}
	if e.Preempts = second.Enough; !e.Preempts {
		return e, nil
	}
	if e.Second, dis = s.admitsPlaced(g, s.Helped(s.Cycle, second.Pass)); dis != nil {
		return e, dis
	}
	e.victims, dis = s.admitsReprieve(g, possible, e.Second)
	return e, dis
}

// admitsEligible compares whether preemption is tried: the group is placed once more, unless it may not preempt, waits for
// its victims, or has nobody to preempt.
func (s *Set) admitsEligible(o *model.Observation, possible []*unit.Unit) *answers.Disagreement {
	g := o.Group
	eligible, ongoing, tries := s.Eligible(s.Cycle), s.Ongoing(s.Cycle), min(len(possible), 1)
	switch {
	case g.Eligible == nil && o.CycleError != "":
		return disagree(model.StageEligible, "", "ends in an error", "no error", o.CycleError)
	case g.Eligible == nil || g.Eligible.OK != eligible.OK:
		return disagree(model.StageEligible, "", "eligible", eligible, observed(g.Eligible))
	case !eligible.OK:
		ongoing, tries = false, 0
	case ongoing:
		tries = 0
	}
	switch {
	case ongoing != g.Ongoing:
		return disagree(model.StageEligible, "", "waits for victims", ongoing, g.Ongoing)
	case tries != g.SecondCalls:
		return disagree(model.StagePlacement, "", "times that the group is placed anew", tries, g.SecondCalls)
	}
	return nil
}

func observed(e *model.Eligibility) any {
	if e == nil {
		return "preemption is not tried"
	}
	return *e
}

func disagree(stage model.Stage, node, kind string, want, got any) *answers.Disagreement {
	return &answers.Disagreement{Stage: stage, Node: node, Kind: "group: " + kind, Want: fmt.Sprintf("%s: %v", kind, want), Got: fmt.Sprint(got)}
}

// admitsError: the cycle ends in an error that has such words. Nobody is preempted, bound or nominated then.
func (s *Set) admitsError(o *model.Observation, reasons ...string) *answers.Disagreement {
	if !slices.ContainsFunc(reasons, func(words string) bool { return strings.Contains(o.CycleError, words) }) {
		return disagree(model.StageFilter, "", "ends in an error", strings.Join(reasons, " or "), fmt.Sprintf("%q", o.CycleError))
	}
	return nil
}

func keys(pods []*v1.Pod) (names []string) {
	for _, p := range pods {
		names = append(names, model.Key(p))
	}
	return names
}

// admitsReprieve: each unit is tried once, in an order that is allowed, and is given back if all placed members still
// fit; the others are the victims.
func (s *Set) admitsReprieve(g *model.GroupCycle, possible []*unit.Unit, placed []podgroup.Placement) ([]*unit.Unit, *answers.Disagreement) {
	var tried, victims []*unit.Unit
	gone := slices.Clone(possible)
	for _, try := range g.Tried {
		at := slices.IndexFunc(possible, func(u *unit.Unit) bool { return slices.Equal(podsOf(u), try.Pods) })
		if at < 0 || slices.Contains(tried, possible[at]) {
			return nil, disagree(model.StageReprieve, "", "gives back", unitsOf(possible), try.Pods)
		}
		u := possible[at]
		tried = append(tried, u)
		without := slices.DeleteFunc(slices.Clone(gone), func(other *unit.Unit) bool { return other == u })
		if dis := s.admitsTry(try, placed, possible, without); dis != nil {
			return nil, dis
		}
		if try.GivenBack {
			gone = without
			continue
		}
		victims = append(victims, u)
	}
	if len(tried) < len(possible) {
		return nil, disagree(model.StageReprieve, "", "gives back", unitsOf(possible), unitsOf(tried))
	}
	if dis := s.admitsOrder(g, tried, victims); dis != nil {
		return nil, dis
	}
	return victims, s.admitsVictims(g, victims)
}

// admitsTry: a unit is given back if all placed members still fit, and is not for the first of them that does not.
func (s *Set) admitsTry(try model.UnitTry, placed []podgroup.Placement, emptied, gone []*unit.Unit) (dis *answers.Disagreement) {
	var refusals []podgroup.Refusal
	for _, cy := range s.told {
		refusals = append(refusals, s.Refused(cy, placed, emptied, gone, 0)...)
	}
	for _, refusal := range refusals {
		var told *answers.Disagreement
		switch v := refusal.Verdict; {
		case (v == nil) != try.GivenBack:
			told = disagree(model.StageReprieve, "", "unit given back", fmt.Sprintf("%v %v", try.Pods, v == nil), because(try))
		case v == nil:
			return nil
		default:
			at := placed[refusal.At]
			if try.Failed == model.Key(at.Pod) && try.Node == at.Node && try.Verdict.Plugin == v.Plugin {
				return nil
			}
			told = disagree(model.StageReprieve, at.Node, "unit refused", fmt.Sprintf("%v for %s on %s by %s", try.Pods, model.Key(at.Pod), at.Node, v), because(try))
		}
		dis = cmp.Or(dis, told)
	}
	return dis
}

func because(try model.UnitTry) string {
	if try.GivenBack {
		return "given back"
	}
	return fmt.Sprintf("not, for %s on %s by %s", try.Failed, try.Node, try.Verdict)
}

// podsOf are the keys of a unit's pods, sorted.
func podsOf(u *unit.Unit) []string {
	names := make([]string, len(u.Pods))
	for i, p := range u.Pods {
		names[i] = p.Key
	}
	slices.Sort(names)
	return names
}

func unitsOf(units []*unit.Unit) []string {
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = strings.Join(podsOf(u), "+")
	}
	return names
}

// admitsVictims: they are handed over in order of their units' importance, and each unit whole.
func (s *Set) admitsVictims(g *model.GroupCycle, victims []*unit.Unit) *answers.Disagreement {
	slices.SortStableFunc(victims, s.OfPods.Importance)
	if g.Violations < 0 { // nobody handed them over
		return nil
	}
	got, disruptions := slices.Clone(g.Victims), 0
	groups := s.Cluster.Groups()
	for left := slices.Clone(victims); len(left) > 0; {
		// The first of those that are as important as any.
		next := slices.IndexFunc(left, func(u *unit.Unit) bool {
			return s.OfPods.Importance(left[0], u) == 0 && len(got) >= len(u.Pods) && slices.Equal(slices.Sorted(slices.Values(got[:len(u.Pods)])), podsOf(u))
		})
		if next < 0 {
			return disagree(model.StageReprieve, "", "victims", unitsOf(victims), g.Victims)
		}
		u := left[next]
		if groups.Of(u.Pods[0].Pod) != nil {
			disruptions++
		}
		got, left = got[len(u.Pods):], slices.Delete(left, next, next+1)
	}
	switch {
	case len(got) > 0:
		return disagree(model.StageReprieve, "", "victims", unitsOf(victims), g.Victims)
	case g.Disruptions != disruptions && !slices.ContainsFunc(victims, func(u *unit.Unit) bool { return missesGroup(groups, u) }):
		return disagree(model.StageReprieve, "", "disruptions of groups", disruptions, g.Disruptions)
	}
	return nil
}

// missesGroup tells whether a unit is a pod whose group does not exist: nobody says whether that counts as one.
func missesGroup(groups *unit.Groups, u *unit.Unit) bool {
	return u.Pods[0].Spec.SchedulingGroup != nil && groups.Of(u.Pods[0].Pod) == nil
}
