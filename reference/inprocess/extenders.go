package inprocess

import (
	"fmt"
	"maps"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/inprocess/groups"
	"github.com/preemptcheck/preemptcheck/reference/releases/standin"
)

// buildExtenders makes the extenders of a scheduler's settings, in the order in
// which upstream keeps them: the ignorable ones last (scheduler.go:602@v1.37.1,
// buildExtenders).
func buildExtenders(settings []model.Extender) ([]fwk.Extender, error) {
	var first, last []fwk.Extender
	for i := range settings {
		e := &extender{Extender: standin.Extender{Does: &settings[i]}}
		if e.IsIgnorable() {
			last = append(last, e)
		} else {
			first = append(first, e)
		}
	}
	return append(first, last...), nil
}

// extend makes the scheduler ask extenders, or none. Only the evaluator of
// preemption asks the framework for them, through its handle.
func (s *scheduler) extend(extenders []fwk.Extender) {
	s.sched.Extenders = extenders
	s.plugin.Evaluator.Handler = handle{groups.Ordered{Handle: s.profile}, extenders}
}

// handle is the framework with extenders of its own.
type handle struct {
	fwk.Handle
	extenders []fwk.Extender
}

func (h handle) Extenders() []fwk.Extender { return h.extenders }

// extender does what a model.Extender says.
type extender struct {
	standin.Extender
	uncalled
}

// uncalled is what a scheduling cycle does not call; nil.
type uncalled struct{ fwk.Extender }

// Prioritize gives all nodes the same score.
func (e *extender) Prioritize(*v1.Pod, []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	return &extenderv1.HostPriorityList{}, 0, nil
}

func (e *extender) Filter(_ *v1.Pod, nodes []fwk.NodeInfo) (passed []fwk.NodeInfo, failed, excluded extenderv1.FailedNodesMap, err error) {
	return standin.Filter(e.Does, nodes, func(n fwk.NodeInfo) string { return n.Node().Name })
}

func (e *extender) ProcessPreemption(_ *v1.Pod, candidates map[string]*extenderv1.Victims, _ fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	if e.Does.Preempt.Fails != "" {
		return nil, fmt.Errorf("extender %s: %s", e.Does.Name, e.Does.Preempt.Fails)
	}
	out := map[string]*extenderv1.Victims{}
	for node, victims := range candidates {
		if pods, violations, ok := standin.Victims(e.Does.Preempt, node, victims.Pods, victims.NumPDBViolations); ok {
			out[node] = &extenderv1.Victims{Pods: pods, NumPDBViolations: violations}
		}
	}
	return out, nil
}

// watched are the extenders of a scheduler so that a recorder notes what the last one that is asked has left of the candidates. Where the pod has none
// that preempts, one comes after them that changes nothing: who has just one that does is a case of its own upstream (preemption.go:232@v1.37.1, callExtenders).
func (r *recorder) watched(extenders []fwk.Extender, pod *v1.Pod) (all []fwk.Extender) {
	asked := false
	for _, e := range extenders {
		asked = asked || e.SupportsPreemption() && pod != nil && e.IsInterested(pod)
		all = append(all, watchedExtender{e, r})
	}
	if !asked {
		all = append(all, lastExtender{r: r})
	}
	return all
}

// watchedExtender notes what it leaves of the candidates. Upstream may take more out of that afterwards (preemption.go:259@v1.37.1, callExtenders).
type watchedExtender struct {
	fwk.Extender
	r *recorder
}

func (e watchedExtender) ProcessPreemption(pod *v1.Pod, candidates map[string]*extenderv1.Victims, nodes fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	left, err := e.Extender.ProcessPreemption(pod, candidates, nodes)
	if err == nil {
		e.r.left = left
	} else if e.IsIgnorable() {
		e.r.left = candidates
	}
	return left, err
}

// lastExtender comes after all extenders, changes nothing, and notes what they have left of the candidates.
type lastExtender struct {
	fwk.Extender
	r *recorder
}

func (lastExtender) SupportsPreemption() bool  { return true }
func (lastExtender) IsInterested(*v1.Pod) bool { return true }

func (l lastExtender) ProcessPreemption(_ *v1.Pod, candidates map[string]*extenderv1.Victims, _ fwk.NodeInfoLister) (map[string]*extenderv1.Victims, error) {
	l.r.left = maps.Clone(candidates)
	return l.r.left, nil
}

// noteLeft notes what the extenders have left of the candidates, once the cycle is over.
func (r *recorder) noteLeft() {
	if r.left == nil || r.obs.PostFilterCode == fwk.Error.String() {
		return
	}
	left := map[string]model.DryRun{}
	for node, victims := range r.left {
		left[node] = model.DryRun{Victims: keys(victims.Pods), Violations: int(victims.NumPDBViolations)}
	}
	r.note(func(o *model.Observation) { o.AfterExtenders = left })
}
