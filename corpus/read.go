package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus/manifest"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// InputError says what is wrong with a stream, and where.
type InputError = manifest.InputError

// Stream is what was read.
type Stream struct {
	Cases []*Case
	// Notes are for people: what was left out, and why.
	Notes []string
	// Idle are the names of the dumps in which no pod waits for the default scheduler.
	Idle []string
	// Dump is all that a dump holds, of which each case asks about one pod or group: all
	// pods are in Pods, and nobody is the preemptor. The cases share its objects. It is nil
	// if the stream is no dump.
	Dump *model.Cluster
	// About is what the dump says of itself, or what whoever read its cluster does.
	About AboutDump
	// File is the name of the stream that a dump was read from.
	File string
}

// NotGiven lists what the preemptor of a cluster that is made from the Dump depends on, and the
// dump says nothing about.
func (s *Stream) NotGiven(c *model.Cluster) []model.UnmodelledField {
	return notGiven(c, s.About.Given)
}

// Given says of kinds of objects, by their resource as kubectl names it ("csinodes"), that
// a cluster was asked for them: "" if it told, else why it did not. A kind that is not in
// it was not asked for, or may have been: of those, a dump that holds no object is taken
// to say nothing.
type Given map[string]string

// Read reads one stream of YAML or JSON: a case, or a cluster dump with a case
// for each pod, or pod group, that waits for the default scheduler, which can be none. Lists are
// taken apart, managed fields dropped, and so are pods that have terminated,
// which no scheduler sees. What is read is as the API server would have stored
// it. name stands for the stream in errors; those about the input are, or join,
// values of type *InputError.
func Read(r io.Reader, name string) (*Stream, error) {
	data, err := manifest.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return named(name)(read(data))
}

// named gives a name to what was read, and to what is wrong with it.
func named(name string) func(*Stream, error) (*Stream, error) {
	return func(s *Stream, err error) (*Stream, error) {
		for _, e := range apiserver.Errors[*InputError](err) {
			e.File = name
		}
		if err != nil {
			return nil, err
		}
		for _, c := range s.Cases {
			c.File = name
		}
		if s.Dump != nil {
			s.File = name
		}
		if len(s.Cases) == 0 {
			s.Idle = []string{name}
		}
		return s, nil
	}
}

func read(data []byte) (*Stream, error) {
	objects, err := manifest.Decode(data, newDocument)
	switch {
	case err != nil:
		return nil, err
	case len(objects) == 0:
		return nil, &InputError{Err: errors.New("there is no object in it")}
	}
	switch doc := objects[0].Value.(type) {
	case *document:
		return readCase(doc, &objects[0], objects[1:])
	case *timelineDocument:
		return readTimeline(doc, &objects[0], objects[1:])
	case *dumpDocument:
		s, err := readDump(objects[1:], doc.Given)
		if err == nil {
			s.About.Redacted = doc.Redacted
		}
		return s, err
	}
	return readDump(objects, nil)
}

// FromObjects makes a dump of objects that were read already, as a live cluster lists them,
// in the way in which Read makes it of a stream. There may be none. The objects are changed
// in place to what the API server stores.
func FromObjects(objects []manifest.Object, given Given, name string) (*Stream, error) {
	return named(name)(readDump(objects, given))
}

// newDocument knows the kinds Case, Timeline and Dump.
func newDocument(apiVersion, kind string) manifest.Named {
	switch {
	case apiVersion == APIVersion && kind == Kind:
		return &document{}
	case apiVersion == APIVersion && kind == TimelineKind:
		return &timelineDocument{}
	case apiVersion == APIVersion && kind == DumpKind:
		return &dumpDocument{}
	}
	return nil
}

// cluster collects the objects of a stream.
type cluster struct {
	model.Cluster // its Pods hold all pods, for now
	// at finds an object by its kind and key; of several the last.
	at    map[string]*manifest.Object
	notes []string
}

// collect sorts the objects by kind. What a strict reading refuses is left out
// and counted otherwise.
func collect(objects []manifest.Object, strict bool) (*cluster, error) {
	c := &cluster{at: make(map[string]*manifest.Object, len(objects))}
	kinds := map[string]int{}
	fields, firstField, terminated := 0, "", 0
	for i := range objects {
		d := &objects[i]
		_, isCase := d.Value.(*document)
		_, isTimeline := d.Value.(*timelineDocument)
		_, isDump := d.Value.(*dumpDocument)
		switch {
		case isCase || isTimeline || isDump:
			return nil, d.Fail("kind", fmt.Errorf("a %s must be the first document of its stream, and the only %[1]s", d.Kind))
		case d.Value == nil && (d.Kind == Kind || d.Kind == TimelineKind || d.Kind == DumpKind && isOurs(d.APIVersion)):
			return nil, d.Fail("apiVersion", fmt.Errorf("%q is no version of a %s, %s is", d.APIVersion, d.Kind, APIVersion))
		case d.Value == nil && strict:
			return nil, d.Fail("kind", fmt.Errorf("unknown kind %s of %s", d.Kind, d.APIVersion))
		case d.Value == nil:
			kinds[d.Kind+" of "+d.APIVersion]++
			continue
		case len(d.Unknown) > 0 && strict:
			return nil, d.Fail(d.Unknown[0], errors.New("unknown field"))
		case len(d.Unknown) > 0:
			if fields == 0 {
				firstField = d.Name() + ": " + d.Unknown[0]
			}
			fields += len(d.Unknown)
		}
		switch o := d.Value.(type) {
		case *v1.Node:
			c.Nodes = append(c.Nodes, o)
		case *v1.Pod:
			if o.Status.Phase == v1.PodSucceeded || o.Status.Phase == v1.PodFailed {
				terminated++
				continue
			}
			c.Pods = append(c.Pods, o)
		case *policyv1.PodDisruptionBudget:
			c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, o)
		case *schedulingv1.PriorityClass:
			c.PriorityClasses = append(c.PriorityClasses, o)
		default:
			c.Extra = append(c.Extra, o.(kruntime.Object))
		}
		c.at[d.Name()] = d
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		c.notes = append(c.notes, fmt.Sprintf("left out %d objects of the unknown kind %s", kinds[kind], kind))
	}
	if fields > 0 {
		c.notes = append(c.notes, fmt.Sprintf("left out %d unknown fields, the first is %s", fields, firstField))
	}
	if terminated > 0 {
		c.notes = append(c.notes, fmt.Sprintf("left out %d pods that have terminated", terminated))
	}
	return c, c.locate(apiserver.Objects(&c.Cluster))
}

// maxErrors is how many of the errors about one cluster are worth reading.
const maxErrors = 10

// isOurs tells whether an apiVersion is one of this program, if not a known one.
func isOurs(apiVersion string) bool {
	return strings.HasPrefix(apiVersion, strings.TrimSuffix(APIVersion, "v1alpha1"))
}

// locate says where in the stream the objects are that were not admitted.
func (c *cluster) locate(err error) error {
	if err == nil {
		return nil
	}
	var errs []error
	all := apiserver.Errors[*apiserver.Error](err)
	for i, e := range all {
		if i == maxErrors {
			errs = append(errs, &InputError{Err: fmt.Errorf("and %d errors more", len(all)-i)})
			break
		}
		located := &InputError{Object: e.Object, Field: e.Field}
		if d := c.at[e.Object]; d != nil {
			located = d.Fail(e.Field, nil)
		}
		located.Err = errors.New(e.Detail)
		errs = append(errs, located)
	}
	if len(errs) == 0 {
		return &InputError{Err: err}
	}
	return errors.Join(errs...)
}

func (c *cluster) has(kind, key string) bool {
	return c.at[kind+" "+key] != nil
}

func readCase(doc *document, first *manifest.Object, objects []manifest.Object) (*Stream, error) {
	if len(first.Unknown) > 0 {
		return nil, first.Fail(first.Unknown[0], errors.New("unknown field"))
	}
	if field, err := doc.validate(); err != nil {
		return nil, first.Fail(field, err)
	}
	c, err := collect(objects, true)
	if err != nil {
		return nil, err
	}
	question := c.Cluster
	if doc.Scheduler != nil {
		question.Settings = *doc.Scheduler
	}
	if model.IsGroupKey(doc.Preemptor) {
		if question.PreemptorGroup = doc.Preemptor; question.Group(doc.Preemptor) == nil {
			return nil, first.Fail("preemptor", fmt.Errorf("there is no %s", model.GroupTitle(doc.Preemptor)))
		}
	} else {
		i := slices.IndexFunc(c.Pods, func(p *v1.Pod) bool { return model.Key(p) == doc.Preemptor })
		if i < 0 {
			return nil, first.Fail("preemptor", fmt.Errorf("there is no Pod %q", doc.Preemptor))
		}
		question.Preemptor = c.Pods[i]
		question.Pods = slices.Delete(c.Pods, i, i+1)
	}
	if field, err := doc.refersTo(c.has); err != nil {
		return nil, first.Fail(field, err)
	}
	if len(question.Pods) == 0 {
		question.Pods = nil
	}
	err = apiserver.Preemptor(&question)
	for _, e := range apiserver.Errors[*apiserver.Error](err) {
		if e.Field == "preemptor" { // it is the case that is wrong
			return nil, first.Fail(e.Field, fmt.Errorf("%s: %s", e.Object, e.Detail))
		}
	}
	if err := c.locate(err); err != nil {
		return nil, err
	}
	return &Stream{Notes: c.notes, Cases: []*Case{{
		Name:        doc.Name,
		Description: strings.TrimSpace(doc.Description),
		Origin:      doc.Origin,
		Finding:     doc.Finding,
		Expect:      doc.Expect,
		Findings:    doc.Findings,
		Stack:       doc.Stack,
		Cluster:     &question,
	}}}, nil
}

// groupGates are the feature gates that must be on for what a dump holds of pod groups; nil if it
// holds none.
func groupGates(c *model.Cluster) map[string]bool {
	var gates map[string]bool
	for _, o := range c.Extra {
		switch o.(type) {
		case *schedulingv1beta1.PodGroup:
			if gates == nil {
				gates = map[string]bool{model.GateWorkload: true}
			}
		case *schedulingv1alpha3.CompositePodGroup:
			return map[string]bool{model.GateWorkload: true, model.GateComposite: true, model.GateTopology: true}
		}
	}
	return gates
}

// readDump makes a case of each pod that the default scheduler would try, and one of each
// pod group in which there are such pods.
//
// Hundreds of cases that each list 20,000 pods but their own preemptor share one
// array: with the waiting pods before and after the others, W1…Wn others W1…Wn,
// the pods of case i are what is between its two places. So the order of the
// waiting pods differs from case to case, and nothing else does.
func readDump(objects []manifest.Object, given Given) (*Stream, error) {
	c, err := collect(objects, false)
	if err != nil {
		return nil, err
	}
	s := &Stream{Notes: c.notes, About: AboutDump{Given: given}}
	s.divide(c.Cluster)
	return s, nil
}

// divide makes the cases of a dump.
func (s *Stream) divide(cluster model.Cluster) {
	gated := cluster // as it is scheduled with the feature gates of its groups
	gated.Settings.FeatureGates = groupGates(&cluster)
	var waiting, others []*v1.Pod
	var groups []string // in the order of their first members
	for _, p := range cluster.Pods {
		isPending := p.Spec.NodeName == "" && apiserver.Preemptor(&model.Cluster{Preemptor: p, Settings: cluster.Settings}) == nil
		if root := gated.RootOf(p); isPending && root != "" {
			if !slices.Contains(groups, root) {
				groups = append(groups, root)
			}
			others = append(others, p)
			continue
		}
		if isPending {
			waiting = append(waiting, p)
		} else {
			others = append(others, p)
		}
	}
	dump := gated
	s.Dump, s.Cases = &dump, nil
	pods := slices.Concat(waiting, others, waiting)
	for i, p := range waiting {
		question := cluster
		question.Preemptor = p
		end := len(waiting) + len(others) + i
		if question.Pods = nil; i+1 < end {
			question.Pods = pods[i+1 : end : end]
		}
		question.NotGiven = notGiven(&question, s.About.Given)
		s.Cases = append(s.Cases, &Case{Name: model.Key(p), Cluster: &question})
	}
	for _, root := range groups {
		question := gated
		question.Settings = gated.Settings.DeepCopy()
		question.PreemptorGroup = root
		question.Pods = pods[: len(waiting)+len(others) : len(waiting)+len(others)]
		question.NotGiven = notGiven(&question, s.About.Given)
		s.Cases = append(s.Cases, &Case{Name: root, Cluster: &question})
	}
	if len(groups) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s%s, with %s on",
			words.Plural(len(groups), "pod group"), asAWhole, strings.Join(slices.Sorted(maps.Keys(gated.Settings.FeatureGates)), ", ")))
	}
}

// asAWhole is in the note about pod groups.
const asAWhole = " to be scheduled as a whole"

// Configure has the scheduler configured by a KubeSchedulerConfiguration, as JSON, in all that was
// read: see model.Settings.Under. The pods of a dump that wait are then those that wait for one
// of its profiles. flags are those with which a command does so.
func (s *Stream) Configure(configuration json.RawMessage, flags string) {
	if len(configuration) == 0 {
		return
	}
	if s.Dump != nil {
		cluster, file := *s.Dump, s.File
		cluster.Settings = model.Settings{Configuration: configuration}
		s.Notes = slices.DeleteFunc(s.Notes, func(note string) bool { return strings.Contains(note, asAWhole) })
		s.divide(cluster)
		for _, c := range s.Cases {
			c.File = file
		}
		if len(s.Cases) > 0 {
			s.Idle = nil
		}
	}
	for _, c := range s.Cases {
		c.Flags, c.Expect, c.Finding = flags, nil, nil // these are of the case as it was
		c.Cluster.Settings = c.Cluster.Settings.Under(configuration)
		if c.Timeline != nil {
			c.Timeline.Cluster.Settings = c.Cluster.Settings
		}
	}
}
