package life

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// holder is a plugin that holds pods on their way to a node, if the timeline says so. It
// takes no part otherwise.
type holder struct {
	s      *scheduler
	handle fwk.Handle

	mu sync.Mutex
	// permits are the pods that wait for this plugin's permission.
	permits map[types.UID]*waiting
}

const holderName = "PreemptcheckHolder"

func (s *scheduler) newHolder(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	h := &holder{s: s, handle: handle, permits: map[types.UID]*waiting{}}
	s.holders = append(s.holders, h)
	return h, nil
}

func (h *holder) Name() string { return holderName }

func (h *holder) held(name timeline.PlaceName, pod *v1.Pod) bool {
	return h.s.r.held(timeline.Place{Name: name, Pod: model.Key(pod)})
}

// permitTime is how long a pod may wait for permission. Upstream allows no more than 15
// minutes (runtime/framework.go:53@v1.37.1).
const permitTime = 15 * time.Minute

// Permit makes a held pod wait. It is no place at which a goroutine waits: the scheduler goes
// on with other pods, and knows that this one waits.
func (h *holder) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	if h.s.dead.Load() || !h.held(timeline.Permit, pod) {
		return nil, 0
	}
	w := &waiting{at: timeline.Place{Name: timeline.Permit, Pod: model.Key(pod)}}
	w.what = w.at.String()
	w.do = func() {
		if waits := h.handle.GetWaitingPod(pod.UID); waits != nil {
			waits.Allow(holderName)
		}
	}
	h.mu.Lock()
	h.permits[pod.UID] = w
	h.mu.Unlock()
	h.s.r.arrive(w)
	return fwk.NewStatus(fwk.Wait), permitTime
}

// letGo ends the waiting for permission of all pods.
func (h *holder) letGo() {
	h.handle.IterateOverWaitingPods(func(p fwk.WaitingPod) { p.Reject(holderName, "the scheduler ends") })
}

// Reserve implements fwk.ReservePlugin.
func (h *holder) Reserve(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status { return nil }

// Unreserve is called when a pod is not to be bound after all.
func (h *holder) Unreserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) {
	h.mu.Lock()
	if w := h.permits[pod.UID]; w != nil {
		w.gone.Store(true)
		delete(h.permits, pod.UID)
	}
	h.mu.Unlock()
	h.s.park(timeline.Place{Name: timeline.Unreserve, Pod: model.Key(pod)}, nil)
}

func (h *holder) PreBindPreFlight(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	if h.held(timeline.PreBind, pod) || h.held(timeline.PreBound, pod) {
		return nil, nil
	}
	return nil, fwk.NewStatus(fwk.Skip)
}

// PreBind gives up when it is told so, but not when it is done.
func (h *holder) PreBind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	w := &waiting{at: timeline.Place{Name: timeline.PreBind, Pod: model.Key(pod)}, on: make(chan struct{})}
	w.what = w.at.String()
	h.s.r.arrive(w)
	select {
	case <-w.on:
	case <-ctx.Done():
		w.gone.Store(true)
		return fwk.AsStatus(context.Cause(ctx))
	}
	h.s.park(timeline.Place{Name: timeline.PreBound, Pod: model.Key(pod)}, nil)
	return nil
}
