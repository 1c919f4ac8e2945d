package releases

import (
	"context"
	"encoding/json"
	"errors"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

var _ reference.LifeSystem = (*Isolated)(nil)

// Live implements reference.LifeSystem. What ends the process is the Crash of a trace.
func (s *Isolated) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	data, err := json.Marshal(isolatedRequest{Timeline: sentTimeline(t)})
	if err != nil {
		return nil, err
	}
	a, err := s.answer(ctx, data, len(t.Cluster.Nodes)+len(t.Cluster.Pods)+len(t.Steps))
	if died := (*failure)(nil); errors.As(err, &died) {
		return &timeline.Trace{System: s.release, Crash: died.crash()}, nil
	}
	if err != nil {
		return nil, err
	}
	return a.Trace.trace(), nil
}

// sent is an object on its way to another process.
type sent struct{ runtime.Object }

// MarshalJSON implements json.Marshaler.
func (o sent) MarshalJSON() ([]byte, error) {
	if o.Object == nil {
		return []byte("null"), nil
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(o.Object)
	if err != nil {
		return nil, err
	}
	apiVersion, kind := kinds[0].ToAPIVersionAndKind()
	return json.Marshal(object{apiVersion, kind, o.Object})
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *sent) UnmarshalJSON(data []byte) (err error) {
	var w wire.Object
	if string(data) == "null" {
		return nil
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	o.Object, err = decoded(w)
	return err
}

// isolatedTimeline is a timeline on its way to another process.
type isolatedTimeline struct {
	Nodes    []*v1.Node
	Pods     []*v1.Pod
	Budgets  []*policyv1.PodDisruptionBudget
	Classes  []*schedulingv1.PriorityClass
	Extra    []sent
	Settings model.Settings
	Steps    []isolatedStep
}

// isolatedStep has the object to create under its kind.
type isolatedStep struct {
	timeline.Step
	Create sent
}

func sentTimeline(t *timeline.Timeline) *isolatedTimeline {
	c := t.Cluster
	r := &isolatedTimeline{Nodes: c.Nodes, Pods: c.Pods, Budgets: c.PodDisruptionBudgets, Classes: c.PriorityClasses, Extra: sentObjects(c.Extra), Settings: c.Settings}
	for _, s := range t.Steps {
		r.Steps = append(r.Steps, isolatedStep{s, sent{s.Create}})
	}
	return r
}

func (r *isolatedTimeline) timeline() *timeline.Timeline {
	t := &timeline.Timeline{Cluster: &model.Cluster{Nodes: r.Nodes, Pods: r.Pods, PodDisruptionBudgets: r.Budgets, PriorityClasses: r.Classes,
		Extra: received(r.Extra), Settings: r.Settings}}
	for _, s := range r.Steps {
		s.Step.Create = s.Create.Object
		t.Steps = append(t.Steps, s.Step)
	}
	return t
}

// isolatedTrace is a trace on its way back.
type isolatedTrace struct {
	timeline.Trace
	Entries  []isolatedEntry
	Startups []isolatedStartup
}

type isolatedEntry struct {
	timeline.Entry
	Was, Is sent
}

type isolatedStartup struct {
	Entry   int
	Objects []sent
}

func sentTrace(t *timeline.Trace) *isolatedTrace {
	r := &isolatedTrace{Trace: *t}
	for _, e := range t.Entries {
		r.Entries = append(r.Entries, isolatedEntry{e, sent{e.Was}, sent{e.Is}})
	}
	for _, s := range t.Startups {
		r.Startups = append(r.Startups, isolatedStartup{Entry: s.Entry, Objects: sentObjects(s.Objects)})
	}
	return r
}

func (r *isolatedTrace) trace() *timeline.Trace {
	t := &r.Trace
	for _, e := range r.Entries {
		e.Entry.Was, e.Entry.Is = e.Was.Object, e.Is.Object
		t.Entries = append(t.Entries, e.Entry)
	}
	for _, s := range r.Startups {
		t.Startups = append(t.Startups, timeline.Startup{Entry: s.Entry, Objects: received(s.Objects)})
	}
	return t
}

func sentObjects(all []runtime.Object) (some []sent) {
	for _, o := range all {
		some = append(some, sent{o})
	}
	return some
}

func received(all []sent) (objects []runtime.Object) {
	for _, o := range all {
		objects = append(objects, o.Object)
	}
	return objects
}
