// Package coming reads manifests of what is not in a cluster yet, and makes of them what the
// controllers and the API server would: pods, with what comes along with them.
package coming

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/manifest"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/internal/workload/expand"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/arrival"
)

// MaxSize is up to how many bytes a stream is taken for manifests: what is larger is a cluster dump.
const MaxSize = 16 << 20

// Manifests are streams of objects, none of which is a cluster.
type Manifests struct {
	objects []object
	has     map[string]bool // names of objects
	// Notes are for people: what is not followed, and why.
	Notes []string
}

// object knows its stream.
type object struct {
	manifest.Object
	file string
}

func (o *object) fail(field string, err error) error {
	e := o.Fail(field, err)
	e.File = o.file
	return e
}

// IsCluster tells whether a stream is a cluster: a case, a timeline, or a dump with nodes. What cannot be
// decoded is not; Add says why.
func IsCluster(data []byte) bool {
	if len(data) > MaxSize {
		return true
	}
	objects, _ := manifest.Decode(data, noKinds)
	return slices.ContainsFunc(objects, func(o manifest.Object) bool {
		_, isNode := o.Value.(*v1.Node)
		return isNode || o.APIVersion == corpus.APIVersion
	})
}

func noKinds(string, string) manifest.Named { return nil }

// ReadAll reads a stream that Add or IsCluster takes.
func ReadAll(r io.Reader, name string) ([]byte, error) {
	data, err := manifest.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// Add adds the objects of one stream. Objects without a namespace are of the default one. A field that
// does not exist is an error of type *corpus.InputError.
func (m *Manifests) Add(data []byte, name string) error {
	objects, err := manifest.Decode(data, noKinds)
	if err != nil {
		err.File = name
		return err
	}
	if len(objects) == 0 {
		return &corpus.InputError{File: name, Err: errors.New("there is no object in it")}
	}
	for i := range objects {
		o := object{objects[i], name}
		setNamespace(o.Value)
		switch {
		case o.Value == nil:
			m.Notes = append(m.Notes, fmt.Sprintf("%s: a %s of %s is not followed: the kind is not known here", name, o.Kind, o.APIVersion))
			continue
		case len(o.Unknown) > 0:
			return o.fail(o.Unknown[0], errors.New("unknown field"))
		}
		if m.has == nil {
			m.has = map[string]bool{}
		}
		if m.has[o.Name()] {
			return o.fail("metadata.name", errors.New("there are two of this name"))
		}
		m.has[o.Name()] = true
		m.objects = append(m.objects, o)
	}
	return nil
}

// setNamespace completes the namespace. Those kinds that corpus handles have the default one already if
// they had none.
func setNamespace(value manifest.Named) {
	switch value.(type) {
	case *schedulingv1.PriorityClass, *storagev1.StorageClass, *v1.PersistentVolume, *storagev1.CSIDriver, *v1.Namespace, *resourcev1.DeviceClass:
		return
	}
	if o, ok := value.(metav1.Object); ok && o.GetNamespace() == "" {
		o.SetNamespace(metav1.NamespaceDefault)
	}
}

// For makes of the manifests what comes to a cluster, which is admitted and stays as it is. Errors are, or
// join, values of type *corpus.InputError.
func (m *Manifests) For(c *model.Cluster) (*arrival.Coming, error) {
	e := &expansion{Manifests: m, cluster: c, from: map[string]*origin{}, there: map[string]bool{}, running: map[workload.Ref]int{}}
	for _, o := range c.Objects() {
		e.there[apiserver.NameOf(o)] = true
	}
	for _, p := range c.Pods {
		e.running[workload.Of(p)]++
	}
	for i := range m.objects {
		if err := e.add(&m.objects[i]); err != nil {
			return nil, err
		}
	}
	if err := e.admit(); err != nil {
		return nil, err
	}
	if pods := e.pods(); pods == 0 {
		e.note("no pod comes of what is given")
	}
	return &e.coming, nil
}

// expansion is what is made of manifests in one cluster.
type expansion struct {
	*Manifests
	cluster *model.Cluster
	coming  arrival.Coming
	from    map[string]*origin // by apiserver.NameOf
	there   map[string]bool    // in the cluster
	running map[workload.Ref]int
}

// origin is what of a manifest an object is made of.
type origin struct {
	*object
	template string // the path that the fields of the object are below
}

func (e *expansion) note(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// unfollowed says of kinds why what they do is not followed; of others that decide nothing, nothing has to be said.
func unfollowed(value any) string {
	switch value.(type) {
	case *batchv1.CronJob:
		return "its Jobs come when they are due"
	case *v1.ResourceQuota:
		return "it may keep pods from being created"
	case *v1.LimitRange:
		return "it may change what pods request"
	}
	return ""
}

func (e *expansion) add(o *object) error {
	if o.Kind == "HorizontalPodAutoscaler" {
		e.note("%s is not followed: it may want other replicas than the manifests say", o.Name())
		return nil
	}
	if why := unfollowed(o.Value); why != "" {
		e.note("%s is not followed: %s", o.Name(), why)
		return nil
	}
	switch value := o.Value.(type) {
	case *v1.Pod, *appsv1.Deployment, *appsv1.ReplicaSet, *v1.ReplicationController, *appsv1.StatefulSet, *appsv1.DaemonSet, *batchv1.Job:
		return e.addWorkload(o, value.(kruntime.Object))
	case *schedulingv1.PriorityClass:
		for _, c := range e.cluster.PriorityClasses {
			if c.Name == value.Name && c.Value != value.Value {
				return o.fail("value", fmt.Errorf("is %d in the cluster already: the value of a class cannot be changed", c.Value))
			}
		}
		e.addObject(o, value)
	case *resourcev1.ResourceClaim, *resourcev1.ResourceClaimTemplate:
		return o.fail("kind", errors.New("claims of devices that come are not followed yet"))
	case *policyv1.PodDisruptionBudget, *v1.PersistentVolumeClaim, *v1.PersistentVolume, *v1.Namespace, *storagev1.StorageClass, *storagev1.CSIDriver,
		*resourcev1.DeviceClass, *schedulingv1beta1.PodGroup, *schedulingv1alpha3.PodGroup, *schedulingv1alpha3.CompositePodGroup:
		e.addObject(o, value.(kruntime.Object))
	}
	return nil
}

// addObject adds an object, unless the cluster has one of the name.
func (e *expansion) addObject(o *object, value kruntime.Object) {
	name := apiserver.NameOf(value)
	if e.there[name] {
		e.note("%s is in the cluster already: it is taken as it is there", name)
		return
	}
	e.from[name] = &origin{o, ""}
	e.coming.Objects = append(e.coming.Objects, value)
}

func (e *expansion) addWorkload(o *object, value kruntime.Object) error {
	w, err := expand.Of(value, e.cluster.Nodes)
	if err != nil {
		return o.fail(err.Field, errors.New(err.ErrorBody()))
	}
	if n := e.running[w.Ref]; n > 0 {
		return o.fail("", fmt.Errorf("is in the cluster already, with %d pods: what an update does is not followed; leave it out, or give it another name", n))
	}
	for i, p := range w.Pods {
		if len(p.Spec.ResourceClaims) > 0 {
			return o.fail(below(w.Template, "spec.resourceClaims"), errors.New("claims of devices that come are not followed yet"))
		}
		if e.there[apiserver.NameOf(p)] {
			return o.fail("metadata.name", fmt.Errorf("pod %s is in the cluster already", model.Key(p)))
		}
		e.from[apiserver.NameOf(w.Pods[i])] = &origin{o, w.Template}
	}
	e.addClaims(o, w)
	for _, note := range w.Notes {
		e.note("%s: %s", w.Ref, note)
	}
	e.coming.Workloads = append(e.coming.Workloads, w)
	return nil
}

// addClaims leaves out claims that the cluster has, and completes the class of others, as the admission plugin
// DefaultStorageClass does (docs: concepts/storage/persistent-volumes, "Class").
func (e *expansion) addClaims(o *object, w *expand.Workload) {
	w.Claims = slices.DeleteFunc(w.Claims, func(c *v1.PersistentVolumeClaim) bool { return e.there[apiserver.NameOf(c)] })
	for _, c := range w.Claims {
		e.from[apiserver.NameOf(c)] = &origin{o, ""}
		if class := e.defaultClass(); c.Spec.StorageClassName == nil && class != "" {
			c.Spec.StorageClassName = &class
		}
	}
}

// defaultClass is the newest storage class that is marked as the default, or "".
func (e *expansion) defaultClass() string {
	var newest *storagev1.StorageClass
	for _, o := range e.cluster.Extra {
		c, ok := o.(*storagev1.StorageClass)
		if ok && c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" && (newest == nil || newest.CreationTimestamp.Before(&c.CreationTimestamp)) {
			newest = c
		}
	}
	if newest == nil {
		return ""
	}
	return newest.Name
}

// admit has everything that comes admitted, and leaves out pods that no scheduler would try.
func (e *expansion) admit() error {
	all := model.Cluster{Nodes: e.cluster.Nodes, PriorityClasses: slices.Clone(e.cluster.PriorityClasses)}
	for _, o := range e.coming.Objects {
		switch o := o.(type) {
		case *schedulingv1.PriorityClass:
			all.PriorityClasses = append(all.PriorityClasses, o)
		case *policyv1.PodDisruptionBudget:
			all.PodDisruptionBudgets = append(all.PodDisruptionBudgets, o)
		default:
			all.Extra = append(all.Extra, o)
		}
	}
	for _, w := range e.coming.Workloads {
		all.Pods = append(all.Pods, w.Pods...)
		for _, c := range w.Claims {
			all.Extra = append(all.Extra, c)
		}
	}
	if err := e.locate(apiserver.Objects(&all)); err != nil {
		return err
	}
	for _, w := range e.coming.Workloads {
		left := map[string]int{}
		w.Pods = slices.DeleteFunc(w.Pods, func(p *v1.Pod) bool {
			err := apiserver.Preemptor(&model.Cluster{Preemptor: p, Settings: e.cluster.Settings})
			if err != nil {
				left[strings.TrimPrefix(err.Error(), apiserver.NameOf(p)+": ")]++
			}
			return err != nil
		})
		for _, why := range slices.Sorted(maps.Keys(left)) {
			e.note("%s: %d of its pods are not followed: %s", w.Ref, left[why], why)
		}
	}
	return nil
}

// maxErrors is how many errors are told.
const maxErrors = 10

// locate says of which manifests the objects are that were not admitted: of the pods of one workload once.
func (e *expansion) locate(err error) error {
	var errs []error
	told := map[string]bool{}
	for _, wrong := range apiserver.Errors[*apiserver.Error](err) {
		from := e.from[wrong.Object]
		if from == nil { // of the cluster, which was admitted
			errs = append(errs, wrong)
			continue
		}
		located := from.fail(below(from.template, wrong.Field), errors.New(wrong.Detail))
		if !told[located.Error()] && len(errs) < maxErrors {
			errs = append(errs, located)
		}
		told[located.Error()] = true
	}
	return errors.Join(errs...)
}

func below(template, field string) string {
	if template == "" || strings.HasPrefix(field, "metadata.name") {
		return field
	}
	return template + "." + field
}

func (e *expansion) pods() (n int) {
	for _, w := range e.coming.Workloads {
		n += len(w.Pods)
	}
	return n
}
