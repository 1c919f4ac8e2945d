package linked

import (
	"reflect"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Informer is an informer that never runs: it is filled by hand, and its handlers are called
// by hand. Indexer writes alone would not do for claims and volumes, whose assume caches
// live on the events.
type Informer struct {
	cache.SharedIndexInformer
	Handlers []cache.ResourceEventHandler
}

// WatchedToo are kinds that registered plugins look at, besides those of the scheduler.
var WatchedToo []runtime.Object

// NewInformers registers informers for pods, nodes, all that is watched, and the kinds of
// more with the factory, before upstream asks it for them.
func NewInformers(factory informers.SharedInformerFactory, more ...runtime.Object) map[reflect.Type]*Informer {
	all := map[reflect.Type]*Informer{}
	for _, obj := range append(append([]runtime.Object{&v1.Pod{}, &v1.Node{}}, more...), append(WatchedKinds(), WatchedToo...)...) {
		inf := &Informer{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, obj, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
		factory.InformerFor(obj, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return inf })
		all[reflect.TypeOf(obj)] = inf
	}
	return all
}

// AddEventHandler implements cache.SharedIndexInformer.
func (i *Informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.Handlers = append(i.Handlers, h)
	return i.SharedIndexInformer.AddEventHandler(h)
}

// AddEventHandlerWithResyncPeriod implements cache.SharedIndexInformer.
func (i *Informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// AddEventHandlerWithOptions implements cache.SharedIndexInformer.
func (i *Informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// HasSynced is true: what is there is all there is.
func (i *Informer) HasSynced() bool { return true }

// Added tells the handlers of an object.
func (i *Informer) Added(obj runtime.Object) {
	for _, h := range i.Handlers {
		h.OnAdd(obj, false)
	}
}

// Updated tells the handlers of an object that was another one.
func (i *Informer) Updated(old, obj runtime.Object) {
	for _, h := range i.Handlers {
		h.OnUpdate(old, obj)
	}
}

// Removed tells the handlers of an object that is gone.
func (i *Informer) Removed(obj runtime.Object) {
	for _, h := range i.Handlers {
		h.OnDelete(obj)
	}
}

// Add stores a new object, and tells the handlers of it.
func (i *Informer) Add(obj runtime.Object) error {
	if err := i.GetIndexer().Add(obj); err != nil {
		return err
	}
	i.Added(obj)
	return nil
}

// Remove takes an object out, and tells the handlers of it.
func (i *Informer) Remove(obj runtime.Object) error {
	if err := i.GetIndexer().Delete(obj); err != nil {
		return err
	}
	i.Removed(obj)
	return nil
}
