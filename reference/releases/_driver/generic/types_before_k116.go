//go:build !k1.16

package main

import (
	"errors"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/scheduler/algorithm"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/api"
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

var errFits = errors.New("it fits: go no further")

//go:linkname nodesWherePreemptionMightHelp k8s.io/kubernetes/pkg/scheduler/core.nodesWherePreemptionMightHelp
func nodesWherePreemptionMightHelp(nodes []*v1.Node, failed core.FailedPredicateMap) []*v1.Node

func fitErrorOf(node *v1.Node, reasons []failureReason) core.FailedPredicateMap {
	return core.FailedPredicateMap{node.Name: reasons}
}

func newEventRecorder() record.EventRecorder { return &record.FakeRecorder{} }

type noConditions struct{}

func (noConditions) Update(*v1.Pod, *v1.PodCondition) error { return nil }

func (s *scheduler) configurator(client kubernetes.Interface, f informers.SharedInformerFactory) factory.Configurator {
	return factory.NewConfigFactory(&factory.ConfigFactoryArgs{
		SchedulerName:                  v1.DefaultSchedulerName,
		Client:                         client,
		NodeInformer:                   f.Core().V1().Nodes(),
		PodInformer:                    f.Core().V1().Pods(),
		PvInformer:                     f.Core().V1().PersistentVolumes(),
		PvcInformer:                    f.Core().V1().PersistentVolumeClaims(),
		ReplicationControllerInformer:  f.Core().V1().ReplicationControllers(),
		ReplicaSetInformer:             f.Apps().V1().ReplicaSets(),
		StatefulSetInformer:            f.Apps().V1().StatefulSets(),
		ServiceInformer:                f.Core().V1().Services(),
		PdbInformer:                    budgetInformer{f.Policy().V1beta1().PodDisruptionBudgets(), s.budgets},
		StorageClassInformer:           f.Storage().V1().StorageClasses(),
		HardPodAffinitySymmetricWeight: v1.DefaultHardPodAffinitySymmetricWeight,
		PercentageOfNodesToScore:       schedulerapi.DefaultPercentageOfNodesToScore,
		BindTimeoutSeconds:             600,
		StopCh:                         s.ctx.Done(),
	})
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
