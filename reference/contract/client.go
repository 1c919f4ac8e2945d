package contract

import (
	"errors"
	"reflect"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// client is the scheduler's client of an API server to which every write fails.
type client struct {
	*fake.Clientset // without a tracker; answers what is not answered below
	informers       map[reflect.Type]*linked.Informer
	writes          atomic.Int64
}

func newClient() *client {
	c := &client{Clientset: &fake.Clientset{}}
	kinds := map[string]reflect.Type{
		"resourceclaims": reflect.TypeFor[*resourcev1.ResourceClaim](), "persistentvolumes": reflect.TypeFor[*v1.PersistentVolume](),
		"persistentvolumeclaims": reflect.TypeFor[*v1.PersistentVolumeClaim](), "pods": reflect.TypeFor[*v1.Pod](), "nodes": reflect.TypeFor[*v1.Node](),
	}
	c.AddReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch action.GetVerb() {
		case "list", "watch":
			return true, nil, nil
		case "get":
			name := action.(clienttesting.GetAction).GetName()
			if i := c.informers[kinds[action.GetResource().Resource]]; i != nil {
				key := name
				if ns := action.GetNamespace(); ns != "" {
					key = ns + "/" + name
				}
				if obj, exists, err := i.GetIndexer().GetByKey(key); err == nil && exists {
					return true, obj.(runtime.Object).DeepCopyObject(), nil
				}
			}
			return true, nil, apierrors.NewNotFound(action.GetResource().GroupResource(), name)
		}
		c.writes.Add(1)
		return true, nil, apierrors.NewInternalError(errors.New("the API server writes nothing now"))
	})
	return c
}
