//go:build !k1.16

package main

import (
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/scheduler/algorithm"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/cache"
	"k8s.io/kubernetes/pkg/scheduler/core"
	"k8s.io/kubernetes/pkg/scheduler/factory"
)

type (
	fitPredicate      = algorithm.FitPredicate
	failureReason     = algorithm.PredicateFailureReason
	predicateMetadata = algorithm.PredicateMetadata
	nodeInfo          = schedulercache.NodeInfo
)

//go:linkname nodesWherePreemptionMightHelp k8s.io/kubernetes/pkg/scheduler/core.nodesWherePreemptionMightHelp
func nodesWherePreemptionMightHelp(nodes []*v1.Node, failed core.FailedPredicateMap) []*v1.Node

func fitErrorOf(node *v1.Node, reasons []failureReason) core.FailedPredicateMap {
	return core.FailedPredicateMap{node.Name: reasons}
}

func newEventRecorder() record.EventRecorder { return &record.FakeRecorder{} }

// complete adds what only this release has.
func complete(args *factory.ConfigFactoryArgs, _ informers.SharedInformerFactory) {
	args.SchedulerName = v1.DefaultSchedulerName
}

// algorithmWatcher watches the two steps of a cycle.
type algorithmWatcher struct {
	algorithm.ScheduleAlgorithm
	s *scheduler
}

func (w algorithmWatcher) Schedule(pod *v1.Pod, nodes algorithm.NodeLister) (string, error) {
	host, err := w.ScheduleAlgorithm.Schedule(pod, nodes)
	return host, w.s.scheduled(host, err)
}

func (w algorithmWatcher) Preempt(pod *v1.Pod, nodes algorithm.NodeLister, scheduleErr error) (*v1.Node, []*v1.Pod, []*v1.Pod, error) {
	w.s.preempts = true
	node, victims, clear, err := w.ScheduleAlgorithm.Preempt(pod, nodes, scheduleErr)
	w.s.preempted(node, victims, clear, err)
	return node, victims, clear, err
}
