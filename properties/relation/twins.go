package relation

import (
	"errors"
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// TwinsAgree: the system is asked again about a pod that comes right after an equal one, of
// which it knows where that fits; and about the same pod when the other has been there for
// long. Where the first led to a hint, both are asked again with a change that is to make
// the hint the worse choice, and that comes when the results are too old to be used.
var TwinsAgree = properties.Property{
	Name:    "batching-agrees",
	Promise: "Any pod with the given signature will get the same scores / feasibility results from any arbitrary set of nodes. Assigning a pod to a node is not going to change neither the feasibility nor scoring of other nodes.",
	Source:  "KEP-5598, \"Pod scheduling signature\"; doc comment of SignPod (framework/interface.go:205@v1.37.1)",
	Needs:   properties.NeedsRepetition,
	Lies:    []string{"a hint is taken though its node is full by now", "a hint is taken though another node is better by now", "the pod of a hint is lost", "a hint leads to a panic", "a hint outlives a change"},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		system, ok := s.System.(reference.StressSystem)
		p := s.Cluster.Preemptor
		// Volumes and devices of a pod that is being bound are not those of one that is.
		reserves := len(p.Spec.Volumes) > 0 || device.Uses(s.Cluster.Extra, p)
		// Where the search for nodes ends early, the second pod's begins elsewhere, and other nodes are scored.
		endsEarly := len(s.Cluster.Nodes) > model.NodesToFind(s.Cluster.Settings.PercentageOfNodesToScore, len(s.Cluster.Nodes))
		if !ok || s.Observation.ScheduledTo == "" || s.Extended() || reserves || endsEarly {
			return nil, nil
		}
		c := *s.Cluster
		c.Settings.NoDefaultConstraints = true
		hint, findings, err := twinAgrees(s, system, &c, "")
		if err != nil || hint == "" || len(findings) > 0 {
			return findings, err
		}
		s.Reach(properties.HintUsed)
		_, findings, err = twinAgrees(s, system, &c, hint)
		return findings, err
	},
}

// twinAgrees compares the answer right after an equal pod, or a second after it with another
// node tainted meanwhile, with that where all this has been so for long. hint is the node that
// the pod was placed on because of a hint; "" if it was not.
func twinAgrees(s *properties.Subject, system reference.StressSystem, of *model.Cluster, tainted string) (hint string, _ []properties.Finding, _ error) {
	hinted, err := system.ObserveUnder(s.Context, of, reference.Circumstances{Twin: true, Tainted: tainted})
	if errors.Is(err, errors.ErrUnsupported) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	if broken, findings := properties.Breaks(of, hinted); broken {
		return "", findings, nil
	}
	if hinted.Aftermath == nil || hinted.Aftermath.Twin == "" {
		return "", nil, nil
	}
	c := *of
	twin := of.Preemptor.DeepCopy()
	twin.Name, twin.UID, twin.Spec.NodeName = twin.Name+"-twin", "", hinted.Aftermath.Twin
	c.Pods, c.Nodes = append(slices.Clip(c.Pods), twin), slices.Clone(c.Nodes)
	for i, n := range c.Nodes {
		if n.Name == tainted {
			c.Nodes[i] = n.DeepCopy()
			c.Nodes[i].Spec.Taints = append(c.Nodes[i].Spec.Taints, reference.LateTaint)
		}
	}
	usual, err := system.Observe(s.Context, &c)
	if err != nil {
		return "", nil, err
	}
	if broken, findings := properties.Breaks(&c, usual); broken {
		return "", findings, nil
	}
	if hinted.Aftermath.Hint == hinted.ScheduledTo {
		hint = hinted.Aftermath.Hint
	}
	if usual.ScheduledTo == "" || hinted.ScheduledTo == "" {
		return hint, (&comparison{s.Other(&c, usual), &variation{cluster: &c}, hinted}).findings(), nil
	}
	best := usual.Aftermath.Best
	if tainted != "" && !slices.Contains(best, tainted) {
		s.Reach(properties.HintWorse)
	}
	if hinted.ScheduledTo == usual.ScheduledTo || slices.Contains(best, hinted.ScheduledTo) {
		return hint, nil, nil
	}
	after := "right after an equal pod was"
	if tainted != "" {
		after = fmt.Sprintf("a second after an equal pod was, and after node %s was tainted,", tainted)
	}
	return hint, []properties.Finding{{Stage: model.StageFilter, Kind: "hint", Detail: fmt.Sprintf(
		"%s placed on %s the pod is placed on %s, for which there was a hint, and otherwise on %s; the best nodes are %v",
		after, twin.Spec.NodeName, hinted.ScheduledTo, usual.ScheduledTo, best)}}, nil
}
