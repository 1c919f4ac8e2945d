package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
)

// world is what the scheduler has been told of.
type world struct {
	*scheduler
	preemptor *v1.Pod
	// loaded are the objects that were there from the start, in the order in which the scheduler was told.
	loaded []runtime.Object
	// back takes changes back.
	back    []func() error
	version int
}

var podType = reflect.TypeFor[*v1.Pod]()

// load tells the scheduler of all objects: pods last, and before them nodes.
func (x *session) load(c *model.Cluster) error {
	if c.Preemptor == nil {
		return errors.New("the cluster has no preemptor that is a pod")
	}
	objects := append(model.ObjectsOf(c.PodDisruptionBudgets), c.Extra...)
	for _, n := range c.Nodes {
		objects = append(objects, n)
	}
	for _, p := range append(c.Pods[:len(c.Pods):len(c.Pods)], c.Preemptor) {
		if p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed { // scheduler.go:654@v1.37.1
			objects = append(objects, p)
		}
	}
	if err := x.setForeign(c.Extra); err != nil {
		return err
	}
	for _, obj := range objects {
		obj = x.stamp(obj)
		if x.informers[reflect.TypeOf(obj)] == nil {
			continue // the scheduler does not look at it
		}
		if p, ok := obj.(*v1.Pod); ok && model.Key(p) == model.Key(c.Preemptor) {
			x.preemptor = p
		}
		x.loaded = append(x.loaded, obj)
		if err := x.tell(nil, obj); err != nil {
			return err
		}
	}
	x.forget(x.preemptor)
	return nil
}

// setForeign tells the plugins of the objects of kinds that are not Kubernetes' own.
func (x *session) setForeign(objects []runtime.Object) error {
	for _, obj := range objects {
		u, is := obj.(*unstructured.Unstructured)
		if !is || x.foreign == nil || !x.foreign.Serves(u.GetAPIVersion(), u.GetKind()) {
			continue
		}
		data, err := json.Marshal(u.Object)
		if err != nil {
			return err
		}
		if err := x.foreign.Set(data); err != nil {
			return err
		}
	}
	if x.foreign != nil {
		synctest.Wait() // until all have heard of it
	}
	return nil
}

// changeForeign sets or deletes such an object, and notes how to take it back.
func (x *session) changeForeign(c calls.Call) error {
	o := c.Object
	old := x.foreign.Get(o.APIVersion, o.Kind, o.Namespace, o.Name)
	gone := func() error { return x.foreign.Delete(o.APIVersion, o.Kind, o.Namespace, o.Name) }
	change := gone
	if c.Op == calls.Set {
		change = func() error { return x.foreign.Set(o.JSON) }
	}
	x.outdated = true
	x.back = append(x.back, func() error {
		back := gone
		if old != nil {
			back = func() error { return x.foreign.Set(old) }
		}
		err := back()
		synctest.Wait()
		return err
	})
	err := change()
	synctest.Wait()
	return err
}

// unload takes everything out again.
func (x *session) unload() error {
	errs := []error{x.restore()}
	for i := len(x.loaded) - 1; i >= 0; i-- {
		stored, exists, err := x.informers[reflect.TypeOf(x.loaded[i])].GetIndexer().Get(x.loaded[i])
		if errs = append(errs, err); exists {
			errs = append(errs, x.tell(stored.(runtime.Object), nil))
		}
	}
	if x.foreign != nil {
		x.foreign.Clear()
		synctest.Wait()
	}
	errs = append(errs, x.updateSnapshot())
	return errors.Join(errs...)
}

// stamp is a copy of an object with what the API server gives it.
func (w *world) stamp(obj runtime.Object) runtime.Object {
	obj = obj.DeepCopyObject()
	if o, err := meta.Accessor(obj); err == nil {
		w.version++
		o.SetResourceVersion(strconv.Itoa(w.version))
		if o.GetUID() == "" {
			o.SetUID(types.UID(keyOf(o)))
		}
		if o.GetGeneration() == 0 {
			o.SetGeneration(1)
		}
	}
	return obj
}

func keyOf(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return model.Key(o)
}

// tell tells the scheduler of a change, as its watch would: old is nil of a new object, now of one that is gone.
func (w *world) tell(old, now runtime.Object) error {
	about := now
	if now == nil {
		about = old
	}
	i := w.informers[reflect.TypeOf(about)]
	if i == nil {
		return nil
	}
	switch {
	case old == nil:
		return i.Add(now)
	case now == nil:
		return i.Remove(old)
	}
	if err := i.GetIndexer().Update(now); err != nil {
		return err
	}
	i.Updated(old, now)
	return nil
}

func (w *world) pod(key string) *v1.Pod {
	obj, exists, err := w.informers[podType].GetIndexer().GetByKey(key)
	if err != nil || !exists {
		return nil
	}
	return obj.(*v1.Pod)
}

// change carries out a call that changes the cluster.
func (x *session) change(c calls.Call) error {
	switch c.Op {
	case calls.Restore:
		return x.restore()
	case calls.Bind:
		pod := x.pod(c.Pod)
		if pod == nil {
			return fmt.Errorf("there is no pod %s", c.Pod)
		}
		bound := pod.DeepCopy()
		bound.Spec.NodeName, bound.Status.NominatedNodeName = c.Node, ""
		return x.become(pod, x.again(pod, bound))
	case calls.Set, calls.Delete:
	default:
		return fmt.Errorf("there is no call %q", c.Op)
	}
	if x.foreign != nil && x.foreign.Serves(c.Object.APIVersion, c.Object.Kind) {
		return x.changeForeign(c)
	}
	gvk := schema.FromAPIVersionAndKind(c.Object.APIVersion, c.Object.Kind)
	obj, err := scheme.Scheme.New(gvk)
	if err != nil {
		return err
	}
	i := x.informers[reflect.TypeOf(obj)]
	if i == nil {
		return fmt.Errorf("the scheduler does not look at objects of kind %s", c.Object.Kind)
	}
	key := c.Object.Name
	if c.Object.Namespace != "" {
		key = c.Object.Namespace + "/" + key
	}
	stored, exists, err := i.GetIndexer().GetByKey(key)
	if err != nil {
		return err
	}
	if c.Op == calls.Delete {
		if !exists {
			return fmt.Errorf("there is no %s", c.Object)
		}
		return x.become(stored.(runtime.Object), nil)
	}
	if err := json.Unmarshal(c.Object.JSON, obj); err != nil {
		return err
	}
	if !exists {
		return x.become(nil, x.stamp(obj))
	}
	return x.become(stored.(runtime.Object), x.again(stored.(runtime.Object), obj))
}

// again is a new version of an object.
func (x *session) again(old, now runtime.Object) runtime.Object {
	was, err1 := meta.Accessor(old)
	is, err2 := meta.Accessor(now)
	if errors.Join(err1, err2) == nil {
		x.version++
		is.SetResourceVersion(strconv.Itoa(x.version))
		is.SetUID(was.GetUID())
		if is.GetGeneration() == 0 {
			is.SetGeneration(was.GetGeneration())
		}
	}
	return now
}

// become makes a change, and notes how to take it back.
func (x *session) become(old, now runtime.Object) error {
	x.outdated = true
	if err := x.deliver(old, now); err != nil {
		return err
	}
	x.back = append(x.back, func() error {
		x.outdated = true
		switch {
		case now == nil:
			return x.deliver(nil, x.newer(old))
		case old == nil:
			return x.deliver(now, nil)
		case isBound(now) && !isBound(old): // no pod becomes unbound
			return errors.Join(x.deliver(now, nil), x.deliver(nil, x.newer(old)))
		}
		return x.deliver(now, x.newer(old))
	})
	return nil
}

func isBound(obj runtime.Object) bool {
	p, ok := obj.(*v1.Pod)
	return ok && p.Spec.NodeName != ""
}

// newer is an object as it was, as a new version.
func (x *session) newer(obj runtime.Object) runtime.Object {
	obj = obj.DeepCopyObject()
	return x.again(obj, obj)
}

// deliver is tell. A parked pod is told of by the name of the profile that it is parked in.
func (x *session) deliver(old, now runtime.Object) error {
	isPreemptor := func(obj runtime.Object) bool {
		p, ok := obj.(*v1.Pod)
		return ok && p.UID == x.preemptor.UID
	}
	switch {
	case old != nil && now != nil && isPreemptor(now):
		pod := now.(*v1.Pod)
		x.preemptor = pod
		if x.parked == nil {
			return x.informers[podType].GetIndexer().Update(pod)
		}
		was, is := *old.(*v1.Pod), *pod
		was.Spec.SchedulerName, is.Spec.SchedulerName = x.parked.Spec.SchedulerName, x.parked.Spec.SchedulerName
		x.parked = &is
		if err := x.informers[podType].GetIndexer().Update(pod); err != nil {
			return err
		}
		x.informers[podType].Updated(&was, &is)
		return nil
	case old != nil && now == nil && isPreemptor(old):
		return errors.New("the preemptor cannot be deleted")
	}
	return x.tell(old, now)
}

// restore takes all changes back. What was loaded is as it was, in newer versions.
func (x *session) restore() error {
	for i := len(x.back) - 1; i >= 0; i-- {
		if err := x.back[i](); err != nil {
			return err
		}
	}
	x.back = nil
	return nil
}
