package inprocess

import (
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"

	"github.com/preemptcheck/preemptcheck/model"
)

// activations are the pods that are to be activated, by the scheduler itself or by a
// plugin.
type activations struct {
	internalqueue.SchedulingQueue
	mu   sync.Mutex // an asynchronous preemption activates, too
	pods []string
}

// Activate writes down which pods, and activates them.
func (a *activations) Activate(logger klog.Logger, pods map[string]*v1.Pod) {
	names := make([]string, 0, len(pods))
	for _, p := range pods {
		names = append(names, model.Key(p))
	}
	slices.Sort(names)
	a.mu.Lock()
	a.pods = append(a.pods, names...)
	a.mu.Unlock()
	a.SchedulingQueue.Activate(logger, pods)
}

func (a *activations) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	pods := a.pods
	a.pods = nil
	return pods
}
