package inprocess

import (
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/tools/cache"
)

// watched are the kinds the scheduler has informers for, pods and nodes apart:
// what it knows of a cluster's other objects. It is blind to every other kind.
var watched = []runtime.Object{
	&v1.Namespace{}, &v1.PersistentVolume{}, &v1.PersistentVolumeClaim{}, &v1.Service{}, &v1.ReplicationController{},
	&appsv1.ReplicaSet{}, &appsv1.StatefulSet{},
	&storagev1.StorageClass{}, &storagev1.CSINode{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{}, &storagev1.VolumeAttachment{},
	&resourcev1.ResourceClaim{}, &resourcev1.ResourceSlice{}, &resourcev1.DeviceClass{}, &resourcev1.DeviceTaintRule{},
	&schedulingv1beta1.PodGroup{}, &schedulingv1alpha3.CompositePodGroup{},
}

// informer is an informer that never runs: it is filled by hand, and it calls
// its handlers at once. Indexer writes alone would not do for claims and
// volumes, whose assume caches live on the events.
type informer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

// newInformers registers hand-fed informers for pods, nodes and everything
// watched with the factory, before upstream asks it for them.
func newInformers(factory informers.SharedInformerFactory) map[reflect.Type]*informer {
	all := map[reflect.Type]*informer{}
	for _, obj := range append([]runtime.Object{&v1.Pod{}, &v1.Node{}}, watched...) {
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
