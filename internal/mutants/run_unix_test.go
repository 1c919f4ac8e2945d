//go:build unix

package mutants

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tests of upstream that fail once without a mutant are run again; those that fail twice end it.
func TestMeasureTriesTwice(t *testing.T) {
	const slow = "test -e tried && exit 0; touch tried\necho '--- FAIL: TestSlow'; exit 1\n"
	for name, tt := range map[string]struct{ script, fails string }{
		"passes":      {"exit 0\n", ""},
		"fails once":  {slow, ""},
		"fails twice": {"echo '--- FAIL: TestWrong'; exit 1\n", "plugin: without a mutant there is a finding: --- FAIL: TestWrong"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			binary := filepath.Join(dir, "plugin.test")
			require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\n"+tt.script), 0o700))
			r := &Runner{Tree: &Tree{Planted: &Planted{Sites: []*Site{{ID: 1, File: "plugin/plugin.go"}}}, Tests: map[string]Test{"plugin": {Binary: binary, Dir: dir}}}}
			_, err := r.Measure(t.Context(), []Column{Tests}, func(string) {})
			if tt.fails != "" {
				require.ErrorContains(t, err, tt.fails)
				return
			}
			require.NoError(t, err)
			require.Contains(t, r.Baseline, "plugin")
		})
	}
}
