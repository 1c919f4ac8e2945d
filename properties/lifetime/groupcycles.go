package lifetime

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
)

// groupsGo holds the cycles of pod groups against the model.
func groupsGo() Property {
	return Property{
		Name: "group-goes-as-told",
		Promise: "The cycle of a group is one that the documented algorithm allows, by what the scheduler has been told when it begins: " +
			"where each member is placed, who is bound, whether others are preempted, and which units are given back.",
		Source: "KEP-4671, \"Workload Scheduling Cycle\"; KEP-5710, \"Preemption algorithm\"; doc comment of Snapshot (backend/cache/snapshot.go:82@v1.37.1)",
		Lies: []string{"places a member of a group on a node that is full", "finds no node for a member though one is free", "gives a unit back that is in the way of a group",
			"preempts nobody for a group though that would help", "binds a member of a group that does not fit"},
		Check: func(l *Life) (findings []Finding) {
			for _, g := range account.GroupCycles(l.Timeline, l.Trace) {
				if g.Namesakes() {
					continue
				}
				if f := (groupJudge{g, l.Release(), callFails(l.Trace, g)}).finding(); f != nil {
					findings = append(findings, *f)
				}
			}
			return findings
		},
	}
}

// groupJudge holds the cycle of a group against the model of a release.
type groupJudge struct {
	*account.GroupCycle
	release release.Release
	// broken: a call of its preemption failed within it, so that it ended in an error after it was decided who goes.
	broken bool
}

// callFails tells whether an API call for the group failed before anything else was tried.
func callFails(trace *timeline.Trace, g *account.GroupCycle) bool {
	for _, e := range trace.Entries[g.Began+1:] {
		switch {
		case e.What == timeline.Popped && e.Group == "":
			return false
		case e.What == timeline.Called && e.By == g.Group && e.Error != "":
			return true
		}
	}
	return false
}

// finding is how the cycle is not as the model allows; nil if it is.
func (g groupJudge) finding() *Finding {
	dis := g.disagrees()
	if dis == nil {
		return nil
	}
	f := &Finding{Pod: model.Key(g.Members[0]), Node: dis.Node, Kind: dis.Kind, Entry: g.Ended,
		Detail: fmt.Sprintf("in the cycle of %s, at its %s stage, the model wants %s; what came was %s", model.GroupTitle(g.Group), dis.Stage, dis.Want, dis.Got)}
	explains := func(quirks []release.Quirk) bool { return g.disagrees(quirks...) == nil }
	if quirks := quirksOf(g.release); explains(quirks) {
		for _, q := range leastOf(quirks, explains) {
			f.Known = append(f.Known, string(q))
		}
	}
	return f
}

// disagrees looks for a state in which the documented rules, with some quirks, allow what was seen. If there is none, it
// tells what they do not allow in the likeliest; nil if that is not known.
func (g groupJudge) disagrees(quirks ...release.Quirk) (dis *answers.Disagreement) {
	rules, bugs := rulesWith(g.release, quirks)
	if bugs.LeftBehind && len(g.Twice) > 0 {
		rules = release.WithTwice(rules, g.Twice)
	}
	seen := g.seen()
	first := true
	var sets []*podgroups.Set
	all := g.States(bugs, func(s *account.State) bool {
		set := g.allowed(s.Cluster, rulesIn(s, rules))
		now := g.compare(set, seen)
		if first {
			first, dis = false, now
		}
		if sets = append(sets, set); now == nil {
			dis = nil
		}
		return now != nil
	})
	if !all || dis != nil && g.changes(sets, seen) {
		return nil
	}
	return dis
}

// changes tells whether what was seen is allowed if nominations changed in the course of the cycle.
func (g groupJudge) changes(sets []*podgroups.Set, seen *model.Observation) bool {
	var told [][]*v1.Pod
	for _, s := range sets {
		waiting := slices.DeleteFunc(slices.Clone(s.Cluster.Pods), func(p *v1.Pod) bool { return p.Spec.NodeName != "" || p.Status.NominatedNodeName == "" })
		if !slices.ContainsFunc(told, func(other []*v1.Pod) bool { return slices.Equal(nominations(other), nominations(waiting)) }) {
			told = append(told, waiting)
		}
	}
	if len(told) < 2 {
		return false
	}
	return slices.ContainsFunc(sets, func(s *podgroups.Set) bool {
		s.Told(told...)
		return g.compare(s, seen) == nil
	})
}

// nominations are pods, and where they are nominated to.
func nominations(pods []*v1.Pod) (all []string) {
	for _, p := range pods {
		all = append(all, model.Key(p)+" to "+p.Status.NominatedNodeName)
	}
	slices.Sort(all)
	return all
}

// allowed is what the rules allow of a cluster; nil if they say nothing about it.
func (g groupJudge) allowed(c *model.Cluster, rules *answers.Rules) *podgroups.Set {
	if c.Group(g.Group) == nil || !slices.Equal(g.waiting(c.Members()), keysOf(g.Members)) { // or it is not of these that the scheduler knows
		return nil
	}
	set, err := podgroups.Decide(c, rules)
	if err != nil || set.Waits(set.Cycle) {
		return nil
	}
	return set
}

// compare compares what was seen with what is allowed; nil if it is, or if that is not known.
func (g groupJudge) compare(set *podgroups.Set, seen *model.Observation) *answers.Disagreement {
	if set == nil {
		return nil
	}
	if dis := set.AdmitsCourse(seen, g.Binds); dis != nil && !dis.Undecided {
		return dis
	}
	return nil
}

// waiting are the names of those that are on no node, sorted.
func (g groupJudge) waiting(members []*v1.Pod) []string {
	return keysOf(slices.DeleteFunc(slices.Clone(members), func(p *v1.Pod) bool { return p.Spec.NodeName != "" }))
}

func keysOf(pods []*v1.Pod) (names []string) {
	for _, p := range pods {
		names = append(names, model.Key(p))
	}
	slices.Sort(names)
	return names
}

// seen is what was seen of the cycle.
func (g groupJudge) seen() *model.Observation {
	o := &model.Observation{Group: g.Course}
	for _, name := range slices.Sorted(maps.Keys(g.Course.Members)) {
		if m := g.Course.Members[name]; m.Code == "Error" {
			o.CycleError = cmp.Or(o.CycleError, m.Message)
		}
	}
	if g.broken && g.Course.SecondCalls > 0 {
		course := *g.Course
		o.Group, o.CycleError, course.Violations = &course, "", -1
		for _, u := range course.Tried {
			if !u.GivenBack {
				course.Victims = append(course.Victims, u.Pods...)
			}
		}
	}
	return o
}
