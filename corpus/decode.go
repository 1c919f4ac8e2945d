package corpus

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"

	yaml "go.yaml.in/yaml/v3"
)

// decoded is one object of a stream.
type decoded struct {
	chunk
	typeMeta
	// Exactly one of these is set, and none if the kind is not known.
	object metav1.Object
	header *document
	// unknown are the fields that the kind does not have.
	unknown []string
}

// name says which object this is, for example "Pod default/a".
func (d *decoded) name() string {
	if d.header != nil {
		return strings.TrimSpace(Kind + " " + d.header.Name)
	}
	name := d.object.GetName()
	if ns := d.object.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return strings.TrimSpace(d.Kind + " " + name)
}

func (d *decoded) fail(field string, err error) *InputError {
	e := &InputError{Document: d.document, Item: d.item, Line: d.lineOf(field), Field: field, Err: err}
	if d.object != nil || d.header != nil {
		e.Object = d.name()
	}
	return e
}

// decodeAll decodes the objects of a stream on all processors, and stops early
// at an error: the first one in the stream is returned.
func decodeAll(data []byte) ([]decoded, *InputError) {
	type job struct {
		chunk
		out []decoded
		err *InputError
	}
	var jobs []*job
	var failed atomic.Bool
	queue := make(chan *job, 256)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for j := range queue {
				if j.out, j.err = j.decode(); j.err != nil {
					failed.Store(true)
				}
			}
		})
	}
	splitErr := split(data, func(c chunk) bool {
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

	var all []decoded
	for _, j := range jobs {
		if j.err != nil {
			return nil, j.err
		}
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
func (c chunk) decode() ([]decoded, *InputError) {
	if c.json {
		var meta typeMeta
		if err := kjson.UnmarshalCaseSensitivePreserveInts(c.data, &meta); err != nil {
			if bad, at := kjson.SyntaxErrorOffset(err); bad {
				c.line += bytes.Count(c.data[:min(at, int64(len(c.data)))], newline)
				return nil, c.err("%w", err)
			}
			return nil, c.err("this is no Kubernetes object: %w", err)
		}
		if !isList(meta.Kind) {
			d, err := c.decodeObject(c.data, meta)
			return []decoded{d}, err
		}
	}
	n, err := c.parseYAML()
	if err != nil {
		return nil, err
	}
	return c.decodeNode(n)
}

func (c chunk) decodeNode(n *yaml.Node) ([]decoded, *InputError) {
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
		d, err := c.decodeObject(data, meta)
		return []decoded{d}, err
	}
	inherited, err := c.listMeta(n)
	if err != nil || items == nil {
		return nil, err
	}
	var all []decoded
	for i, item := range items.Content {
		sub := c
		sub.item, sub.defaults = i+1, inherited
		if item.Kind != yaml.MappingNode {
			return nil, sub.err("this is no Kubernetes object, but %s", describe(item))
		}
		some, err := sub.decodeNode(item)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// decodeObject decodes the JSON of one object into the type of its kind.
func (c chunk) decodeObject(data []byte, meta typeMeta) (d decoded, _ *InputError) {
	d = decoded{chunk: c, typeMeta: typeMeta{cmp.Or(meta.APIVersion, c.defaults.APIVersion), cmp.Or(meta.Kind, c.defaults.Kind)}}
	for field, value := range map[string]string{"apiVersion": d.APIVersion, "kind": d.Kind} {
		if value == "" {
			return d, d.fail(field, errors.New("required: this is no Kubernetes object"))
		}
	}
	var target any
	if d.APIVersion == APIVersion && d.Kind == Kind {
		d.header = &document{}
		target = d.header
	} else {
		obj, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(d.APIVersion, d.Kind))
		if err != nil {
			return d, nil
		}
		var ok bool
		if d.object, ok = obj.(metav1.Object); !ok {
			return d, nil
		}
		target = obj
	}
	var err *InputError
	d.unknown, err = c.unmarshal(data, target)
	setNamespace(d.object)
	if err != nil {
		err.Object = d.name()
		return d, err
	}
	if d.object != nil {
		target.(kruntime.Object).GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		d.object.SetManagedFields(nil)
		if d.object.GetName() == "" {
			return d, d.fail("metadata.name", errors.New("required"))
		}
	}
	return d, nil
}

// setNamespace completes the namespace of the kinds that the model handles, as
// kubectl does, so that they have their final names from the start.
func setNamespace(o metav1.Object) {
	switch o.(type) {
	case *v1.Pod, *policyv1.PodDisruptionBudget, *v1.PersistentVolumeClaim, *storagev1.CSIStorageCapacity:
		if o.GetNamespace() == "" {
			o.SetNamespace(metav1.NamespaceDefault)
		}
	}
}

// unmarshal decodes JSON, and answers with the paths of the fields that the
// target does not have.
func (c chunk) unmarshal(data []byte, target any) (unknown []string, _ *InputError) {
	strict, err := kjson.UnmarshalStrict(data, target)
	if err != nil {
		e := c.err("%w", err)
		if path, cause := culprit(data, reflect.TypeOf(target).Elem()); path != "" {
			e.Field, e.Line = path, c.lineOf(path)
			var wrong *json.UnmarshalTypeError
			if errors.As(cause, &wrong) {
				cause = fmt.Errorf("a %s does not fit, it takes a %s", wrong.Value, wrong.Type)
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

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
