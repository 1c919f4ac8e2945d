package inprocess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/inprocess/groups"
	"github.com/preemptcheck/preemptcheck/reference/linked"
	"github.com/preemptcheck/preemptcheck/reference/patience"
)

var _ reference.FilterSystem = (*System)(nil)

// Filters implements reference.FilterSystem. One scheduler has a profile for each
// plugin besides the default one, so that a cluster is loaded once for all.
func (s *System) Filters(ctx context.Context, c *model.Cluster, plugins []string, report func(model.FilterRun)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.Preemptor == nil {
		return errors.New("the cluster has no preemptor that is a pod")
	}
	// What else may be set is about preemption.
	about := model.Settings{FeatureGates: c.Settings.FeatureGates}
	if second := c.Settings.SecondProfile; second != nil {
		about.SecondProfile = &model.Profile{SchedulerName: second.SchedulerName}
	}
	key := newSettings(about)
	key.alone = strings.Join(plugins, ",")
	return s.withKey(key, c, false, patience.Of(ctx, bubble.Patience), func(sched *scheduler) (reusable bool, err error) {
		defer func() {
			if p := recover(); p != nil { // upstream may hold locks: never touch it again
				reusable, err = false, fmt.Errorf("panic: %v", p)
			}
		}()
		if err = sched.load(c); err == nil {
			err = sched.filters(plugins, report)
		}
		return sched.unload() == nil, err
	})
}

// aloneProfile is the name of the profile that has just one filter.
func aloneProfile(plugin string) string { return "alone-" + plugin }

// aloneProfiles are the default profile, reduced to each of some plugins and to
// what a profile must have.
func aloneProfiles(whole config.KubeSchedulerProfile, plugins string) []config.KubeSchedulerProfile {
	var profiles []config.KubeSchedulerProfile
	for _, plugin := range strings.Split(plugins, ",") {
		profile := *whole.DeepCopy()
		profile.SchedulerName = aloneProfile(plugin)
		profile.Plugins.MultiPoint.Enabled = slices.DeleteFunc(profile.Plugins.MultiPoint.Enabled, func(p config.Plugin) bool {
			return p.Name != plugin && p.Name != names.PrioritySort && p.Name != names.DefaultBinder
		})
		profiles = append(profiles, profile)
	}
	return profiles
}

// filters asks each plugin about the loaded cluster's preemptor.
func (s *scheduler) filters(plugins []string, report func(model.FilterRun)) error {
	if err := s.sched.Cache.UpdateSnapshot(linked.Discard, s.snapshot); err != nil {
		return err
	}
	var alone []*aloneFilter
	for _, plugin := range plugins {
		fw := s.sched.Profiles[aloneProfile(plugin)]
		if fw == nil {
			return fmt.Errorf("the default profile has no %s", plugin)
		}
		f := &aloneFilter{s: s, Framework: fw, plugin: plugin}
		f.preFilter()
		alone = append(alone, f)
	}
	for _, n := range s.loaded.nodes {
		if err := s.onNode(n.Name, alone); err != nil {
			return err
		}
	}
	for _, f := range alone {
		for _, run := range f.runs {
			report(run)
		}
	}
	for _, p := range s.loaded.bound {
		if err := s.filtersWithout(p, alone, report); err != nil {
			return err
		}
	}
	return nil
}

// filtersWithout asks about the node of a pod in the cluster without it.
func (s *scheduler) filtersWithout(p *v1.Pod, alone []*aloneFilter, report func(model.FilterRun)) error {
	if _, err := s.nodeInfo(p.Spec.NodeName); err != nil {
		return nil // the node is gone
	}
	if err := s.sched.Cache.RemovePod(linked.Discard, p); err != nil {
		return err
	}
	if err := s.sched.Cache.UpdateSnapshot(linked.Discard, s.snapshot); err != nil {
		return err
	}
	info, err := s.nodeInfo(p.Spec.NodeName)
	if err != nil {
		return err
	}
	for _, f := range alone {
		f.preFilter()
		report(f.ask(f.state, info, model.Deleted, p))
	}
	if err := s.sched.Cache.AddPod(linked.Discard, p); err != nil {
		return err
	}
	return s.sched.Cache.UpdateSnapshot(linked.Discard, s.snapshot)
}

func (s *scheduler) nodeInfo(name string) (fwk.NodeInfo, error) {
	return s.snapshot.NodeInfos().Get(name)
}

// aloneFilter is a profile with one filter, and what its PreFilter said.
type aloneFilter struct {
	framework.Framework
	s      *scheduler
	plugin string

	state  fwk.CycleState
	result *fwk.PreFilterResult
	status *fwk.Status
	// runs are what it answered about nodes that no pod was deleted from.
	runs []model.FilterRun
}

func (f *aloneFilter) preFilter() {
	f.state = framework.NewCycleState()
	f.result, f.status, _ = f.RunPreFilterPlugins(f.s.ctx, f.state, f.s.loaded.preemptor)
}

// settled tells whether PreFilter decided about a node already.
func (f *aloneFilter) settled(node string) bool {
	return !f.status.IsSuccess() || !f.result.AllNodes() && !f.result.NodeNames.Has(node)
}

// onNode asks about a node as it is, and after each of its pods is removed, and
// added again, in the way of a dry run (default_preemption.go:316@v1.37.1).
func (s *scheduler) onNode(name string, alone []*aloneFilter) error {
	info, err := s.nodeInfo(name)
	if err != nil {
		return err
	}
	var open []*aloneFilter
	for _, f := range alone {
		f.runs = append(f.runs, f.ask(f.state, info, model.Untouched, nil))
		if !f.settled(name) {
			open = append(open, f)
		}
	}
	states := make([]fwk.CycleState, len(open))
	for _, p := range info.GetPods() {
		changed := info.Snapshot()
		if err := changed.RemovePod(linked.Discard, p.GetPod()); err != nil {
			return err
		}
		for i, f := range open {
			states[i] = f.state.Clone()
			status := f.RunPreFilterExtensionRemovePod(s.ctx, states[i], s.loaded.preemptor, p, changed)
			f.runs = append(f.runs, f.answer(status, states[i], changed, model.Removed, p.GetPod()))
		}
		changed.AddPodInfo(p)
		for i, f := range open {
			status := f.RunPreFilterExtensionAddPod(s.ctx, states[i], s.loaded.preemptor, p, changed)
			f.runs = append(f.runs, f.answer(status, states[i], changed, model.RemovedAndAdded, p.GetPod()))
		}
	}
	return nil
}

// answer asks unless there was an error.
func (f *aloneFilter) answer(status *fwk.Status, state fwk.CycleState, info fwk.NodeInfo, change model.Change, p *v1.Pod) model.FilterRun {
	if status.IsSuccess() {
		return f.ask(state, info, change, p)
	}
	return f.run(status, info, change, p)
}

func (f *aloneFilter) ask(state fwk.CycleState, info fwk.NodeInfo, change model.Change, p *v1.Pod) model.FilterRun {
	node := info.Node().Name
	switch {
	case !f.status.IsSuccess():
		return f.run(f.status, info, change, p)
	case f.settled(node):
		return f.run(fwk.NewStatus(fwk.UnschedulableAndUnresolvable), info, change, p)
	}
	return f.run(f.RunFilterPluginsWithNominatedPods(f.s.ctx, state, f.s.loaded.preemptor, info), info, change, p)
}

func (f *aloneFilter) run(status *fwk.Status, info fwk.NodeInfo, change model.Change, p *v1.Pod) model.FilterRun {
	run := model.FilterRun{Plugin: f.plugin, Node: info.Node().Name, Change: change}
	if p != nil {
		run.Pod = model.Key(p)
	}
	switch {
	case status.IsSuccess():
	case status.IsRejected():
		v := groups.Verdict(status)
		run.Failed = &v
	default:
		run.Error = status.AsError().Error()
	}
	return run
}
