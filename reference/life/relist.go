package life

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/life/api"
)

// relist ends the watch of a kind, and makes the informer list it anew.
//
// Events that were not stored yet are lost. The list comes as its difference to the store,
// deletions first (doc comment of RealFIFO.Replace, client-go/tools/cache/the_real_fifo.go:600@v0.37.1):
//
//   - An object that is not in the list any more was deleted. How it was in the end is not
//     known, so the handlers get a DeletedFinalStateUnknown with its last known state (doc
//     comment of ResourceEventHandler, controller.go:265@v0.37.1).
//   - An object that has changed is one update, however often it has changed. That goes for
//     one that was deleted and created again under its name, too (doc comment of
//     SharedInformer, shared_informer.go:124@v0.37.1).
//   - Of an object that has not changed the handlers hear nothing, as they ask for no resync.
//
// In which order deletions come is left to chance. Here it is by name.
func (r *run) relist(kind string) {
	r.note(timeline.Entry{What: timeline.Relisted, Object: kind})
	s, place := r.scheduler, timeline.Place{Name: timeline.Store, Kind: kind}
	for of, i := range s.informers {
		if i.kind != kind {
			continue
		}
		r.queue = slices.DeleteFunc(r.queue, func(w *waiting) bool { return w.at == place })
		list := r.server.Objects(of)
		sortObjects(list)
		r.arrive(&waiting{at: place, what: "store", do: func() {
			if s.dead.Load() {
				return
			}
			events := i.difference(list, of)
			for _, e := range events { // the store is replaced at once, before the handlers hear of it
				s.store(i, e)
			}
			for _, e := range events {
				s.tell(i, e)
			}
		}})
		return
	}
}

// difference is how a list differs from the store.
func (i *informer) difference(list []runtime.Object, of reflect.Type) (events []api.Event) {
	known := map[string]runtime.Object{}
	var gone []runtime.Object
	for _, item := range i.GetIndexer().List() {
		if obj, ok := item.(runtime.Object); ok && reflect.TypeOf(obj) == of {
			known[api.KeyOf(obj)] = obj
			if !slices.ContainsFunc(list, func(o runtime.Object) bool { return api.KeyOf(o) == api.KeyOf(obj) }) {
				gone = append(gone, obj)
			}
		}
	}
	sortObjects(gone)
	for _, obj := range gone {
		events = append(events, api.Event{Old: obj, Listed: true})
	}
	for _, obj := range list {
		old := known[api.KeyOf(obj)]
		if old == nil || version(old) != version(obj) {
			events = append(events, api.Event{Old: old, Now: obj, Listed: true})
		}
	}
	return events
}

func version(obj runtime.Object) string {
	o, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return o.GetResourceVersion()
}

func sortObjects(all []runtime.Object) {
	slices.SortFunc(all, func(a, b runtime.Object) int { return strings.Compare(api.KeyOf(a), api.KeyOf(b)) })
}
