package minimize

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// bug is something that a scheduler could do wrong.
type bug struct {
	name string
	// sees makes the cluster what the scheduler takes it for.
	sees func(c *model.Cluster)
	// does changes what it did. c is what it saw.
	does func(c *model.Cluster, o *model.Observation)
}

// bugs are in all stages, and several in some of them.
var bugs = []bug{
	{name: "overhead is no request", sees: eachPod(func(p *v1.Pod) { p.Spec.Overhead = nil })},
	{name: "NoExecute taints are left to the kubelet", sees: func(c *model.Cluster) {
		for _, n := range c.Nodes {
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Effect == v1.TaintEffectNoExecute })
		}
	}},
	{name: "a host port is in use on all addresses", sees: eachPod(func(p *v1.Pod) {
		for i := range p.Spec.Containers {
			for j := range p.Spec.Containers[i].Ports {
				p.Spec.Containers[i].Ports[j].HostIP = ""
			}
		}
	})},
	{name: "every terminating pod is waited for", sees: func(c *model.Cluster) {
		for _, p := range c.Pods {
			if p.DeletionTimestamp != nil {
				p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler})
			}
		}
	}},
	{name: "disrupted pods are counted again", sees: func(c *model.Cluster) {
		for _, b := range c.PodDisruptionBudgets {
			b.Status.DisruptedPods = nil
		}
	}},
	{name: "a budget that allows something allows everything", sees: func(c *model.Cluster) {
		for _, b := range c.PodDisruptionBudgets {
			if b.Status.DisruptionsAllowed > 0 {
				b.Status.DisruptionsAllowed = math.MaxInt32
			}
		}
	}},
	{name: "victims stay in the order of the reprieve", does: violatingFirst},
	{name: "violations do not matter for the choice", does: ignoreViolations},
	{name: "what ran longest is preferred", does: preferLongest},
	{name: "lower nominations are kept", does: func(_ *model.Cluster, o *model.Observation) {
		if o.Actuation != nil {
			o.Actuation.Cleared = nil
		}
	}},
}

func eachPod(change func(p *v1.Pod)) func(c *model.Cluster) {
	return func(c *model.Cluster) {
		for _, p := range pods(c) {
			change(p)
		}
	}
}

// violatingFirst lists victims that violate a budget before the others.
func violatingFirst(c *model.Cluster, o *model.Observation) {
	for node, run := range o.DryRuns {
		if run.Violations == 0 || run.Violations >= len(run.Victims) {
			continue
		}
		d, err := answers.Decide(c, release.With(answers.Documented(), ledger.QuirksOf(release.Linked)...))
		if err != nil {
			return
		}
		outcome, _ := d.Listed(node)
		if outcome == nil || !slices.Equal(outcome.Victims, run.Victims) {
			continue
		}
		run.Victims = slices.Clone(run.Victims)
		slices.SortStableFunc(run.Victims, func(a, b string) int {
			return cmp.Compare(min(1, len(outcome.Violates[b])), min(1, len(outcome.Violates[a])))
		})
		o.DryRuns[node] = run
		if o.Pick != nil && o.Pick.Node == node {
			o.Pick.Victims = run.Victims
		}
	}
}

// ignoreViolations picks the node with the least important victim, whatever the
// violations.
func ignoreViolations(c *model.Cluster, o *model.Observation) {
	repick(o, func(picked, other model.DryRun) bool {
		return other.Violations > picked.Violations && model.Priority(first(c, other)) < model.Priority(first(c, picked))
	})
}

// preferLongest picks, among single victims, the one that ran longest.
func preferLongest(c *model.Cluster, o *model.Observation) {
	repick(o, func(picked, other model.DryRun) bool {
		a, b := first(c, picked), first(c, other)
		return len(picked.Victims) == 1 && len(other.Victims) == 1 && picked.Violations == other.Violations && model.Priority(a) == model.Priority(b) &&
			a.Status.StartTime != nil && b.Status.StartTime != nil && b.Status.StartTime.Before(a.Status.StartTime)
	})
}

func first(c *model.Cluster, run model.DryRun) *v1.Pod {
	return c.Pods[slices.IndexFunc(c.Pods, func(p *v1.Pod) bool { return model.Key(p) == run.Victims[0] })]
}

// repick picks every candidate that is preferred to the one picked so far.
func repick(o *model.Observation, preferred func(picked, other model.DryRun) bool) {
	if o.Pick == nil {
		return
	}
	for _, node := range o.Candidates {
		if run := o.DryRuns[node]; preferred(o.DryRuns[o.Pick.Node], run) {
			o.Pick = &model.Pick{Node: node, Victims: run.Victims, Violations: run.Violations}
		}
	}
}

// buggy is a scheduler with bugs.
type buggy struct {
	reference.System
	bugs []bug
}

func (s buggy) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	seen := c.DeepCopy()
	for _, b := range s.bugs {
		if b.sees != nil {
			b.sees(seen)
		}
	}
	o, err := s.System.Observe(ctx, seen)
	for _, b := range s.bugs {
		if err == nil && b.does != nil {
			b.does(seen, o)
		}
	}
	return o, err
}

// Many failures of one cause are one finding, and no two causes share one: of ten
// bugs at once, each comes out as one finding, which is there with this bug alone
// and not there without it.
func TestTenBugsAreTenFindings(t *testing.T) {
	const (
		clusters   = 800
		minimising = 1 // of each kind of suspect
	)
	system := inprocess.New()
	defer system.Close()
	with := func(bugs ...bug) *properties.Checker {
		return &properties.Checker{System: buggy{system, bugs}, Properties: invariant.All()}
	}
	checker := with(bugs...)
	suspects, minimised := map[string]int{}, 0
	found := map[fingerprint.Identity]*Result{}
	count := map[fingerprint.Identity]int{}
	for seed := range uint64(clusters) {
		c := generators.Ungrouped(seed)
		r, err := checker.Check(t.Context(), c)
		require.NoError(t, err)
		if len(r.Unexplained()) == 0 {
			continue
		}
		f := r.Unexplained()[0]
		key := fingerprint.Presort(r, &f)
		if suspects[key]++; suspects[key] > minimising {
			continue
		}
		small, err := Minimise(t.Context(), checker, c, fingerprint.OfFinding(&f), Options{})
		minimised++
		if errors.Is(err, ErrNotFound) {
			continue // it depends on a tie
		}
		require.NoError(t, err)
		id := fingerprint.Identify(&small.Finding, small.Cluster)
		if found[id] == nil {
			found[id] = small
			t.Logf("seed %d: %s", seed, id)
		}
		count[id]++
	}
	attributed := map[string]bool{}
	for id, small := range found {
		shows := func(bugs ...bug) bool {
			r, err := with(bugs...).Check(t.Context(), small.Cluster)
			require.NoError(t, err)
			return slices.Contains(fingerprint.Of(r), fingerprint.OfFinding(&small.Finding))
		}
		var causes []string
		for i, b := range bugs {
			if shows(b) && !shows(slices.Delete(slices.Clone(bugs), i, i+1)...) {
				causes = append(causes, b.name)
			}
		}
		require.Len(t, causes, 1, "%s: %s\n%v", id, small.Finding, form(t, small.Cluster))
		t.Logf("%-45s %3d times: %s %v", causes[0], count[id], id.Name(), form(t, small.Cluster))
		require.NotContains(t, attributed, causes[0])
		attributed[causes[0]] = true
	}
	require.Len(t, found, len(bugs))
	t.Logf("%d kinds of suspects, %d minimised", len(suspects), minimised)
}
