package explanation

import (
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Outcome says in a few words what the scheduler did. Where it may take any of
// several nodes, all of them are named, so that the words do not depend on
// chance.
func Outcome(r *properties.Result) (outcome, decidedBy string) {
	o := r.Observation
	switch {
	case o.Crash != nil:
		return string(o.Crash.Kind), ""
	case o.CycleError != "":
		return "error", ""
	case r.Group != nil:
		return outcomeOfGroup(r), ""
	case o.ScheduledTo != "" && !slices.Contains(r.Decision.Fits, o.ScheduledTo):
		return "fits on " + o.ScheduledTo, "" // which should not be
	case o.ScheduledTo != "":
		return "fits on " + words.AnyOf(r.Decision.Fits), ""
	case o.Eligible != nil && !o.Eligible.OK:
		return "not eligible", ""
	case o.Pick == nil:
		return "no help", ""
	}
	decidedBy = explain.DecidedBy(r.Decision, o)
	nodes := []string{o.Pick.Node}
	if decidedBy == model.Tie && r.Decision.Orders() <= maxOrders {
		if all := nodesOf(r.Decision.Choices()); len(all) > 0 { // none, if the model says that nobody goes
			nodes = all
		}
	}
	return fmt.Sprintf("preempts %d on %s", len(o.Pick.Victims), words.AnyOf(nodes)), decidedBy
}

// IsLeftToChance tells whether the scheduler may do something else with the cluster the next time: it throws a
// dice between equal nodes, and topology spread goes through a map when units are given back.
func IsLeftToChance(r *properties.Result) bool {
	switch o := r.Observation; {
	case o == nil || o.Crash != nil:
		return false
	case r.Group != nil:
		course := explain.Follow(r.Group, o)
		return slices.ContainsFunc(slices.Concat(course.First, course.Second), func(m explain.MemberFit) bool {
			return len(m.Fits) > 1 || len(configuration.Spread(r.Cluster.Settings, m.Member)) > 0
		})
	default:
		return r.Decision != nil && explain.DecidedBy(r.Decision, o) == model.Tie
	}
}

// outcomeOfGroup is that of a pod group.
func outcomeOfGroup(r *properties.Result) string {
	s, g := r.Group, r.Observation.Group
	waiting := len(s.Members)
	switch bound := Bound(r.Observation); {
	case g.Waits != "" && s.Waits(s.Cycle):
		waitsFor := "members"
		if len(s.Root.Groups) > 0 {
			waitsFor = "groups of it"
		}
		return fmt.Sprintf("waits for %s: %d of %d exist", waitsFor, s.Root.There(), s.Root.Least)
	case g.Waits != "":
		return "waits" // which should not be
	case len(bound) == waiting:
		return "fits on " + nodesOfPods(bound)
	case len(bound) > 0:
		return fmt.Sprintf("%d of %d members fit on %s", len(bound), waiting, nodesOfPods(bound))
	case g.Eligible != nil && !g.Eligible.OK:
		return "not eligible"
	case g.Ongoing:
		return "waits for victims"
	case g.Code == "Error":
		return "error"
	case len(g.Placed) == 0:
		return "no help"
	}
	var nominated []OnNode
	for _, m := range g.Placed {
		nominated = append(nominated, OnNode{m, g.Members[m].NominatedNode})
	}
	victims := "nobody"
	if len(g.Victims) > 0 {
		victims = fmt.Sprint(len(g.Victims))
	}
	return fmt.Sprintf("preempts %s for %s on %s", victims, words.Plural(len(nominated), "member"), nodesOfPods(nominated))
}

// nodesOfPods names the nodes of pods, as far as that is short.
func nodesOfPods(pods []OnNode) string {
	var nodes []string
	for _, p := range pods {
		nodes = append(nodes, p.Node)
	}
	slices.Sort(nodes)
	return words.Some(slices.Compact(nodes), shownNodes)
}

func nodesOf(choices []answers.Choice) []string {
	var nodes []string
	for _, c := range choices {
		nodes = append(nodes, c.Node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// maxOrders bounds answers.Set.Orders: beyond it, working out all allowed answers
// takes longer than a few seconds.
const maxOrders = 50_000
