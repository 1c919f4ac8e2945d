package main

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// informer is an informer that never runs: it is filled by hand, and it calls
// its handlers at once.
type informer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

func newInformers(factory informers.SharedInformerFactory) map[reflect.Type]*informer {
	all := map[reflect.Type]*informer{}
	for _, obj := range watched {
		inf := &informer{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, obj, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
		factory.InformerFor(obj, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return inf })
		all[reflect.TypeOf(obj)] = inf
	}
	return all
}

// HasSynced is true: what is there is all there is.
func (i *informer) HasSynced() bool { return true }

func (i *informer) add(obj runtime.Object) error {
	if err := i.GetIndexer().Add(obj); err != nil {
		return err
	}
	for _, h := range i.handlers {
		onAdd(h, obj)
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
