package main

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlant: every mutant has its place in the source of the linked release.
func TestPlant(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, m := range slices.Concat(All, escaped) {
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
