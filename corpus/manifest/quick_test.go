package manifest

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/internal/mk"
)

// agree holds the quick decoder against the strict one, and tells whether it decoded.
func agree(t *testing.T, text []byte, object reflect.Type) bool {
	quickly, strictly := reflect.New(object), reflect.New(object)
	if !decodeQuickly(text, quickly.Interface()) {
		require.True(t, quickly.Elem().IsZero())
		return false
	}
	_, err := CheckExponents(text, object)
	require.NoError(t, err, "%s", text)
	unusual, err := kjson.UnmarshalStrict(text, strictly.Interface())
	require.NoError(t, err, "%s", text)
	require.Empty(t, unusual, "%s", text)
	require.True(t, reflect.DeepEqual(strictly.Interface(), quickly.Interface()), "%s", text)
	return true
}

// objects are those of large clusters and of the corpus as JSON.
func objects(t *testing.T) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	mk.Large(mk.Size{Nodes: 2, Bound: 30, Pending: 4}, func(o runtime.Object) {
		text, err := json.MarshalIndent(o, "        ", "    ")
		require.NoError(t, err)
		all[string(text)] = reflect.TypeOf(o).Elem()
	})
	files, err := filepath.Glob("../cases/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, document := range bytes.Split(data, []byte("\n---\n")) {
			text, err := yaml.YAMLToJSON(document)
			require.NoError(t, err)
			var meta typeMeta
			require.NoError(t, json.Unmarshal(text, &meta))
			if o, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind)); err == nil {
				all[string(text)] = reflect.TypeOf(o).Elem()
			}
		}
	}
	return all
}

// Nothing in an object of the corpus is unusual.
func TestQuickDecodesAll(t *testing.T) {
	for text, object := range objects(t) {
		require.True(t, agree(t, []byte(text), object), "%s", text)
	}
}

// What is changed at random, as bytes or as tokens, is decoded as the strict decoder
// does it, or not at all.
func TestQuickAgreesWithStrict(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tokens := []string{"null", "{}", "[]", `""`, "0", "01", "-0", "-1", "1.5", "1e3", "true", "tru", `"\u00e9"`, `"\ud800"`, `"é"`, ",", ":", "9223372036854775808", "2147483648",
		`"1Gi"`, `"2024-01-01T00:00:00Z"`, `"x":1,`, `"name":"a",`, `"Name":"a",`, "\x00", "\t", "\\", "--", "{", "}"}
	decoded, refused := 0, 0
	all := objects(t)
	for _, text := range slices.Sorted(maps.Keys(all)) {
		object := all[text]
		for range 60 {
			data := []byte(text)
			for range 1 + r.IntN(2) {
				switch at := r.IntN(len(data)); r.IntN(4) {
				case 0:
					data[at] = byte(32 + r.IntN(95))
				case 1:
					data = append(data[:at:at], data[min(at+1+r.IntN(3), len(data)):]...)
				case 2: // instead of a value, as often as not
					end := at
					for at > 0 && data[at-1] != ':' {
						at--
					}
					for end < len(data) && data[end] != ',' && data[end] != '\n' && data[end] != '}' {
						end++
					}
					data = append(append(data[:at:at], tokens[r.IntN(len(tokens))]...), data[max(at, end):]...)
				default:
					data = append(append(data[:at:at], tokens[r.IntN(len(tokens))]...), data[at:]...)
				}
				if len(data) == 0 {
					data = []byte(" ")
				}
			}
			if !utf8.Valid(data) {
				continue // is refused before it is decoded
			}
			if agree(t, data, object) {
				decoded++
			} else {
				refused++
			}
		}
	}
	require.Greater(t, decoded, 1000)
	require.Greater(t, refused, 1000)
}

func TestQuickGivesUp(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{`, `{}}`, `{} {}`, `{"metadata":{"name":"a","name":"b"}}`, `{"metadata":{"labels":{"a":"1","a":"2"}}}`, `{"metadata":{"Name":"a"}}`,
		`{"unknown":1}`, `{"spec":{"priority":1.0}}`, `{"spec":{"priority":01}}`, `{"spec":{"priority":2147483648}}`, `{"spec":{"priority":"1"}}`, `{"spec":{"hostNetwork":1}}`,
		`{"spec":{"overhead":{"cpu":"x"}}}`, `{"spec":{"overhead":{"cpu":"1e-2147483648"}}}`, `{"spec":{"containers":{}}}`, `{"spec":{"containers":[{},]}}`, `{"metadata":{"creationTimestamp":"yesterday"}}`,
		"{\"metadata\":{\"name\":\"a\nb\"}}",
	} {
		require.False(t, agree(t, []byte(text), reflect.TypeFor[v1.Pod]()), text)
	}
	for _, text := range []string{
		`{}`, `{"metadata":null,"spec":{"priority":null,"containers":null,"nodeSelector":null,"hostNetwork":null,"nodeName":null}}`, `{"spec":{"containers":[],"nodeSelector":{}}}`,
		`{"metadata":{"creationTimestamp":null,"annotations":{"a":"\"\n"}},"spec":{"overhead":{"cpu":"0.0000000001","memory":"1e30"}}}`,
	} {
		require.True(t, agree(t, []byte(text), reflect.TypeFor[v1.Pod]()), text)
	}
}
