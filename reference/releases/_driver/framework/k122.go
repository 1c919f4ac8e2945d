//go:build k1.22

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

type (
	profile          = framework.Framework
	cycleState       = framework.CycleState
	status           = framework.Status
	nodeToStatus     = framework.NodeToStatusMap
	postFilterResult = framework.PostFilterResult
)

const unresolvable = framework.UnschedulableAndUnresolvable

var (
	newCycleState = framework.NewCycleState
	newPodInfo    = framework.NewPodInfo
)

// options puts the recording plugin in the place of DefaultPreemption, in the
// configuration that upstream would use by itself.
func (s *scheduler) options(settings) ([]upstream.Option, error) {
	cfg, err := latest.Default()
	if err != nil {
		return nil, err
	}
	for i := range cfg.Profiles[0].Plugins.PostFilter.Enabled {
		if name := &cfg.Profiles[0].Plugins.PostFilter.Enabled[i].Name; *name == defaultpreemption.Name {
			*name = recordedName
			// One worker makes the order of dry runs, and so an early stop, exact.
			return []upstream.Option{upstream.WithProfiles(cfg.Profiles...), upstream.WithParallelism(1)}, nil
		}
	}
	return nil, errors.New("the default profile has no " + defaultpreemption.Name)
}

func (s *scheduler) newPlugin(key profileSettings) frameworkruntime.PluginFactory {
	return func(_ runtime.Object, h framework.Handle) (framework.Plugin, error) {
		upstreams := plugins.NewInTreeRegistry()[defaultpreemption.Name]
		p, err := upstreams(&config.DefaultPreemptionArgs{MinCandidateNodesPercentage: key.minPercentage, MinCandidateNodesAbsolute: key.minNumber}, h)
		if err != nil {
			return nil, err
		}
		all, err := upstreams(&config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100}, h)
		if err != nil {
			return nil, err
		}
		return &recordedPreemption{p.(*defaultpreemption.DefaultPreemption), all.(*defaultpreemption.DefaultPreemption), h, s}, nil
	}
}

// recordedPreemption is DefaultPreemption, asked for its stages first.
type recordedPreemption struct {
	*defaultpreemption.DefaultPreemption
	all    *defaultpreemption.DefaultPreemption // keeps all candidates
	handle framework.Handle
	s      *scheduler
}

// schedulePod returns the node that the preemptor fits on, or what Filter said of
// the nodes if it fits nowhere.
func (s *scheduler) schedulePod(state *cycleState) (host string, statuses nodeToStatus, err error) {
	result, err := s.sched.Algorithm.Schedule(s.ctx, nil, s.profile, state, s.loaded.preemptor)
	if fitError, ok := err.(*framework.FitError); ok {
		return "", fitError.Diagnosis.NodeToStatusMap, nil
	}
	return result.SuggestedHost, nil, err
}

func (s *scheduler) verdict(_ string, st *status) observation.Verdict {
	return observation.Verdict{Plugin: st.FailedPlugin(), Unresolvable: st.Code() == unresolvable, Reasons: st.Reasons()}
}

// notTried is the status that FindCandidates gives the nodes which it does not try
// preemption on.
const notTried = "Preemption is not helpful for scheduling"

// stages asks for what PostFilter is about to do.
func (p *recordedPreemption) stages(ctx context.Context, state *cycleState, pod *v1.Pod, m nodeToStatus) error {
	r, lister := p.s.recorder, p.handle.SnapshotSharedLister().NodeInfos()
	if !r.eligible(defaultpreemption.PodEligibleToPreemptOthers(pod, lister, m[pod.Status.NominatedNodeName])) {
		return nil
	}
	nodes, err := lister.List()
	if err != nil {
		return err
	}
	sameLuck()
	candidates, statuses, st := p.FindCandidates(ctx, state, pod, m)
	if !st.IsSuccess() {
		return st.AsError()
	}
	r.obs.PotentialNodes = []string{}
	for _, n := range nodes {
		if st := statuses[n.Node().Name]; st.Message() != notTried {
			r.obs.PotentialNodes = append(r.obs.PotentialNodes, n.Node().Name)
		}
	}
	if len(r.obs.PotentialNodes) == 0 {
		return nil
	}
	r.startDryRuns()
	for _, c := range candidates {
		r.candidate(c.Name(), c.Victims())
	}
	for _, name := range p.dropped(candidates, statuses) {
		c, err := p.candidateOn(ctx, state, pod, m, name)
		if err != nil {
			return err
		}
		r.obs.DryRuns[name] = observation.DryRun{Victims: keys(c.Victims().Pods), Violations: int(c.Victims().NumPDBViolations)}
	}
	for _, name := range r.obs.PotentialNodes {
		switch st := statuses[name]; {
		case st == nil: // it would do, or enough were found before its turn came
		case st.IsUnschedulable():
			r.noCandidate(name, p.s.verdict(name, st))
		default:
			r.dryRunError(name, st.AsError())
		}
	}
	return nil
}

// dropped are the nodes that would do, but are no candidates, because there were
// enough already. The search ends with the first candidate without violations at
// which there are enough: before it, all nodes are tried.
func (p *recordedPreemption) dropped(candidates []defaultpreemption.Candidate, statuses nodeToStatus) []string {
	violations := map[string]int64{}
	for _, c := range candidates {
		violations[c.Name()] = c.Victims().NumPDBViolations
	}
	var names []string
	nodes := p.s.recorder.obs.PotentialNodes
	sameLuck()
	offset := rand.Intn(len(nodes))
	for i := range nodes {
		name := nodes[(offset+i)%len(nodes)]
		switch count, candidate := violations[name]; {
		case candidate && count == 0:
			return names
		case !candidate && statuses[name] == nil:
			names = append(names, name)
		}
	}
	return names
}

// candidateOn is what a node is if it has a place on the shortlist.
func (p *recordedPreemption) candidateOn(ctx context.Context, state *cycleState, pod *v1.Pod, m nodeToStatus, name string) (defaultpreemption.Candidate, error) {
	candidates, _, st := p.all.FindCandidates(ctx, state, pod, m)
	for _, c := range candidates {
		if c.Name() == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("node %s is no candidate: %v", name, st.AsError())
}
