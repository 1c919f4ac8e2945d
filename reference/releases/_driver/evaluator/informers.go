package main

import (
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/tools/cache"
)

// watched are the kinds that every release has informers for. What a later one
// watches besides is in watchedToo.
var watched = []runtime.Object{
	&v1.Pod{}, &v1.Node{},
	&v1.Namespace{}, &v1.PersistentVolume{}, &v1.PersistentVolumeClaim{}, &v1.Service{}, &v1.ReplicationController{},
	&appsv1.ReplicaSet{}, &appsv1.StatefulSet{},
	&storagev1.StorageClass{}, &storagev1.CSINode{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{}, &storagev1.VolumeAttachment{},
}

// informer is an informer that never runs: it is filled by hand, and it calls
// its handlers at once.
type informer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

func newInformers(factory informers.SharedInformerFactory) map[reflect.Type]*informer {
	all := map[reflect.Type]*informer{}
	for _, obj := range append(watched, watchedToo...) {
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

// budgetLister lists the budgets in the order of the cluster. The real lister's
// order is that of a map, and with overlapping budgets victims depend on it.
type budgetLister struct {
	policylisters.PodDisruptionBudgetLister
	budgets []*policyv1.PodDisruptionBudget
}

func (l *budgetLister) List(labels.Selector) ([]*policyv1.PodDisruptionBudget, error) {
	return l.budgets, nil
}
