package podgroups

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// pass is what placing the members one after another came to.
type pass struct {
	podgroup.Pass
	failure string // why it ends in an error, or ""
	// postFilter is why preemption is not even asked, if it would not be for any of the members tried: see
	// model.Decision.PostFilterError.
	postFilter string
}

// admitsPass: each member is tried once, beside those placed before it, where a pod would be, and the members of a group after one
// another; and all are, unless there can be enough no more.
func (s *Set) admitsPass(stage model.Stage, tries []model.MemberTry, gone []*unit.Unit) (*pass, *answers.Disagreement) {
	f := &follower{Set: s, stage: stage, tries: tries, gone: gone}
	p := &pass{Pass: s.Place(f), failure: f.failure}
	switch {
	case f.dis != nil:
		return nil, f.dis
	case len(f.tries) > 0 && f.failure == "":
		return nil, disagree(stage, "", "tries", "nobody", f.tries[0].Pod)
	case !f.asked:
		p.postFilter = f.postFilter
	}
	return p, nil
}

// follower places members as was observed, as long as it is allowed.
type follower struct {
	*Set
	stage      model.Stage
	tries      []model.MemberTry // that are left
	gone       []*unit.Unit
	dis        *answers.Disagreement
	failure    string
	postFilter string
	asked      bool
}

// next is the first of those that hold the member that is tried next; -1 if none does, which is a disagreement if there are enough.
func (f *follower) next(n int, holds func(i int, pod string) bool, enough bool, left func() []string) int {
	if f.dis == nil && len(f.tries) > 0 {
		for i := range n {
			if holds(i, f.tries[0].Pod) {
				return i
			}
		}
	}
	if enough && f.dis == nil {
		got := "nobody"
		if len(f.tries) > 0 {
			got = f.tries[0].Pod
		}
		f.dis = disagree(f.stage, "", "tries", left(), got)
	}
	return -1
}

// Member implements podgroup.Placer.
func (f *follower) Member(left []*v1.Pod, enough bool) int {
	return f.next(len(left), func(i int, pod string) bool { return model.Key(left[i]) == pod }, enough, func() []string { return keys(left) })
}

// Group implements podgroup.Placer. Of groups in which nobody has to be tried it is not seen when it is their turn.
func (f *follower) Group(left []*podgroup.Tree, enough bool) int {
	members := func(t *podgroup.Tree) (all []*v1.Pod) {
		for _, m := range f.Members {
			if t.Has(m) {
				all = append(all, m)
			}
		}
		return all
	}
	holds := func(i int, pod string) bool { return slices.Contains(keys(members(left[i])), pod) }
	if len(f.tries) == 0 || !slices.ContainsFunc(left, func(t *podgroup.Tree) bool { return slices.Contains(keys(members(t)), f.tries[0].Pod) }) {
		if silent := slices.IndexFunc(left, f.isSilent); silent >= 0 {
			return silent
		}
	}
	return f.next(len(left), holds, enough, func() (names []string) {
		for _, t := range left {
			names = append(names, keys(members(t))...)
		}
		return names
	})
}

// isSilent tells whether no member of a group has to be tried.
func (f *follower) isSilent(t *podgroup.Tree) bool {
	if len(t.Members) > 0 {
		return !f.Enough(f.Cycle, t, len(t.Members))
	}
	return !f.Enough(f.Cycle, t, len(t.Groups)) || !slices.ContainsFunc(t.Groups, func(g *podgroup.Tree) bool { return !f.isSilent(g) })
}

// Place implements podgroup.Placer.
func (f *follower) Place(member *v1.Pod, placed []podgroup.Placement) (node string, ok bool) {
	try := f.tries[0]
	f.tries = f.tries[1:]
	d, err := answers.Of(f.CycleOf(f.OfPods, f.World(f.Cycle, member, placed, f.gone), placed, f.gone, f.gone), f.rules)
	if err != nil {
		f.dis = &answers.Disagreement{Stage: f.stage, Kind: "group: left to chance", Want: err.Error(), Undecided: true}
		return "", false
	}
	if f.dis = d.AdmitsFilters(&model.Observation{Filters: try.Filters, ScheduledTo: try.Node, CycleError: try.Error}); f.dis != nil {
		f.dis.Stage, f.dis.Kind, f.dis.Want = f.stage, "group: "+f.dis.Kind, try.Pod+": "+f.dis.Want
		return "", false
	}
	if f.postFilter = d.PostFilterError; d.PostFilterError == "" {
		f.asked = true
	}
	if len(d.Errors) > 0 {
		f.failure = try.Error
		return "", false
	}
	return try.Node, true
}

// admitsPlaced: units are preempted for the members that should be, those of each group in the order in which they were placed. Which
// group comes first is left open. It returns them in the order observed.
func (s *Set) admitsPlaced(got []string, want []podgroup.Placement) ([]podgroup.Placement, *answers.Disagreement) {
	var names []string
	for _, at := range want {
		names = append(names, model.Key(at.Pod))
	}
	var inOrder []podgroup.Placement
	for _, name := range got {
		if at := slices.Index(names, name); at >= 0 {
			inOrder = append(inOrder, want[at])
		}
	}
	of := func(group *podgroup.Tree, all []podgroup.Placement) []podgroup.Placement {
		return slices.DeleteFunc(slices.Clone(all), func(at podgroup.Placement) bool { return !slices.Contains(group.Members, at.Pod) })
	}
	otherwise := func(group *podgroup.Tree) bool { return !slices.Equal(of(group, inOrder), of(group, want)) }
	if len(inOrder) != len(got) || slices.ContainsFunc(s.Root.Leaves(), otherwise) {
		return nil, disagree(model.StagePlacement, "", "placed", names, got)
	}
	return inOrder, nil
}
