// Package api is an API server in memory, with the kubelets of its nodes and with controllers that replace pods: what a timeline runs
// against.
package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper/qos"
	"k8s.io/kubernetes/pkg/apis/scheduling"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Server is an API server in memory, with the kubelets of its nodes. It keeps what the
// documentation says of pods: graceful deletion, finalizers, one binding for each pod, and
// a binding that clears the nomination.
type Server struct {
	world World
	// objects, by kind and then by name, in the order in which they were created.
	objects map[reflect.Type][]runtime.Object
	// events are, by kind, what a scheduler's watch has shown or would have.
	events  map[reflect.Type][]Event
	version int
	made    int // pods created, for their UIDs
	// ended are terminating pods without running containers: only finalizers keep them.
	ended map[types.UID]bool
	controllers
}

// New is a server without objects.
func New(world World) *Server {
	return &Server{world: world, objects: map[reflect.Type][]runtime.Object{}, events: map[reflect.Type][]Event{}, ended: map[types.UID]bool{}}
}

// KindOf is "Pod" or "Node".
func KindOf(obj runtime.Object) string {
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil || len(kinds) == 0 {
		return reflect.TypeOf(obj).Elem().Name()
	}
	return kinds[0].Kind
}

// NameOf is "Pod default/a" or "Node n1".
func NameOf(obj runtime.Object) string { return KindOf(obj) + " " + KeyOf(obj) }

// KeyOf is "default/a", or "n1" of what is in no namespace.
func KeyOf(obj runtime.Object) string {
	o, err := meta.Accessor(obj)
	switch {
	case err != nil:
		return ""
	case o.GetNamespace() == "":
		return o.GetName()
	}
	return model.Key(o)
}

// SortByName sorts objects by namespace and name.
func SortByName[T metav1.Object](all []T) {
	slices.SortFunc(all, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
}

// Load puts the objects of the start into the API.
func (s *Server) Load(c *model.Cluster) {
	for _, obj := range c.Objects() {
		s.put(s.stamp(obj, false))
	}
}

// stamp is a copy of an object with what the API server gives it.
func (s *Server) stamp(obj runtime.Object, new bool) runtime.Object {
	obj = obj.DeepCopyObject()
	o, err := meta.Accessor(obj)
	if err != nil {
		return obj
	}
	s.version++
	o.SetResourceVersion(fmt.Sprint(s.version))
	if o.GetUID() == "" {
		o.SetUID(types.UID(KeyOf(obj)))
		if s.Find(NameOf(obj)) != nil || new {
			s.made++
			o.SetUID(types.UID(fmt.Sprintf("%s-%d", KeyOf(obj), s.made)))
		}
	}
	if o.GetGeneration() == 0 {
		o.SetGeneration(1)
	}
	if p, ok := obj.(*v1.Pod); ok && p.Status.QOSClass == "" { // core/pod/strategy.go:103@v1.37.1, PrepareForCreate
		p.Status.QOSClass = qos.GetPodQOS(p)
	}
	if new {
		o.SetCreationTimestamp(inSeconds(time.Now()))
	}
	return obj
}

// inSeconds is a time as the API has it.
func inSeconds(t time.Time) metav1.Time { return metav1.NewTime(t).Rfc3339Copy() }

// put stores an object, in the place of the one of its name if there is one.
func (s *Server) put(obj runtime.Object) {
	kind, key := reflect.TypeOf(obj), KeyOf(obj)
	if i := s.index(kind, key); i >= 0 {
		s.objects[kind][i] = obj
		return
	}
	s.objects[kind] = append(s.objects[kind], obj)
}

func (s *Server) index(kind reflect.Type, key string) int {
	return slices.IndexFunc(s.objects[kind], func(o runtime.Object) bool { return KeyOf(o) == key })
}

// Find is the object of a name such as "Pod default/a"; nil if there is none.
func (s *Server) Find(name string) runtime.Object {
	kind, key, _ := strings.Cut(name, " ")
	for _, objects := range s.objects {
		if len(objects) == 0 || KindOf(objects[0]) != kind {
			continue
		}
		if i := s.index(reflect.TypeOf(objects[0]), key); i >= 0 {
			return objects[i]
		}
	}
	return nil
}

// Pod is the pod of a key; nil if there is none.
func (s *Server) Pod(key string) *v1.Pod {
	kind := reflect.TypeFor[*v1.Pod]()
	if i := s.index(kind, key); i >= 0 {
		return s.objects[kind][i].(*v1.Pod)
	}
	return nil
}

// seen is what a scheduler's watch shows of an object: of pods, only those that have not
// terminated (scheduler.go:654@v1.37.1).
func seen(obj runtime.Object) runtime.Object {
	if p, ok := obj.(*v1.Pod); ok && (p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed) {
		return nil
	}
	return obj
}

// emit tells the scheduler of a change.
func (s *Server) emit(old, now runtime.Object) {
	e := Event{}
	if old != nil {
		e.Old = seen(old)
	}
	if now != nil {
		e.Now = seen(now)
	}
	if (e.Old != nil || e.Now != nil) && s.world.Listens() {
		kind := reflect.TypeOf(e.About())
		s.events[kind] = append(s.events[kind], e)
		s.world.Deliver(e)
	}
}

// List is what an API server shows of a kind that does not know of the last events yet, and these
// events.
func (s *Server) List(kind reflect.Type, behind int) (objects []runtime.Object, missed []Event) {
	objects = s.Objects(kind)
	all := s.events[kind]
	missed = all[max(0, len(all)-behind):]
	for _, e := range slices.Backward(missed) {
		i := slices.IndexFunc(objects, func(o runtime.Object) bool { return KeyOf(o) == KeyOf(e.About()) })
		switch {
		case e.Now == nil:
			objects = append(objects, e.Old)
		case e.Old == nil:
			objects = slices.Delete(objects, i, i+1)
		default:
			objects[i] = e.Old
		}
	}
	return objects, missed
}

// Create is a creation by somebody.
func (s *Server) Create(obj runtime.Object) error {
	name := NameOf(obj)
	if s.Find(name) != nil {
		s.world.Note(timeline.Entry{What: timeline.Created, Object: name, Error: "it exists already"})
		return nil
	}
	if why := s.refuses(obj); why != "" {
		s.world.Note(timeline.Entry{What: timeline.Created, Object: name, Error: why})
		return nil
	}
	obj = s.stamp(obj, true)
	s.put(obj)
	s.world.Note(timeline.Entry{What: timeline.Created, Object: name, Is: obj})
	s.emit(nil, obj)
	return nil
}

// Change is a patch by somebody. Where a pod runs, and what the system says of it, is not
// for them to change.
func (s *Server) Change(name string, with []byte) error {
	old := s.Find(name)
	if old == nil {
		s.world.Note(timeline.Entry{What: timeline.Updated, Object: name, Error: "there is none"})
		return nil
	}
	obj, err := patched(old, with)
	if err != nil {
		return err
	}
	o, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	s.version++
	o.SetResourceVersion(fmt.Sprint(s.version))
	pod, isPod := obj.(*v1.Pod)
	if !isPod || !equality.Semantic.DeepEqual(pod.Spec, old.(*v1.Pod).Spec) {
		o.SetGeneration(o.GetGeneration() + 1)
	}
	s.write(old, obj, timeline.Updated, string(with))
	if isPod && s.ended[pod.UID] && len(pod.Finalizers) == 0 {
		s.remove(pod)
	}
	return nil
}

// refuses says why an object is not admitted: "you cannot create more Pods that use the name of the
// deleted PriorityClass" (docs: concepts/scheduling-eviction/pod-priority-preemption, "Notes about
// PodPriority and existing clusters").
func (s *Server) refuses(obj runtime.Object) string {
	p, ok := obj.(*v1.Pod)
	if !ok || p.Spec.PriorityClassName == "" || strings.HasPrefix(p.Spec.PriorityClassName, scheduling.SystemPriorityClassPrefix) ||
		s.Find("PriorityClass "+p.Spec.PriorityClassName) != nil {
		return ""
	}
	return fmt.Sprintf("no PriorityClass with name %s was found", p.Spec.PriorityClassName)
}

// patched is an object after a strategic merge patch.
func patched(obj runtime.Object, patch []byte) (runtime.Object, error) {
	old, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	now := reflect.New(reflect.TypeOf(obj).Elem()).Interface().(runtime.Object)
	merged, err := strategicpatch.StrategicMergePatch(old, patch, now)
	if err != nil {
		return nil, err
	}
	return now, json.Unmarshal(merged, now)
}

func (s *Server) write(old, now runtime.Object, what timeline.What, text string) {
	s.put(now)
	s.world.Note(timeline.Entry{What: what, Object: NameOf(now), Text: text})
	s.emit(old, now)
}

// Delete is a deletion by somebody.
func (s *Server) Delete(name string) error {
	obj := s.Find(name)
	if obj == nil {
		s.world.Note(timeline.Entry{What: timeline.Removed, Object: name, Error: "there is none"})
		return nil
	}
	if pod, ok := obj.(*v1.Pod); ok {
		s.terminate(pod)
		return nil
	}
	s.remove(obj)
	return nil
}

// terminate tells a pod to end: "Pods … are given a grace period", one on no node has
// none (pod strategy.go, CheckGracefulDelete).
func (s *Server) terminate(pod *v1.Pod) {
	if pod.DeletionTimestamp != nil {
		return
	}
	grace := int64(v1.DefaultTerminationGracePeriodSeconds)
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		grace = *pod.Spec.TerminationGracePeriodSeconds
	}
	if pod.Spec.NodeName == "" || pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
		grace = 0
	}
	if grace == 0 && len(pod.Finalizers) == 0 {
		s.remove(pod)
		return
	}
	now := s.stamp(pod, false).(*v1.Pod)
	end := inSeconds(time.Now().Add(time.Duration(grace) * time.Second))
	now.DeletionTimestamp, now.DeletionGracePeriodSeconds = &end, &grace
	now.Generation++
	s.write(pod, now, timeline.Deleting, fmt.Sprintf("grace period %d s", grace))
	s.lost(pod)
	key, uid := model.Key(pod), pod.UID
	if pod.Spec.NodeName == "" { // no kubelet has it, and only its finalizers keep it
		s.ended[uid] = true
		return
	}
	stop := func() {
		s.world.Next(timeline.Place{Name: timeline.Stop, Pod: key}, "stop "+key, func() { s.stop(key, uid) })
	}
	if grace == 0 {
		stop()
		return
	}
	s.world.After(time.Duration(grace)*time.Second, stop)
}

// stop is the end of a pod's containers.
func (s *Server) stop(key string, uid types.UID) {
	pod := s.Pod(key)
	if pod == nil || pod.UID != uid || pod.DeletionTimestamp == nil || s.ended[uid] {
		return
	}
	s.ended[uid] = true
	if len(pod.Finalizers) == 0 {
		s.remove(pod)
		return
	}
	now := s.stamp(pod, false).(*v1.Pod)
	now.Status.Phase = v1.PodFailed
	s.write(pod, now, timeline.Updated, "its containers have ended")
}

// End ends the containers of a pod, if it is told to end.
func (s *Server) End(key string) error {
	if pod := s.Pod(key); pod != nil {
		s.stop(key, pod.UID)
	}
	return nil
}

func (s *Server) remove(obj runtime.Object) {
	kind := reflect.TypeOf(obj)
	if i := s.index(kind, KeyOf(obj)); i >= 0 {
		s.objects[kind] = slices.Delete(s.objects[kind], i, i+1)
	}
	s.world.Note(timeline.Entry{What: timeline.Removed, Object: NameOf(obj)})
	s.emit(obj, nil)
	if pod, ok := obj.(*v1.Pod); ok {
		s.lost(pod)
	}
}

// Terminating is how many pods are told to end and will do so by themselves, or are about to
// be created.
func (s *Server) Terminating() (n int) {
	n = s.coming
	for _, o := range s.objects[reflect.TypeFor[*v1.Pod]()] {
		if p := o.(*v1.Pod); p.DeletionTimestamp != nil && !s.ended[p.UID] {
			n++
		}
	}
	return n
}

// Objects are those of a kind that a scheduler's watch shows, in the order in which they were created.
func (s *Server) Objects(kind reflect.Type) (objects []runtime.Object) {
	for _, obj := range s.objects[kind] {
		if seen(obj) != nil {
			objects = append(objects, obj)
		}
	}
	return objects
}

// Pods is how many pods there are.
func (s *Server) Pods() int { return len(s.objects[reflect.TypeFor[*v1.Pod]()]) }

// Outcome is what users see of the pods.
func (s *Server) Outcome() string {
	var b strings.Builder
	for _, o := range s.objects[reflect.TypeFor[*v1.Pod]()] {
		p := o.(*v1.Pod)
		fmt.Fprintf(&b, "%s %s %s %s %t\n", model.Key(p), p.UID, p.Spec.NodeName, p.Status.NominatedNodeName, p.DeletionTimestamp != nil)
	}
	return b.String()
}

// The calls of a scheduler.

// Evict is a deletion that the scheduler asks for.
func (s *Server) Evict(key string, options metav1.DeleteOptions) error {
	pod := s.Pod(key)
	if pod == nil {
		return NotFound(key)
	}
	if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != pod.UID {
		return Conflict(key, "the UID in the precondition does not match")
	}
	s.terminate(pod)
	return nil
}

// Patch is a strategic merge patch of a pod's status.
func (s *Server) Patch(key string, data []byte) (*v1.Pod, error) {
	pod := s.Pod(key)
	if pod == nil {
		return nil, NotFound(key)
	}
	obj, err := patched(pod, data)
	if err != nil {
		return nil, err
	}
	now := obj.(*v1.Pod)
	if now.UID != pod.UID {
		return nil, Conflict(key, "the UID does not match")
	}
	if now.Status.QOSClass != pod.Status.QOSClass && now.Status.QOSClass != "" { // apis/core/validation/validation.go:6199@v1.37.1, ValidatePodStatusUpdate
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, pod.Name, field.ErrorList{
			field.Invalid(field.NewPath("status", "qosClass"), now.Status.QOSClass, "field is immutable")})
	}
	s.version++
	now.ResourceVersion = fmt.Sprint(s.version)
	s.put(now)
	s.emit(pod, now)
	return now, nil
}

// Bind assigns a pod to a node, and clears its nomination. The kubelet starts it.
func (s *Server) Bind(key string, uid types.UID, node string) error {
	pod := s.Pod(key)
	switch {
	case pod == nil:
		return NotFound(key)
	case uid != "" && uid != pod.UID:
		return Conflict(key, "the UID in the precondition does not match")
	case pod.DeletionTimestamp != nil:
		return Conflict(key, "pod is being deleted, cannot be assigned to a host")
	case pod.Spec.NodeName != "":
		return Conflict(key, "pod is already assigned to node "+pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		return Conflict(key, "pod has non-empty .spec.schedulingGates")
	}
	now := s.stamp(pod, false).(*v1.Pod)
	now.Spec.NodeName, now.Status.NominatedNodeName = node, ""
	scheduled := v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: inSeconds(time.Now())}
	now.Status.Conditions = append(slices.DeleteFunc(now.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodScheduled }), scheduled)
	s.put(now)
	s.emit(pod, now)
	s.world.Next(timeline.Place{Name: timeline.Start, Pod: key}, "start "+key, func() {
		old := s.Pod(key)
		if old == nil || old.UID != now.UID || old.DeletionTimestamp != nil {
			return
		}
		running := s.stamp(old, false).(*v1.Pod)
		start := inSeconds(time.Now())
		running.Status.Phase, running.Status.StartTime = v1.PodRunning, &start
		s.write(old, running, timeline.Started, "")
	})
	return nil
}

var pods = schema.GroupResource{Resource: "pods"}

// NotFound is the error of a call about a pod that is not there.
func NotFound(key string) error { return apierrors.NewNotFound(pods, key[strings.Index(key, "/")+1:]) }

// Conflict is the error of a call that comes too late, or twice.
func Conflict(key, why string) error {
	return apierrors.NewConflict(pods, key[strings.Index(key, "/")+1:], errors.New(why))
}
