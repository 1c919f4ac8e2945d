package api

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// World is what a server stands in.
type World interface {
	// Note takes down what happens.
	Note(timeline.Entry)
	// Listens tells whether there is a scheduler that watches the server.
	Listens() bool
	// Deliver makes an event go to the scheduler.
	Deliver(Event)
	// Next has something be done as soon as its place lets it.
	Next(at timeline.Place, what string, do func())
	// After calls f when so much time has passed since now.
	After(d time.Duration, f func())
}

// Event is a change of one object in the API: Old is nil of a new one, Now of one that
// is gone.
type Event struct {
	Old, Now runtime.Object
	// Listed: a new list has shown it, not the watch.
	Listed bool
}

// About is the object that an event is about, as it is now, or was in the end.
func (e Event) About() runtime.Object {
	if e.Now == nil {
		return e.Old
	}
	return e.Now
}

func (e Event) String() string {
	switch {
	case e.Old == nil:
		return "added"
	case e.Now == nil:
		return "deleted"
	}
	if o, err := meta.Accessor(e.Now); err == nil && o.GetDeletionTimestamp() != nil {
		return "updated, terminating"
	}
	return "updated"
}
