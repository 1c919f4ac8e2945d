package aftermath

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/properties"
)

// SaidIsNotWritten: a pod whose status says already what a cycle finds out is not patched. The system is
// asked again about a pod with the condition that it gave it.
var SaidIsNotWritten = properties.Property{
	Name:    "said-is-not-written",
	Promise: "UpdatePodCondition returns true if pod condition has changed or has been added. NominatedNodeName is updated only if we are trying to set it, and the value is different from the existing one. IsNoOp returns true if the call represents a no-operation and should be skipped by the dispatcher. A call may be a no-op from its creation.",
	Source:  "doc comments of UpdatePodCondition (pkg/api/v1/pod/util.go:362@v1.37.1) and APICall.IsNoOp (kube-scheduler/framework/api_dispatcher.go:76@v0.37.1); updatePod (schedule_one.go:1296@v1.37.1)",
	Lies:    []string{"the same condition is written again", "the same nomination is written again", "a patch changes nothing"},
	Applies: failed,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		told := failureTold(s, s.Observation)
		is, written := s.Condition(s.Cluster.Preemptor, v1.PodScheduled)
		if told == "" || !written {
			return nil, nil
		}
		c := *s.Cluster
		c.Preemptor = withCondition(c.Preemptor, is)
		o, err := s.System.Observe(s.Context, &c)
		if err != nil {
			return nil, err
		}
		if broken, findings := properties.Breaks(&c, o); broken {
			return findings, nil
		}
		again := s.Other(&c, o)
		if !failed(again) || failureTold(again, o) != told { // chance may find out something else
			return nil, nil
		}
		s.Reach(properties.SaidAlready)
		var f findings
		key := model.Key(c.Preemptor)
		for _, call := range calls(again, key) {
			scheduled := func(c model.Condition) bool { return c.Type == string(v1.PodScheduled) }
			nominates := call.NominatedNode != nil
			switch {
			case call.Verb != "patch" || call.Resource != "pods/status":
			case slices.ContainsFunc(call.Conditions, scheduled):
				f.add(key+" condition", fmt.Sprintf("the condition PodScheduled says %q already, and is written again: %s", is.Message, call))
			case nominates && *call.NominatedNode == c.Preemptor.Status.NominatedNodeName:
				f.add(key+" nomination", fmt.Sprintf("status.nominatedNodeName is %q already, and is written again: %s", *call.NominatedNode, call))
			case !nominates && len(call.Conditions) == 0 && call.Rest == "":
				f.add(key+" nothing", "a patch changes nothing: "+call.String())
			}
		}
		return f, nil
	},
}

// failureTold is what the event of a pod says that fits nowhere; "" if there is no such event, or it does not say all.
func failureTold(s *properties.Subject, o *model.Observation) string {
	told := events(s.Other(s.Cluster, o), model.Key(s.Cluster.Preemptor), "FailedScheduling")
	if len(told) != 1 || len(told[0].Note) >= observation.MaxNote {
		return ""
	}
	return told[0].Note
}

// withCondition is a pod with a condition in place of that of its type.
func withCondition(p *v1.Pod, is model.Condition) *v1.Pod {
	p = p.DeepCopy()
	said := v1.PodCondition{Type: v1.PodConditionType(is.Type), Status: v1.ConditionStatus(is.Status), Reason: is.Reason, Message: is.Message,
		ObservedGeneration: is.ObservedGeneration, LastTransitionTime: metav1.Unix(0, 0)}
	others := slices.DeleteFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == said.Type })
	p.Status.Conditions = append(others, said)
	return p
}
