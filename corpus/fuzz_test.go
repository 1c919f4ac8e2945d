package corpus

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRead holds the loader to its promises: it never panics, each case that it
// reads can be written and reads back as the same case, and the short way from
// YAML to JSON leads where the parser does.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/*.json", "cases/*.yaml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files[:min(len(files), 8)] {
			text, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(text)
		}
	}
	f.Add(kubectlDump(1, 1, 1))
	f.Fuzz(func(t *testing.T, text []byte) {
		sameAsParser(t, text)
		s, err := Read(bytes.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		for _, c := range s.Cases[:min(len(s.Cases), 3)] {
			once := written(t, c)
			again := readOne(t, once)
			c.Name = fileName(c.Name)
			require.Empty(t, diffCases(c, again))
			require.Equal(t, once, written(t, again))
		}
	})
}

// sameAsParser holds blockToJSON against the parser and tells how many objects
// it did not give up at.
func sameAsParser(t *testing.T, text []byte) (short int) {
	_ = split(text, func(c chunk) bool {
		fast, meta, ok := blockToJSON(c.data)
		if c.json || !ok {
			return true
		}
		short++
		n, err := c.parseYAML()
		require.Nil(t, err, "%s", c.data)
		slow, err := c.toJSON(nil, n, "")
		require.Nil(t, err, "%s", c.data)
		var want typeMeta
		require.NoError(t, json.Unmarshal(slow, &want))
		require.Equal(t, want, meta)
		require.JSONEq(t, string(slow), string(fast), "%s", c.data)
		return true
	})
	return short
}

func TestBlockToJSON(t *testing.T) {
	require.Equal(t, 7, sameAsParser(t, kubectlDump(3, 2, 2)))
	const meta = "apiVersion: v1\nkind: Pod\n"
	for _, text := range []string{
		"a: b\n", "a:\n- b\n- c: d\n  e: f\n- |\n  x\n   y\n\n  z\n\nb: |-\n  x\n\nc: x\n",
		"a:\n  - 1\n  - -1\nb: 0x1F\nc: 1e3\nd: 010\ne: 1_0\nf: 2024-01-01\ng: 12345678901234567890\n",
		"a: yes\nb: True\nc: null\nd: Null\ne: y\nf: off\ng: nice\nh: 'it''s'\ni: \"x\\n\\\"y\"\nj: \"\"\nk: ''\nl: {}\nm: []\n",
		"a: http://b:1/c#d\n", "a: x:y\nb: --c=d\nc: a#b\n", "a: b\n c\n", "a: 'b\n  c'\nd: \"e\n  f\"\n", "a: b\n\nc: d\n\n",
	} {
		require.Equal(t, 1, sameAsParser(t, []byte(meta+text)), "%q", text)
	}
	for _, text := range []string{ // each for a reason of its own
		"a", "a:\n", "kind: Pod\n", "a: b", "b: --c=d: e\n", "a: b\n\n c\n", "a: b \n", "a: b\n c: d\n", "a: 'b'\n  'c'\n", "a: {}\n  b\n", "a: \"b\\\n  c\"\n", "a: 'b\nc'\n", "a: b: c\n", "a: b #c\n", "a: \"\\x41\"\n", "a: \"b\" c\n", "a: 'b' c'\n",
		"a: &b c\n", "a: *b\n", "a: !c d\n", "a: [b]\n", "a: {b: c}\n", "a: >\n  b\n", "a: |2\n  b\n", "a: |\nb: c\n", "a: |\n\n  b\n", "? a\n", "<<: a\n", "on: a\n",
		"a: b\na: c\n", "a:\tb\n", "a: b\r\n", "a: \u00e9\n", "# a\n", "a:\n   b: c\n  d: e\n", "a:\n- - b\n", "a:\n-\n  b\n", "a:\n-  b\n", "- a: b\n- c: d\n", "a: .inf\n",
	} {
		_, _, ok := blockToJSON([]byte(meta + text))
		require.False(t, ok, "%q", text)
	}
}
