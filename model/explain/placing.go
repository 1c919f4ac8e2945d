package explain

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// pass is what placing the members one after another came to, in the domains that are taken of all.
type pass struct {
	podgroup.Pass
	tries   []MemberFit
	failure string
	domains []DomainFit // nil if there is no constraint
}

// place is where members are placed.
type place struct {
	podgroup.TopologyDomain
	again bool // after all that may be preempted is gone
}

// pass places the members one after another, in one domain after another.
func (by chosen) pass(s *podgroups.Set, again bool, gone []*unit.Unit) *pass {
	p := &placer{by: by, s: s, again: again, gone: gone, taken: map[string]string{}, enough: map[string]bool{}}
	p.Pass = s.Place(p)
	p.tries = p.within(podgroup.TopologyDomain{}, s.Root)
	if p.failure == "" {
		p.domains = p.domainsOf(podgroup.TopologyDomain{}, s.Root)
	}
	return &p.pass
}

// placer places members as is chosen.
type placer struct {
	pass
	by    chosen
	s     *podgroups.Set
	again bool
	gone  []*unit.Unit
	all   []triedIn
	// taken is the domain that is taken for a group within another domain, and enough are the domains in which a group can be
	// scheduled: both by nameOf.
	taken  map[string]string
	enough map[string]bool
}

// triedIn is a try in a topology domain.
type triedIn struct {
	MemberFit
	in podgroup.TopologyDomain
}

// nameOf names a group within a topology domain.
func nameOf(in podgroup.TopologyDomain, group string) string {
	return strings.Join(append(in.Path(), group), "\n")
}

// Member implements podgroup.Placer.
func (p *placer) Member(in podgroup.TopologyDomain, left []*v1.Pod, enough bool) int {
	next, untried := p.by.member(place{in, p.again}, left)
	if untried && !enough {
		return -1
	}
	return next
}

// Group implements podgroup.Placer: the group of the member that is chosen, of all of them.
func (p *placer) Group(in podgroup.TopologyDomain, left []*podgroup.Tree, enough bool) int {
	var members []*v1.Pod
	for _, g := range left {
		for _, leaf := range g.Leaves() {
			members = append(members, leaf.Members...)
		}
	}
	if len(members) == 0 {
		return 0
	}
	next, untried := p.by.member(place{in, p.again}, members)
	if untried && !enough {
		return -1
	}
	return slices.IndexFunc(left, func(g *podgroup.Tree) bool { return g.Has(members[next]) })
}

// Place implements podgroup.Placer.
func (p *placer) Place(in podgroup.TopologyDomain, member *v1.Pod, before []podgroup.Placement) (at podgroup.Placement, ok bool) {
	trial := p.s.CycleOf(in.Only(p.s.OfPods), in.Seen(p.s.World(p.s.Cycle, member, before, p.gone)), before, p.gone, p.gone)
	d := in.Within(trial.Decide())
	try := MemberFit{Member: member, Fits: d.Fits, Verdicts: d.Verdicts}
	if len(d.Errors) > 0 {
		p.failure = d.Errors[0]
	} else if len(d.Fits) > 0 {
		try.Node = p.by.node(place{in, p.again}, member, d.Fits)
	}
	p.all = append(p.all, triedIn{try, in})
	if at = (podgroup.Placement{Pod: member, Node: try.Node}); at.Node != "" {
		at.Devices = p.by.devices(place{in, p.again}, trial, at)
	}
	return at, p.failure == ""
}

// Take implements podgroup.Placer.
func (p *placer) Take(in podgroup.TopologyDomain, t *podgroup.Tree, among []podgroup.Scheduled) (taken int, ok bool) {
	for _, d := range among {
		p.enough[nameOf(d.TopologyDomain, t.Key)] = true
	}
	if len(among) > 1 {
		taken, p.failure = p.by.domain(place{in, p.again}, t.Key, among), p.s.Compare(p.s.Cycle, among, p.gone)
	}
	p.taken[nameOf(in, t.Key)] = among[taken].Name
	return taken, p.failure == ""
}

// Ends implements podgroup.Placer.
func (p *placer) Ends(failure string) { p.failure = failure }

// within are the tries of members of a group in a domain, in order. Of the domains that are part of it only those count that are
// taken, or the first ones of which none is.
func (p *placer) within(in podgroup.TopologyDomain, t *podgroup.Tree) (tries []MemberFit) {
	for _, try := range p.all {
		if p.counts(try, in, t) {
			tries = append(tries, try.MemberFit)
		}
	}
	return tries
}

// counts tells whether a try is one of these.
func (p *placer) counts(try triedIn, in podgroup.TopologyDomain, t *podgroup.Tree) bool {
	if !t.Has(try.Member) {
		return false
	}
	domains, _ := p.s.Topology(p.s.Cycle, t, in)
	return slices.ContainsFunc(domains, func(d podgroup.TopologyDomain) bool { return p.isShown(in, t, d, domains) && p.countsIn(try, d, t) })
}

// countsIn is counts, of one of a group's own domains.
func (p *placer) countsIn(try triedIn, d podgroup.TopologyDomain, t *podgroup.Tree) bool {
	if slices.Contains(t.Members, try.Member) {
		return slices.Equal(try.in.Path(), d.Path())
	}
	return slices.ContainsFunc(t.Groups, func(g *podgroup.Tree) bool { return p.counts(try, d, g) })
}

// isShown tells whether one of the domains of a group is taken, or the first one of which none is.
func (p *placer) isShown(in podgroup.TopologyDomain, t *podgroup.Tree, d podgroup.TopologyDomain, all []podgroup.TopologyDomain) bool {
	if taken, is := p.taken[nameOf(in, t.Key)]; is && d.Group == t.Key {
		return d.Name == taken
	}
	return d.Name == all[0].Name
}

// domainsOf are the domains in which a group is tried within another domain, and then those in which the groups below it are.
func (p *placer) domainsOf(in podgroup.TopologyDomain, t *podgroup.Tree) (all []DomainFit) {
	domains, _ := p.s.Topology(p.s.Cycle, t, in)
	var below []DomainFit
	for _, d := range domains {
		fit := DomainFit{TopologyDomain: d, Enough: p.enough[nameOf(d, t.Key)], Shown: p.isShown(in, t, d, domains)}
		for _, try := range p.all {
			if p.countsIn(try, d, t) {
				fit.Tries = append(fit.Tries, try.MemberFit)
			}
		}
		if d.Group == t.Key {
			all = append(all, fit)
		}
		for _, g := range t.Groups {
			if fit.Shown {
				below = append(below, p.domainsOf(d, g)...)
			}
		}
	}
	return append(all, below...)
}
