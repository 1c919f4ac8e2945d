package invariant

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
)

// NeverPreempts: a pod with preemptionPolicy Never does not preempt.
var NeverPreempts = properties.Property{
	Name:    "never-preempts",
	Promise: "Pods with preemptionPolicy: Never will be placed in the scheduling queue ahead of lower-priority pods, but they cannot preempt other pods.",
	Source:  "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Non-preempting PriorityClass\"",
	Lies:    []string{"the preemption policy is not seen"},
	Applies: func(s *properties.Subject) bool {
		policy := s.Cluster.Preemptor.Spec.PreemptionPolicy
		return policy != nil && *policy == v1.PreemptNever
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		if a := s.Observation.Actuation; s.Observation.Pick != nil || a != nil && len(a.Deleted) > 0 {
			return properties.Found(model.StageEligible, "", "a pod with preemptionPolicy Never preempted others"), nil
		}
		return nil, nil
	},
}

// WaitsForItsVictims: a pod does not preempt again while its victims terminate on its nominated node.
//
// The comment below the promise says "as long as there are terminating pods on this
// node". That is how victims were told before they had a condition, and nothing is
// required for pods that terminate for other reasons: preempting beside them is allowed.
// Victims of other preemptors have the same condition, and are waited for, too: no
// document tells them apart.
var WaitsForItsVictims = properties.Property{
	Name:    "waits-for-its-victims",
	Promise: "The bool indicates whether this pod should be considered for preempting other pods or not. There're several reasons: the pod has already preempted other pods and the victims are in their graceful termination period. If the pod's nominated node is considered as UnschedulableAndUnresolvable by the filters, then the pod should be considered for preempting again. PreemptionByScheduler: Pod is due to be preempted by a scheduler in order to accommodate a new Pod with a higher priority.",
	Source:  "default_preemption.go:443@v1.37.1, doc comment of PodEligibleToPreemptOthers and the comment below it; docs: concepts/workloads/pods/disruptions, \"Pod disruption conditions\" (KEP-3329), which victims are known by",
	Needs:   properties.NeedsModel,
	Lies:    []string{"the nomination is not seen", "it is considered, although nothing comes of it"},
	Applies: func(s *properties.Subject) bool { return awaited(s) != "" },
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		o, victim := s.Observation, awaited(s)
		if victim == "" { // as a known finding has it
			return nil, nil
		}
		if o.Eligible != nil && o.Eligible.OK || o.Pick != nil || o.Actuation != nil && len(o.Actuation.Deleted) > 0 {
			return properties.Found(model.StageEligible, s.Cluster.Preemptor.Status.NominatedNodeName, "considered for preempting again, although its victim "+victim+" is still terminating there"), nil
		}
		return nil, nil
	},
}

// awaited is a pod that the preemptor has to wait for, or "".
func awaited(s *properties.Subject) string {
	node, d := s.Cluster.Preemptor.Status.NominatedNodeName, s.Decision
	if s.AssumesAny() {
		if assumed, err := answers.Decide(s.Cluster, s.Rules()); err == nil {
			d = assumed
		}
	}
	if v := d.Verdicts[node]; node == "" || v == nil || v.Unresolvable {
		return ""
	}
	for _, p := range s.Preemptable(node) {
		if p.DeletionTimestamp != nil && properties.MarkedAsVictim(p) {
			return model.Key(p)
		}
	}
	return ""
}

// NoInternalError: a valid cluster does not make the cycle end in an error.
var NoInternalError = properties.Property{
	Name:    "no-internal-error",
	Promise: "<nil, Error>. This denotes it's a transient/rare error that may be self-healed in future cycles.",
	Source:  "preemption.go:168@v1.37.1, doc comment of Preempt: a valid cluster as such is no reason for one",
	Needs:   properties.NeedsModel,
	Lies:    []string{"PostFilter ends in an error", "the cycle ends in an error"},
	// A cluster without nodes cannot be scheduled to.
	Applies: func(s *properties.Subject) bool { return len(s.Cluster.Nodes) > 0 },
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		o := s.Observation
		d := s.Decision
		if s.AssumesAny() {
			if d, err = answers.Decide(s.Cluster, s.Rules()); err != nil {
				return nil, err
			}
		}
		// excused: the error is due to a quirk that is assumed, or it is what the
		// algorithm of an older release comes to.
		excused := func(fails func(*answers.Set) bool) bool {
			return fails(d) && (s.Release != release.Linked || !fails(s.Decision))
		}
		broken := func(stage model.Stage, node, what, text string) {
			f := properties.FoundOf(stage, node, answers.Cause(text), what+" ended in an error: "+text)
			f.Kind = answers.Cause(text)
			findings = append(findings, f)
		}
		// The error of an extender is no error of the scheduler.
		if text := o.CycleError; text != "" && !(d.FilterFails != "" && d.CycleFails(text)) && !excused(func(d *answers.Set) bool { return d.CycleFails(text) }) {
			broken(model.StageFilter, "", "the cycle", text)
		}
		for _, node := range slices.Sorted(maps.Keys(o.DryRuns)) {
			if text := o.DryRuns[node].Error; text != "" && !excused(func(d *answers.Set) bool { return d.DryRunFails(node, text) }) {
				broken(model.StageDryRun, node, "the dry run", text)
			}
		}
		extender := explain.FailedExtender(d, o)
		if o.PostFilterCode == "Error" && !(extender != "" && d.ExtenderFails(extender, o)) && !excused(func(d *answers.Set) bool { return d.PostFilterFails(o) }) {
			broken(model.StageEligible, "", "PostFilter", o.PostFilterMessage)
		}
		return findings, nil
	},
}
