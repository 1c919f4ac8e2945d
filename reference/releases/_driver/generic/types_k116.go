//go:build k1.16

package main

import (
	"errors"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler/algorithm/predicates"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/api"
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

var errFits = errors.New("it fits: go no further")

//go:linkname nodesWherePreemptionMightHelp k8s.io/kubernetes/pkg/scheduler/core.nodesWherePreemptionMightHelp
func nodesWherePreemptionMightHelp(nodes []*v1.Node, fitErr *core.FitError) []*v1.Node

func fitErrorOf(node *v1.Node, reasons []failureReason) *core.FitError {
	return &core.FitError{FailedPredicates: core.FailedPredicateMap{node.Name: reasons}}
}

func newEventRecorder() events.EventRecorder { return &events.FakeRecorder{} }

type noConditions struct{}

func (noConditions) Update(*v1.Pod, *v1.PodCondition) error { return nil }

func (s *scheduler) configurator(client kubernetes.Interface, f informers.SharedInformerFactory) *factory.Configurator {
	metrics.Register()
	return factory.NewConfigFactory(&factory.ConfigFactoryArgs{
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
		CSINodeInformer:                f.Storage().V1beta1().CSINodes(),
		HardPodAffinitySymmetricWeight: v1.DefaultHardPodAffinitySymmetricWeight,
		PercentageOfNodesToScore:       schedulerapi.DefaultPercentageOfNodesToScore,
		BindTimeoutSeconds:             600,
		StopCh:                         s.ctx.Done(),
		Registry:                       framework.NewRegistry(),
	})
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
