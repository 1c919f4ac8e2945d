package plant

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/golden"
)

const sample = "internal/mutants/plant/testdata/sample"

// plantSample plants mutants in the sample, and builds it.
func plantSample(t *testing.T) (p *Planted, binary string) {
	t.Helper()
	const at = "internal/mutants/plant/testdata/switches"
	p, err := Plant(t.Context(), ".", Ours, at, []Scope{{Package: Ours + "/" + sample}})
	require.NoError(t, err)
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	temp := t.TempDir()
	overlay := map[string]string{}
	for name, source := range p.Files {
		file := filepath.Join(temp, strings.ReplaceAll(name, "/", "-"))
		require.NoError(t, os.WriteFile(file, source, 0o600))
		overlay[filepath.Join(root, name)] = file
	}
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	file := filepath.Join(temp, "overlay.json")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	binary = filepath.Join(temp, "sample")
	out, err := exec.Command("go", "build", "-overlay", file, "-o", binary, "./testdata/sample").CombinedOutput()
	require.NoError(t, err, string(out))
	return p, binary
}

// sampleWith is what the sample prints with a mutant.
func sampleWith(t *testing.T, binary string, id int, env ...string) string {
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(append(os.Environ(), fmt.Sprintf("%s=%d", ActiveVariable, id)), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "it ended: " + err.Error()
	}
	return string(out)
}

// All mutants are in one binary: with all of them off it does what it did, and each but a few changes what it does.
func TestMutantsOfSample(t *testing.T) {
	p, binary := plantSample(t)
	operators := map[Operator]bool{}
	for _, s := range p.Sites {
		operators[s.Operator] = true
	}
	require.ElementsMatch(t, []Operator{Negate, Shift, Junction, Arith, Swap, Drop, DropDefer, DropLock, Constant, Bool, Return, EndLoop, GoOn, Key}, slices.Collect(maps.Keys(operators)))

	plain, err := exec.Command("go", "run", "./testdata/sample").CombinedOutput()
	require.NoError(t, err, string(plain))
	require.Equal(t, string(plain), sampleWith(t, binary, 0))
	var list strings.Builder
	for _, s := range p.Sites {
		fmt.Fprintf(&list, "%d:%d %s %s: %s -> %s", s.Line, s.Column, s.Operator, s.Func, s.Source, s.Is)
		if sampleWith(t, binary, s.ID) == string(plain) {
			list.WriteString(" (prints the same)")
		}
		if s.Guards {
			list.WriteString(" (takes a lock)")
		}
		list.WriteByte('\n')
	}
	golden.Compare(t, "testdata/sample.golden", list.String())
}

// Which mutants a process comes by is noted in a file.
func TestReached(t *testing.T) {
	p, binary := plantSample(t)
	file := filepath.Join(t.TempDir(), "reached")
	require.NoError(t, os.WriteFile(file, make([]byte, len(p.Sites)+1), 0o600))
	sampleWith(t, binary, 0, ReachedVariable+"="+file)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var missed []string
	for _, s := range p.Sites {
		if data[s.ID] == 0 {
			missed = append(missed, fmt.Sprintf("%s: %s", s.Func, s.Source))
		}
	}
	require.Equal(t, []string{
		"either: len(os.Args) >= 2", "main: n > 2", "main: n < 4", // shifts, which matter only where the operands are equal
		"main: fmt.Println(\"other\")", "main: fmt.Println(\"locked\")",
	}, missed)
}
