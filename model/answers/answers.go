// Package answers works out every answer that the algorithm of package model
// allows, and compares what a scheduler did with them.
//
// The algorithm leaves choices open: which of several equally important pods goes
// first, in which order the budgets are listed, at which node the dry runs begin,
// and which of several equally good nodes is taken. A Set holds the answers for
// all of these choices.
package answers

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

// Rules are what a scheduler is held to: an algorithm, and what of it shows.
type Rules struct {
	*model.Algorithm
	// OfGroups are the steps of pod groups as preemptors.
	OfGroups *podgroup.Algorithm
	// Release is the version of Kubernetes whose algorithm this is.
	Release string
	// Notices, if it is not nil, is what of a cluster the rules take notice of.
	Notices func(*model.Cluster) *model.Cluster
	// Then change a Decision, in turn, once it is made.
	Then []func(*model.Decision)
	// Seen, if it is not nil, is an observation without what the Rules pass over.
	Seen func(*model.Observation) *model.Observation
	// AbsentUnreported: nodes without a status of their own are not reported.
	AbsentUnreported bool
	// DryRunStatusUnreported: a dry run does not tell whether what fails is
	// resolvable.
	DryRunStatusUnreported bool
	// Unmodelled reports what of a cluster is not modelled, besides what
	// unmodelled.In does.
	Unmodelled []func(c *model.Cluster, report filter.Report)
	// First, if it is not nil, is what the criteria see of the first victim only: then it matters which of equally
	// important ones that is.
	First func(*filter.Pod) int32
	// Reprieves, if it is not nil, are all outcomes that Reprieve may have with possible victims in an order, where that is left to chance: that
	// of Reprieve first.
	Reprieves Reprieves
	// told are the plugins whose verdicts are not the model's: see Told.
	told []string
	// profile is that of the preemptor in a configuration, nil if there is none, and defaults are the
	// plugins without it.
	profile  *configuration.Profile
	defaults []filter.Plugin
	// searched: which nodes a search came to is known, see Searched.
	searched bool
}

// Documented are the rules of Kubernetes v1.37.1 as it is documented.
func Documented() *Rules {
	return &Rules{Algorithm: model.Documented(), OfGroups: podgroup.Documented(), Release: "v1.37.1"}
}

// Reprieves are outcomes of a dry run, as Algorithm.Reprieve is one.
type Reprieves func(cy *model.Cycle, run *model.DryRunOnNode, possible []*unit.Unit, budgetOrder []int) []*model.Outcome

// Clone is a copy of r whose steps can be replaced.
func (r *Rules) Clone() *Rules {
	out := *r
	algorithm, ofGroups := *r.Algorithm, *r.OfGroups
	out.Algorithm, out.OfGroups = &algorithm, &ofGroups
	return &out
}

// Noticed is what of a cluster the rules take notice of: c itself, unless they say otherwise.
func (r *Rules) Noticed(c *model.Cluster) *model.Cluster {
	if r.Notices == nil {
		return c
	}
	return r.Notices(c)
}

// Set is every answer to a Cluster that the rules allow, with reasons. It is not
// for several goroutines at once.
type Set struct {
	*model.Decision
	rules  *Rules
	worlds []*world
	// budgetOrdersExact is false when there were too many orders of the budget
	// list to try.
	budgetOrdersExact bool
}

// world is what follows from one order of the budget list: it is the same for
// all nodes of a cycle.
type world struct {
	order []int // nil: the cluster's
	runs  map[string]*run
}

// Decide works out what the rules allow for c. c is not changed, and must not be
// until the Set is no longer used. The error is a model.Unmodelled if something in
// c could matter that the model does not cover.
func Decide(c *model.Cluster, rules *Rules) (*Set, error) {
	if missing := unmodelled.Group(c); len(missing) > 0 {
		return nil, missing
	}
	rules = rules.In(c)
	noticed := rules.Noticed(c)
	snapshot := model.NewSnapshot(noticed)
	if missing := rules.unmodelled(c, snapshot); len(missing) > 0 {
		return nil, missing
	}
	return Of(rules.NewCycleOn(noticed, snapshot), rules)
}

// Under decides the same cluster by other rules, which leave no more of it unmodelled.
func (s *Set) Under(rules *Rules) (*Set, error) {
	rules = rules.configured(s.Cycle.Settings, s.Cycle.Preemptor.Pod)
	return Of(s.Cycle.Under(rules.Algorithm), rules)
}

// In are the rules with the plugins that the configuration of c has for its preemptor: r itself, if it
// has no configuration.
func (r *Rules) In(c *model.Cluster) *Rules {
	for _, p := range c.Preemptors() {
		return r.configured(c.Settings, p)
	}
	return r
}

// NeverPreempts tells whether the profile of the preemptor is configured so.
func (s *Set) NeverPreempts() bool {
	return s.rules.profile != nil && !s.rules.profile.Preempts(s.rules.defaults)
}

func (r *Rules) configured(s model.Settings, preemptor *v1.Pod) *Rules {
	profile := configuration.Of(s, preemptor.Spec.SchedulerName)
	if profile == nil || r.profile != nil {
		return r
	}
	out := r.Clone()
	out.profile, out.defaults, out.Plugins = profile, r.Plugins, profile.Plugins(r.Plugins)
	out.PreFilter = profile.PreFilter(r.PreFilter, r.Plugins)
	if !profile.Preempts(r.Plugins) {
		out.Then = append(slices.Clone(r.Then), preemptsNothing)
	}
	return out
}

// DoesNotPreempt is why a pod may not preempt whose profile does not.
const DoesNotPreempt = "not eligible: its profile has no DefaultPreemption at postFilter"

// preemptsNothing is what a profile without DefaultPreemption makes of a decision.
func preemptsNothing(d *model.Decision) {
	if d.Eligible != nil {
		d.Eligible, d.PostFilterError, d.PotentialNodes, d.NumCandidates = &model.Eligibility{Reason: DoesNotPreempt}, "", nil, 0
	}
}

// Of is Decide for a cycle that is made ready and wholly modelled. The error is a model.Unmodelled if the scheduler
// draws lots, or if which nodes it came to makes a difference and is not known.
func Of(cy *model.Cycle, rules *Rules) (*Set, error) {
	d := cy.Decide()
	undecided := unmodelled.Undecided(cy)
	if !rules.searched {
		undecided = append(undecided, unmodelled.Unseen(d)...)
	}
	if len(undecided) > 0 {
		return nil, undecided
	}
	for _, then := range rules.Then {
		then(d)
	}
	s := &Set{Decision: d, rules: rules}
	if d.Eligible != nil && d.Eligible.OK {
		s.worlds = []*world{s.newWorld(nil)}
	}
	return s, nil
}

// unmodelled is what of a cluster is not modelled; snapshot is that of what the rules take notice of.
func (r *Rules) unmodelled(c *model.Cluster, snapshot *filter.Snapshot) model.Unmodelled {
	u := unmodelled.In(r.Noticed(c), snapshot)
	u = slices.DeleteFunc(u, func(f model.UnmodelledField) bool { return f.By != "" && slices.Contains(r.told, f.By) })
	for _, unmodelled := range r.Unmodelled {
		unmodelled(c, u.Add)
	}
	return append(u, r.UnmodelledIn(c)...)
}

// UnmodelledIn is what of the configuration of c is not modelled, given that the rules are those of In.
func (r *Rules) UnmodelledIn(c *model.Cluster) (u model.Unmodelled) {
	if r.profile == nil {
		return nil
	}
	for _, p := range c.Preemptors() {
		for _, f := range r.profile.Unmodelled(c, p, r.defaults) {
			if !slices.Contains(u, f) {
				u = append(u, f)
			}
		}
	}
	return u
}

func (s *Set) newWorld(order []int) *world {
	w := &world{order: order, runs: make(map[string]*run, len(s.PotentialNodes))}
	for _, name := range s.PotentialNodes {
		w.runs[name] = &run{DryRunOnNode: s.Cycle.DryRun(s.Cycle, s.Cycle.Node(name), order), first: s.rules.First, reprieves: s.rules.Reprieves}
		w.runs[name].begin(s.Cycle)
	}
	return w
}

// unbegun are the nodes whose dry runs fail before they begin, which does not show.
func (w *world) unbegun() (nodes []string) {
	for name, run := range w.runs {
		if !run.Begun() {
			nodes = append(nodes, name)
		}
	}
	return nodes
}

// allWorlds are the worlds of all orders of the budget list that matter.
func (s *Set) allWorlds() []*world {
	if len(s.worlds) == 1 && !s.budgetOrdersExact {
		orders, exact := budgetOrders(s.Cycle)
		if !exact {
			return s.worlds
		}
		s.budgetOrdersExact = true
		for _, order := range orders[1:] {
			s.worlds = append(s.worlds, s.newWorld(order))
		}
	}
	return s.worlds
}

// Exact tells whether the Set holds all allowed answers. It does not if a node has
// so many equally important, distinguishable pods that they can be arranged in more
// than 5,040 ways (7 such pods), or if overlapping budgets can be listed in more
// than 120 orders; why says which.
func (s *Set) Exact() (exact bool, why string) {
	if s.worlds == nil {
		return true, ""
	}
	for _, w := range s.allWorlds() {
		for _, name := range s.PotentialNodes {
			w.runs[name].enumerate(s.Cycle, w.order)
			if !w.runs[name].exact {
				return false, "node " + name + " has too many equally important pods to try all their orders"
			}
		}
	}
	if !s.budgetOrdersExact {
		return false, "too many overlapping budgets to try all orders of their list"
	}
	return true, ""
}

// Orders is how often Choices and Exact have to work out the victims on a node:
// for each order of the budgets, each order of equally important pods there.
func (s *Set) Orders() int {
	if len(s.worlds) == 0 {
		return 0
	}
	perWorld := 0
	for _, run := range s.worlds[0].runs {
		if orders := run.orders(s.Cycle); orders <= maxOrders {
			perWorld += orders
		} else {
			perWorld++
		}
	}
	orders, _ := budgetOrders(s.Cycle)
	return perWorld * len(orders)
}

// run is that of the potential node with the budgets in the cluster's order, or
// nil.
func (s *Set) run(node string) *run {
	if len(s.worlds) == 0 {
		return nil
	}
	return s.worlds[0].runs[node]
}

// DryRunOn says what preemption on a potential node comes to, with the budgets
// in the cluster's order: every outcome that the order of equally important pods
// can lead to, the one of the cluster's own order first, or why it does not help.
func (s *Set) DryRunOn(node string) (outcomes []*model.Outcome, failed *model.Verdict) {
	run := s.run(node)
	if run == nil {
		return nil, nil
	}
	run.enumerate(s.Cycle, s.worlds[0].order)
	return run.outcomes, run.Failed
}

// Listed is what DryRunOn has first, without working out the other outcomes.
func (s *Set) Listed(node string) (outcome *model.Outcome, failed *model.Verdict) {
	run := s.run(node)
	if run == nil {
		return nil, nil
	}
	return run.Listed, run.Failed
}

// Run is the dry run on a potential node with equally important pods, and the
// budgets, in the cluster's order; nil if there is none.
func (s *Set) Run(node string) *model.DryRunOnNode {
	if run := s.run(node); run != nil {
		return run.DryRunOnNode
	}
	return nil
}

// Preempts is what preempting with the given choice changes in the cluster.
func (s *Set) Preempts(c Choice) *model.Actuation {
	return s.actuate(c.Node, c.Outcome.Pods)
}

func (s *Set) actuate(node string, victims []*filter.Pod) *model.Actuation {
	return s.Cycle.Actuate(s.Cycle, s.Cycle.Node(node), victims)
}

// Gives tells whether an observation is the answer c, up to pods that can stand
// in for each other.
func (s *Set) Gives(c Choice, o *model.Observation) bool {
	if o.Pick == nil || o.Pick.Node != c.Node {
		return false
	}
	only := *s.worlds[0].runs[c.Node]
	only.outcomes = []*model.Outcome{c.Outcome}
	got := only.find(s.Cycle, model.DryRun{Victims: o.Pick.Victims, Violations: o.Pick.Violations})
	return got != nil && s.rules.sameFirst(c.Outcome, got)
}

// sameFirst tells whether the criteria see the same of the first victims.
func (r *Rules) sameFirst(a, b *model.Outcome) bool {
	return r.First == nil || len(a.Pods) == 0 || len(b.Pods) == 0 || r.First(a.Pods[0]) == r.First(b.Pods[0])
}
