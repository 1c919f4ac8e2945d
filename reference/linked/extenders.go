package linked

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/preemptcheck/preemptcheck/reference/bubble"
)

// Outside puts in the place of each extender one that asks it outside of the bubble, and
// returns a copy of the list. They are the extenders of a configuration, upstream's own,
// which call over the network.
func Outside(b *bubble.Bubble, extenders []fwk.Extender) []fwk.Extender {
	for i, e := range extenders {
		extenders[i] = remote{e, b}
	}
	return slices.Clone(extenders)
}

// IgnorableLast are the extenders in the order in which upstream asks them (scheduler.go:577@v1.37.1,
// buildExtenders).
func IgnorableLast(extenders []fwk.Extender) []fwk.Extender {
	slices.SortStableFunc(extenders, func(a, b fwk.Extender) int {
		switch {
		case a.IsIgnorable() == b.IsIgnorable():
			return 0
		case b.IsIgnorable():
			return -1
		}
		return 1
	})
	return extenders
}

// remote is an extender that is asked outside of the bubble.
type remote struct {
	fwk.Extender
	b *bubble.Bubble
}

func (r remote) Filter(pod *v1.Pod, nodes []fwk.NodeInfo) (passed []fwk.NodeInfo, failed, excluded extenderv1.FailedNodesMap, err error) {
	r.b.Outside(func() { passed, failed, excluded, err = r.Extender.Filter(pod, nodes) })
	return passed, failed, excluded, err
}

func (r remote) Prioritize(pod *v1.Pod, nodes []fwk.NodeInfo) (scores *extenderv1.HostPriorityList, weight int64, err error) {
	r.b.Outside(func() { scores, weight, err = r.Extender.Prioritize(pod, nodes) })
	return scores, weight, err
}

func (r remote) ProcessPreemption(pod *v1.Pod, candidates map[string]*extenderv1.Victims, nodes fwk.NodeInfoLister) (left map[string]*extenderv1.Victims, err error) {
	r.b.Outside(func() { left, err = r.Extender.ProcessPreemption(pod, candidates, nodes) })
	return left, err
}

func (r remote) Bind(binding *v1.Binding) (err error) {
	r.b.Outside(func() { err = r.Extender.Bind(binding) })
	return err
}
