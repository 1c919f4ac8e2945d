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
	"github.com/preemptcheck/preemptcheck/reference/life/api"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

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
		all[of] = &informer{i, api.KindOf(reflect.New(of.Elem()).Interface().(runtime.Object))}
	}
	return all
}

func (i *informer) store(e api.Event) {
	// These errors are of keys that cannot be made; all objects have a name.
	if e.Now == nil {
		_ = i.GetIndexer().Delete(e.Old)
	} else {
		_ = i.GetIndexer().Update(e.Now)
	}
}

func (i *informer) handle(e api.Event, initial bool) {
	for _, h := range i.Handlers {
		switch {
		case e.Old == nil:
			h.OnAdd(e.Now, initial)
		case e.Now == nil && e.Listed:
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: api.KeyOf(e.Old), Obj: e.Old})
		case e.Now == nil:
			h.OnDelete(e.Old)
		default:
			h.OnUpdate(e.Old, e.Now)
		}
	}
	if i.kind == "Pod" {
		time.Sleep(eventTime)
	}
}

// deliver makes an event go to the scheduler: first into the store, then to the handlers.
// The order among events of one kind is that of the API server.
func (s *scheduler) deliver(e api.Event) {
	i := s.informers[reflect.TypeOf(e.About())]
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
func (s *scheduler) store(i *informer, e api.Event) {
	i.store(e)
	s.noteEvent(timeline.Stored, e)
}

// tell makes the handlers be told of an event that is stored.
func (s *scheduler) tell(i *informer, e api.Event) {
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
func (s *scheduler) noteEvent(what timeline.What, e api.Event) {
	all := []api.Event{e}
	replaced := e.Old != nil && e.Now != nil && uidOf(e.Old) != uidOf(e.Now)
	if replaced {
		all = []api.Event{{Old: e.Old, Listed: e.Listed}, {Now: e.Now, Listed: e.Listed}}
	}
	for _, e := range all {
		s.r.note(timeline.Entry{What: what, Object: api.NameOf(e.About()), Text: e.String(), Listed: e.Listed, Replaced: replaced, Was: e.Old, Is: e.Now})
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
	api.SortByName(all)
	return all, err
}
