package life

import (
	"reflect"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// event is a change of one object in the API: old is nil of a new one, now of one that
// is gone.
type event struct {
	old, now runtime.Object
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
	cache.SharedIndexInformer
	kind     string
	handlers []cache.ResourceEventHandler
	// stored holds events that are in the store and not handled.
	stored []event
}

// newInformers registers informers that never run with the factory, before upstream asks
// it for them.
func newInformers(factory informers.SharedInformerFactory) map[reflect.Type]*informer {
	all := map[reflect.Type]*informer{}
	for _, obj := range append([]runtime.Object{&v1.Pod{}, &v1.Node{}, &policyv1.PodDisruptionBudget{}}, linked.WatchedKinds()...) {
		inf := &informer{kind: kindOf(obj), SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, obj, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
		factory.InformerFor(obj, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return inf })
		all[reflect.TypeOf(obj)] = inf
	}
	return all
}

func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, h)
	return i.SharedIndexInformer.AddEventHandler(h)
}

func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// HasSynced is true: what is there at the start is known at the start.
func (i *informer) HasSynced() bool { return true }

func (i *informer) store(e event) {
	i.stored = append(i.stored, e)
	// These errors are of keys that cannot be made; all objects have a name.
	if e.now == nil {
		_ = i.GetIndexer().Delete(e.old)
	} else {
		_ = i.GetIndexer().Update(e.now)
	}
}

func (i *informer) handle(e event, initial bool) {
	for _, h := range i.handlers {
		switch {
		case e.old == nil:
			h.OnAdd(e.now, initial)
		case e.now == nil:
			h.OnDelete(e.old)
		default:
			h.OnUpdate(e.old, e.now)
		}
	}
}

// deliver makes an event go to the scheduler: first into the store, then to the handlers.
// The order among events of one kind is that of the API server.
func (s *scheduler) deliver(e event) {
	obj := e.now
	if obj == nil {
		obj = e.old
	}
	i := s.informers[reflect.TypeOf(obj)]
	if i == nil {
		return
	}
	r := s.r
	r.arrive(&waiting{at: timeline.Place{Name: timeline.Store, Kind: i.kind}, what: "store", do: func() {
		if s.dead.Load() {
			return
		}
		i.store(e)
		r.note(timeline.Entry{What: timeline.Stored, Object: nameOf(obj), Text: e.String()})
		r.arrive(&waiting{at: timeline.Place{Name: timeline.Handle, Kind: i.kind}, what: "handle", do: func() {
			if s.dead.Load() {
				return
			}
			i.stored = i.stored[1:]
			r.note(timeline.Entry{What: timeline.Handled, Object: nameOf(obj), Text: e.String()})
			i.handle(e, false)
		}})
	}})
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
