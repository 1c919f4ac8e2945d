package podgroups

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// passes are what placing the members one after another came to, in each domain.
type passes struct {
	all     []podgroup.Scheduled
	failure string // why it ends in an error, or ""
	// postFilter is why preemption is not even asked, if it would not be for any of the members tried: see
	// model.Decision.PostFilterError.
	postFilter string
}

// admitsPass: in each domain, each member is tried once, beside those placed before it, where a pod would be, and the members of a
// group after one another; and all are, unless there can be enough no more.
func (s *Set) admitsPass(stage model.Stage, tries []model.MemberTry, gone []*unit.Unit) (*passes, *answers.Disagreement) {
	p, asked := &passes{}, false
	left := s.Topology(s.Cycle)
	for len(left) > 0 {
		domain := 0
		if len(tries) > 0 {
			domain = slices.IndexFunc(left, func(d podgroup.TopologyDomain) bool { return d.Name == tries[0].Domain })
		}
		if domain < 0 {
			return nil, disagree(stage, "", "tries the domains", left, tries[0].Domain)
		}
		n := 0
		for n < len(tries) && tries[n].Domain == left[domain].Name {
			n++
		}
		f := &follower{Set: s, stage: stage, tries: tries[:n], gone: gone, domain: left[domain]}
		p.all, p.failure = append(p.all, podgroup.Scheduled{TopologyDomain: f.domain, Pass: s.Place(f)}), f.failure
		switch {
		case f.dis != nil:
			return nil, f.dis
		case len(f.tries) > 0 && f.failure == "":
			return nil, disagree(stage, "", "tries", "nobody", f.tries[0].Pod)
		case f.failure != "":
			return p, nil
		case !f.asked:
			p.postFilter = f.postFilter
		}
		asked = asked || f.asked
		tries, left = tries[n:], slices.Delete(left, domain, domain+1)
	}
	if len(tries) > 0 {
		return nil, disagree(stage, "", "tries", "nobody", tries[0].Pod)
	}
	if asked {
		p.postFilter = ""
	}
	if enough := p.enough(); len(enough) > 1 {
		p.failure = s.Compare(s.Cycle, enough, gone)
	}
	return p, nil
}

// enough are the domains in which enough members are scheduled.
func (p *passes) enough() []podgroup.Scheduled {
	return slices.DeleteFunc(slices.Clone(p.all), func(d podgroup.Scheduled) bool { return !d.Enough })
}

// taken is the pass in which enough members are scheduled, placed so: which of several such domains is taken is left
// open. If none of them is placed so, it is the first of them. ok is false if there are none.
func (p *passes) taken(so func(p podgroup.Pass) bool) (pass podgroup.Pass, ok bool) {
	enough := p.enough()
	if len(enough) == 0 {
		return pass, false
	}
	return enough[max(0, slices.IndexFunc(enough, func(d podgroup.Scheduled) bool { return so(d.Pass) }))].Pass, true
}

// first is the pass that came first.
func (p *passes) first() (first podgroup.Pass) {
	if len(p.all) > 0 {
		first = p.all[0].Pass
	}
	return first
}

// follower places members as was observed, as long as it is allowed.
type follower struct {
	*Set
	stage      model.Stage
	tries      []model.MemberTry // that are left
	gone       []*unit.Unit
	domain     podgroup.TopologyDomain
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
	d, err := answers.Of(f.CycleOf(f.domain.Only(f.OfPods), f.domain.Seen(f.World(f.Cycle, member, placed, f.gone)), placed, f.gone, f.gone), f.rules)
	if err != nil {
		f.dis = &answers.Disagreement{Stage: f.stage, Kind: "group: left to chance", Want: err.Error(), Undecided: true}
		return "", false
	}
	if try.Node != "" && !f.domain.Has(try.Node) {
		f.dis = disagree(f.stage, try.Node, "topology domain", f.domain.Nodes, try.Pod)
		return "", false
	}
	within := *d
	within.Decision = f.domain.Within(d.Decision)
	if f.dis = within.AdmitsFilters(&model.Observation{Filters: try.Filters, ScheduledTo: try.Node, CycleError: try.Error}); f.dis != nil {
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

// admitsPlaced: units are preempted for the members that should be, where they were placed, those of each group in the order in which they were placed. Which
// group comes first is left open. It returns them in the order observed.
func (s *Set) admitsPlaced(g *model.GroupCycle, want []podgroup.Placement) ([]podgroup.Placement, *answers.Disagreement) {
	names, got := placements(want), placedTo(g)
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
