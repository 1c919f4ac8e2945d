package api

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// controllers are those that replace pods.
type controllers struct {
	owners map[types.UID]*controller
	coming int // pods that are about to be created
}

// controller replaces one pod, and what it has replaced it by, as soon as it is told to end: so
// do ReplicaSets, and Jobs by default (doc comment of TerminatingOrFailed,
// batch/v1/types.go:159@v0.37.1).
type controller struct {
	of         string // the first pod, as "default/a"
	after      time.Duration
	made, most int
}

// Replace makes a controller take care of a pod.
func (s *Server) Replace(r *timeline.Replacement) {
	e := timeline.Entry{What: timeline.Replacing, Object: "Pod " + r.Pod}
	pod := s.Pod(r.Pod)
	switch {
	case pod == nil:
		e.Error = "there is none"
	case pod.DeletionTimestamp != nil:
		e.Error = "it is terminating"
	case s.owners[pod.UID] != nil:
		e.Error = "it has a controller"
	default:
		if s.owners == nil {
			s.owners = map[types.UID]*controller{}
		}
		s.owners[pod.UID] = &controller{of: r.Pod, after: r.After, most: cmp.Or(r.Times, 1)}
	}
	s.world.Note(e)
}

// lost tells the controller of a pod, if it has one, that the pod is told to end, or is gone.
func (s *Server) lost(pod *v1.Pod) {
	c := s.owners[pod.UID]
	delete(s.owners, pod.UID)
	if c == nil || c.made == c.most {
		return
	}
	c.made++
	s.coming++
	next := c.next(pod)
	create := func() {
		s.world.Next(timeline.Place{}, "replace "+model.Key(pod), func() {
			s.coming--
			if s.Find(NameOf(next)) != nil { // a controller would take another name
				return
			}
			if why := s.refuses(next); why != "" {
				s.world.Note(timeline.Entry{What: timeline.Created, Object: NameOf(next), By: model.Key(pod), Error: why})
				return
			}
			created := s.stamp(next, true).(*v1.Pod)
			s.owners[created.UID] = c
			s.put(created)
			s.world.Note(timeline.Entry{What: timeline.Created, Object: NameOf(created), By: model.Key(pod), Is: created})
			s.emit(nil, created)
		})
	}
	if c.after == 0 {
		create()
		return
	}
	s.world.After(c.after, create)
}

// next is what a pod is replaced by: one of another name, on no node, of which nothing is known
// yet.
func (c *controller) next(pod *v1.Pod) *v1.Pod {
	namespace, name, _ := strings.Cut(c.of, "/")
	next := &v1.Pod{Spec: *pod.Spec.DeepCopy(), ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: fmt.Sprintf("%s-%d", name, c.made), Labels: pod.Labels, Annotations: pod.Annotations, Finalizers: pod.Finalizers,
		OwnerReferences: pod.OwnerReferences,
	}, Status: v1.PodStatus{Phase: v1.PodPending, QOSClass: pod.Status.QOSClass}}
	next.Spec.NodeName = ""
	if metav1.GetControllerOf(next) == nil {
		next.OwnerReferences = append(next.OwnerReferences, metav1.OwnerReference{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: types.UID("ReplicaSet " + c.of), Controller: ptr.To(true),
		})
	}
	return next
}
