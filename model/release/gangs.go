package release

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// skippedStaySkipped: a plugin that had nothing to say of a member while all that may be preempted was gone is
// not asked when units are given back. It looked at the pods on nodes only, not at those nominated to them.
func skippedStaySkipped(r *answers.Rules) {
	r.OfGroups.Refused = func(cy *podgroup.Cycle, placed []podgroup.Placement, emptied, gone []*unit.Unit, from int) []podgroup.Refusal {
		for i := from; i < len(placed); i++ {
			c := podgroup.World(cy, placed[i].Pod, placed[:i], emptied)
			c.Pods = slices.DeleteFunc(c.Pods, func(p *v1.Pod) bool { return p.Spec.NodeName == "" })
			without := cy.OfPods.NewCycle(c)
			asked := *cy.OfPods
			asked.Plugins = slices.DeleteFunc(slices.Clone(asked.Plugins), func(p filter.Plugin) bool { return hasNothingToSay(without, p.Name()) })
			if v := podgroup.FitsAt(cy.CycleOf(&asked, cy.Again(cy, placed[i].Pod, placed[:i], gone), placed[:i], emptied, gone), placed[i].Node); v != nil {
				return []podgroup.Refusal{{At: i, Verdict: v}}
			}
		}
		return []podgroup.Refusal{{At: -1}}
	}
}

// hasNothingToSay tells whether a plugin answers Skip in PreFilter.
func hasNothingToSay(cy *model.Cycle, plugin string) bool {
	st := cy.State(plugin)
	if plugin == (filter.InterPodAffinity{}).Name() {
		affinity, _ := filter.As[*filter.InterPodAffinityState](st)
		return affinitySkips(cy.Snapshot, affinity)
	}
	return st == nil
}

// leastOfTwoDomains: when units are given back on several nodes, of all domains just two are kept up to date as having
// the least pods, so that a pod may be taken to fit beside a domain with less. Which two is left to chance.
func leastOfTwoDomains(r *answers.Rules) {
	r.Reprieves = reprievesByTwo
	refused := r.OfGroups.Refused
	lenient := func(cy *podgroup.Cycle) { cy.OfPods = withTwoDomains(cy.OfPods) }
	var all func(cy *podgroup.Cycle, placed []podgroup.Placement, emptied, gone []*unit.Unit, from int) []podgroup.Refusal
	all = func(cy *podgroup.Cycle, placed []podgroup.Placement, emptied, gone []*unit.Unit, from int) []podgroup.Refusal {
		answers := refused(cy, placed, emptied, gone, from)
		first := answers[0]
		if first.Verdict == nil || first.Verdict.Plugin != spreads {
			return answers
		}
		other := refused(variant.Changed(cy, lenient), placed, emptied, gone, first.At)
		if other[0].At == first.At {
			return append(answers, other...)
		}
		return append(answers, all(cy, placed, emptied, gone, first.At+1)...)
	}
	r.OfGroups.Refused = all
}

// spreads is the plugin that keeps those counts.
const spreads = "PodTopologySpread"

// maxByTwo bounds how many outcomes of a dry run are tried.
const maxByTwo = 1024

// withTwoDomains is an algorithm that is as lenient as that may be. Other bugs may have changed its plugins by then.
func withTwoDomains(a *model.Algorithm) *model.Algorithm {
	return variant.Changed(a, func(a *model.Algorithm) { a.Plugins = variant.On(a.Plugins, spreads, variant.Around(leastOfTwo)) })
}

// reprievesByTwo are the outcomes of a dry run for a pod: wherever it is refused for the counts of domains, and they may be wrong, it may be taken to fit
// as well. They are right as long as only pods of the node come and go.
func reprievesByTwo(cy *model.Cycle, run *model.DryRunOnNode, possible []*unit.Unit, budgetOrder []int) (outcomes []*model.Outcome) {
	if !slices.ContainsFunc(possible, func(u *unit.Unit) bool { return len(u.Elsewhere(run.Node)) > 0 }) {
		return []*model.Outcome{cy.Reprieve(cy, run, possible, budgetOrder)}
	}
	lenient := withTwoDomains(cy.Algorithm)
	var taken []bool // where it may be taken to fit, one after another: whether it is
	for again := true; again && len(outcomes) < maxByTwo; {
		asked := 0
		in := *cy
		in.Algorithm = variant.Changed(cy.Algorithm, func(a *model.Algorithm) {
			fits := a.Fits
			a.Fits = func(world *model.Cycle, n *filter.Node, v filter.View) *model.Verdict {
				refused := fits(world, n, v)
				if refused == nil || refused.Plugin != spreads || fits(world.Under(lenient), n, v) != nil {
					return refused
				}
				if asked++; asked > len(taken) {
					taken = append(taken, false)
				}
				if taken[asked-1] {
					return nil
				}
				return refused
			}
		})
		outcomes = append(outcomes, in.Reprieve(&in, run, possible, budgetOrder))
		// The next one: as with numbers that are counted up, and only as far as it was asked.
		taken = taken[:asked]
		for len(taken) > 0 && taken[len(taken)-1] {
			taken = taken[:len(taken)-1]
		}
		if again = len(taken) > 0; again {
			taken[len(taken)-1] = true
		}
	}
	return outcomes
}

// unknownDomainIsError: where no topology domain has the nodes of all members of a group that run, the cycle ends in an error.
func unknownDomainIsError(r *answers.Rules) {
	topology := r.OfGroups.Topology
	r.OfGroups.Topology = func(cy *podgroup.Cycle, t *podgroup.Tree, in podgroup.TopologyDomain) ([]podgroup.TopologyDomain, string) {
		all, failure := topology(cy, t, in)
		anywhere, _ := topology(cy, t, podgroup.TopologyDomain{})
		if len(t.Running()) > 0 && len(anywhere) == 0 {
			failure = "cannot determine domain for already scheduled pods"
		}
		return all, failure
	}
}

// groupWithoutNodesIsError: where there are no nodes, no PreFilter plugin has run for a pod of a group when the group's preemption is
// tried, and the first plugin finds no state of its own. It does not look for it if the group is in a composite one, or has
// topology constraints while their gate is on.
func groupWithoutNodesIsError(r *answers.Rules) {
	fails := r.OfGroups.Fails
	r.OfGroups.Fails = func(cy *podgroup.Cycle) []string {
		reasons := fails(cy)
		if cy.AsksOfDevices() && len(cy.Cluster.Nodes) == 0 && len(reasons) == 0 {
			reasons = append(reasons, "not found")
		}
		return reasons
	}
}

// preemptsForUnscheduledGroups: what was placed of a group of a composite one, and taken back as that group cannot be
// scheduled, counts when units are given back. It takes room then, but constraints of members of other groups do not see it: these were
// placed without.
func preemptsForUnscheduledGroups(r *answers.Rules) {
	refused := r.OfGroups.Refused
	r.OfGroups.Helped = func(_ *podgroup.Cycle, p podgroup.Pass) []podgroup.Placement { return p.Tried }
	r.OfGroups.Refused = func(cy *podgroup.Cycle, placed []podgroup.Placement, emptied, gone []*unit.Unit, from int) []podgroup.Refusal {
		answers := refused(cy, placed, emptied, gone, from)
		lost := cy.TakenBack(placed)
		if len(lost) == 0 {
			return answers
		}
		unseen := variant.Changed(cy, func(cy *podgroup.Cycle) {
			again := cy.Again
			cy.Algorithm = variant.Changed(cy.Algorithm, func(a *podgroup.Algorithm) {
				a.Again = func(cy *podgroup.Cycle, member *v1.Pod, before []podgroup.Placement, gone []*unit.Unit) *model.Cluster {
					return again(cy, member, slices.DeleteFunc(slices.Clone(before), func(at podgroup.Placement) bool {
						return slices.ContainsFunc(lost, at.Is) && !together(cy, member, at.Pod)
					}), gone)
				}
			})
		})
		return append(answers, refused(unseen, placed, emptied, gone, from)...)
	}
}

// together tells whether two members are of one group that has pods.
func together(cy *podgroup.Cycle, a, b *v1.Pod) bool {
	return slices.ContainsFunc(cy.Root.Leaves(), func(g *podgroup.Tree) bool { return g.Has(a) && g.Has(b) })
}

// groupKeepsLowerNominations: preempting for a group withdraws no nomination, but those to "cluster", as the candidate
// of every group is called: whether there is such a node or not, and by the pods' own priorities.
func groupKeepsLowerNominations(r *answers.Rules) {
	actuate := r.OfGroups.Actuate
	r.OfGroups.Actuate = func(cy *podgroup.Cycle, placed []podgroup.Placement, victims []*unit.Unit) *model.Actuation {
		a := actuate(cy, placed, victims)
		a.Cleared = nil
		if len(a.Deleted) == 0 && cy.Cluster.Settings.AsyncPreemption() { // as for pods (TerminatingVictimsKeepNominations)
			return a
		}
		members := cy.Cluster.Members()
		for _, p := range cy.Cluster.Pods {
			if p.Spec.NodeName == "" && p.Status.NominatedNodeName == "cluster" && cy.Cluster.KnowsNomination(p) && model.Priority(p) < cy.Priority() && !slices.Contains(members, p) {
				a.Cleared = append(a.Cleared, model.Key(p))
			}
		}
		slices.Sort(a.Cleared)
		return a
	}
}

// membersStayNominated: a member that finds no place keeps its nomination. If nobody is preempted, those that had a
// place at first lose theirs, but not if it is only the composite group above theirs that cannot be scheduled.
func membersStayNominated(r *answers.Rules) {
	nominate := r.OfGroups.Nominate
	r.OfGroups.Nominate = func(cy *podgroup.Cycle, member *v1.Pod, course podgroup.Course) string {
		isIn := func(placed []podgroup.Placement) bool {
			return slices.ContainsFunc(placed, func(at podgroup.Placement) bool { return at.Pod == member })
		}
		withoutNodes := len(cy.Cluster.Nodes) == 0 && slices.Contains(course.Asked, model.Key(member)) // for which it is withdrawn at once
		if withoutNodes || course.Failed || course.Preempts && isIn(course.Second) || !course.Preempts && isIn(course.First) && !onlyAbove(cy, member, course.First) {
			return nominate(cy, member, course)
		}
		return member.Status.NominatedNodeName
	}
}

// onlyAbove tells whether the group of a member could be scheduled with so many placed, so that it is a group above that could not.
func onlyAbove(cy *podgroup.Cycle, member *v1.Pod, placed []podgroup.Placement) bool {
	leaves := cy.Root.Leaves()
	own := leaves[slices.IndexFunc(leaves, func(g *podgroup.Tree) bool { return g.Has(member) })]
	there := 0
	for _, at := range placed {
		if own.Has(at.Pod) {
			there++
		}
	}
	return own != cy.Root && podgroup.Enough(cy, own, there)
}

// ownNominationsCount: a member that is not placed yet counts where it is nominated, as a pod of priority 0 that has
// nothing but its name. When units are given back, those that are placed count there besides.
func ownNominationsCount(r *answers.Rules) {
	world := r.OfGroups.World
	r.OfGroups.World = func(cy *podgroup.Cycle, member *v1.Pod, placed []podgroup.Placement, gone []*unit.Unit) *model.Cluster {
		return withShadows(cy, world(cy, member, placed, gone), func(m *v1.Pod) bool {
			return m != member && !slices.ContainsFunc(placed, func(at podgroup.Placement) bool { return at.Pod == m })
		})
	}
	r.OfGroups.Again = func(cy *podgroup.Cycle, member *v1.Pod, placed []podgroup.Placement, gone []*unit.Unit) *model.Cluster {
		return withShadows(cy, world(cy, member, placed, gone), func(m *v1.Pod) bool { return m != member })
	}
}

// withShadows adds to a cluster what the nominations of some members look like.
func withShadows(cy *podgroup.Cycle, c *model.Cluster, of func(*v1.Pod) bool) *model.Cluster {
	for _, m := range cy.Members {
		if m.Status.NominatedNodeName != "" && of(m) {
			shadow := &v1.Pod{}
			shadow.Namespace, shadow.Name = m.Namespace, m.Name
			shadow.Spec.SchedulerName, shadow.Status.NominatedNodeName = m.Spec.SchedulerName, m.Status.NominatedNodeName
			c.Pods = append(c.Pods, shadow)
		}
	}
	return c
}

// WithTwice are rules as of a scheduler that has some members of a group, by name, in its queue, too, while they are tried: until
// they are placed they count where they are nominated, as any pod does.
func WithTwice(r *answers.Rules, members []string) *answers.Rules {
	r = r.Clone()
	counted := func(in func(*podgroup.Cycle, *v1.Pod, []podgroup.Placement, []*unit.Unit) *model.Cluster) func(*podgroup.Cycle, *v1.Pod, []podgroup.Placement, []*unit.Unit) *model.Cluster {
		return func(cy *podgroup.Cycle, member *v1.Pod, placed []podgroup.Placement, gone []*unit.Unit) *model.Cluster {
			c := in(cy, member, placed, gone)
			for i, p := range c.Pods {
				if p.Spec.NodeName != "" || !slices.Contains(members, model.Key(p)) {
					continue
				}
				if at := slices.IndexFunc(cy.Members, func(m *v1.Pod) bool { return m.UID == p.UID }); at >= 0 {
					c.Pods[i] = cy.Members[at]
				}
			}
			return c
		}
	}
	r.OfGroups.World, r.OfGroups.Again = counted(r.OfGroups.World), counted(r.OfGroups.Again)
	return r
}
