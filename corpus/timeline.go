package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	v1 "k8s.io/api/core/v1"
	resource "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/corpus/manifest"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// TimelineKind identifies the document that makes a stream a timeline.
const TimelineKind = "Timeline"

// timelineDocument is the Timeline document of a stream. The manifests after it are the
// objects of the start, and those that steps create. An object is there at the start
// unless the first step that is about it creates it.
type timelineDocument struct {
	metav1.TypeMeta `json:",inline"`
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	Origin          string          `json:"origin"`
	Finding         *Finding        `json:"finding"`
	Scheduler       *model.Settings `json:"scheduler"`
	Findings        []string        `json:"findings"`
	Stack           []string        `json:"stack"`
	// Releases is the range in which it goes as it says; "" is all.
	Releases string         `json:"releases"`
	Steps    []stepDocument `json:"steps"`
}

// GetName is the name of the timeline.
func (d *timelineDocument) GetName() string { return d.Name }

// stepDocument is a step: one of its fields, "with" beside "change", and "behind" beside "takeover".
type stepDocument struct {
	Create   string                `json:"create,omitempty"`
	Change   string                `json:"change,omitempty"`
	With     json.RawMessage       `json:"with,omitempty"`
	Delete   string                `json:"delete,omitempty"`
	End      string                `json:"end,omitempty"`
	Wait     string                `json:"wait,omitempty"`
	Hold     *timeline.Place       `json:"hold,omitempty"`
	Release  *timeline.Place       `json:"release,omitempty"`
	Next     *timeline.Place       `json:"next,omitempty"`
	Fail     *timeline.Failure     `json:"fail,omitempty"`
	Relist   string                `json:"relist,omitempty"`
	Replace  *replaceDocument      `json:"replace,omitempty"`
	Takeover bool                  `json:"takeover,omitempty"`
	Behind   map[string]int        `json:"behind,omitempty"`
	Expect   *timeline.Expectation `json:"expect,omitempty"`
}

// replaceDocument is a timeline.Replacement.
type replaceDocument struct {
	Pod   string `json:"pod"`
	After string `json:"after,omitempty"`
	Times int    `json:"times,omitempty"`
}

// maxReplaced is how many pods a controller may create.
const maxReplaced = 20

// queues are those in which a pod can be expected.
var queues = []model.Queue{model.QueueActive, model.QueueBackoff, model.QueueUnschedulable, timeline.QueueIncomplete, timeline.QueuePending, "none"}

// step is the step that a document says, but for the object to create.
func (d *stepDocument) step() (s timeline.Step, field string, err error) {
	var set []string
	v := reflect.ValueOf(*d)
	for i := range v.NumField() {
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); !v.Field(i).IsZero() && name != "with" && name != "behind" {
			set = append(set, name)
		}
	}
	if len(set) != 1 {
		return s, "", fmt.Errorf("a step is one of create, change, delete, end, wait, hold, release, next, fail, relist, replace, takeover, expect; there are %d", len(set))
	}
	if (d.Change != "") != (len(d.With) > 0) {
		return s, "with", errors.New(`"change" and "with" go together`)
	}
	if d.Behind != nil && !d.Takeover {
		return s, "behind", errors.New(`"behind" goes with "takeover"`)
	}
	for _, kind := range slices.Sorted(maps.Keys(d.Behind)) {
		switch n := d.Behind[kind]; {
		case !slices.Contains(timeline.Watched(), kind):
			return s, "behind", fmt.Errorf("%q is no kind of object that a scheduler watches; there are %v", kind, timeline.Watched())
		case n < 1:
			return s, "behind[" + kind + "]", fmt.Errorf("%d is no number of events", n)
		}
	}
	s = timeline.Step{Change: d.Change, With: d.With, Delete: d.Delete, End: podKey(d.End), Hold: d.Hold, Release: d.Release, Next: d.Next,
		Fail: d.Fail, Relist: d.Relist, Takeover: d.Takeover, Behind: d.Behind, Expect: d.Expect}
	for _, name := range []*string{&s.Change, &s.Delete} {
		if kind, key, ok := strings.Cut(*name, " "); *name != "" && (!ok || kind == "" || key == "") {
			return s, set[0], fmt.Errorf("%q names no object; it takes a kind and a name, as in \"Pod default/a\"", *name)
		}
	}
	kind, _, _ := strings.Cut(d.Change, " ")
	if obj, err := scheme.Scheme.New(v1.SchemeGroupVersion.WithKind(kind)); err == nil { // other kinds have no quantities
		if path, err := manifest.CheckExponents(d.With, reflect.TypeOf(obj)); err != nil {
			return s, "with." + path, err
		}
	}
	if d.End == "" {
		s.End = ""
	}
	if d.Wait != "" {
		if s.Wait, err = time.ParseDuration(d.Wait); err != nil || s.Wait <= 0 || s.Wait > timeline.MaxWait {
			return s, "wait", fmt.Errorf("%q is no time from 1ns to %s, for example 1m30s", d.Wait, timeline.MaxWait)
		}
	}
	if s.Relist != "" && !slices.Contains(timeline.Watched(), s.Relist) {
		return s, "relist", fmt.Errorf("%q is no kind of object that a scheduler watches; there are %v", s.Relist, timeline.Watched())
	}
	if r := d.Replace; r != nil {
		s.Replace = &timeline.Replacement{Pod: podKey(r.Pod), Times: r.Times}
		if r.After != "" {
			s.Replace.After, err = time.ParseDuration(r.After)
		}
		switch {
		case r.Pod == "":
			return s, "replace.pod", errors.New("a controller replaces a pod")
		case err != nil, s.Replace.After < 0, s.Replace.After > timeline.MaxWait:
			return s, "replace.after", fmt.Errorf("%q is no time up to %s, for example 1m30s", r.After, timeline.MaxWait)
		case r.Times < 0, r.Times > maxReplaced:
			return s, "replace.times", fmt.Errorf("%d is not within 0 to %d", r.Times, maxReplaced)
		}
	}
	for name, p := range map[string]*timeline.Place{"hold": s.Hold, "release": s.Release, "next": s.Next} {
		if p == nil {
			continue
		}
		switch {
		case p.Name == "":
			return s, name + ".place", fmt.Errorf("is missing; there are %v", timeline.Places())
		case !slices.Contains(timeline.Places(), p.Name):
			return s, name + ".place", fmt.Errorf("%q is no place; there are %v", p.Name, timeline.Places())
		case p.Name.OfKind() && p.Pod != "":
			return s, name + ".pod", fmt.Errorf("%s is of a kind of object", p.Name)
		case !p.Name.OfKind() && p.Kind != "":
			return s, name + ".kind", fmt.Errorf("%s is of a pod", p.Name)
		case p.Name == timeline.Pop && p.Pod != "":
			return s, name + ".pod", fmt.Errorf("%s is before it is known which pod it will be", p.Name)
		case p.Pod != "":
			p.Pod = podKey(p.Pod)
		}
	}
	if f := s.Fail; f != nil {
		switch {
		case !slices.Contains(timeline.Calls(), f.Call):
			return s, "fail.call", fmt.Errorf("%q is no call; there are %v", f.Call, timeline.Calls())
		case !slices.Contains(timeline.Errors(), f.Error):
			return s, "fail.error", fmt.Errorf("%q is no error; there are %v", f.Error, timeline.Errors())
		case f.Times < 0:
			return s, "fail.times", fmt.Errorf("%d is negative", f.Times)
		case f.Pod != "":
			f.Pod = podKey(f.Pod)
		}
	}
	if e := s.Expect; e != nil {
		switch {
		case e.Pod == "":
			return s, "expect.pod", errors.New("an expectation is of a pod")
		case e.Node == nil && e.Nominated == nil && e.Exists == nil && e.Queue == nil:
			return s, "expect", errors.New("it takes one of node, nominated, exists, queue")
		case e.Queue != nil && !slices.Contains(queues, model.Queue(*e.Queue)):
			return s, "expect.queue", fmt.Errorf("%q is no queue; there are %v", *e.Queue, queues)
		}
		e.Pod = podKey(e.Pod)
	}
	return s, "", nil
}

// readTimeline makes a case of a Timeline document and what follows it.
func readTimeline(doc *timelineDocument, first *manifest.Object, objects []manifest.Object) (*Stream, error) {
	if len(first.Unknown) > 0 {
		return nil, first.Fail(first.Unknown[0], errors.New("unknown field"))
	}
	header := document{Name: doc.Name, Preemptor: "none", Scheduler: doc.Scheduler, Finding: doc.Finding}
	if field, err := header.validate(); err != nil {
		return nil, first.Fail(field, err)
	}
	if doc.Releases != "" {
		if _, err := semver.ParseRange(doc.Releases); err != nil {
			return nil, first.Fail("releases", fmt.Errorf("%q is no range of releases: %w", doc.Releases, err))
		}
	}
	c, err := collect(objects, true)
	if err != nil {
		return nil, err
	}
	named := map[string]kruntime.Object{}
	for _, obj := range c.Objects() {
		named[apiserver.NameOf(obj)] = obj
	}
	steps := make([]timeline.Step, len(doc.Steps))
	about, later := map[string]bool{}, map[string]bool{}
	for i := range doc.Steps {
		step, field, err := doc.Steps[i].step()
		if err != nil {
			return nil, first.Fail(strings.TrimSuffix(fmt.Sprintf("steps[%d].%s", i, field), "."), err)
		}
		name := doc.Steps[i].Create
		if name != "" {
			if step.Create = named[name]; step.Create == nil {
				return nil, first.Fail(fmt.Sprintf("steps[%d].create", i), fmt.Errorf("there is no manifest of %q", name))
			}
			later[name] = later[name] || !about[name]
		}
		for _, name := range []string{name, step.Change, step.Delete} {
			if class, ok := named[name].(*schedulingv1.PriorityClass); ok {
				if field, err := checkClass(class, &doc.Steps[i]); err != nil {
					return nil, first.Fail(fmt.Sprintf("steps[%d].%s", i, field), err)
				}
			}
			about[name] = true
		}
		steps[i] = step
	}
	replaced := map[string]bool{}
	for _, s := range steps {
		if s.Replace != nil {
			replaced[s.Replace.Pod] = true
		}
	}
	for _, p := range c.Pods {
		if waits := p.Spec.NodeName == "" || replaced[model.Key(p)]; !waits {
			continue
		}
		if field := claiming(&c.Cluster, p); field != "" {
			return nil, c.at["Pod "+model.Key(p)].Fail(field, errors.New("timelines do not know what the scheduler writes about volumes and claims, and so no pod that waits with them"))
		}
	}
	start := startOf(&c.Cluster, later)
	for _, p := range start.Pods {
		if p.Spec.NodeName != "" && later["Node "+p.Spec.NodeName] {
			return nil, c.at["Pod "+model.Key(p)].Fail("spec.nodeName", fmt.Errorf("node %q is not there at the start", p.Spec.NodeName))
		}
	}
	if doc.Scheduler != nil {
		if field, err := validateSettings(doc.Scheduler); err != nil {
			return nil, first.Fail("scheduler."+field, err)
		}
		start.Settings = *doc.Scheduler
	}
	return &Stream{Notes: append(c.notes, neverThere(steps, named)...), Cases: []*Case{{
		Name:        doc.Name,
		Description: strings.TrimSpace(doc.Description),
		Origin:      doc.Origin,
		Finding:     doc.Finding,
		Findings:    doc.Findings,
		Stack:       doc.Stack,
		Releases:    doc.Releases,
		Cluster:     start,
		Timeline:    &timeline.Timeline{Cluster: start, Steps: steps},
	}}}, nil
}

// claiming is the field of a pod for which the scheduler writes about volumes or claims if the pod waits; "" if there is none.
func claiming(c *model.Cluster, p *v1.Pod) string {
	for i, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			return fmt.Sprintf("spec.volumes[%d].persistentVolumeClaim", i)
		case v.Ephemeral != nil:
			return fmt.Sprintf("spec.volumes[%d].ephemeral", i)
		}
	}
	if len(p.Spec.ResourceClaims) > 0 {
		return "spec.resourceClaims"
	}
	backed := map[v1.ResourceName]bool{}
	for _, obj := range c.Objects() {
		if class, ok := obj.(*resource.DeviceClass); ok && class.Spec.ExtendedResourceName != nil {
			backed[v1.ResourceName(*class.Spec.ExtendedResourceName)] = true
		}
	}
	for _, part := range []struct {
		name       string
		containers []v1.Container
	}{{"initContainers", p.Spec.InitContainers}, {"containers", p.Spec.Containers}} {
		for i := range part.containers {
			for name := range part.containers[i].Resources.Requests {
				if backed[name] || strings.HasPrefix(string(name), resource.ResourceDeviceClassPrefix) {
					return fmt.Sprintf("spec.%s[%d].resources.requests[%s]", part.name, i, name)
				}
			}
		}
	}
	return ""
}

// neverThere are notes about steps that name a pod, a node or another object of which there is no manifest, and which no controller makes:
// such a step does nothing.
func neverThere(steps []timeline.Step, named map[string]kruntime.Object) (notes []string) {
	made := map[string]bool{} // what the names of pods that controllers make begin with
	for _, s := range steps {
		if s.Replace != nil {
			made["Pod "+s.Replace.Pod+"-"] = true
		}
	}
	for i, s := range steps {
		field, name := "", ""
		pod := func(of, key string) {
			if key != "" {
				field, name = of, "Pod "+key
			}
		}
		switch {
		case s.Change != "":
			field, name = "change", s.Change
		case s.Delete != "":
			field, name = "delete", s.Delete
		case s.End != "":
			pod("end", s.End)
		case s.Replace != nil:
			pod("replace.pod", s.Replace.Pod)
		case s.Hold != nil:
			pod("hold.pod", s.Hold.Pod)
		case s.Release != nil:
			pod("release.pod", s.Release.Pod)
		case s.Next != nil:
			pod("next.pod", s.Next.Pod)
		case s.Fail != nil:
			pod("fail.pod", s.Fail.Pod)
		case s.Expect != nil && (s.Expect.Exists == nil || *s.Expect.Exists):
			pod("expect.pod", s.Expect.Pod)
		}
		isMade := slices.ContainsFunc(slices.Collect(maps.Keys(made)), func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if name != "" && named[name] == nil && !isMade {
			notes = append(notes, fmt.Sprintf("steps[%d].%s: there is no manifest of %q, so the step does nothing", i, field, name))
		}
	}
	return notes
}

// checkClass says what cannot be done to a priority class in a step: the API server admits no update
// of what pods have from it, and pods are given their priority by the classes of the whole stream,
// so that their default can be none that comes or goes.
func checkClass(class *schedulingv1.PriorityClass, step *stepDocument) (field string, err error) {
	var with map[string]any
	_ = json.Unmarshal(step.With, &with) // it is JSON, or none
	switch {
	case class.GlobalDefault && step.Create != "":
		return "create", errors.New("a class that is the default of all pods has to be there from the start")
	case class.GlobalDefault && step.Delete != "":
		return "delete", errors.New("a class that is the default of all pods has to stay")
	}
	for _, name := range []string{"value", "preemptionPolicy", "globalDefault"} {
		if _, set := with[name]; set {
			return "with." + name, errors.New("it cannot be changed; delete the class, and create it anew")
		}
	}
	return "", nil
}

// startOf is a cluster without the objects of some names.
func startOf(c *model.Cluster, without map[string]bool) *model.Cluster {
	start := *c
	start.Nodes = keep(c.Nodes, without)
	start.Pods = keep(c.Pods, without)
	start.PodDisruptionBudgets = keep(c.PodDisruptionBudgets, without)
	start.PriorityClasses = keep(c.PriorityClasses, without)
	start.Extra = keep(c.Extra, without)
	return &start
}

func keep[T kruntime.Object](all []T, without map[string]bool) (kept []T) {
	for _, o := range all {
		if !without[apiserver.NameOf(o)] {
			kept = append(kept, o)
		}
	}
	return kept
}

// documentOf is the document of a step, and the object that it creates.
func documentOf(s *timeline.Step) stepDocument {
	d := stepDocument{Change: s.Change, With: s.With, Delete: s.Delete, End: s.End, Hold: s.Hold, Release: s.Release, Next: s.Next,
		Fail: s.Fail, Relist: s.Relist, Takeover: s.Takeover, Behind: s.Behind, Expect: s.Expect}
	if s.Create != nil {
		d.Create = apiserver.NameOf(s.Create)
	}
	if s.Wait > 0 {
		d.Wait = s.Wait.String()
	}
	if r := s.Replace; r != nil {
		d.Replace = &replaceDocument{Pod: r.Pod, Times: r.Times}
		if r.After > 0 {
			d.Replace.After = r.After.String()
		}
	}
	return d
}

// timelineDocument is the Timeline document of the case.
func (c *Case) timelineDocument() *timelineDocument {
	d := &timelineDocument{Name: c.Name, Description: c.Description, Origin: c.Origin, Finding: c.Finding, Findings: c.Findings, Stack: c.Stack, Releases: c.Releases,
		Steps: make([]stepDocument, len(c.Timeline.Steps))}
	if s := c.Cluster.Settings; !reflect.ValueOf(s).IsZero() {
		d.Scheduler = &s
	}
	for i := range c.Timeline.Steps {
		d.Steps[i] = documentOf(&c.Timeline.Steps[i])
	}
	return d
}

// createdLater are the objects that steps create and that are not there at the start.
func (c *Case) createdLater() (objects []kruntime.Object) {
	there := map[string]bool{}
	for _, o := range c.Cluster.Objects() {
		there[apiserver.NameOf(o)] = true
	}
	for i := range c.Timeline.Steps {
		if o := c.Timeline.Steps[i].Create; o != nil && !there[apiserver.NameOf(o)] {
			there[apiserver.NameOf(o)] = true
			objects = append(objects, o)
		}
	}
	return objects
}
