package life

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/life/api"
)

// world is what the API server of a run stands in.
type world struct{ r *run }

func (w world) Note(e timeline.Entry)           { w.r.note(e) }
func (w world) Listens() bool                   { return w.r.scheduler != nil && !w.r.ended }
func (w world) Deliver(e api.Event)             { w.r.scheduler.deliver(e) }
func (w world) After(d time.Duration, f func()) { w.r.after(d, f) }
func (w world) Next(at timeline.Place, what string, do func()) {
	w.r.arrive(&waiting{at: at, what: what, do: do})
}

// failure is the error with which a call is to fail; nil if with none.
func (r *run) failure(at timeline.Place) (err error, arrives bool) {
	for i := range r.fails {
		f := &r.fails[i]
		if f.Times == 0 || f.Call != at.Name || f.Pod != "" && f.Pod != at.Pod {
			continue
		}
		f.Times--
		switch reference.APIError(f.Error) {
		case reference.NotFound:
			err = api.NotFound(at.Pod)
		case reference.Conflict:
			err = api.Conflict(at.Pod, "the object has been modified")
		case reference.Timeout:
			err = apierrors.NewTimeoutError("the server did not answer in time", 0)
		default:
			err = apierrors.NewInternalError(errors.New(f.Error))
		}
		return err, f.Arrives
	}
	return nil, false
}
