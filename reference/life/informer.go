package life

import (
	"reflect"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// event is a change of one object in the API: old is nil of a new one, now of one that
// is gone.
type event struct {
	old, now runtime.Object
	// listed: a new list has shown it, not the watch.
	listed bool
}

// about is the object that an event is about, as it is now, or was in the end.
func (e event) about() runtime.Object {
	if e.now == nil {
		return e.old
	}
	return e.now
}

func (e event) String() string {
	switch {
	case e.old == nil:
		return "added"
	case e.now == nil:
		return "deleted"
	}
	if o, err := meta.Accessor(e.now); err == nil && o.GetDeletionTimestamp() != nil {
		return "updated, terminating"
	}
	return "updated"
}

// informer is one kind of object as a scheduler comes to know it. It has two cursors in
// the log of events: what its store holds, and what its handlers were told. Between the
// two, listers know more than the scheduler's cache and queue.
type informer struct {
	*linked.Informer
	kind string
}

func newInformers(factory informers.SharedInformerFactory) map[reflect.Type]*informer {
	all := map[reflect.Type]*informer{}
	for of, i := range linked.NewInformers(factory, &policyv1.PodDisruptionBudget{}) {
		all[of] = &informer{i, kindOf(reflect.New(of.Elem()).Interface().(runtime.Object))}
	}
	return all
}

func (i *informer) store(e event) {
	// These errors are of keys that cannot be made; all objects have a name.
	if e.now == nil {
		_ = i.GetIndexer().Delete(e.old)
	} else {
		_ = i.GetIndexer().Update(e.now)
	}
}

func (i *informer) handle(e event, initial bool) {
	for _, h := range i.Handlers {
		switch {
		case e.old == nil:
			h.OnAdd(e.now, initial)
		case e.now == nil && e.listed:
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: keyOf(e.old), Obj: e.old})
		case e.now == nil:
			h.OnDelete(e.old)
		default:
			h.OnUpdate(e.old, e.now)
		}
	}
	if i.kind == "Pod" {
		time.Sleep(eventTime)
	}
}

// deliver makes an event go to the scheduler: first into the store, then to the handlers.
// The order among events of one kind is that of the API server.
func (s *scheduler) deliver(e event) {
	i := s.informers[reflect.TypeOf(e.about())]
	if i == nil {
		return
	}
	s.r.arrive(&waiting{at: timeline.Place{Name: timeline.Store, Kind: i.kind}, what: "store", do: func() {
		if !s.dead.Load() {
			s.store(i, e)
			s.tell(i, e)
		}
	}})
}

// store puts an event into the store of an informer.
func (s *scheduler) store(i *informer, e event) {
	i.store(e)
	s.noteEvent(timeline.Stored, e)
}

// tell makes the handlers be told of an event that is stored.
func (s *scheduler) tell(i *informer, e event) {
	s.r.arrive(&waiting{at: timeline.Place{Name: timeline.Handle, Kind: i.kind}, what: "handle", do: func() {
		if s.dead.Load() {
			return
		}
		s.noteEvent(timeline.Handled, e)
		handled := len(s.r.trace.Entries) - 1
		i.handle(e, false)
		if s.r.overlaps == nil {
			s.noteLeft(handled)
		}
	}})
}

// noteEvent notes that an event is stored, or handled. An update by which an object becomes
// another one is two things.
func (s *scheduler) noteEvent(what timeline.What, e event) {
	all := []event{e}
	replaced := e.old != nil && e.now != nil && uidOf(e.old) != uidOf(e.now)
	if replaced {
		all = []event{{old: e.old, listed: e.listed}, {now: e.now, listed: e.listed}}
	}
	for _, e := range all {
		s.r.note(timeline.Entry{What: what, Object: nameOf(e.about()), Text: e.String(), Listed: e.listed, Replaced: replaced, Was: e.old, Is: e.now})
	}
}

func uidOf(obj runtime.Object) types.UID {
	o, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return o.GetUID()
}

// budgetLister lists budgets by name. The real lister's order is that of a map, and with
// overlapping budgets victims depend on it.
type budgetLister struct {
	policylisters.PodDisruptionBudgetLister
}

func (l budgetLister) List(selector labels.Selector) ([]*policyv1.PodDisruptionBudget, error) {
	all, err := l.PodDisruptionBudgetLister.List(selector)
	sortByName(all)
	return all, err
}
