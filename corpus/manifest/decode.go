package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"

	yaml "go.yaml.in/yaml/v3"
)

// Object is one object of a stream.
type Object struct {
	chunk
	APIVersion, Kind string
	// Value is the decoded object: a metav1.Object, or of a type of the caller. It is
	// nil if the kind is not known.
	Value Named
	// Unknown are the fields that the kind does not have.
	Unknown []string
}

// Named has a name, as all objects do.
type Named interface{ GetName() string }

// Name says which object this is, for example "Pod default/a".
func (o *Object) Name() string {
	name := o.Value.GetName()
	if of, ok := o.Value.(metav1.Object); ok && of.GetNamespace() != "" {
		name = of.GetNamespace() + "/" + name
	}
	return strings.TrimSpace(o.Kind + " " + name)
}

// Fail is an error about a field of the object, or about all of it if field is "".
func (o *Object) Fail(field string, err error) *InputError {
	e := &InputError{Document: o.document, Item: o.item, Line: o.lineOf(field), Field: field, Err: err}
	if o.Value != nil {
		e.Object = o.Name()
	}
	return e
}

// Own makes an empty object of a kind of the caller; nil if it is none of those.
type Own func(apiVersion, kind string) Named

// Decode decodes the objects of a stream, on all processors. Lists are taken apart.
// At an error it stops: the first one in the stream is returned.
func Decode(data []byte, own Own) ([]Object, *InputError) {
	data, marked, err := checkText(data)
	if err != nil {
		return nil, err
	}
	type job struct {
		chunk
		out []Object
		err *InputError
	}
	var jobs []*job
	var failed atomic.Bool
	queue := make(chan *job, 256)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for j := range queue {
				if j.out, j.err = j.decode(own); j.err != nil {
					failed.Store(true)
				}
			}
		})
	}
	splitErr := split(data, marked, func(c chunk) bool {
		j := &job{chunk: c}
		if len(jobs) == MaxObjects {
			j.err = c.err("there are more than %d objects", MaxObjects)
		} else {
			queue <- j
		}
		jobs = append(jobs, j)
		return len(jobs) <= MaxObjects && !failed.Load()
	})
	close(queue)
	workers.Wait()

	count := 0
	for _, j := range jobs {
		if j.err != nil {
			return nil, j.err
		}
		count += len(j.out)
	}
	all := make([]Object, 0, count)
	for _, j := range jobs {
		all = append(all, j.out...)
	}
	return all, splitErr
}

// listHead checks a List whose items were cut out, and answers with what those
// inherit from it.
func listHead(c chunk) (typeMeta, *InputError) {
	n, err := c.parseYAML()
	if err != nil {
		return typeMeta{}, err
	}
	return c.listMeta(n)
}

func (c chunk) listMeta(n *yaml.Node) (typeMeta, *InputError) {
	var list struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ListMeta         `json:"metadata"`
		Items           []kruntime.RawExtension `json:"items"`
	}
	data, err := c.toJSON(nil, n, nil)
	if err != nil {
		return typeMeta{}, err
	}
	unknown, err := c.unmarshal(data, &list)
	switch {
	case err != nil:
	case !isList(list.Kind):
		err = c.err("only a List has items")
		err.Object, err.Field = list.Kind, "items"
	case len(unknown) > 0:
		err = c.err("unknown field")
		err.Object, err.Field = list.Kind, unknown[0]
	case list.Kind != "List":
		return typeMeta{list.APIVersion, strings.TrimSuffix(list.Kind, "List")}, nil
	}
	return typeMeta{}, err
}

func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// decode decodes the object of a chunk, or the objects if it is a List.
func (c chunk) decode(own Own) ([]Object, *InputError) {
	if c.json {
		if meta := headOf(c.data); meta.Kind != "" && !isList(meta.Kind) {
			if o, err := c.decodeObject(c.data, meta, own); err == nil {
				return []Object{o}, nil
			}
		}
		var meta typeMeta
		if err := kjson.UnmarshalCaseSensitivePreserveInts(c.data, &meta); err != nil {
			if bad, at := kjson.SyntaxErrorOffset(err); bad {
				c.line += bytes.Count(c.data[:min(at, int64(len(c.data)))], newline)
				return nil, c.err("%w", err)
			}
			return nil, c.err("this is no Kubernetes object: %w", err)
		}
		if !isList(meta.Kind) {
			o, err := c.decodeObject(c.data, meta, own)
			return []Object{o}, err
		}
	}
	n, err := c.parseYAML()
	if err != nil {
		return nil, err
	}
	return c.decodeNode(n, own)
}

func (c chunk) decodeNode(n *yaml.Node, own Own) ([]Object, *InputError) {
	var meta typeMeta
	var items *yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		switch value := n.Content[i+1]; n.Content[i].Value {
		case "apiVersion":
			meta.APIVersion = value.Value
		case "kind":
			meta.Kind = value.Value
		case "items":
			items = value
		}
	}
	if !isList(meta.Kind) {
		data, err := c.toJSON(make([]byte, 0, len(c.data)), n, nil)
		if err != nil {
			return nil, err
		}
		o, err := c.decodeObject(data, meta, own)
		return []Object{o}, err
	}
	inherited, err := c.listMeta(n)
	if err != nil || items == nil {
		return nil, err
	}
	var all []Object
	for i, item := range items.Content {
		sub := c
		sub.item, sub.defaults = i+1, inherited
		if item.Kind != yaml.MappingNode {
			return nil, sub.err("this is no Kubernetes object, but %s", describe(item))
		}
		some, err := sub.decodeNode(item, own)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// decodeObject decodes the JSON of one object into the type of its kind.
func (c chunk) decodeObject(data []byte, meta typeMeta, own Own) (o Object, _ *InputError) {
	o = Object{chunk: c, APIVersion: cmp.Or(meta.APIVersion, c.defaults.APIVersion), Kind: cmp.Or(meta.Kind, c.defaults.Kind)}
	if o.APIVersion == "" || o.Kind == "" {
		field := "kind"
		if o.APIVersion == "" {
			field = "apiVersion"
		}
		return o, o.Fail(field, errors.New("required: this is no Kubernetes object"))
	}
	if o.Value = own(o.APIVersion, o.Kind); o.Value == nil {
		obj, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
		if err != nil {
			return o, nil
		}
		of, ok := obj.(metav1.Object)
		if !ok {
			return o, nil
		}
		o.Value = of
	}
	if u, foreign := o.Value.(*unstructured.Unstructured); foreign {
		return o, c.foreign(data, u, o)
	}
	var err *InputError
	if !decodeQuickly(data, o.Value) {
		o.Unknown, err = c.unmarshal(data, o.Value)
	}
	setNamespace(o.Value)
	if err != nil {
		err.Object = o.Name()
		return o, err
	}
	if of, ok := o.Value.(metav1.Object); ok {
		of.(kruntime.Object).GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		of.SetManagedFields(nil)
		if of.GetName() == "" {
			return o, o.Fail("metadata.name", errors.New("required"))
		}
	}
	return o, nil
}

// foreign reads an object of a kind that is not Kubernetes' own, and of which nothing but its name is known.
func (c chunk) foreign(data []byte, u *unstructured.Unstructured, o Object) *InputError {
	if err := utiljson.Unmarshal(data, &u.Object); err != nil {
		return c.err("%w", err)
	}
	u.SetAPIVersion(o.APIVersion)
	u.SetKind(o.Kind)
	u.SetManagedFields(nil)
	if u.GetName() == "" {
		return o.Fail("metadata.name", errors.New("required"))
	}
	return nil
}

// setNamespace completes the namespace, as kubectl does, of the kinds that the model
// handles. So they have their final names from the start.
func setNamespace(value Named) {
	switch o := value.(type) {
	case *v1.Pod, *policyv1.PodDisruptionBudget, *v1.PersistentVolumeClaim, *storagev1.CSIStorageCapacity,
		*schedulingv1beta1.PodGroup, *schedulingv1alpha3.PodGroup, *schedulingv1alpha3.CompositePodGroup:
		if o := o.(metav1.Object); o.GetNamespace() == "" {
			o.SetNamespace(metav1.NamespaceDefault)
		}
	}
}

// unmarshal decodes JSON, and answers with the paths of the fields that the
// target does not have.
func (c chunk) unmarshal(data []byte, target any) (unknown []string, _ *InputError) {
	if path, err := CheckExponents(data, reflect.TypeOf(target)); err != nil {
		e := c.err("%w", err)
		e.Field, e.Line = path, c.lineOf(path)
		var named struct {
			Metadata struct{ Namespace, Name string }
		}
		if of, ok := target.(metav1.Object); ok && json.Unmarshal(data, &named) == nil {
			of.SetNamespace(named.Metadata.Namespace)
			of.SetName(named.Metadata.Name)
		}
		return nil, e
	}
	strict, err := kjson.UnmarshalStrict(data, target)
	if err != nil {
		e := c.err("%w", err)
		var whole any
		kjson.UnmarshalCaseSensitivePreserveInts(data, &whole) // else there is no culprit
		if path, cause := culprit(whole, func(v any) any { return v }, reflect.TypeOf(target).Elem()); path != "" {
			e.Field, e.Line = path, c.lineOf(path)
			var wrong *json.UnmarshalTypeError
			if errors.As(cause, &wrong) {
				takes := wrong.Type.String()
				if wrong.Type.Kind() == reflect.Struct {
					takes = "mapping"
				}
				cause = fmt.Errorf("a %s does not fit, it takes a %s", wrong.Value, takes)
			}
			e.Err = cause
		}
		return nil, e
	}
	for _, s := range strict {
		field := ""
		if f, ok := s.(kjson.FieldError); ok {
			field = f.FieldPath()
		}
		if strings.HasPrefix(s.Error(), "duplicate") {
			e := c.err("duplicate key")
			e.Field, e.Line = field, c.lineOf(field)
			return nil, e
		}
		unknown = append(unknown, field)
	}
	return unknown, nil
}
