//go:build !k1.32

package main

import (
	"context"
	"errors"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// Before 1.32 DefaultPreemption makes its Evaluator in PostFilter, where nothing
// can get between. So the profile has another plugin in its place, which makes
// the same Evaluator with the recorder as its Interface.

const recordedName = "RecordedPreemption"

// pluginHook is nothing: all is done by the plugin.
type pluginHook struct{}

func (s *scheduler) hook(framework.Framework) (pluginHook, error) { return pluginHook{}, nil }

func (s *scheduler) hookProfiles(profiles []config.KubeSchedulerProfile) (frameworkruntime.Registry, error) {
	for _, p := range profiles {
		replaced := false
		for i := range p.Plugins.MultiPoint.Enabled {
			if name := &p.Plugins.MultiPoint.Enabled[i].Name; *name == names.DefaultPreemption {
				*name, replaced = recordedName, true
			}
		}
		if !replaced && !s.outside {
			return nil, errors.New("the default profile has no " + names.DefaultPreemption)
		}
		for i := range p.PluginConfig {
			if name := &p.PluginConfig[i].Name; *name == names.DefaultPreemption {
				*name = recordedName
			}
		}
	}
	return frameworkruntime.Registry{recordedName: s.pluginFactory()}, nil
}

// pluginFactory wraps upstream's own, which takes a context from 1.29 on.
func (s *scheduler) pluginFactory() frameworkruntime.PluginFactory {
	upstreams := reflect.ValueOf(plugins.NewInTreeRegistry()[names.DefaultPreemption])
	return reflect.MakeFunc(upstreams.Type(), func(in []reflect.Value) []reflect.Value {
		out := upstreams.Call(in)
		if plugin, ok := out[0].Interface().(*defaultpreemption.DefaultPreemption); ok {
			h := in[len(in)-1].Interface().(framework.Handle)
			out[0] = reflect.ValueOf(&recordedPreemption{plugin, h, s})
		}
		return out
	}).Interface().(frameworkruntime.PluginFactory)
}

func (s *scheduler) awaitPreemption([]*v1.Pod) {} // none is asynchronous

// nodeStatus is what Filter said of a node; nil if it was not asked, because
// PreFilter left the node out.
func nodeStatus(d *framework.Diagnosis, node string) *status { return d.NodeToStatusMap[node] }

func (s *scheduler) postFilter(r *recorder, state cycleState, d *framework.Diagnosis) (*postFilterResult, *status) {
	return s.profile.RunPostFilterPlugins(s.ctx, state, s.loaded.preemptor, d.NodeToStatusMap)
}

// recordedPreemption is DefaultPreemption with another PostFilter.
type recordedPreemption struct {
	*defaultpreemption.DefaultPreemption
	handle frameworkHandle
	s      *scheduler
}

func (p *recordedPreemption) Name() string { return recordedName }

func (p *recordedPreemption) PostFilter(ctx context.Context, state cycleState, pod *v1.Pod, m framework.NodeToStatusMap) (*postFilterResult, *status) {
	r := p.s.recorder
	r.Interface = p.DefaultPreemption
	if nodes := p.potentialNodes(ctx, state, pod, m); nodes != nil {
		r.obs.PotentialNodes = nodes
	}
	result, st := p.evaluator(state, r).Preempt(ctx, pod, m)
	if st.Message() != "" {
		return result, framework.NewStatus(st.Code(), "preemption: "+st.Message())
	}
	return result, st
}

func (p *recordedPreemption) evaluator(state cycleState, i preemption.Interface) *preemption.Evaluator {
	return &preemption.Evaluator{
		PluginName: names.DefaultPreemption,
		Handler:    handle{p.handle, p.s.extenders},
		PodLister:  p.handle.SharedInformerFactory().Core().V1().Pods().Lister(),
		PdbLister:  p.handle.SharedInformerFactory().Policy().V1().PodDisruptionBudgets().Lister(),
		State:      state,
		Interface:  i,
	}
}

func (r *recorder) PodEligibleToPreemptOthers(pod *v1.Pod, nominated *status) (bool, string) {
	ok, reason := r.Interface.PodEligibleToPreemptOthers(pod, nominated)
	r.obs.Eligible = &observation.Eligibility{OK: ok, Reason: reason}
	return ok, reason
}

// potentialNodes are the nodes that preemption is tried on, in order; nil if it is
// not tried at all. Before 1.32 they are visible in no other way than by trying
// all of them: an Evaluator goes through its steps, and fails on every node.
func (p *recordedPreemption) potentialNodes(ctx context.Context, state cycleState, pod *v1.Pod, m framework.NodeToStatusMap) []string {
	probe := &probe{Interface: p.DefaultPreemption}
	_, st := p.evaluator(state, probe).Preempt(ctx, pod, m)
	p.s.client.Take(&observation.Actuation{}) // Preempt will write it again
	if !probe.eligible || st.Code() != framework.Unschedulable {
		return nil
	}
	return probe.nodes
}

type probe struct {
	preemption.Interface
	eligible bool
	nodes    []string
}

func (p *probe) PodEligibleToPreemptOthers(pod *v1.Pod, nominated *status) (bool, string) {
	ok, reason := p.Interface.PodEligibleToPreemptOthers(pod, nominated)
	p.eligible, p.nodes = ok, []string{}
	return ok, reason
}

func (p *probe) GetOffsetAndNumCandidates(nodes int32) (int32, int32) { return 0, nodes }

func (p *probe) SelectVictimsOnNode(_ context.Context, _ cycleState, _ *v1.Pod, node nodeInfo, _ []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *status) {
	p.nodes = append(p.nodes, node.Node().Name)
	return nil, 0, framework.NewStatus(framework.Unschedulable)
}

// SnapshotSharedLister sorts the nodes by name, in which order the dry runs are
// made: upstream's is that in which they came, zone by zone.
func (h handle) SnapshotSharedLister() framework.SharedLister {
	return sortedSnapshot{h.frameworkHandle.SnapshotSharedLister()}
}

type sortedSnapshot struct{ framework.SharedLister }

func (s sortedSnapshot) NodeInfos() nodeInfoLister { return sortedNodes{s.SharedLister.NodeInfos()} }

type sortedNodes struct{ nodeInfoLister }

func (n sortedNodes) List() ([]nodeInfo, error) {
	nodes, err := n.nodeInfoLister.List()
	nodes = slices.Clone(nodes)
	sortByName(nodes)
	return nodes, err
}
