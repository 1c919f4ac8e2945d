// Package lifewire is how a process is asked to run a timeline, and how it tells what it has
// seen: with the objects under their kinds, as each side decodes them with its own types.
//
// The drivers of other releases that run timelines compile it, too.
package lifewire

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// Request asks for a timeline to be run.
type Request struct {
	Timeline *Timeline
	// Tell asks for a Part for all that is seen, as soon as it is.
	Tell bool `json:",omitempty"`
}

// Part is what is new of a trace. The Answer follows, unless the process dies before.
type Part struct{ Part *Trace }

// Answer has one of its fields.
type Answer struct {
	Error string `json:",omitempty"`
	Trace *Trace `json:",omitempty"`
}

// Object is an object on its way to another process.
type Object struct{ runtime.Object }

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	if o.Object == nil {
		return []byte("null"), nil
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(o.Object)
	if err != nil {
		return nil, err
	}
	apiVersion, kind := kinds[0].ToAPIVersionAndKind()
	data, err := json.Marshal(o.Object)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wire.Object{APIVersion: apiVersion, Kind: kind, Object: data})
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *Object) UnmarshalJSON(data []byte) (err error) {
	var w wire.Object
	if string(data) == "null" {
		return nil
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if o.Object, err = scheme.Scheme.New(schema.FromAPIVersionAndKind(w.APIVersion, w.Kind)); err != nil {
		return err
	}
	return json.Unmarshal(w.Object, o.Object)
}

// Timeline is a timeline on its way to another process.
type Timeline struct {
	Nodes    []*v1.Node
	Pods     []*v1.Pod
	Budgets  []*policyv1.PodDisruptionBudget
	Classes  []*schedulingv1.PriorityClass
	Extra    []Object
	Settings model.Settings
	Steps    []step
}

// step has the object to create under its kind.
type step struct {
	timeline.Step
	Create Object
}

// OfTimeline is what is sent of a timeline.
func OfTimeline(t *timeline.Timeline) *Timeline {
	c := t.Cluster
	r := &Timeline{Nodes: c.Nodes, Pods: c.Pods, Budgets: c.PodDisruptionBudgets, Classes: c.PriorityClasses, Extra: ofObjects(c.Extra), Settings: c.Settings}
	for _, s := range t.Steps {
		r.Steps = append(r.Steps, step{s, Object{s.Create}})
	}
	return r
}

// Received is the timeline that was sent.
func (r *Timeline) Received() *timeline.Timeline {
	t := &timeline.Timeline{Cluster: &model.Cluster{Nodes: r.Nodes, Pods: r.Pods, PodDisruptionBudgets: r.Budgets, PriorityClasses: r.Classes,
		Extra: objectsOf(r.Extra), Settings: r.Settings}}
	for _, s := range r.Steps {
		s.Step.Create = s.Create.Object
		t.Steps = append(t.Steps, s.Step)
	}
	return t
}

// Trace is a trace on its way back.
type Trace struct {
	timeline.Trace
	Entries  []entry
	Startups []startup
}

type entry struct {
	timeline.Entry
	Was, Is Object
}

type startup struct {
	Entry   int
	Objects []Object
	Missed  []timeline.Missed
}

// OfTrace is what is sent of a trace.
func OfTrace(t *timeline.Trace) *Trace {
	r := &Trace{Trace: *t}
	for _, e := range t.Entries {
		r.Entries = append(r.Entries, entry{e, Object{e.Was}, Object{e.Is}})
	}
	for _, s := range t.Startups {
		r.Startups = append(r.Startups, startup{s.Entry, ofObjects(s.Objects), s.Missed})
	}
	return r
}

// Received is the trace that was sent.
func (r *Trace) Received() *timeline.Trace {
	t := &r.Trace
	for _, e := range r.Entries {
		e.Entry.Was, e.Entry.Is = e.Was.Object, e.Is.Object
		t.Entries = append(t.Entries, e.Entry)
	}
	for _, s := range r.Startups {
		t.Startups = append(t.Startups, timeline.Startup{Entry: s.Entry, Objects: objectsOf(s.Objects), Missed: s.Missed})
	}
	return t
}

func ofObjects(all []runtime.Object) (some []Object) {
	for _, o := range all {
		some = append(some, Object{o})
	}
	return some
}

func objectsOf(all []Object) (objects []runtime.Object) {
	for _, o := range all {
		objects = append(objects, o.Object)
	}
	return objects
}
