//go:build k1.16

package main

import (
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler/algorithm/predicates"
	"k8s.io/kubernetes/pkg/scheduler/core"
	"k8s.io/kubernetes/pkg/scheduler/factory"
	framework "k8s.io/kubernetes/pkg/scheduler/framework/v1alpha1"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/nodeinfo"
)

type (
	fitPredicate      = predicates.FitPredicate
	failureReason     = predicates.PredicateFailureReason
	predicateMetadata = predicates.PredicateMetadata
	nodeInfo          = nodeinfo.NodeInfo
)

//go:linkname nodesWherePreemptionMightHelp k8s.io/kubernetes/pkg/scheduler/core.nodesWherePreemptionMightHelp
func nodesWherePreemptionMightHelp(nodes []*v1.Node, fitErr *core.FitError) []*v1.Node

func fitErrorOf(node *v1.Node, reasons []failureReason) *core.FitError {
	return &core.FitError{FailedPredicates: core.FailedPredicateMap{node.Name: reasons}}
}

func newEventRecorder() events.EventRecorder { return &events.FakeRecorder{} }

func complete(args *factory.ConfigFactoryArgs, f informers.SharedInformerFactory) {
	metrics.Register()
	args.CSINodeInformer = f.Storage().V1beta1().CSINodes()
	args.Registry = framework.NewRegistry()
}

// algorithmWatcher watches the two steps of a cycle.
type algorithmWatcher struct {
	core.ScheduleAlgorithm
	s *scheduler
}

func (w algorithmWatcher) Schedule(pod *v1.Pod, c *framework.PluginContext) (core.ScheduleResult, error) {
	result, err := w.ScheduleAlgorithm.Schedule(pod, c)
	return result, w.s.scheduled(result.SuggestedHost, err)
}

func (w algorithmWatcher) Preempt(c *framework.PluginContext, pod *v1.Pod, scheduleErr error) (*v1.Node, []*v1.Pod, []*v1.Pod, error) {
	w.s.preempts = true
	node, victims, clear, err := w.ScheduleAlgorithm.Preempt(c, pod, scheduleErr)
	w.s.preempted(node, victims, clear, err)
	return node, victims, clear, err
}
