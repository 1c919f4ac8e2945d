package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// Course is the cycle of a pod group as the rules allow it, with everything that they leave open chosen:
// in which order members are tried, which node each takes, and which of equally important units is
// given back first.
type Course struct {
	// Waits: fewer pods exist than have to be scheduled. The later fields are then empty.
	Waits bool
	// Fails is why the cycle ends in an error, in words of its text, or "".
	Fails string
	// First are the members that are tried in the cluster as it is, in order. Binds: enough of them fit. Those of a group of
	// a composite one that is not scheduled have a Node too, and leave it again.
	First []MemberFit
	Binds bool
	// FirstDomains are the topology domains in which they are tried, and SecondDomains the same for Second: First and Second are of
	// those that are taken, or of the first ones. Of a group within another they are within what is taken for the other.
	FirstDomains, SecondDomains []DomainFit
	// Eligible is nil if preemption is not tried. Awaited are the victims of a preemption before that the group
	// waits for.
	Eligible *model.Eligibility
	Awaited  []*filter.Pod
	// Second are the members that are tried once all that may be preempted is gone. Preempts: enough fit then.
	Second   []MemberFit
	Preempts bool
	// Units are what may be preempted, in the order in which it is given back.
	Units []UnitFate
	// Violations is how many pods are evicted against a budget.
	Violations int
	// Victims are the pods that are preempted, in order of their units' importance.
	Victims []*filter.Pod
	// Actuation is what preemption writes; nil if nobody is preempted for.
	Actuation *model.Actuation
	// Nominated is the node to which each member that is not bound is nominated in the end, by model.Key.
	Nominated map[string]string
}

// DomainFit tells whether enough members of a group fit in a topology domain. Shown: it is taken, or the first of those of which none is.
type DomainFit struct {
	podgroup.TopologyDomain
	Tries         []MemberFit
	Enough, Shown bool
}

// MemberFit is where a member may go beside those before it.
type MemberFit struct {
	Member *v1.Pod
	// Node is the one that it takes of those in Fits, or "".
	Node string
	Fits []string
	// Verdicts say why the other nodes do not fit.
	Verdicts map[string]*model.Verdict
}

// UnitFate is what becomes of a unit that may be preempted.
type UnitFate struct {
	*unit.Unit
	// Refused is nil if the unit is given back. Else it says which verdict a placed member, Pod, has on its Node with
	// the unit there.
	Refused *model.Verdict
	podgroup.Placement
	// Violates names budgets that evicting it violates.
	Violates []string
}

// Follow is the course that makes the choices of an observation where the rules allow them, and the first ones
// elsewhere.
func Follow(s *podgroups.Set, o *model.Observation) *Course {
	g := &model.GroupCycle{}
	if o != nil && o.Group != nil {
		g = o.Group
	}
	tries := func(again bool) []model.MemberTry {
		if again {
			return g.Second
		}
		return g.First
	}
	at := func(in place, member *v1.Pod) int {
		return slices.IndexFunc(tries(in.again), func(t model.MemberTry) bool {
			return t.Pod == model.Key(member) && slices.Equal(t.Domains, in.Path())
		})
	}
	return chosen{
		domain: func(in place, group string, enough []podgroup.Scheduled) int {
			choices := g.FirstChoices
			if in.again {
				choices = g.SecondChoices
			}
			i := slices.IndexFunc(choices, func(c model.DomainChoice) bool { return c.Group == group && slices.Equal(c.Within, in.Path()) })
			if i < 0 {
				return 0
			}
			return max(0, slices.IndexFunc(enough, func(d podgroup.Scheduled) bool { return d.Name == choices[i].Domain }))
		},
		member: func(in place, left []*v1.Pod) (next int, untried bool) {
			best := -1
			for i, m := range left {
				if now := at(in, m); now >= 0 && (best < 0 || now < at(in, left[best])) {
					best = i
				}
			}
			return max(best, 0), best < 0
		},
		node: func(in place, member *v1.Pod, fits []string) string {
			if i := at(in, member); i >= 0 && slices.Contains(fits, tries(in.again)[i].Node) {
				return tries(in.again)[i].Node
			}
			return fits[0]
		},
		devices: func(in place, trial *model.Cycle, placed podgroup.Placement) map[string]*resourcev1.AllocationResult {
			if i := at(in, placed.Pod); i >= 0 && tries(in.again)[i].Node == placed.Node {
				if placed.Devices, _ = podgroup.Read(tries(in.again)[i].Devices); s.Devices(s.Cycle, trial, placed) == "" {
					return placed.Devices
				}
			}
			ways, _ := podgroup.Allocations(trial, placed.Node, 1)
			return ways[0]
		},
		order: func(possible []*unit.Unit) []*unit.Unit {
			if order := s.OrderOf(g, possible); order != nil {
				return order
			}
			return inOrder(s, possible, func(int) int { return 0 })
		},
	}.course(s)
}

// Courses are all that the rules allow; exact is false if there are more than so many ways to them. Of ways that place the members alike, in
// the same order, one is followed to its end.
func Courses(s *podgroups.Set, most int) (all []*Course, exact bool) {
	var taken, of []int // at each choice, in turn
	exact = true
	followed := map[string][]int{} // the choices that led to what was placed, by keyOf
	for range most {
		turn := 0
		choose := func(n int) int {
			if turn == len(taken) {
				taken, of = append(taken, 0), append(of, n)
			}
			turn++
			return taken[turn-1]
		}
		course := chosen{
			known: func(passes ...*pass) bool {
				key := keyOf(passes)
				if by, is := followed[key]; is {
					return !slices.Equal(by, taken[:turn])
				}
				followed[key] = slices.Clone(taken[:turn])
				return false
			},
			domain: func(_ place, _ string, enough []podgroup.Scheduled) int { return choose(len(enough)) },
			member: func(_ place, left []*v1.Pod) (int, bool) { return choose(len(left)), true },
			node:   func(_ place, _ *v1.Pod, fits []string) string { return fits[choose(len(fits))] },
			devices: func(_ place, trial *model.Cycle, at podgroup.Placement) map[string]*resourcev1.AllocationResult {
				ways, all := podgroup.Allocations(trial, at.Node, most)
				exact = exact && all
				return ways[choose(len(ways))]
			},
			order: func(possible []*unit.Unit) []*unit.Unit { return inOrder(s, possible, choose) },
		}.course(s)
		if course != nil {
			all = append(all, course)
		}
		for len(taken) > 0 && taken[len(taken)-1]+1 == of[len(of)-1] {
			taken, of = taken[:len(taken)-1], of[:len(of)-1]
		}
		if len(taken) == 0 {
			return all, exact
		}
		taken[len(taken)-1]++
	}
	return all, false
}

// chosen makes the choices.
type chosen struct {
	// domain is the one that is taken of those in which enough members of a group fit.
	domain func(in place, group string, enough []podgroup.Scheduled) int
	// member is the next one to be tried; untried says that it need not be if there cannot be enough any more.
	member func(in place, left []*v1.Pod) (next int, untried bool)
	node   func(in place, member *v1.Pod, fits []string) string
	// devices are what the claims of a member that is placed in a cluster get.
	devices func(in place, trial *model.Cycle, at podgroup.Placement) map[string]*resourcev1.AllocationResult
	// order is from the most important unit down.
	order func(possible []*unit.Unit) []*unit.Unit
	// known tells whether passes that place the members alike were reached by other choices before.
	known func(passes ...*pass) bool
}

// inOrder are units from the most important one down; of several that are equally important choose says which is next.
func inOrder(s *podgroups.Set, possible []*unit.Unit, choose func(n int) int) (order []*unit.Unit) {
	left := slices.Clone(possible)
	slices.SortStableFunc(left, s.OfPods.Importance)
	for len(left) > 0 {
		equal := 1
		for equal < len(left) && s.OfPods.Importance(left[0], left[equal]) == 0 {
			equal++
		}
		next := choose(equal)
		order = append(order, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return order
}

// course is the course that is chosen; nil if it is known before its end.
func (by chosen) course(s *podgroups.Set) *Course {
	c := &Course{}
	if c.Waits = s.Waits(s.Cycle); c.Waits {
		return c
	}
	ends := podgroup.Course{}
	defer func() { c.Nominated = nominated(s, c, ends) }()
	if c.Fails = strings.Join(s.Fails(s.Cycle), " or "); c.Fails != "" {
		ends.Failed = true
		return c
	}
	first := by.pass(s, false, nil)
	c.First, c.FirstDomains, c.Fails, c.Binds = first.tries, first.domains, first.failure, first.Enough
	if ends.First, ends.Failed = first.Tried, c.Fails != ""; c.Binds || ends.Failed {
		return c
	} else if by.isKnown(first) {
		return nil
	}
	possible, _ := s.Domain(s.Cycle)
	eligible := s.Eligible(s.Cycle)
	if c.Eligible = &eligible; !eligible.OK {
		return c
	}
	if s.Ongoing(s.Cycle) {
		c.Awaited = awaited(s)
		return c
	}
	if len(possible) == 0 {
		return c
	}
	second := by.pass(s, true, possible)
	c.Second, c.SecondDomains, c.Fails, c.Preempts = second.tries, second.domains, second.failure, second.Enough
	if ends.Failed = c.Fails != ""; !c.Preempts {
		return c
	} else if by.isKnown(first, second) {
		return nil
	}
	ends.Second, ends.Preempts = s.Helped(s.Cycle, second.Pass), true
	victims := by.reprieve(s, c, possible, ends.Second)
	c.Actuation = s.Actuate(s.Cycle, ends.Second, victims)
	return c
}

func (by chosen) isKnown(passes ...*pass) bool { return by.known != nil && by.known(passes...) }

// keyOf are the members that were placed in passes, in order, their nodes and devices, as text.
func keyOf(passes []*pass) string {
	var text strings.Builder
	for _, p := range passes {
		fmt.Fprintln(&text, p.Enough, p.failure)
		for _, placed := range [][]podgroup.Placement{p.Placed, p.Tried} {
			for _, at := range placed {
				fmt.Fprintln(&text, model.Key(at.Pod), at.Node)
				for _, claim := range slices.Sorted(maps.Keys(at.Devices)) {
					fmt.Fprintln(&text, claim, at.Devices[claim].String())
				}
			}
			fmt.Fprintln(&text)
		}
	}
	return text.String()
}

// reprieve gives units back, and returns those that are not.
func (by chosen) reprieve(s *podgroups.Set, c *Course, possible []*unit.Unit, at []podgroup.Placement) (victims []*unit.Unit) {
	order := by.order(possible)
	violations, violated := s.First.Violations(order, nil)
	gone := slices.Clone(possible)
	for _, i := range s.OfPods.ReprieveOrder(violations) {
		fate := UnitFate{Unit: order[i]}
		for _, p := range order[i].Pods {
			if b, violates := violated[p]; violates {
				if name := model.Key(s.First.Budgets[b]); !slices.Contains(fate.Violates, name) {
					fate.Violates = append(fate.Violates, name)
				}
			}
		}
		without := slices.DeleteFunc(slices.Clone(gone), func(u *unit.Unit) bool { return u == order[i] })
		if r := s.Refused(s.Cycle, at, possible, without, 0)[0]; r.Verdict == nil {
			gone = without
		} else {
			fate.Refused, fate.Placement = r.Verdict, at[r.At]
			c.Violations += violations[i]
		}
		c.Units = append(c.Units, fate)
	}
	for _, u := range order {
		if slices.Contains(gone, u) {
			victims, c.Victims = append(victims, u), append(c.Victims, u.Pods...)
		}
	}
	return victims
}

// awaited are the pods that a group waits for (podgroup.Ongoing).
func awaited(s *podgroups.Set) (pods []*filter.Pod) {
	for _, n := range s.First.Nodes {
		if slices.ContainsFunc(s.Members, func(m *v1.Pod) bool { return m.Status.NominatedNodeName == n.Name }) {
			for _, p := range n.Pods {
				if p.Priority < s.Priority() && s.OfPods.Awaited(p) {
					pods = append(pods, p)
				}
			}
		}
	}
	return pods
}

// nominated is what becomes of the members that are not bound.
func nominated(s *podgroups.Set, c *Course, ends podgroup.Course) map[string]string {
	all := map[string]string{}
	for _, m := range s.Members {
		node := s.Nominate(s.Cycle, m, ends)
		if len(c.Awaited) > 0 {
			node = m.Status.NominatedNodeName
		}
		if node != "" && !c.Binds {
			all[model.Key(m)] = node
		}
	}
	return all
}
