package properties

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/reference"
)

// maxAlonePairs is the size of clusters, in pods times nodes, beyond which filters
// are not asked one by one: the effort grows with its square.
const maxAlonePairs = 2000

// FiltersAlone is the property that each filter plugin by itself says the same as
// the model, of every pod of a cluster on every node. So it also sees what hides
// behind the first plugin that fails. It takes as long as some tens of clusters do.
func FiltersAlone() Property {
	return Property{
		Name:    "filters-alone",
		Promise: "AddPod and RemovePod evaluate the impact of adding a pod to the node, and of removing one from it, while scheduling another: just as if it were there, or were not.",
		Source:  "doc comment of PreFilterExtensions (kube-scheduler/framework/interface.go:508@v0.37.1); docs: concepts/scheduling-eviction/scheduling-framework, \"Filter\"",
		Lies:    []string{"a plugin forgets changes", "a known error is another"},
		Applies: func(s *Subject) bool {
			return len(s.Cluster.Settings.Configuration) == 0 && len(s.Cluster.Nodes)*(len(s.Cluster.Pods)+1) <= maxAlonePairs
		},
		Check: filtersAlone,
	}
}

// FilterCount counts how a filter plugin, by itself, judged pods on nodes.
type FilterCount struct {
	// Pairs of a pod and a node, of which it failed so many in each way.
	Pairs        int `json:"pairs"`
	Resolvable   int `json:"resolvable"`
	Unresolvable int `json:"unresolvable"`
	// Changes is how often it was asked after a pod was removed, or removed and
	// added again, or deleted from the cluster.
	Changes int `json:"changes"`
	// Differ is how many of all these answers differ from the model's. Each is a
	// finding, known or new.
	Differ int `json:"differ"`
}

// Add adds the counts of o.
func (f *FilterCount) Add(o FilterCount) {
	f.Pairs += o.Pairs
	f.Resolvable += o.Resolvable
	f.Unresolvable += o.Unresolvable
	f.Changes += o.Changes
	f.Differ += o.Differ
}

func filtersAlone(s *Subject) ([]Finding, error) {
	system, ok := s.System.(reference.FilterSystem)
	if !ok {
		return nil, nil
	}
	s.filters = map[string]FilterCount{}
	if s.runs == nil {
		s.runs = &filterRuns{clusters: askedAbout(s.Cluster)}
		s.runs.answers = make([][]model.FilterRun, len(s.runs.clusters))
		s.runs.differ = make([][]model.FilterRun, len(s.runs.clusters))
	}
	var findings []Finding
	for i := range s.runs.clusters {
		found, err := s.filtersOf(system, i)
		if unmodelled := (model.Unmodelled)(nil); errors.As(err, &unmodelled) || errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, err
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

// filterRuns are the clusters that a system is asked about, and what it answered: that
// does not depend on what is assumed. nil if it was not asked yet.
type filterRuns struct {
	clusters []*model.Cluster
	answers  [][]model.FilterRun
	// differ are those of the answers that the documented rules do not give. Only these
	// are looked at again when something is assumed.
	differ [][]model.FilterRun
}

// askedAbout is c, and for each of its pods the cluster in which that pod is yet to
// be scheduled, and the preemptor is not there. What the pod does not demand of
// nodes itself, it demands as the preemptor does: most filters have something to
// do then.
func askedAbout(c *model.Cluster) []*model.Cluster {
	all := []*model.Cluster{c}
	for i, p := range c.Pods {
		pending := p.DeepCopy()
		pending.Spec.NodeName, pending.Spec.SchedulingGates, pending.DeletionTimestamp = "", nil, nil
		pending.Spec.SchedulerName, pending.Status = v1.DefaultSchedulerName, v1.PodStatus{}
		demands, its := &c.Preemptor.Spec, &pending.Spec
		if its.Affinity == nil {
			its.Affinity = demands.Affinity
		}
		if its.TopologySpreadConstraints == nil {
			its.TopologySpreadConstraints = demands.TopologySpreadConstraints
		}
		if its.NodeSelector == nil {
			its.NodeSelector = demands.NodeSelector
		}
		other := *c
		other.Preemptor, other.Pods = pending, slices.Delete(slices.Clone(c.Pods), i, i+1)
		all = append(all, &other)
	}
	return all
}

// filtersOf judges the preemptor of one of the clusters.
func (s *Subject) filtersOf(system reference.FilterSystem, i int) ([]Finding, error) {
	c := s.runs.clusters[i]
	if s.AssumesAny() && len(s.runs.differ[i]) == 0 {
		return nil, nil
	}
	want, err := answers.NewFiltersAlone(c, s.documented())
	if err != nil {
		return nil, err
	}
	if s.runs.answers[i] == nil {
		runs := []model.FilterRun{}
		if err := system.Filters(s.Context, c, answers.FilterPlugins(), func(r model.FilterRun) { runs = append(runs, r) }); err != nil {
			return nil, err
		}
		s.runs.answers[i] = runs
	}
	var findings []Finding
	runs := s.runs.answers[i]
	if s.AssumesAny() {
		runs = s.runs.differ[i]
	} else {
		s.runs.differ[i] = nil
	}
	for _, got := range runs {
		want := want.Answer(got)
		differs := want.Outcome() != got.Outcome() && !(want.Error != "" && strings.Contains(got.Error, want.Error))
		n := FilterCount{}
		if differs {
			n.Differ = 1
		}
		switch {
		case got.Change != model.Untouched:
			n.Changes = 1
		case got.Failed == nil:
			n.Pairs = 1
		case got.Failed.Unresolvable:
			n.Pairs, n.Unresolvable = 1, 1
		default:
			n.Pairs, n.Resolvable = 1, 1
		}
		count := s.filters[got.Plugin]
		count.Add(n)
		s.filters[got.Plugin] = count
		if differs && !s.AssumesAny() {
			s.runs.differ[i] = append(s.runs.differ[i], got)
		}
		if differs {
			findings = append(findings, Finding{
				Stage: model.StageFilter, Node: got.Node, about: model.Key(c.Preemptor) + "/" + got.Plugin + "/" + string(got.Change) + "/" + got.Pod,
				Kind:   fmt.Sprintf("%s %s: %s but should be: %s", got.Plugin, got.Change, kindOf(got), kindOf(want)),
				Detail: fmt.Sprintf("%s asked alone about pod %s: want %s, got %s", got.Plugin, model.Key(c.Preemptor), want, got),
			})
		}
	}
	return findings, nil
}

// kindOf is the outcome without what is particular to the cluster.
func kindOf(r model.FilterRun) string {
	if r.Error != "" {
		return "error: " + answers.Cause(r.Error)
	}
	return r.Outcome()
}
