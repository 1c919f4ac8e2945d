package cycles

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
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// OfGroups holds each cycle of a pod group against the model of a release.
func OfGroups(t *timeline.Timeline, trace *timeline.Trace, r release.Release) (all []Broken) {
	judged := map[string]int{} // by group
	for _, g := range account.GroupCycles(t, trace) {
		if judged[g.Group]++; g.Namesakes() || trace.Endless != "" && judged[g.Group] > enough {
			continue
		}
		if b := (groupJudge{g, r, callFails(trace, g), goes(trace, g), twice(trace, g)}).broken(); b != nil {
			all = append(all, *b)
		}
	}
	return all
}

// groupJudge holds the cycle of a group against the model of a release.
type groupJudge struct {
	*account.GroupCycle
	release release.Release
	// cut: a call of its preemption failed within it, so that it ended in an error after it was decided who goes.
	cut bool
	// goes: the scheduler is told within it that the group, or one of its pods' groups, is gone, so that it may end in an error: nothing is promised to pods whose group does not exist
	// (docs: concepts/scheduling-eviction/gang-scheduling).
	goes bool
	// twice are the members that may be in the queue, too, as the finding failed-binding-cuts-group-cycle has it.
	twice []string
}

func twice(trace *timeline.Trace, g *account.GroupCycle) []string {
	return slices.DeleteFunc(keysOf(g.Members), func(m string) bool { return !together.QueuedBesides(trace, m, g.Began) })
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

// goes tells whether the scheduler is told that the group, or that of a member, is gone before anything else is tried.
func goes(trace *timeline.Trace, g *account.GroupCycle) bool {
	for _, e := range trace.Entries[g.Began+1:] {
		switch {
		case e.What == timeline.Popped && e.Group == "":
			return false
		case e.What == timeline.Handled && e.Text == "deleted" && (e.Preemptor() == g.Group || slices.ContainsFunc(g.Members, func(p *v1.Pod) bool { return together.GroupOf(p) == e.Preemptor() })):
			return true
		}
	}
	return false
}

// broken is how the cycle is not as the model allows; nil if it is.
func (g groupJudge) broken() *Broken {
	dis := g.disagrees()
	if dis == nil {
		return nil
	}
	f := &Broken{known.Broken{Property: GroupGoesAsTold, Pod: model.Key(g.Members[0]), Node: dis.Node, Kind: dis.Kind, Entry: g.Ended},
		fmt.Sprintf("in the cycle of %s, at its %s stage, the model wants %s; what came was %s", model.GroupTitle(g.Group), dis.Stage, dis.Want, dis.Got)}
	explains := func(quirks []release.Quirk) bool { return g.disagrees(quirks...) == nil }
	if quirks := QuirksOf(g.release); explains(quirks) {
		for _, q := range LeastOf(quirks, explains) {
			f.Known = append(f.Known, string(q))
		}
	}
	return f
}

// disagrees looks for a state in which the documented rules, with some quirks, allow what was seen. If there is none, it
// tells what they do not allow in the likeliest; nil if that is not known.
func (g groupJudge) disagrees(quirks ...release.Quirk) (dis *answers.Disagreement) {
	rules, bugs := RulesWith(g.release, quirks)
	if bugs.LeftBehind {
		for _, some := range subsets(g.twice) { // whether each of them counts is not sure
			if dis := g.disagreesBy(release.WithTwice(rules, some), bugs); dis == nil {
				return nil
			}
		}
	}
	return g.disagreesBy(rules, bugs)
}

// mostAtOnce is of how many members all subsets are looked at.
const mostAtOnce = 4

// subsets are those of some members, but for the empty one; of many only all.
func subsets(members []string) (all [][]string) {
	if len(members) > mostAtOnce {
		return [][]string{members}
	}
	for mask := 1<<len(members) - 1; mask > 0; mask-- {
		var some []string
		for i, m := range members {
			if mask&(1<<i) != 0 {
				some = append(some, m)
			}
		}
		all = append(all, some)
	}
	return all
}

// disagreesBy is disagrees by some rules, in the states that some bugs of the scheduler lead to.
func (g groupJudge) disagreesBy(rules *answers.Rules, bugs account.Bugs) (dis *answers.Disagreement) {
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
	dis := set.AdmitsCourse(seen, g.Binds)
	if dis == nil || dis.Undecided || g.goes && dis.Stage == model.StageActuate && seen.CycleError != "" {
		return nil
	}
	return dis
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
	if g.cut && g.Course.SecondCalls > 0 {
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
