package redact

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/component-helpers/storage/volume"

	"github.com/preemptcheck/preemptcheck/corpus/prune"
)

// note sees what has to be known before names are noted: the keys of labels that something
// selects, those whose values are compared as numbers, and the addresses.
func (r *redaction) note(t prune.Text, v reflect.Value) {
	compared := func(kind string, operator string) {
		if operator == string(v1.NodeSelectorOpGt) || operator == string(v1.NodeSelectorOpLt) {
			r.counts[kind] = true
		}
	}
	switch t.Rule {
	case prune.LabelKey:
		each(v, func(s string) string {
			r.selected[s] = true
			return s
		})
	case prune.Labels:
		switch x := v.Addr().Interface().(type) {
		case *map[string]string:
			for key := range *x {
				r.selected[key] = true
			}
		case *metav1.LabelSelectorRequirement:
			r.selected[x.Key] = true
		case *v1.TopologySelectorLabelRequirement:
			r.selected[x.Key] = true
		case *v1.NodeSelectorRequirement:
			r.selected[x.Key] = true
			compared(valueKind(labelKey, x.Key), string(x.Operator))
		}
	case prune.Taint:
		if x, is := v.Addr().Interface().(*v1.Toleration); is {
			compared(valueKind(taintKey, x.Key), string(x.Operator))
		}
	case prune.IP:
		r.noteAddress(v.String())
	case prune.Attribute:
		each(v, func(s string) string {
			r.wanted[s] = true
			return s
		})
	}
}

// each changes a text, or each text of a list.
func each(v reflect.Value, change func(string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(change(v.String()))
	case reflect.Slice:
		for i := range v.Len() {
			each(v.Index(i), change)
		}
	}
}

// visit replaces the text in a field.
func (r *redaction) visit(t prune.Text, v reflect.Value) {
	kind := func(kind string) func(string) string { return func(s string) string { return r.of(kind, s) } }
	switch t.Rule {
	case prune.Word:
		onlyWords(v, t.Words)
	case prune.Name:
		r.name(t.Kind, v)
	case prune.UID:
		each(v, r.uid)
	case prune.Owner:
		r.owner(v.Addr().Interface().(*metav1.OwnerReference))
	case prune.Labelled, prune.Labels:
		r.labels(v)
	case prune.LabelKey:
		each(v, kind(labelKey))
	case prune.NodeField:
		q := v.Addr().Interface().(*v1.NodeSelectorRequirement)
		of := "Node"
		if q.Key != metav1.ObjectNameField {
			of = nodeField
		}
		all(q.Values, kind(of))
		q.Key, q.Operator = r.of(nodeField, q.Key), oneOf(q.Operator, operators)
	case prune.Taint:
		r.taint(v)
	case prune.Resources:
		r.resources(v)
	case prune.Resource:
		each(v, r.resourceOf)
	case prune.Image:
		each(v, r.image)
	case prune.Annotations:
		r.annotations(v.Interface().(map[string]string))
	case prune.IP:
		each(v, r.addressOf)
	case prune.Disk:
		each(v, func(s string) string { return r.disk(t.Kind, s) })
	case prune.Request:
		each(v, func(s string) string {
			name, entry, is := strings.Cut(s, "/")
			if name = r.of(request, name); is {
				name += "/" + r.of(request, entry)
			}
			return name
		})
	case prune.Expression:
		each(v, func(s string) string { return r.devices.replace(r, s) })
	case prune.Attributes:
		r.attributes(v.Addr().Interface().(*map[resourcev1.QualifiedName]resourcev1.DeviceAttribute))
	case prune.Attribute:
		each(v, r.qualified)
	case prune.Capacities:
		renameKeys(v, r.qualified)
	case prune.Message:
		each(v, func(s string) string {
			scheduler, rest := prune.SchedulerOf(s)
			return r.of(prune.Scheduler, scheduler) + rest
		})
	case prune.Percentage:
		if x := v.Addr().Interface().(*intstr.IntOrString); x.Type == intstr.String && !percentage.MatchString(x.StrVal) {
			*x = intstr.FromInt32(0)
		}
	}
}

var percentage = regexp.MustCompile(`^[0-9]{1,9}%$`)

// The words by which requirements, taints and tolerations say what they ask for.
var (
	operators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal"}
	effects   = []string{"NoSchedule", "PreferNoSchedule", "NoExecute", "None"}
)

// oneOf is a word if it is one of the known ones, and nothing otherwise.
func oneOf[T ~string](word T, known []string) T {
	if slices.Contains(known, string(word)) {
		return word
	}
	return ""
}

func all(list []string, change func(string) string) {
	for i := range list {
		list[i] = change(list[i])
	}
}

// onlyWords leaves out what is none of the words.
func onlyWords(v reflect.Value, words []string) {
	each(v, func(s string) string { return oneOf(s, words) })
	if v.Kind() == reflect.Slice {
		kept := reflect.MakeSlice(v.Type(), 0, v.Len())
		for i := range v.Len() {
			if v.Index(i).Kind() != reflect.String || v.Index(i).String() != "" {
				kept = reflect.Append(kept, v.Index(i))
			}
		}
		v.Set(kept)
	}
}

// name replaces a name, a list of names, the keys of a map, or what refers to an object.
func (r *redaction) name(kind string, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *v1.ObjectReference: // of a volume, to its claim
		x.Kind, x.APIVersion = oneOf(x.Kind, []string{prune.Claim}), oneOf(x.APIVersion, []string{"v1"})
		x.Name, x.UID = r.claim(x.Namespace, x.Name), types.UID(r.uid(string(x.UID)))
		x.Namespace = r.of(prune.Namespace, x.Namespace)
		return
	case *resourcev1.ResourceClaimConsumerReference:
		if x.Resource == "podgroups" {
			kind = "PodGroup"
		}
		x.Resource = r.of(consumer, x.Resource)
		if x.APIGroup != "" && x.APIGroup != "scheduling.k8s.io" {
			x.APIGroup = "example.com"
		}
		x.Name, x.UID = r.of(kind, x.Name), types.UID(r.uid(string(x.UID)))
		return
	}
	change := func(s string) string {
		if kind == prune.Claim {
			return r.claim(r.namespace, s)
		}
		return r.of(kind, s)
	}
	if v.Kind() == reflect.Map {
		renameKeys(v, change)
		return
	}
	each(v, change)
	if kind == prune.Feature { // which the API server wants sorted
		slices.Sort(v.Interface().([]string))
	}
}

// claim is the pseudonym of a claim for storage: that of an ephemeral volume is called after its pod.
func (r *redaction) claim(namespace, name string) string {
	if from, is := r.generated[namespace+"/"+name]; is {
		return r.of("Pod", from.pod) + "-" + r.of(prune.VolumeName, from.volume)
	}
	return r.of(prune.Claim, name)
}

// uid is the pseudonym of a UID. A pod without one is known by its namespace and name.
func (r *redaction) uid(s string) string {
	if r.byKey[s] {
		namespace, name, _ := strings.Cut(s, "/")
		return r.of(prune.Namespace, namespace) + "/" + r.of("Pod", name)
	}
	return r.of(uid, s)
}

// owner replaces the name of an owner. Those that everybody knows the kind of keep it.
func (r *redaction) owner(o *metav1.OwnerReference) {
	o.UID = types.UID(r.uid(string(o.UID)))
	kind := "owner"
	if Stays(ownerKind, o.Kind) {
		kind = o.Kind
	}
	o.Name = r.of(kind, o.Name)
	if o.Kind = r.of(ownerKind, o.Kind); !slices.Contains(ownerVersions, o.APIVersion) {
		o.APIVersion = "example.com/v1"
	}
}

var ownerVersions = []string{"v1", "apps/v1", "batch/v1", "batch/v1beta1", "scheduling.k8s.io/v1alpha2", "scheduling.k8s.io/v1alpha3", "scheduling.k8s.io/v1beta1", "resource.k8s.io/v1"}

// labels replaces labels, or the key and the values of a requirement of labels.
func (r *redaction) labels(v reflect.Value) {
	values := func(key string, values []string) {
		all(values, func(s string) string { return r.value(key, s) })
	}
	switch x := v.Addr().Interface().(type) {
	case *map[string]string:
		replaced := make(map[string]string, len(*x))
		for key, value := range *x {
			replaced[r.of(labelKey, key)] = r.value(key, value)
		}
		*x = replaced
	case *metav1.LabelSelectorRequirement:
		values(x.Key, x.Values)
		x.Key, x.Operator = r.of(labelKey, x.Key), oneOf(x.Operator, operators)
	case *v1.NodeSelectorRequirement:
		values(x.Key, x.Values)
		x.Key, x.Operator = r.of(labelKey, x.Key), oneOf(x.Operator, operators)
	case *v1.TopologySelectorLabelRequirement:
		values(x.Key, x.Values)
		x.Key = r.of(labelKey, x.Key)
	}
}

// value is the pseudonym of a value of a label. A volume in several zones has them in one
// value (docs: reference/labels-annotations-taints, topology.kubernetes.io/zone).
func (r *redaction) value(key, value string) string {
	kind := valueKind(labelKey, key)
	if kind != zone && kind != region {
		return r.of(kind, value)
	}
	parts := strings.Split(value, "__")
	all(parts, func(s string) string { return r.of(kind, s) })
	return strings.Join(parts, "__")
}

// taint replaces the key and the value of a taint, or of a toleration.
func (r *redaction) taint(v reflect.Value) {
	replace := func(key, value *string) { *key, *value = r.of(taintKey, *key), r.of(valueKind(taintKey, *key), *value) }
	switch x := v.Addr().Interface().(type) {
	case *v1.Taint:
		replace(&x.Key, &x.Value)
		x.Effect = oneOf(x.Effect, effects)
	case *v1.Toleration:
		replace(&x.Key, &x.Value)
		x.Operator, x.Effect = oneOf(x.Operator, operators), oneOf(x.Effect, effects)
	case *resourcev1.DeviceTaint:
		replace(&x.Key, &x.Value)
		x.Effect = oneOf(x.Effect, effects)
	case *resourcev1.DeviceToleration:
		replace(&x.Key, &x.Value)
		x.Operator, x.Effect = oneOf(x.Operator, operators), oneOf(x.Effect, effects)
	}
}

// resources replaces the names of resources in a map.
func (r *redaction) resources(v reflect.Value) {
	renameKeys(v, r.resourceOf)
	if m, is := v.Interface().(map[v1.ResourceName]resourcev1.NodeAllocatableResource); is {
		for name, x := range m {
			if x.Mapping != nil && x.Mapping.CapacityKey != nil {
				*x.Mapping.CapacityKey = resourcev1.QualifiedName(r.qualified(string(*x.Mapping.CapacityKey)))
				m[name] = x
			}
		}
	}
}

// renameKeys replaces the keys of a map.
func renameKeys(v reflect.Value, to func(string) string) {
	if v.IsNil() {
		return
	}
	renamed, changed := reflect.MakeMapWithSize(v.Type(), v.Len()), false
	for entries := v.MapRange(); entries.Next(); {
		key := to(entries.Key().String())
		changed = changed || key != entries.Key().String()
		renamed.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), entries.Value())
	}
	if changed {
		v.Set(renamed)
	}
}

// image is the pseudonym of an image: the same with the tag that it has without one.
func (r *redaction) image(s string) string {
	if s == "" || s == noImage || s == noImage+":latest" {
		return s
	}
	if r.given == nil {
		r.of(image, prune.NormalImage(s))
		return s
	}
	return r.of(image, prune.NormalImage(s))
}

// annotations replaces the values of those that are kept.
func (r *redaction) annotations(m map[string]string) {
	for key, value := range m {
		switch key {
		case v1.BetaStorageClassAnnotation:
			m[key] = r.of(prune.Class, value)
		case volume.AnnSelectedNode:
			m[key] = r.of("Node", value)
		case v1.MigratedPluginsAnnotationKey:
			plugins := slices.DeleteFunc(strings.Split(value, ","), func(s string) bool { return !Stays(prune.Driver, s) })
			m[key] = strings.Join(plugins, ",")
		case resourcev1.PodResourceClaimAnnotation:
			m[key] = r.of(prune.ClaimName, value)
		case resourcev1.ExtendedResourceClaimAnnotation:
			if value != "true" {
				m[key] = "false"
			}
		default: // which only have to be there
			m[key] = "yes"
		}
	}
}

// disk is the pseudonym of the id of a disk, in the form that ids of its kind have.
func (r *redaction) disk(kind, id string) string {
	to := r.of(strings.TrimSpace(kind+" "+disk), diskID(kind, id))
	if r.given == nil || id == "" {
		return id
	}
	switch {
	case kind == prune.AWSDisk && strings.HasPrefix(id, "aws://"): // of which only the end counts
		return "aws:///" + to
	case kind == prune.AzureDisk && strings.HasPrefix(id, "/subscriptions/"):
		return "/subscriptions/redacted/" + to
	case kind == prune.AzureDisk:
		return "https://example.com/" + to
	case kind == prune.ISCSIDisk:
		return "iqn.2024-01.com.example:" + to
	}
	return to
}

// diskID is what tells a disk apart from others of its kind.
func diskID(kind, id string) string {
	if kind == prune.AWSDisk && strings.HasPrefix(id, "aws://") {
		return id[strings.LastIndex(id, "/")+1:]
	}
	return id
}

// qualified is the pseudonym of the name of an attribute or of a capacity, which may be in a
// domain; without one it is in that of the driver.
func (r *redaction) qualified(s string) string {
	if domain, id, is := strings.Cut(s, "/"); is {
		return r.of(prune.Driver, domain) + "/" + r.of(attribute, id)
	}
	return r.of(attribute, s)
}

// attributes leaves those attributes that a constraint is about, and replaces what they are.
func (r *redaction) attributes(m *map[resourcev1.QualifiedName]resourcev1.DeviceAttribute) {
	out := make(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, len(*m))
	for name, a := range *m {
		change := func(kind string, one **string, list []string) {
			if *one != nil {
				to := r.of(kind, **one)
				*one = &to
			}
			all(list, func(s string) string { return r.of(kind, s) })
		}
		change(text, &a.StringValue, a.StringValues)
		change(version, &a.VersionValue, a.VersionValues)
		out[resourcev1.QualifiedName(r.qualified(string(name)))] = a
	}
	if len(*m) == 0 {
		return
	}
	*m = out
}
