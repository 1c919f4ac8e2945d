package groups

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
)

// Verdict reads a Filter status. The nodes that a PreFilter result leaves out have
// a status of no plugin, which names the plugins in its text
// (schedule_one.go:689@v1.37.1); several are separated by commas.
func Verdict(status *fwk.Status) model.Verdict {
	v := model.Verdict{Plugin: status.Plugin(), Unresolvable: status.Code() == fwk.UnschedulableAndUnresolvable, Reasons: status.Reasons()}
	if v.Plugin == "" {
		if rest, ok := strings.CutPrefix(status.Message(), "node(s) didn't satisfy plugin(s) ["); ok {
			v.Plugin = strings.ReplaceAll(strings.TrimSuffix(rest, "]"), " ", ",")
		}
	}
	return v
}

// Tried is what trying to place a member came to, with the verdict on each of the nodes if it fits on none.
func Tried(pod *v1.Pod, nodes []fwk.NodeInfo, result upstream.ScheduleResult, err error) model.MemberTry {
	try := model.MemberTry{Pod: model.Key(pod), Node: result.SuggestedHost, Filters: map[string]model.Verdict{}}
	if err == nil {
		return try
	}
	try.Node = ""
	fitError, ok := err.(*framework.FitError)
	if !ok {
		try.Error = err.Error()
		return try
	}
	for _, n := range nodes {
		name := n.Node().Name
		try.Filters[name] = Verdict(fitError.Diagnosis.NodeToStatus.Get(name))
	}
	return try
}
