package campaign

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/reference"
)

// liar reports more budget violations than there can be. Where the model does not cover the scheduler, it names a victim
// twice instead.
type liar struct {
	reference.System
	twice bool
}

func (l liar) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	o, err := l.System.Observe(ctx, c)
	if err != nil {
		return nil, err
	}
	if l.twice {
		if p := o.Pick; p != nil && len(p.Victims) > 0 {
			p.Victims = append(slices.Clone(p.Victims), p.Victims[0])
		}
		return o, nil
	}
	for node, run := range o.DryRuns {
		if len(run.Victims) > 0 {
			run.Violations += 1000
			o.DryRuns[node] = run
		}
	}
	return o, nil
}

// lying is a checker of a scheduler that lies, for which the differential is
// enough, or the one property that the lie breaks where the model does not cover the scheduler.
func lying(honest *properties.Checker) *properties.Checker {
	unmodelled := honest.Outside != nil && honest.Outside.Model == nil
	c := &properties.Checker{System: liar{honest.System, unmodelled}, Release: honest.Release, Decide: honest.Decide, Outside: honest.Outside}
	if unmodelled {
		c.Outside = &properties.Outside{Unmodelled: honest.Outside.Unmodelled, Keeps: func(string) bool { return true }}
		c.Properties = []properties.Property{invariant.VictimsWereRunning}
	}
	return c
}

// fitForCanary tells whether the lie would be the only thing that the differential
// finds in a cluster. What other properties find, and some find something at nearly
// every preemption, is no matter: lying does not ask them. A pod that may be preempted by the
// priority of its group alone would keep the cluster from getting as small as all others.
func fitForCanary(outside *properties.Outside, r *properties.Result) bool {
	covered := r.Unmodelled == nil
	if outside != nil {
		covered = len(r.Unmodelled) == len(outside.Unmodelled) // by the model but for the plugins
	}
	return r.Observation != nil && covered && r.Observation.Pick != nil && r.Undecided == "" && (outside == nil || len(r.Cluster.Settings.Extenders) == 0) && !otherPriorities(r.Cluster) &&
		!slices.ContainsFunc(r.Findings, func(f properties.Finding) bool {
			return f.Property == properties.Differential || f.Property == invariant.VictimsWereRunning.Name
		})
}

// otherPriorities tells whether some pod has another priority than its group.
func otherPriorities(c *model.Cluster) bool {
	groups := c.Groups()
	return slices.ContainsFunc(c.Pods, func(p *v1.Pod) bool { return groups.Priority(p, model.Priority(p)) != model.Priority(p) })
}

// checkLie checks a cluster with a scheduler that lies.
func checkLie(ctx context.Context, checker *properties.Checker, c *model.Cluster, n uint64) (suspect, error) {
	r, err := lying(checker).Check(ctx, c)
	if err != nil {
		return suspect{}, err
	}
	s := suspect{Number: n, Kind: "not noticed"}
	if all := r.Unexplained(); len(all) > 0 {
		s = newSuspect(n, r, &all[0])
	}
	return s, nil
}

// lieInTimeline is a trace as seen by somebody who lies: of a pod that is there when all is at
// rest it says that it is in two queues. It is nil if there is no such pod, or each was taken for
// another one of its name, as what is found about those may be charged to a known finding, or waits
// for others of its gang, of which nothing is asked.
func lieInTimeline(trace *timeline.Trace) *timeline.Trace {
	if trace.Quiet == nil {
		return nil
	}
	replaced := map[string]bool{}
	for i := range trace.Entries {
		if e := &trace.Entries[i]; e.Replaced {
			replaced[e.Pod()] = true
		}
	}
	i := slices.IndexFunc(trace.Quiet.Pods, func(p timeline.PodState) bool { return p.Exists && !p.Assumed && !replaced[p.Name] })
	if i < 0 {
		return nil
	}
	lie, quiet := *trace, *trace.Quiet
	quiet.Pods = slices.Clone(quiet.Pods)
	quiet.Pods[i].Queues = []model.Queue{model.QueueActive, model.QueueBackoff}
	lie.Quiet = &quiet
	return &lie
}

// lieAbout lies about a timeline in which nothing is found, and counts whether that is reported.
func (a *answer) lieAbout(t *timeline.Timeline, trace *timeline.Trace) {
	lie := lieInTimeline(trace)
	if lie == nil {
		return
	}
	a.Lives.Lies++
	found := lifetime.Unexplained(lifetime.Check(&lifetime.Life{Timeline: t, Trace: lie}))
	if slices.ContainsFunc(found, func(f lifetime.Finding) bool { return f.Property == "one-queue" }) {
		a.Lives.Caught++
	}
}
