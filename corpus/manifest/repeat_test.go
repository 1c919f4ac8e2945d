package manifest

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/preemptcheck/preemptcheck/internal/mk"
)

// deface changes all that can be reached from a value without changing its own pointers.
func deface(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			deface(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				deface(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			deface(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
		}
	case reflect.String:
		v.SetString("defaced")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(-7)
	}
}

// TestRepeatedFieldsAreCopied: what is decoded again from a text that came before shares nothing
// with what came of it then.
func TestRepeatedFieldsAreCopied(t *testing.T) {
	p := new(quick)
	var pods []*v1.Pod
	mk.Large(mk.Size{Nodes: 1, Bound: 11}, func(o runtime.Object) {
		if pod, ok := o.(*v1.Pod); ok {
			pods = append(pods, pod)
		}
	})
	require.NotNil(t, pods[0].Spec.TopologySpreadConstraints)
	copied := 0
	for _, pod := range pods {
		text, err := json.Marshal(pod)
		require.NoError(t, err)
		want := &v1.Pod{}
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(text, want))
		for range 5 {
			got := &v1.Pod{}
			require.True(t, p.decode(text, got))
			require.Equal(t, want, got)
			deface(reflect.ValueOf(got))
		}
	}
	for _, f := range p.fields {
		for _, known := range f.last {
			if known.value != nil {
				copied++
			}
		}
	}
	require.Greater(t, copied, 10, "or nothing was remembered")
}

// TestRepeatedBeginning: a text is not taken for one that it only begins with.
func TestRepeatedBeginning(t *testing.T) {
	p := new(quick)
	for range 4 {
		for text, want := range map[string]any{
			`{"spec":{"tolerations":[]}}`:                                     []v1.Toleration{},
			`{"spec":{"tolerations":[{"key":"a"}]}}`:                          []v1.Toleration{{Key: "a"}},
			`{"spec":{"tolerations":[{"key":"a"},{"key":"a"}]}}`:              []v1.Toleration{{Key: "a"}, {Key: "a"}},
			`{"spec":{"tolerations":[{"key":"a","value":"b"}]}}`:              []v1.Toleration{{Key: "a", Value: "b"}},
			`{"spec":{"tolerations":[{"key":"a","value":"b"},{"key":"c"}]}}`:  []v1.Toleration{{Key: "a", Value: "b"}, {Key: "c"}},
			`{"spec":{"tolerations":null}}`:                                   []v1.Toleration(nil),
			`{"spec":{"tolerations":[{"key":"a"}]]}}`:                         nil,
			`{"spec":{"tolerations":[{"key":"a"}]x}}`:                         nil,
			`{"spec":{"tolerations":[{"key":"a"}],"tolerations":[]}}`:         nil,
			`{"spec":{"tolerations":[{"key":"a"}]},"spec":{"tolerations":[]}`: nil,
		} {
			got := &v1.Pod{}
			require.Equal(t, want != nil, p.decode([]byte(text), got), text)
			if want != nil {
				require.Equal(t, want, got.Spec.Tolerations, text)
			}
		}
	}
}
