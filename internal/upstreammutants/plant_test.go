package main

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlant: every mutant has its place in the source of the linked release.
func TestPlant(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, m := range every() {
		require.False(t, names[m.Name], "two of the name %s", m.Name)
		names[m.Name] = true
		source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), m.File))
		require.NoError(t, err)
		changed, err := m.Plant(source)
		require.NoError(t, err)
		require.NotEqual(t, string(source), string(changed), m.Name)
		_, err = parser.ParseFile(token.NewFileSet(), m.File, changed, 0)
		require.NoError(t, err, m.Name)
	}
}

// TestWitnesses: each bug that was mended has a timeline, which is in the corpus.
func TestWitnesses(t *testing.T) {
	for _, m := range mended {
		require.NotEmpty(t, m.Witnesses, m.Name)
	}
	for _, m := range witnessed() {
		for _, w := range m.Witnesses {
			require.FileExists(t, filepath.Join("../..", timelines, w+".yaml"))
		}
	}
	require.Nil(t, named([]string{"no such mutant"}))
	require.Len(t, named([]string{mended[0].Name, All[0].Name}), 2)
}

func TestVerdict(t *testing.T) {
	for out, want := range map[string]struct {
		passed bool
		text   string
	}{
		"NAME   OUTCOME\na      1 bound\n\n1 passed, 0 failed\n":                                              {passed: true},
		"NAME   OUTCOME\na      1 bound\n\n1 passed (1 with known findings), 0 failed\n":                      {passed: true},
		"NAME   OUTCOME\na      1 bound\n\na: unexpected\n  step 1: no\n  step 2: no\n\n0 passed, 1 failed\n": {text: "step 1: no"},
	} {
		passed, text, err := verdict(out, "a", nil)
		require.NoError(t, err)
		require.Equal(t, want.passed, passed)
		require.Equal(t, want.text, text)
	}
	_, _, err := verdict("", "a", os.ErrNotExist)
	require.EqualError(t, err, "checking a gave no verdict: file does not exist")
}

func TestPlantRefuses(t *testing.T) {
	const source = "package p\n\nfunc f() bool { return a < b || a < b }\n\nfunc g() bool { return a < b }\n"
	m := Mutant{Name: "m", File: "p.go", Func: "g", Find: "a < b", Replace: "a > b"}
	changed, err := m.Plant([]byte(source))
	require.NoError(t, err)
	require.Equal(t, strings.Replace(source, "{ return a < b }", "{ return a > b }", 1), string(changed))

	for function, message := range map[string]string{
		"f": `m: f has "a < b" 2 times, want once`,
		"h": "m: p.go has 0 functions h, want 1",
	} {
		m.Func = function
		_, err := m.Plant([]byte(source))
		require.EqualError(t, err, message)
	}
}
