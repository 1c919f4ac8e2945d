package relation

import (
	"errors"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// TwinsAgree: the system is asked again about a pod that comes right after an equal one, of
// which it knows where that fits; and about the same pod when the other has been there for
// long.
var TwinsAgree = properties.Property{
	Name:    "batching-agrees",
	Promise: "Any pod with the given signature will get the same scores / feasibility results from any arbitrary set of nodes. Assigning a pod to a node is not going to change neither the feasibility nor scoring of other nodes.",
	Source:  "KEP-5598, \"Pod scheduling signature\"; doc comment of SignPod (framework/interface.go:205@v1.37.1)",
	Needs:   properties.NeedsRepetition,
	Lies:    []string{"a hint is taken though its node is full by now", "a hint is taken though another node is better by now", "the pod of a hint is lost"},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		system, ok := s.System.(reference.StressSystem)
		p := s.Cluster.Preemptor
		// Volumes and devices of a pod that is being bound are not those of one that is.
		reserves := len(p.Spec.Volumes)+len(p.Spec.ResourceClaims) > 0 || slices.ContainsFunc(s.Cluster.Extra, func(o runtime.Object) bool {
			class, ok := o.(*resourcev1.DeviceClass)
			return ok && device.Backs(class, p)
		})
		if !ok || s.Observation.ScheduledTo == "" || s.Extended() || reserves {
			return nil, nil
		}
		c := *s.Cluster
		c.Settings.NoDefaultConstraints = true
		hinted, err := system.ObserveUnder(s.Context, &c, reference.Circumstances{Twin: true})
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, nil
		}
		if err != nil || hinted.Aftermath == nil || hinted.Crash != nil {
			return nil, err
		}
		twin := p.DeepCopy()
		twin.Name, twin.UID, twin.Spec.NodeName = p.Name+"-twin", "", hinted.Aftermath.Twin
		c.Pods = append(slices.Clip(c.Pods), twin)
		usual, err := system.Observe(s.Context, &c)
		if err != nil || usual.Crash != nil {
			return nil, err
		}
		if hint := hinted.Aftermath.Hint; hint != "" && hint == hinted.ScheduledTo {
			s.Reach(properties.HintUsed)
		}
		if usual.ScheduledTo == "" || hinted.ScheduledTo == "" {
			return (&comparison{s.Other(&c, usual), &variation{cluster: &c}, hinted}).findings(), nil
		}
		if best := usual.Aftermath.Best; hinted.ScheduledTo != usual.ScheduledTo && !slices.Contains(best, hinted.ScheduledTo) {
			return []properties.Finding{{Stage: model.StageFilter, Kind: "hint", Detail: fmt.Sprintf(
				"after an equal pod was placed on %s the pod is placed on %s, for which there was a hint, and otherwise on %s; the best nodes are %v",
				twin.Spec.NodeName, hinted.ScheduledTo, usual.ScheduledTo, best)}}, nil
		}
		return nil, nil
	},
}
