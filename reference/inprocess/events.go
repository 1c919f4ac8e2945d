package inprocess

import (
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/reference"
	"k8s.io/klog/v2"

	"github.com/preemptcheck/preemptcheck/model"
)

// eventLog records events. As upstream's recorder it sends references to objects, not
// objects: an event about one that is in no scheme is never sent, and a related
// object that is in none is left out (event_recorder.go:83@v0.37.1, eventf).
type eventLog struct {
	mu     sync.Mutex
	events []model.Event
}

func (l *eventLog) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	about, err := reference.GetReference(scheme.Scheme, regarding)
	if err != nil {
		return
	}
	e := model.Event{Type: kind, Reason: reason, Action: action, Note: fmt.Sprintf(note, args...), Regarding: objectName(about)}
	if related != nil {
		if with, err := reference.GetReference(scheme.Scheme, related); err == nil {
			e.Related = objectName(with)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// WithLogger implements events.EventRecorderLogger.
func (l *eventLog) WithLogger(klog.Logger) events.EventRecorderLogger { return l }

func (l *eventLog) take() []model.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.events
	l.events = nil
	return all
}

func objectName(r *v1.ObjectReference) string {
	return r.Kind + " " + r.Namespace + "/" + r.Name
}
