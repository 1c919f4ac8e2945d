package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// raw is the configuration of a client that sends and takes JSON as it is.
func raw(config *rest.Config) *rest.Config {
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	config.QPS, config.Burst = -1, 0
	return config
}

// atOnce is how many requests are under way while objects are loaded.
const atOnce = 64

// Load creates objects as they are, their status included, and the namespaces they are in. What the
// server itself gives each object it gives anew: the UID, and the time of the creation.
func (p *Plane) Load(ctx context.Context, objects []runtime.Object) error {
	client, err := rest.UnversionedRESTClientFor(raw(p.Config(Admin)))
	if err != nil {
		return err
	}
	l := loader{client, map[string]bool{}}
	for _, o := range objects {
		if of, err := meta.Accessor(o); err == nil && of.GetNamespace() != "" {
			l.namespaces[of.GetNamespace()] = true
		}
	}
	for name := range l.namespaces {
		if err := l.post(ctx, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	// What others name comes first.
	slices.SortStableFunc(objects, func(a, b runtime.Object) int { return order(a) - order(b) })
	for len(objects) > 0 {
		n := 1
		for n < len(objects) && order(objects[n]) == order(objects[0]) {
			n++
		}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		for _, o := range objects[:n] {
			group.Go(func() error { return l.create(ctx, o.DeepCopyObject()) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		objects = objects[n:]
	}
	return nil
}

func order(o runtime.Object) int {
	switch o.(type) {
	case *v1.Namespace:
		return 0
	case *v1.Pod:
		return 2
	}
	return 1
}

type loader struct {
	client     *rest.RESTClient
	namespaces map[string]bool
}

// create creates an object, and then its status, if the server would not take both at once.
func (l loader) create(ctx context.Context, o runtime.Object) error {
	if n, ok := o.(*v1.Namespace); ok && l.namespaces[n.Name] {
		return l.patch(ctx, o, "", map[string]any{"metadata": map[string]any{"labels": n.Labels}})
	}
	of, err := meta.Accessor(o)
	if err != nil {
		return err
	}
	of.SetResourceVersion("")
	of.SetUID("")
	deleted := of.GetDeletionTimestamp()
	of.SetDeletionTimestamp(nil)
	if err := l.post(ctx, o); err != nil {
		return err
	}
	if status := statusOf(o); status != nil {
		if err := l.patch(ctx, o, "status", map[string]any{"status": status}); err != nil {
			return err
		}
	}
	if deleted != nil {
		path, _ := l.path(o)
		return l.client.Delete().AbsPath(path + "/" + of.GetName()).Do(ctx).Error()
	}
	return nil
}

// statusOf is what the server takes by a request of its own only; nil if there is nothing to say.
func statusOf(o runtime.Object) any {
	switch o := o.(type) {
	case *v1.Pod:
		if o.Status.StartTime != nil || o.Status.NominatedNodeName != "" || len(o.Status.Conditions) > 0 || o.Status.Phase == v1.PodRunning {
			return o.Status
		}
	case *policyv1.PodDisruptionBudget:
		return o.Status
	case *v1.PersistentVolumeClaim:
		return o.Status
	case *v1.PersistentVolume:
		return o.Status
	case *resourcev1.ResourceClaim:
		return o.Status
	case *schedulingv1beta1.PodGroup:
		return o.Status
	case *schedulingv1alpha3.CompositePodGroup:
		return o.Status
	}
	return nil
}

// path is the address of all objects of the kind of one, in its namespace.
func (l loader) path(o runtime.Object) (path string, kind schema.GroupVersionKind) {
	kinds, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil {
		panic(err) // the objects are Kubernetes' own
	}
	kind = kinds[0]
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	path = "/apis/" + kind.Group + "/" + kind.Version
	if kind.Group == "" {
		path = "/api/" + kind.Version
	}
	of, _ := meta.Accessor(o)
	if of.GetNamespace() != "" {
		path += "/namespaces/" + of.GetNamespace()
	}
	name := resource.Resource
	if strings.HasSuffix(name, "capacitys") {
		name = "csistoragecapacities"
	}
	return path + "/" + name, kind
}

func (l loader) post(ctx context.Context, o runtime.Object) error {
	path, kind := l.path(o)
	o.GetObjectKind().SetGroupVersionKind(kind)
	return l.send(ctx, http.MethodPost, path, "application/json", o)
}

func (l loader) patch(ctx context.Context, o runtime.Object, subresource string, change any) error {
	path, _ := l.path(o)
	of, _ := meta.Accessor(o)
	path += "/" + of.GetName()
	if subresource != "" {
		path += "/" + subresource
	}
	return l.send(ctx, http.MethodPatch, path, string(types.MergePatchType), change)
}

func (l loader) send(ctx context.Context, verb, path, contentType string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if err := l.client.Verb(verb).AbsPath(path).SetHeader("Content-Type", contentType).Body(data).Do(ctx).Error(); err != nil {
		return fmt.Errorf("%s %s: %w", verb, path, err)
	}
	return nil
}
