package main

import (
	"errors"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/algorithm/predicates"
	"k8s.io/kubernetes/pkg/scheduler/core"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// recorder is what was seen of a cycle.
type recorder struct {
	obs *observation.Observation
	// preempts: the cycle is in Preempt, and so in dry runs.
	preempts bool
	// tries: the budgets were listed, which is done if there are nodes to try.
	tries bool
	// last is what the last predicate to fail a node said, by node.
	last map[string]observation.Verdict
	// errs are the errors that predicates ended in, by node: a dry run then fails.
	errs map[string]string
}

// plugins are the plugins that later came to do what a predicate does.
var plugins = map[string]string{
	"MatchNodeSelector":                     "NodeAffinity",
	"PodFitsHostPorts":                      "NodePorts",
	"HostName":                              "NodeName",
	"PodToleratesNodeTaints":                "TaintToleration",
	"MatchInterPodAffinity":                 "InterPodAffinity",
	"PodAffinityRulesNotMatch":              "InterPodAffinity",
	"PodAntiAffinityRulesNotMatch":          "InterPodAffinity",
	"ExistingPodsAntiAffinityRulesNotMatch": "InterPodAffinity",
	"EvenPodsSpreadNotMatch":                "PodTopologySpread",
	"NoDiskConflict":                        "VolumeRestrictions",
	"MaxVolumeCount":                        "NodeVolumeLimits",
	"VolumeNodeAffinityConflict":            "VolumeBinding",
	"VolumeBindingNoMatch":                  "VolumeBinding",
	"NoVolumeZoneConflict":                  "VolumeZone",
}

// verdict names the plugins of all reasons, separated by commas: the predicate
// GeneralPredicates stands for four of them, and tells all that fail. Upstream says
// by itself whether preemption might help.
func verdict(node *v1.Node, reasons []failureReason) observation.Verdict {
	v := observation.Verdict{Unresolvable: len(nodesWherePreemptionMightHelp([]*v1.Node{node}, fitErrorOf(node, reasons))) == 0}
	for _, r := range reasons {
		name := r.GetReason()
		switch r := r.(type) {
		case *predicates.InsufficientResourceError:
			name = "NodeResourcesFit"
		case *predicates.PredicateFailureError:
			name = r.PredicateName
			if plugin, ok := plugins[name]; ok {
				name = plugin
			}
		}
		if !strings.Contains(","+v.Plugin+",", ","+name+",") {
			v.Plugin = strings.TrimPrefix(v.Plugin+","+name, ",")
		}
		v.Reasons = append(v.Reasons, r.GetReason())
	}
	return v
}

// watch records what a predicate says in dry runs.
func (s *scheduler) watch(predicate fitPredicate) fitPredicate {
	return func(pod *v1.Pod, meta predicateMetadata, node *nodeInfo) (bool, []failureReason, error) {
		fits, reasons, err := predicate(pod, meta, node)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.preempts {
			name := node.Node().Name
			if _, seen := s.last[name]; !seen {
				s.last[name] = observation.Verdict{}
			}
			if !fits {
				s.last[name] = verdict(node.Node(), reasons)
			}
			if err != nil {
				s.errs[name] = err.Error()
			}
		}
		return fits, reasons, err
	}
}

var errFits = errors.New("it fits: go no further")

// scheduled records how Schedule ended. The error returned ends the cycle.
func (s *scheduler) scheduled(host string, err error) error {
	fitError, ok := err.(*core.FitError)
	switch {
	case err == nil:
		s.obs.ScheduledTo = host
		return errFits
	case !ok:
		s.failed(s.obs, err)
		return err
	}
	for _, n := range s.loaded.nodes {
		if reasons, failed := fitError.FailedPredicates[n.Name]; failed {
			s.obs.Filters[n.Name] = verdict(n, reasons)
		}
	}
	s.obs.Actuation = &observation.Actuation{Nomination: observation.NominationKept}
	return err
}

// preempted records how Preempt ended. It returns nothing at all if the pod is not
// eligible, and the pod itself to clear if there is no node to try.
func (s *scheduler) preempted(node *v1.Node, victims, clear []*v1.Pod, err error) {
	s.preempts = false
	if err != nil {
		s.obs.PostFilterCode, s.obs.PostFilterMessage = "Error", err.Error()
	}
	s.obs.Eligible = &observation.Eligibility{OK: s.tries || len(clear) > 0 || err != nil}
	if !s.obs.Eligible.OK || err != nil && !s.tries {
		return
	}
	s.obs.PotentialNodes = []string{}
	for _, n := range s.loaded.nodes {
		if _, tried := s.last[n.Name]; tried {
			s.obs.PotentialNodes = append(s.obs.PotentialNodes, n.Name)
		}
	}
	if !s.tries {
		return
	}
	if s.obs.DryRuns == nil {
		s.obs.DryRuns, s.obs.Candidates = map[string]observation.DryRun{}, []string{}
	}
	for name, v := range s.last {
		if _, candidate := s.obs.DryRuns[name]; !candidate {
			s.obs.DryRuns[name] = observation.DryRun{Failed: &v}
		}
		if err := s.errs[name]; err != "" {
			s.obs.DryRuns[name] = observation.DryRun{Error: err}
		}
	}
	if node != nil {
		s.obs.Pick = &observation.Pick{Node: node.Name, Victims: keys(victims), Violations: s.obs.DryRuns[node.Name].Violations}
	}
}

// podPreemptor makes the API calls of a preemption.
type podPreemptor struct{ s *scheduler }

func (p podPreemptor) GetUpdatedPod(pod *v1.Pod) (*v1.Pod, error) { return pod, nil }

func (p podPreemptor) DeletePod(pod *v1.Pod) error {
	a := p.s.obs.Actuation
	a.Deleted = append(a.Deleted, key(pod))
	return nil
}

func (p podPreemptor) SetNominatedNodeName(pod *v1.Pod, node string) error {
	a := p.s.obs.Actuation
	a.Nomination, a.NominatedNode = observation.NominationSet, node
	return nil
}

// RemoveNominatedNodeName does nothing for a pod that has none, as upstream's.
func (p podPreemptor) RemoveNominatedNodeName(pod *v1.Pod) error {
	if pod.Status.NominatedNodeName != "" {
		a := p.s.obs.Actuation
		a.Cleared = append(a.Cleared, key(pod))
	}
	return nil
}
