package inprocess

import (
	"reflect"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// informer is an informer that never runs: it is filled by hand, and it calls
// its handlers at once. Indexer writes alone would not do for claims and
// volumes, whose assume caches live on the events.
type informer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

// newInformers registers hand-fed informers for pods, nodes and everything
// that is watched with the factory, before upstream asks it for them.
func newInformers(factory informers.SharedInformerFactory) map[reflect.Type]*informer {
	all := map[reflect.Type]*informer{}
	for _, obj := range append([]runtime.Object{&v1.Pod{}, &v1.Node{}}, linked.WatchedKinds()...) {
		inf := &informer{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, obj, 0,
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

// HasSynced is true: what is there is all there is.
func (i *informer) HasSynced() bool { return true }

func (i *informer) add(obj runtime.Object) error {
	if err := i.GetIndexer().Add(obj); err != nil {
		return err
	}
	for _, h := range i.handlers {
		h.OnAdd(obj, false)
	}
	return nil
}

func (i *informer) remove(obj runtime.Object) error {
	if err := i.GetIndexer().Delete(obj); err != nil {
		return err
	}
	for _, h := range i.handlers {
		h.OnDelete(obj)
	}
	return nil
}

// budgetLister lists the budgets in the order of the cluster. The real lister's
// order is that of a map, and with overlapping budgets victims depend on it.
type budgetLister struct {
	policylisters.PodDisruptionBudgetLister
	budgets []*policyv1.PodDisruptionBudget
}

func (l *budgetLister) List(labels.Selector) ([]*policyv1.PodDisruptionBudget, error) {
	return l.budgets, nil
}
