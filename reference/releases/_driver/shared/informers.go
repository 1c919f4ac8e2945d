package main

import (
	"reflect"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// watched are the kinds that the scheduler has informers for, besides pods, nodes and
// budgets. What a later release watches is in watchedToo.
var watched = []runtime.Object{
	&v1.Namespace{}, &v1.PersistentVolume{}, &v1.PersistentVolumeClaim{}, &v1.Service{}, &v1.ReplicationController{},
	&appsv1.ReplicaSet{}, &appsv1.StatefulSet{},
	&storagev1.StorageClass{}, &storagev1.VolumeAttachment{},
}

// watchedOutside are those that plugins from outside look at, too.
var watchedOutside []runtime.Object

// store holds the objects that the scheduler's informers show.
type store struct {
	pods, nodes cache.Indexer // without handlers: load feeds them to cache and queue itself
	// podInformer and nodeInformer hold the same.
	podInformer, nodeInformer *informer
	budgets                   *budgetIndexer
	around                    surroundings
	extra                     map[reflect.Type]*informer
}

func newStore(client kubernetes.Interface) (store, informers.SharedInformerFactory) {
	factory := informers.NewSharedInformerFactory(client, 0)
	add := func(obj runtime.Object) *informer {
		inf := &informer{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, obj, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
		inf.indexer = inf.SharedIndexInformer.GetIndexer()
		factory.InformerFor(obj, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return inf })
		return inf
	}
	pods, nodes := add(&v1.Pod{}), add(&v1.Node{})
	s := store{pods: pods.indexer, nodes: nodes.indexer, podInformer: pods, nodeInformer: nodes, budgets: &budgetIndexer{}, extra: map[reflect.Type]*informer{}}
	add(&budget{}).indexer = s.budgets
	for _, obj := range slices.Concat(watched, watchedToo, watchedOutside) {
		s.extra[reflect.TypeOf(obj)] = add(obj)
	}
	return s, factory
}

// informer is an informer that never runs: it is filled by hand, and it calls
// its handlers at once.
type informer struct {
	cache.SharedIndexInformer
	indexer  cache.Indexer
	handlers []cache.ResourceEventHandler
}

func (i *informer) GetIndexer() cache.Indexer { return i.indexer }

// HasSynced is true: what is there is all there is.
func (i *informer) HasSynced() bool { return true }

func (i *informer) add(obj runtime.Object) error {
	if err := i.indexer.Add(obj); err != nil {
		return err
	}
	for _, h := range i.handlers {
		_ = call(h, "OnAdd", obj)
	}
	return nil
}

func (i *informer) remove(obj runtime.Object) error {
	if err := i.indexer.Delete(obj); err != nil {
		return err
	}
	for _, h := range i.handlers {
		h.OnDelete(obj)
	}
	return nil
}

// budgetIndexer lists the budgets in the order of the cluster. The real one's order
// is that of a map, and with overlapping budgets victims depend on it.
type budgetIndexer struct {
	cache.Indexer
	budgets []any
	listed  func() // is called, unless it is nil, when they are listed
}

func (b *budgetIndexer) List() []any {
	if b.listed != nil {
		b.listed()
	}
	return b.budgets
}
