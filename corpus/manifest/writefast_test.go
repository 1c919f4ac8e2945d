package manifest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	yaml "go.yaml.in/yaml/v3"
)

// FuzzWriters writes a ConfigMap, or anything else of JSON, with all writers: each text reads back
// as the same.
func FuzzWriters(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":"yes","b":["no","",null,1.5,true,{},[],[["x"]],{"c":{}}]}`, `{"a b: ":"# x","- ":"\u0007\u0085\u2028\ufeff~","x":"a\nb\n","y":"0x1","z":" "}`,
		`{"l":[{"a":1,"b":[{"c":"d"}]}],"m":{"n":{"o":"p\tq"}}}`, `{"":"","<<":"=","!":"&a *b","%":"@` + "`" + `"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var object map[string]any
		d := json.NewDecoder(bytes.NewReader([]byte(s)))
		if d.Decode(&object) != nil || object == nil {
			return // no object
		}
		delete(object, "apiVersion")
		delete(object, "kind")
		want, err := json.Marshal(object)
		require.NoError(t, err)
		var fast, lines bytes.Buffer
		w, j := NewFastWriter(&fast), NewJSONWriter(&lines)
		for range 2 {
			require.NoError(t, w.Write("v1", "X", object))
			require.NoError(t, j.Write("v1", "X", object))
		}
		require.NoError(t, w.Close())
		require.NoError(t, j.Close())

		var list struct{ Items []map[string]any }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &list), lines.String())
		require.Len(t, list.Items, 2)
		documents := yaml.NewDecoder(&fast)
		for i := range 2 {
			var read map[string]any
			require.NoError(t, documents.Decode(&read), fast.String())
			for _, got := range []map[string]any{read, list.Items[i]} {
				require.Equal(t, "X", got["kind"])
				delete(got, "apiVersion")
				delete(got, "kind")
				text, err := json.Marshal(got)
				require.NoError(t, err)
				require.JSONEq(t, string(want), string(text))
			}
		}
	})
}
