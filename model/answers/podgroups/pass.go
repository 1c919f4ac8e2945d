package podgroups

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/device"
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
	idle       []idle
}

// admitsPass: in each topology domain, each member is tried once, beside those placed before it, where a pod would be, and the members of a
// group after one another; and all are, unless there can be enough no more. failed says that the cycle ended in an error.
func (s *Set) admitsPass(stage model.Stage, tries []model.MemberTry, choices []model.DomainChoice, gone []*unit.Unit, failed bool) (*pass, *answers.Disagreement) {
	f := &follower{Set: s, stage: stage, tries: tries, choices: choices, gone: gone, failed: failed}
	p := &pass{Pass: s.Place(f), failure: f.failure}
	switch {
	case f.dis != nil:
		f.dis.Members = len(f.idle)
		return nil, f.dis
	case f.failure != "":
		return p, nil
	case len(f.tries) > 0:
		return nil, disagree(stage, "", "tries", "nobody", f.tries[0].Pod)
	case len(f.choices) > 0:
		return nil, disagree(stage, "", "chooses a domain", "for nobody", f.choices[0])
	case !f.asked:
		p.postFilter = f.postFilter
	}
	p.idle = f.idle
	return p, nil
}

// follower places members as was observed, as long as it is allowed.
type follower struct {
	*Set
	stage      model.Stage
	tries      []model.MemberTry    // that are left
	choices    []model.DomainChoice // likewise
	gone       []*unit.Unit
	failed     bool // the cycle ended in an error
	dis        *answers.Disagreement
	failure    string
	postFilter string
	asked      bool
	idle       []idle // of the members that were tried
}

// idle are the claims, as namespace/name, of which one may lose its devices so that a member fits: see
// model.Decision.Deallocatable.
type idle struct {
	claims []string
	placed bool // the member fits without
}

// here tells whether the member that is tried next is tried in a topology domain, or in one that is part of it.
func (f *follower) here(in podgroup.TopologyDomain) bool {
	path := in.Path()
	return f.dis == nil && len(f.tries) > 0 && len(f.tries[0].Domains) >= len(path) && slices.Equal(f.tries[0].Domains[:len(path)], path)
}

// next is the first of those that hold the member that is tried next; -1 if none does, which is a disagreement if there are enough.
func (f *follower) next(in podgroup.TopologyDomain, n int, holds func(i int, pod string) bool, enough bool, left func() []string) int {
	if f.here(in) {
		for i := range n {
			if holds(i, f.tries[0].Pod) {
				return i
			}
		}
	}
	if enough && f.dis == nil {
		got := "nobody"
		if len(f.tries) > 0 {
			got = strings.Join(append(slices.Clone(f.tries[0].Domains), f.tries[0].Pod), " ")
		}
		f.dis = disagree(f.stage, "", "tries", left(), got)
	}
	return -1
}

// Member implements podgroup.Placer.
func (f *follower) Member(in podgroup.TopologyDomain, left []*v1.Pod, enough bool) int {
	return f.next(in, len(left), func(i int, pod string) bool {
		return model.Key(left[i]) == pod && len(f.tries[0].Domains) == len(in.Path())
	}, enough, func() []string { return keys(left) })
}

// Group implements podgroup.Placer. Of groups in which nobody has to be tried it is not seen when it is their turn: one that ends
// the cycle is the last.
func (f *follower) Group(in podgroup.TopologyDomain, left []*podgroup.Tree, enough bool) int {
	members := func(t *podgroup.Tree) (all []*v1.Pod) {
		for _, m := range f.Members {
			if t.Has(m) {
				all = append(all, m)
			}
		}
		return all
	}
	holds := func(i int, pod string) bool { return slices.Contains(keys(members(left[i])), pod) }
	if enough && (!f.here(in) || !slices.ContainsFunc(left, func(t *podgroup.Tree) bool { return slices.Contains(keys(members(t)), f.tries[0].Pod) })) {
		for _, ends := range []bool{f.failed && len(f.tries) == 0, false} {
			if next := slices.IndexFunc(left, func(t *podgroup.Tree) bool {
				silent, fails := f.isSilent(in, t)
				return silent && !fails && !ends || fails && ends
			}); next >= 0 {
				return next
			}
		}
	}
	return f.next(in, len(left), holds, enough, func() (names []string) {
		for _, t := range left {
			names = append(names, keys(members(t))...)
		}
		return names
	})
}

// isSilent tells whether no member of a group has to be tried in a topology domain, and whether it may end the cycle.
func (f *follower) isSilent(in podgroup.TopologyDomain, t *podgroup.Tree) (silent, fails bool) {
	domains, failure := f.Topology(f.Cycle, t, in)
	switch {
	case failure != "" || len(domains) == 0:
		return true, failure != ""
	case len(t.Members) > 0:
		return !f.Enough(f.Cycle, t, len(t.Members)), false
	case !f.Enough(f.Cycle, t, len(t.Groups)):
		return true, false
	}
	silent = true
	for _, domain := range domains {
		for _, g := range t.Groups {
			is, ends := f.isSilent(domain, g)
			silent, fails = silent && is, fails || ends
		}
	}
	return silent, fails
}

// Take implements podgroup.Placer. It is seen which of several domains is taken.
func (f *follower) Take(in podgroup.TopologyDomain, t *podgroup.Tree, among []podgroup.Scheduled) (taken int, ok bool) {
	if f.dis != nil || len(among) == 1 {
		return 0, f.dis == nil
	}
	if f.failure = f.Compare(f.Cycle, among, f.gone); f.failure != "" {
		return 0, false
	}
	var names []string
	for _, d := range among {
		names = append(names, d.Name)
	}
	if len(f.choices) == 0 {
		f.dis = disagree(f.stage, "", "chooses a domain", names, "nothing")
		return 0, false
	}
	choice := f.choices[0]
	f.choices = f.choices[1:]
	if taken = slices.Index(names, choice.Domain); taken < 0 || choice.Group != t.Key || !slices.Equal(choice.Within, in.Path()) {
		f.dis = disagree(f.stage, "", "chooses a domain", fmt.Sprintf("for %s within %v one of %v", t.Key, in.Path(), names), choice)
		return 0, false
	}
	return taken, true
}

// Ends implements podgroup.Placer.
func (f *follower) Ends(failure string) { f.failure = failure }

// Place implements podgroup.Placer.
func (f *follower) Place(in podgroup.TopologyDomain, member *v1.Pod, placed []podgroup.Placement) (at podgroup.Placement, ok bool) {
	try := f.tries[0]
	f.tries = f.tries[1:]
	if try.Node != "" && !in.Has(try.Node) {
		f.dis = disagree(f.stage, try.Node, "topology domain", in.Nodes, try.Pod)
		return at, false
	}
	at = podgroup.Placement{Pod: member, Node: try.Node}
	var err error
	if at.Devices, err = podgroup.Read(try.Devices); err != nil {
		f.dis = disagree(f.stage, try.Node, "devices", "allocations", err)
		return at, false
	}
	var d *answers.Set
	for i, cy := range f.told {
		set, dis := f.judge(cy, in, try, at, placed)
		if d == nil || dis == nil {
			d, f.dis = set, dis
		}
		if dis == nil || i == 0 && dis.Undecided {
			break
		}
	}
	if f.dis != nil {
		return at, false
	}
	if f.postFilter = d.PostFilterError; d.PostFilterError == "" {
		f.asked = true
	}
	if len(d.Errors) > 0 {
		f.failure = try.Error
		return at, false
	}
	f.idle = append(f.idle, idle{d.InTheWay(), at.Node != ""})
	return at, true
}

// judge compares how a member was tried with what is allowed as the cycle may have been told.
func (f *follower) judge(cy *podgroup.Cycle, in podgroup.TopologyDomain, try model.MemberTry, at podgroup.Placement, placed []podgroup.Placement) (*answers.Set, *answers.Disagreement) {
	trial := cy.CycleOf(in.Only(f.OfPods), in.Seen(cy.World(cy, at.Pod, placed, f.gone)), placed, f.gone, f.gone)
	d, err := answers.Of(trial, f.rules)
	if err == nil && slices.ContainsFunc(placed, func(at podgroup.Placement) bool { return len(at.Devices) > 0 }) {
		err = unmodelledDevices(trial)
	}
	if err != nil {
		return nil, &answers.Disagreement{Stage: f.stage, Kind: "group: left to chance", Want: err.Error(), Undecided: true}
	}
	within := *d
	within.Decision = in.Within(d.Decision)
	if dis := within.AdmitsFilters(&model.Observation{Filters: try.Filters, ScheduledTo: try.Node, CycleError: try.Error}); dis != nil {
		dis.Stage, dis.Kind, dis.Want = f.stage, "group: "+dis.Kind, try.Pod+": "+dis.Want
		return d, dis
	}
	if at.Node != "" {
		if wrong := cy.Devices(cy, trial, at); wrong != "" {
			return d, disagree(f.stage, at.Node, "devices", try.Pod+" has what its claims ask for", wrong)
		}
	}
	return d, nil
}

// unmodelledDevices is what is not modelled of devices in the cluster of a member, as those before it have left it; nil if all is.
func unmodelledDevices(cy *model.Cycle) error {
	var u model.Unmodelled
	device.DynamicResources{}.Unmodelled(cy.Snapshot, u.Add)
	if len(u) == 0 {
		return nil
	}
	return u
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
	otherwise := func(group *podgroup.Tree) bool {
		return !slices.EqualFunc(of(group, inOrder), of(group, want), podgroup.Placement.Is)
	}
	if len(inOrder) != len(got) || slices.ContainsFunc(s.Root.Leaves(), otherwise) {
		return nil, disagree(model.StagePlacement, "", "placed", names, got)
	}
	return inOrder, nil
}
