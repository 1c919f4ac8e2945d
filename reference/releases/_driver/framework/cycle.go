package main

import (
	"context"
	"sync"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// failed is a cycle that ended in an error. The nomination that it leaves is decided
// after it, which is not run.
func (s *scheduler) failed(obs *observation.Observation, err error) {
	obs.CycleError = err.Error()
	obs.Actuation = &observation.Actuation{Nomination: observation.NominationUnseen}
	s.client.Take(obs.Actuation)
}

// run is the scheduling cycle of the loaded cluster's preemptor up to its
// nomination.
func (s *scheduler) run(c *cluster, obs *observation.Observation) {
	s.recorder = &recorder{obs: obs}
	s.recorder.forgetFilters()
	sameLuck()
	state := newCycleState()
	host, statuses, err := s.schedulePod(state)
	switch {
	case err != nil:
		s.failed(obs, err)
		return
	case statuses == nil:
		obs.ScheduledTo = host
		return
	}
	for _, n := range c.nodes {
		if st := statuses[n.Name]; st != nil {
			obs.Filters[n.Name] = s.verdict(n.Name, st)
		}
	}
	result, st := s.profile.RunPostFilterPlugins(s.ctx, state, s.loaded.preemptor, statuses)
	obs.PostFilterCode, obs.PostFilterMessage = st.Code().String(), st.Message()
	obs.Actuation = &observation.Actuation{Nomination: observation.NominationKept}
	if result != nil && st.IsSuccess() && result.NominatedNodeName != "" {
		node := result.NominatedNodeName
		obs.Actuation.Nomination, obs.Actuation.NominatedNode = observation.NominationSet, node
		run := obs.DryRuns[node]
		obs.Pick = &observation.Pick{Node: node, Victims: run.Victims, Violations: run.Violations}
	}
	s.client.Take(obs.Actuation)
}

func (p *recordedPreemption) Name() string { return recordedName }

// PostFilter asks for the stages first. Asking changes nothing but a nomination
// that PostFilter takes away, too, when it has no node to try.
func (p *recordedPreemption) PostFilter(ctx context.Context, state *cycleState, pod *v1.Pod, m nodeToStatus) (*postFilterResult, *status) {
	_ = p.stages(ctx, state, pod, m) // PostFilter meets the error again
	p.s.client.Take(&observation.Actuation{})
	sameLuck()
	return p.DefaultPreemption.PostFilter(ctx, state, pod, m)
}

// recorder writes down what passes.
type recorder struct {
	obs *observation.Observation

	mu sync.Mutex // dry runs are parallel
	// last and plugin are what the last run of filters on a node said.
	last   map[string]*status
	plugin map[string]string
}

func (r *recorder) forgetFilters() {
	r.last, r.plugin = map[string]*status{}, map[string]string{}
}

func (r *recorder) filtered(node, plugin string, st *status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last[node], r.plugin[node] = st, plugin
}

func (r *recorder) eligible(ok bool) bool {
	r.obs.Eligible = &observation.Eligibility{OK: ok}
	return ok
}

func (r *recorder) startDryRuns() {
	r.obs.DryRuns, r.obs.Candidates = map[string]observation.DryRun{}, []string{}
}

func (r *recorder) candidate(node string, v *extenderv1.Victims) {
	r.obs.DryRuns[node] = observation.DryRun{Victims: keys(v.Pods), Violations: int(v.NumPDBViolations)}
	r.obs.Candidates = append(r.obs.Candidates, node)
}

func (r *recorder) noCandidate(node string, v observation.Verdict) {
	r.obs.DryRuns[node] = observation.DryRun{Failed: &v}
}

func (r *recorder) dryRunError(node string, err error) {
	r.obs.DryRuns[node] = observation.DryRun{Error: err.Error()}
}
