//go:build !k1.22

package main

import (
	"context"
	"errors"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	policylisters "k8s.io/client-go/listers/policy/v1beta1"
	"k8s.io/component-base/featuregate"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/core"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	framework "k8s.io/kubernetes/pkg/scheduler/framework/v1alpha1"
	schedulerprofile "k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

type (
	profile          = *schedulerprofile.Profile
	cycleState       = framework.CycleState
	status           = framework.Status
	nodeToStatus     = framework.NodeToStatusMap
	nodeInfo         = framework.NodeInfo
	postFilterResult = framework.PostFilterResult
)

const unresolvable = framework.UnschedulableAndUnresolvable

var (
	newCycleState = framework.NewCycleState
	newPodInfo    = framework.NewPodInfo
)

// knownGates are the gates of this release but for those that are locked: their
// list holds a line such as "A=true|false (ALPHA - default=false)" for each.
var knownGates = func() map[featuregate.Feature]featuregate.FeatureSpec {
	known := map[featuregate.Feature]featuregate.FeatureSpec{}
	for _, line := range utilfeature.DefaultMutableFeatureGate.KnownFeatures() {
		name, _, _ := strings.Cut(line, "=")
		known[featuregate.Feature(name)] = featuregate.FeatureSpec{}
	}
	return known
}()

// options puts the recording plugin in the place of DefaultPreemption. There are no
// arguments yet.
func (s *scheduler) options(settings) ([]upstream.Option, error) {
	profile := config.KubeSchedulerProfile{SchedulerName: v1.DefaultSchedulerName, Plugins: &config.Plugins{PostFilter: &config.PluginSet{
		Enabled:  []config.Plugin{{Name: recordedName}},
		Disabled: []config.Plugin{{Name: defaultpreemption.Name}},
	}}}
	return []upstream.Option{upstream.WithProfiles(profile)}, nil
}

func (s *scheduler) newPlugin(profileSettings) frameworkruntime.PluginFactory {
	return func(_ runtime.Object, h framework.FrameworkHandle) (framework.Plugin, error) {
		h = handle{h, s}
		p, err := plugins.NewInTreeRegistry()[defaultpreemption.Name](nil, h)
		if err != nil {
			return nil, err
		}
		return &recordedPreemption{p.(*defaultpreemption.DefaultPreemption), h, s}, nil
	}
}

// recordedPreemption is DefaultPreemption, asked for its stages first.
type recordedPreemption struct {
	*defaultpreemption.DefaultPreemption
	handle framework.FrameworkHandle
	s      *scheduler
}

// schedulePod returns the node that the preemptor fits on, or what Filter said of
// the nodes if it fits nowhere.
func (s *scheduler) schedulePod(state *cycleState) (host string, statuses nodeToStatus, err error) {
	watched := *s.profile
	watched.Framework = filterWatcher{s.profile.Framework, s}
	result, err := s.sched.Algorithm.Schedule(s.ctx, &watched, state, s.loaded.preemptor)
	if fitError, ok := err.(*core.FitError); ok {
		return "", fitError.FilteredNodesStatuses, nil
	}
	return result.SuggestedHost, nil, err
}

// filterWatcher is the scheduler's framework, whose filters are watched: a status
// does not name its plugin yet.
type filterWatcher struct {
	framework.Framework
	s *scheduler
}

func (w filterWatcher) PreemptHandle() framework.PreemptHandle {
	return preemptHandle{w.Framework.PreemptHandle(), w.s}
}

// handle is what the plugin gets hold of.
type handle struct {
	framework.FrameworkHandle
	s *scheduler
}

func (h handle) PreemptHandle() framework.PreemptHandle {
	return preemptHandle{h.FrameworkHandle.PreemptHandle(), h.s}
}

type preemptHandle struct {
	framework.PreemptHandle
	s *scheduler
}

func (h preemptHandle) RunFilterPlugins(ctx context.Context, state *cycleState, pod *v1.Pod, node *nodeInfo) framework.PluginToStatus {
	statuses := h.PreemptHandle.RunFilterPlugins(ctx, state, pod, node)
	plugin := ""
	for name, st := range statuses {
		if !st.IsSuccess() {
			plugin = name
		}
	}
	h.s.recorder.filtered(node.Node().Name, plugin, statuses.Merge())
	return statuses
}

func (s *scheduler) verdict(node string, st *status) observation.Verdict {
	return observation.Verdict{Plugin: s.recorder.plugin[node], Unresolvable: st.Code() == unresolvable, Reasons: st.Reasons()}
}

// stages asks for what PostFilter is about to do. Which nodes it tries shows in
// that it looks at the budgets.
func (p *recordedPreemption) stages(ctx context.Context, state *cycleState, pod *v1.Pod, m nodeToStatus) error {
	obs, lister := p.s.recorder.obs, p.handle.SnapshotSharedLister().NodeInfos()
	if !p.s.recorder.eligible(defaultpreemption.PodEligibleToPreemptOthers(pod, lister, m[pod.Status.NominatedNodeName])) {
		return nil
	}
	nodes, err := lister.List()
	if err != nil {
		return err
	}
	budgets := p.handle.SharedInformerFactory().Policy().V1beta1().PodDisruptionBudgets().Lister()
	obs.PotentialNodes = []string{}
	for _, n := range nodes {
		asked := &askedLister{}
		_, _ = defaultpreemption.FindCandidates(ctx, p.s.client, state, pod, m, p.handle.PreemptHandle(), oneNode{lister, n}, asked)
		if asked.yes {
			obs.PotentialNodes = append(obs.PotentialNodes, n.Node().Name)
		}
	}
	if len(obs.PotentialNodes) == 0 {
		return nil
	}
	p.s.recorder.forgetFilters()
	candidates, err := defaultpreemption.FindCandidates(ctx, p.s.client, state, pod, m, p.handle.PreemptHandle(), lister, budgets)
	if err != nil {
		return err
	}
	p.s.recorder.startDryRuns()
	for _, c := range candidates {
		p.s.recorder.candidate(c.Name(), c.Victims())
	}
	for _, name := range obs.PotentialNodes {
		if _, ok := obs.DryRuns[name]; !ok {
			// No filter was run if there is no pod of lower priority, which later
			// releases call unresolvable.
			v := observation.Verdict{Unresolvable: true}
			if st := p.s.recorder.last[name]; st != nil && !st.IsSuccess() {
				v = p.s.verdict(name, st)
			}
			p.s.recorder.noCandidate(name, v)
		}
	}
	return nil
}

// askedLister lists no budgets, and knows that it was asked to.
type askedLister struct {
	policylisters.PodDisruptionBudgetLister
	yes bool
}

func (l *askedLister) List(labels.Selector) ([]*budget, error) {
	l.yes = true
	return nil, errors.New("go no further")
}

// oneNode is a lister of nodes that lists one.
type oneNode struct {
	framework.NodeInfoLister
	node *nodeInfo
}

func (l oneNode) List() ([]*nodeInfo, error) { return []*nodeInfo{l.node}, nil }
