package relation

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
)

// variation is a changed cluster, and how its outcome relates to the one before.
// All of the outcome has to be the same, but for what the fields say.
type variation struct {
	cluster *model.Cluster
	// node and pod give the name of a node, or the key of a pod, of cluster in the
	// original one, "" if it is new, unless it is the same.
	node, pod names
	// better and looser are nodes, by their name in both clusters, on which the
	// outcome may differ. A better one may fit the pod, or be picked, where it
	// did not before, but not the other way round. A looser one has to be a
	// candidate or not as before.
	better, looser map[string]bool
	// fuller are nodes that have less room than before.
	fuller map[string]bool
	// mayPick says that the node of before may be picked in the original cluster,
	// and that of after in the changed one, though they do not tie. Both are
	// given with the pods of the original.
	mayPick func(before, after *outcome) bool
	// also checks what else has to hold, once the dry runs compare.
	also func(c *comparison) []properties.Finding
}

// comparison holds the outcome of a variation against that of the original.
type comparison struct {
	*properties.Subject
	v     *variation
	after *model.Observation
}

// findings compares stage by stage, and reports all differences at the first
// stage that has any: what comes after follows from them.
func (c *comparison) findings() []properties.Finding {
	for _, stage := range []func() (findings []properties.Finding, done bool){c.filters, c.preempts, c.dryRuns, c.others, c.picks, c.actuates} {
		if findings, done := stage(); len(findings) > 0 || done {
			return findings
		}
	}
	return nil
}

// others is what is special about the relation.
func (c *comparison) others() (findings []properties.Finding, done bool) {
	if c.v.also != nil {
		findings = c.v.also(c)
	}
	return findings, false
}

func changed(stage model.Stage, node string, before, after any) []properties.Finding {
	return properties.Found(stage, node, fmt.Sprintf("%v became %v", before, after))
}

// everyNode calls visit with the names, before and after, of each node that is
// in both clusters.
func (c *comparison) everyNode(visit func(before, after string) []properties.Finding) []properties.Finding {
	var findings []properties.Finding
	for _, n := range c.v.cluster.Nodes {
		if before := c.v.node.of(n.Name); before != "" {
			findings = append(findings, visit(before, n.Name)...)
		}
	}
	return findings
}

// maxAllFiltered is up to how many nodes all are filtered, also when a pod fits
// on some (schedule_one.go:53@v1.37.1, minFeasibleNodesToFind).
const maxAllFiltered = 100

// filters compares the verdicts. Once a pod fits somewhere, nodes that PreFilter
// excluded are not reported; so where it fits only once, only reported ones are
// compared, and the node that it is scheduled to.
func (c *comparison) filters() (findings []properties.Finding, done bool) {
	before, after := c.Observation, c.after
	if answers.Cause(before.CycleError) != answers.Cause(after.CycleError) {
		findings = changed(model.StageFilter, "", fmt.Sprintf("error %q", before.CycleError), fmt.Sprintf("error %q", after.CycleError))
		findings[0].Kind = answers.ErrorChanged(before.CycleError, after.CycleError)
		return findings, true
	}
	if before.CycleError != "" {
		return nil, true // which nodes were looked at by then says nothing
	}
	to := after.ScheduledTo
	if before.Filters != nil && after.Filters != nil && (before.ScheduledTo+to == "" || len(c.v.cluster.Nodes) <= maxAllFiltered) {
		findings = c.everyNode(func(was, is string) []properties.Finding {
			b, failedBefore := before.Filters[was]
			a, failedAfter := after.Filters[is]
			switch {
			case failedBefore != failedAfter && (before.ScheduledTo == "") != (to == "") && was != before.ScheduledTo && is != to,
				failedBefore == failedAfter && a.Plugin == b.Plugin && a.Unresolvable == b.Unresolvable,
				c.v.better[is] && !failedAfter,
				c.v.better[is] && failedBefore && a.Plugin == b.Plugin && b.Unresolvable,
				failedBefore && failedAfter && c.rejectedByAnother(is, b, a):
				return nil
			}
			return changed(model.StageFilter, was, fits(b, failedBefore), fits(a, failedAfter))
		})
	}
	switch {
	case len(findings) > 0:
	case (before.ScheduledTo == "") != (to == "") && !c.v.better[to]:
		findings = changed(model.StageFilter, "", fmt.Sprintf("scheduled to %q", before.ScheduledTo), fmt.Sprintf("scheduled to %q", to))
	case to != "" && c.v.node.of(to) == "":
		findings = properties.Found(model.StageFilter, to, "the pod is scheduled to a node on which it cannot run")
	}
	return findings, to != ""
}

// rejectedByAnother tells whether it means nothing that another plugin rejects a node: one from outside comes last, so that where it
// rejects, another one may reject before it once the node has less room, or more.
func (c *comparison) rejectedByAnother(node string, before, after model.Verdict) bool {
	return (c.v.better[node] || c.v.fuller[node]) && (c.IsOutside(before.Plugin) || c.IsOutside(after.Plugin))
}

func fits(v model.Verdict, failed bool) any {
	if failed {
		return v
	}
	return "fits"
}

// preempts compares whether and where preemption is tried.
func (c *comparison) preempts() (findings []properties.Finding, done bool) {
	before, after := c.Observation.Eligible, c.after.Eligible
	if before == nil || after == nil {
		if (before == nil) != (after == nil) {
			return changed(model.StageEligible, "", eligibility(before), eligibility(after)), true
		}
		return nil, false // not asked, or not shown
	}
	if before.OK != after.OK {
		return changed(model.StageEligible, "", eligibility(before), eligibility(after)), true
	}
	return c.everyNode(func(was, is string) []properties.Finding {
		b, a := slices.Contains(c.Observation.PotentialNodes, was), slices.Contains(c.after.PotentialNodes, is)
		if b != a && !(c.v.better[is] && a) {
			return changed(model.StagePotential, was, fmt.Sprintf("potential: %t", b), fmt.Sprintf("potential: %t", a))
		}
		return nil
	}), false
}

func eligibility(e *model.Eligibility) string {
	switch {
	case e == nil:
		return "not asked"
	case e.OK:
		return "eligible"
	default:
		return "not eligible"
	}
}

// dryRuns compares the result of each node that was tried both times.
func (c *comparison) dryRuns() (findings []properties.Finding, done bool) {
	return c.everyNode(func(was, is string) []properties.Finding {
		b, triedBefore := c.Observation.DryRuns[was]
		a, triedAfter := c.after.DryRuns[is]
		if !triedBefore || !triedAfter {
			return nil
		}
		same := answers.Cause(a.Error) == answers.Cause(b.Error) && (a.Failed == nil) == (b.Failed == nil)
		if same && a.Failed != nil {
			same = a.Failed.Plugin == b.Failed.Plugin && a.Failed.Unresolvable == b.Failed.Unresolvable || c.rejectedByAnother(is, *b.Failed, *a.Failed)
		}
		if same && a.Failed == nil && !c.v.looser[is] {
			same = sameVictims(c.Subject, was, b.Victims, c.v.pod.ofAll(a.Victims)) && a.Violations == b.Violations || isOpen(c.Subject, was)
		}
		if same || c.v.better[is] && b.Failed != nil {
			return nil
		}
		if c.v.better[is] && a.Failed == nil && a.Error == "" {
			return nil
		}
		return changed(model.StageDryRun, was, b, a)
	}), false
}

// partial tells whether only some of the potential nodes were compared: which
// ones depends on an offset that is random, and on how many there are.
func partial(c *model.Cluster, o *model.Observation) bool {
	if o.DryRuns == nil {
		s := c.Settings
		return s.SecondProfile != nil || s.MinCandidateNodesAbsolute != nil || s.MinCandidateNodesPercentage != nil || len(c.Nodes) > int(model.DefaultMinCandidateNodesAbsolute)
	}
	return len(o.DryRuns) < len(o.PotentialNodes) || len(o.Candidates) < len(candidates(o))
}

// sawAll tells whether all candidates were compared, both times.
func (c *comparison) sawAll() bool {
	return !partial(c.Cluster, c.Observation) && !partial(c.v.cluster, c.after)
}

// candidates are the nodes of an observation on which preemption helps, sorted.
func candidates(o *model.Observation) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(o.DryRuns)), func(name string) bool {
		return o.DryRuns[name].Failed != nil || o.DryRuns[name].Error != ""
	})
}

func (c *comparison) picks() (findings []properties.Finding, done bool) {
	before, after := c.Observation.Pick, c.after.Pick
	if after != nil && c.v.node.of(after.Node) == "" {
		return properties.Found(model.StagePick, after.Node, "the pick is a node on which the pod cannot run"), true
	}
	switch {
	case !c.sawAll():
		return nil, true
	case before == nil && after == nil:
		if b, a := c.Observation.PostFilterCode, c.after.PostFilterCode; b != a && b != "" && a != "" && !c.anyLooser() && len(c.v.better) == 0 {
			return changed(model.StagePick, "", "PostFilter answers "+b, "it answers "+a), true
		}
		return nil, false
	case after == nil:
		return changed(model.StagePick, before.Node, *before, "no pick"), true
	case before == nil && c.v.better[after.Node]:
		return nil, true
	case before == nil:
		return changed(model.StagePick, c.v.node.of(after.Node), "no pick", *after), true
	case c.v.better[before.Node] || c.v.better[after.Node] || c.anyOpen() || c.anyLooser():
		return nil, false
	}
	was, is := outcomeOf(c.Subject, before.Violations, before.Victims), outcomeOf(c.Subject, after.Violations, c.v.pod.ofAll(after.Victims))
	if before.Node == c.v.node.of(after.Node) || was.ties(is) || c.v.mayPick != nil && c.v.mayPick(was, is) {
		return nil, false
	}
	return changed(model.StagePick, before.Node, *before, model.Pick{Node: c.v.node.of(after.Node), Victims: c.v.pod.ofAll(after.Victims), Violations: after.Violations}), true
}

// anyOpen tells whether chance has a say in the outcome on some candidate.
func (c *comparison) anyOpen() bool {
	if c.Observation.DryRuns != nil {
		return slices.ContainsFunc(candidates(c.Observation), func(node string) bool { return isOpen(c.Subject, node) })
	}
	for _, n := range c.Cluster.Nodes {
		if isOpen(c.Subject, n.Name) {
			return true
		}
	}
	return false
}

func (c *comparison) anyLooser() bool {
	if c.after.DryRuns == nil {
		return len(c.v.looser) > 0
	}
	return slices.ContainsFunc(candidates(c.after), func(name string) bool { return c.v.looser[name] })
}

// actuates compares what reached the API, where the same was preempted.
func (c *comparison) actuates() (findings []properties.Finding, done bool) {
	before, after := c.Observation.Actuation, c.after.Actuation
	if before == nil || after == nil {
		return nil, false
	}
	if before.Nomination != after.Nomination {
		return changed(model.StageActuate, "", "nomination "+before.Nomination, "nomination "+after.Nomination), true
	}
	var was, is model.Pick
	if c.Observation.Pick != nil && c.after.Pick != nil {
		was, is = *c.Observation.Pick, *c.after.Pick
	}
	if was.Node != "" && (was.Node != c.v.node.of(is.Node) || !slices.Equal(was.Victims, c.v.pod.ofAll(is.Victims))) {
		return nil, false
	}
	for _, list := range []struct {
		name          string
		before, after []string
	}{
		{"deleted", before.Deleted, after.Deleted},
		{"marked as disruption target", before.DisruptionTarget, after.DisruptionTarget},
		{"nomination cleared", before.Cleared, after.Cleared},
	} {
		mapped := slices.Sorted(slices.Values(c.v.pod.ofAll(list.after)))
		if !slices.Equal(list.before, mapped) {
			return changed(model.StageActuate, was.Node, fmt.Sprintf("%s: %v", list.name, list.before), mapped), true
		}
	}
	if len(before.Other) != len(after.Other) && !c.Assumes("victim-status-overwritten") {
		return changed(model.StageActuate, was.Node, fmt.Sprintf("also written: %v", before.Other), after.Other), true
	}
	return nil, false
}
