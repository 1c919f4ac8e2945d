// Package timeline is the vocabulary of the life of a preemption: what happens to a
// cluster step by step, and what a scheduler is seen doing meanwhile.
//
// A timeline does not say what the scheduler does: it does what it does, as soon as it
// can, and so do the informers and the kubelets. A timeline can hold any of them at a
// Place, and let go.
package timeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

// Timeline is a cluster and what happens to it.
type Timeline struct {
	// Cluster is what there is at the start. It has no Preemptor: all its pods are in
	// Pods. The scheduler knows it, and has tried nothing yet.
	Cluster *model.Cluster
	Steps   []Step
}

// MaxWait is the longest wait of a step.
const MaxWait = 24 * time.Hour

// Step is one thing that happens: exactly one of the fields is set, but for With and Behind.
type Step struct {
	// Create is an object that somebody creates.
	Create runtime.Object
	// Change names an object that somebody changes, by With, a strategic merge patch in
	// JSON, as kubectl patch takes it.
	Change string
	With   json.RawMessage
	// Delete names an object that somebody deletes, as "Pod default/a" or "Node n1". A
	// pod on a node gets its grace period.
	Delete string
	// End names a terminating pod, as "default/a", whose containers end before its grace
	// period does.
	End string
	// Wait is how long nothing else happens.
	Wait time.Duration
	// Hold makes everything that comes to a place wait there. Release ends that. Next
	// lets one go on, the one that has waited longest, and keeps the rest.
	Hold, Release, Next *Place
	// Fail makes API calls fail.
	Fail *Failure
	// Relist names a kind of object, one of Watched, whose watch ends. The scheduler's
	// informer lists it anew: events that it had not stored are lost, and it finds out what
	// has changed.
	Relist string
	// Replace makes a controller take care of a pod.
	Replace *Replacement
	// Takeover: the scheduler dies, and another one takes over. What the first held in
	// memory is gone, and so are the calls it had not sent.
	Takeover bool
	// Behind is, by kind of object, one of Watched, how many of the last events the API server
	// does not know yet from whose watch cache the new scheduler lists. They come to it later,
	// by its watch. Of more events than there were it is all.
	//
	// An informer's first list may be as old as that: "It is possible for the request to return
	// data at a much older resource version that the client has previously observed" (docs:
	// reference/using-api/api-concepts, "Semantics for get and list", of resourceVersion "0",
	// with which a reflector begins: client-go/tools/cache/reflector.go:1129@v0.37.1).
	Behind map[string]int
	// Expect is what should be so now.
	Expect *Expectation
}

// CreatedPod is the pod that the step creates; nil if it creates none.
func (s *Step) CreatedPod() *v1.Pod {
	p, _ := s.Create.(*v1.Pod)
	return p
}

// BehindWords are how far a new scheduler's list is behind: "2 events of Pod, 1 of Node"; "" if it
// shows all.
func (s *Step) BehindWords() string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(s.Behind)) {
		all = append(all, fmt.Sprintf("%d of %s", s.Behind[kind], kind))
	}
	return strings.Replace(strings.Join(all, ", "), " of", " events of", 1)
}

// PlaceName is a kind of place at which something can be held.
type PlaceName string

// The places of the scheduler, of its API calls, of its informers, and of kubelets.
const (
	// Pop: before the queue hands out a pod.
	Pop PlaceName = "pop"
	// Filter: a pod was popped and the nodes are known as they are; no filter has run.
	Filter PlaceName = "filter"
	// Requeue: the pod cannot be scheduled, and its victims, if any, are chosen; it is in
	// no queue yet.
	Requeue PlaceName = "requeue"
	// Preempt and Preempted: the goroutine that preempts the victims of a pod begins, or
	// has ended but for waking its pod up.
	Preempt   PlaceName = "preempt"
	Preempted PlaceName = "preempted"
	// Permit: the pod is assumed on its node, and a plugin makes it wait for its permission.
	Permit PlaceName = "permit"
	// PreBind: the pod is assumed on its node, and a plugin prepares its binding. PreBound:
	// that is done, whatever has become of the pod meanwhile.
	PreBind  PlaceName = "preBind"
	PreBound PlaceName = "preBound"
	// Unreserve: a pod is not to be bound after all, and is still assumed on its node.
	Unreserve PlaceName = "unreserve"
	// Record: an event about a pod was recorded, and what recorded it goes on.
	Record PlaceName = "record"
	// Patch, Evict and Bind: an API call about a pod is about to be made.
	Patch PlaceName = "patch"
	Evict PlaceName = "evict"
	Bind  PlaceName = "bind"
	// Store and Handle: an event of a kind of object is put into the informer's store,
	// or is handled by the scheduler.
	Store  PlaceName = "store"
	Handle PlaceName = "handle"
	// Start and Stop: a kubelet starts a pod, or its grace period is over.
	Start PlaceName = "start"
	Stop  PlaceName = "stop"
)

// Places are all places.
func Places() []PlaceName {
	return []PlaceName{Pop, Filter, Requeue, Preempt, Preempted, Permit, PreBind, PreBound, Unreserve, Record, Patch, Evict, Bind, Store, Handle, Start, Stop}
}

// Calls are the places that are API calls.
func Calls() []PlaceName { return []PlaceName{Patch, Evict, Bind} }

// OfKind tells whether a place is of a kind of object; others are of a pod.
func (n PlaceName) OfKind() bool { return n == Store || n == Handle }

// Watched are the kinds of objects that the scheduler watches.
func Watched() []string {
	return []string{"Pod", "Node", "PodDisruptionBudget", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "Service", "ReplicationController", "ReplicaSet", "StatefulSet",
		"StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment", "ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule", "PodGroup", "CompositePodGroup"}
}

// Place is where something can be held.
type Place struct {
	Name PlaceName `json:"place"`
	// Pod, as "default/a", is which pod is held; "" holds all. The pod of a call is the
	// one that the call is about.
	Pod string `json:"pod,omitempty"`
	// Kind of objects whose events are held, for example "Pod".
	Kind string `json:"kind,omitempty"`
}

func (p Place) String() string {
	s := string(p.Name)
	if p.Pod != "" {
		s += " of " + p.Pod
	}
	if p.Kind != "" {
		s += " of " + p.Kind
	}
	return s
}

// Holds tells whether a hold at p keeps what comes to at.
func (p Place) Holds(at Place) bool {
	return p.Name == at.Name && (p.Pod == "" || p.Pod == at.Pod) && (p.Kind == "" || p.Kind == at.Kind)
}

// Failure is how API calls fail.
type Failure struct {
	Call PlaceName `json:"call"` // one of Calls
	Pod  string    `json:"pod,omitempty"`
	// Error is one of Errors.
	Error string `json:"error"`
	// Arrives: the call takes effect all the same, and only its answer is lost.
	Arrives bool `json:"arrives,omitempty"`
	// Times is how many calls fail; 0 is one.
	Times int `json:"times,omitempty"`
}

// Errors are those that API calls fail with. NotFound tells a lie if the object is there.
func Errors() []string { return []string{"NotFound", "Conflict", "InternalError", "Timeout"} }

func (f Failure) String() string {
	s := Place{Name: f.Call, Pod: f.Pod}.String() + " fails with " + f.Error
	if f.Arrives {
		s += ", after it took effect"
	}
	if f.Times > 1 {
		s += fmt.Sprintf(", %d times", f.Times)
	}
	return s
}

// Replacement is a controller that replaces a pod, and what it replaces it by, as a ReplicaSet or
// a Job does: as soon as the pod is told to end or is gone.
type Replacement struct {
	Pod string
	// After is how long the controller takes.
	After time.Duration
	// Times is how many pods it creates at most; 0 is one.
	Times int
}

func (r Replacement) String() string {
	s := r.Pod + " is replaced"
	if r.After > 0 {
		s += " after " + r.After.String()
	}
	if r.Times > 1 {
		s += fmt.Sprintf(", %d times", r.Times)
	}
	return s
}

// Expectation is what should be so of a pod.
type Expectation struct {
	Pod string `json:"pod"`
	// Node is where it should be bound, Nominated to which node it should be nominated:
	// "" if nowhere, nil if that is not expected.
	Node      *string `json:"node,omitempty"`
	Nominated *string `json:"nominated,omitempty"`
	// Exists: whether there should be such a pod. A terminating one exists.
	Exists *bool `json:"exists,omitempty"`
	// Queue is in which queue of the scheduler it should be: one of model's names, or
	// "none".
	Queue *string `json:"queue,omitempty"`
}

func (e Expectation) String() string {
	var all []string
	say := func(what string, value *string) {
		if value != nil && *value == "" {
			all = append(all, "not "+strings.TrimSuffix(what, " to"))
		} else if value != nil {
			all = append(all, what+" "+*value)
		}
	}
	say("bound to", e.Node)
	say("nominated to", e.Nominated)
	if e.Exists != nil && *e.Exists {
		all = append(all, "there")
	} else if e.Exists != nil {
		all = append(all, "gone")
	}
	say("in queue", e.Queue)
	return e.Pod + " is " + strings.Join(all, ", ")
}

// Clone is a copy that shares the objects: they are read-only.
func (t *Timeline) Clone() *Timeline {
	c := *t.Cluster
	c.Nodes, c.Pods = slices.Clone(c.Nodes), slices.Clone(c.Pods)
	c.PodDisruptionBudgets, c.PriorityClasses, c.Extra = slices.Clone(c.PodDisruptionBudgets), slices.Clone(c.PriorityClasses), slices.Clone(c.Extra)
	return &Timeline{Cluster: &c, Steps: slices.Clone(t.Steps)}
}
