//go:build unix

package mutants

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/mutants/plant"
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
			r := &Runner{Tree: &Tree{Planted: &plant.Planted{Sites: []*plant.Site{{ID: 1, File: "plugin/plugin.go"}}}, Tests: map[string]Test{"plugin": {Binary: binary, Dir: dir}}}}
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

// A mutant that drops a lock is looked for with the race detector, and a race that it tells of kills it; others, and the corpus, have the ordinary build.
func TestRaceKills(t *testing.T) {
	const told = `case "$GORACE" in *log_path=*) printf '%s\n' '==================' 'WARNING: DATA RACE' 'Read at 0x1 by goroutine 7:' '  runtime.mapaccess1()' '      map.go:1 +0x1' ` +
		`'  k8s.io/kubernetes/plugin.(*Executor).isRunningPreemption()' >"${GORACE##*log_path=}.17";; esac; exit 66` + "\n"
	binary := func(script string) string {
		file := filepath.Join(t.TempDir(), "plugin.test")
		require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700))
		return file
	}
	dir := t.TempDir()
	r := &Runner{Tree: &Tree{Planted: &plant.Planted{}, Tests: map[string]Test{"plugin": {Binary: binary("exit 0\n"), Dir: dir}},
		Raced: &Raced{Tests: map[string]Test{"plugin": {Binary: binary(told), Dir: dir}}}}}
	lock := &plant.Site{ID: 1, File: "plugin/plugin.go", Func: "Executor.isRunningPreemption", Operator: plant.DropLock}
	o, err := r.Look(t.Context(), lock, Tests)
	require.NoError(t, err)
	require.Equal(t, ByRace, o.Killed)
	require.Equal(t, "data race in Executor.isRunningPreemption", o.Detail)

	o, err = r.Look(t.Context(), &plant.Site{ID: 3, File: "plugin/plugin.go", Func: "Executor.running", Operator: plant.DropLock}, Tests)
	require.NoError(t, err)
	require.Empty(t, o.Killed)
	require.Equal(t, "a race elsewhere: k8s.io/kubernetes/plugin.(*Executor).isRunningPreemption()", o.Detail)

	guard := *lock
	guard.Operator, guard.Guards = plant.Junction, true
	o, err = r.Look(t.Context(), &guard, Tests)
	require.NoError(t, err)
	require.Equal(t, ByRace, o.Killed, "as the ordinary build tells nothing")

	o, err = r.Look(t.Context(), &plant.Site{ID: 2, File: "plugin/plugin.go", Operator: plant.Negate}, Tests)
	require.NoError(t, err)
	require.Empty(t, o.Killed)
	require.False(t, isRaced(lock, Corpus))
}
