package manifest

import (
	"bytes"
	"maps"
	"reflect"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// repeats is how many different texts of a field are remembered.
const repeats = 4

// field remembers what the last texts of one field were decoded to. The pods of a workload come
// one after another in a dump, and have most of their fields in common: to copy a value takes
// less time than to decode it.
type field struct {
	last [repeats]struct {
		text  []byte
		value any // a pointer to it, which nobody else has; nil if the text came once
	}
	next int // the one to forget next
}

// decodeField decodes the value of a field, unless it begins with a text that was decoded before:
// a list or a mapping ends where its bracket closes, whatever follows.
func (p *quick) decodeField(m *member, v reflect.Value) bool {
	if b := p.peek(); b != '{' && b != '[' {
		return m.codec.decode(p, v)
	}
	for len(p.fields) <= m.remembered {
		p.fields = append(p.fields, new(field))
	}
	f, start := p.fields[m.remembered], p.at
	for i := range f.last {
		known := &f.last[i]
		if len(known.text) == 0 || !bytes.HasPrefix(p.data[start:], known.text) {
			continue
		}
		if known.value != nil {
			p.at += len(known.text)
			m.copy(v.Addr().Interface(), known.value)
			return true
		}
		ok := m.codec.decode(p, v)
		if ok {
			known.value = reflect.New(v.Type()).Interface()
			m.copy(known.value, v.Addr().Interface())
		}
		return ok
	}
	if !m.codec.decode(p, v) {
		return false
	}
	if text := p.data[start:p.at]; len(text) <= maxRepeated {
		f.last[f.next].text = append(f.last[f.next].text[:0], text...)
		f.last[f.next].value = nil
		f.next = (f.next + 1) % repeats
	}
	return true
}

// maxRepeated is how long a text is, at most, that is remembered.
const maxRepeated = 1 << 14

// copiers copy values of the types that are remembered. They take two pointers.
var copiers = map[reflect.Type]func(to, from any){}

func init() {
	remember[v1.Affinity]()
	remember[v1.ContainerPort]()
	remember[v1.EnvVar]()
	remember[v1.Lifecycle]()
	remember[v1.PodSecurityContext]()
	remember[v1.Probe]()
	remember[v1.ResourceRequirements]()
	remember[v1.SecurityContext]()
	remember[v1.Toleration]()
	remember[v1.TopologySpreadConstraint]()
	remember[v1.Volume]()
	remember[v1.VolumeMount]()
	remember[metav1.OwnerReference]()
	copiers[reflect.TypeFor[map[string]string]()] = func(to, from any) {
		*to.(*map[string]string) = maps.Clone(*from.(*map[string]string))
	}
}

// remember has values of a type remembered, and pointers to it, and lists of it.
func remember[T any, P interface {
	*T
	DeepCopyInto(*T)
}]() {
	copiers[reflect.TypeFor[T]()] = func(to, from any) { from.(P).DeepCopyInto(to.(*T)) }
	copiers[reflect.TypeFor[*T]()] = func(to, from any) {
		value := new(T)
		P(*from.(**T)).DeepCopyInto(value)
		*to.(**T) = value
	}
	copiers[reflect.TypeFor[[]T]()] = func(to, from any) {
		list := *from.(*[]T)
		value := make([]T, len(list))
		for i := range list {
			P(&list[i]).DeepCopyInto(&value[i])
		}
		*to.(*[]T) = value
	}
}
