//go:build k1.16

package main

import (
	"errors"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler/algorithm"
	"k8s.io/kubernetes/pkg/scheduler/algorithm/predicates"
	_ "k8s.io/kubernetes/pkg/scheduler/algorithmprovider"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/api"
	"k8s.io/kubernetes/pkg/scheduler/core"
	"k8s.io/kubernetes/pkg/scheduler/factory"
	framework "k8s.io/kubernetes/pkg/scheduler/framework/v1alpha1"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/nodeinfo"

	"github.com/preemptcheck/preemptcheck/reference/releases/driver/wire"
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

func preemptionMightHelpArgument(e *core.FitError) *core.FitError { return e }

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

func extenders(s *scheduler) []algorithm.SchedulerExtender {
	return []algorithm.SchedulerExtender{extender{s}}
}

// extender sees the candidates, and leaves everything as it is.
type extender struct{ s *scheduler }

func (extender) Name() string { return "watcher" }

func (extender) Filter(_ *v1.Pod, nodes []*v1.Node, _ map[string]*nodeInfo) ([]*v1.Node, schedulerapi.FailedNodesMap, error) {
	return nodes, nil, nil
}

func (extender) Prioritize(*v1.Pod, []*v1.Node) (*schedulerapi.HostPriorityList, int, error) {
	return &schedulerapi.HostPriorityList{}, 1, nil
}

func (extender) Bind(*v1.Binding) error    { return nil }
func (extender) IsBinder() bool            { return false }
func (extender) IsInterested(*v1.Pod) bool { return true }
func (extender) SupportsPreemption() bool  { return true }
func (extender) IsIgnorable() bool         { return false }

func (e extender) ProcessPreemption(_ *v1.Pod, victims map[*v1.Node]*schedulerapi.Victims, _ map[string]*nodeInfo) (map[*v1.Node]*schedulerapi.Victims, error) {
	e.s.obs.DryRuns, e.s.obs.Candidates = map[string]wire.DryRun{}, []string{}
	for node, v := range victims {
		e.s.obs.DryRuns[node.Name] = wire.DryRun{Victims: keys(v.Pods), Violations: v.NumPDBViolations}
		e.s.obs.Candidates = append(e.s.obs.Candidates, node.Name)
	}
	return victims, nil
}
