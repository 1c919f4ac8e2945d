package mutants

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/harness"
	"github.com/preemptcheck/preemptcheck/internal/mutants/plant"
)

// Tree is source with all mutants, and what was built of it.
type Tree struct {
	*plant.Planted
	// Own is the directory of this program's source, which holds the corpus.
	Own string
	// Binary is this program, with the mutants in its scheduler, or in its model.
	Binary string
	// Tests are the binaries of the tests of the packages that have mutants, by the directory of the package below the root of its module;
	// those that were not asked for, or that have no tests, are missing.
	Tests map[string]Test
	// Raced is nil before Race, and if no mutant asks for it.
	Raced *Raced
	// Hash tells trees apart, and what they are checked with.
	Hash string
	// Built is how long planting and building took.
	Built time.Duration

	source *harness.Source // nil for the model
}

// Test is the binary of the tests of a package, and where it has to run.
type Test struct{ Binary, Dir string }

// The directories of the switches, in the copy of upstream and in this module.
const (
	switchesAt      = "pkg/scheduler/preemptcheckmutants"
	modelSwitchesAt = "model/preemptcheckmutants"
)

const kubernetes = "k8s.io/kubernetes"

// list names, in the copy, the files that were changed there.
const list = "preemptcheck-mutants.json"

// Sites are all mutants of upstream, or of the model. Nothing is built.
func Sites(ctx context.Context, ofModel bool) ([]*plant.Site, error) {
	own, err := harness.OwnSource(ctx)
	if err != nil {
		return nil, err
	}
	module, at, scopes := kubernetes, switchesAt, plant.Upstream()
	if ofModel {
		module, at, scopes = plant.Ours, modelSwitchesAt, plant.Specification()
	}
	p, err := plant.Plant(ctx, own, module, at, scopes)
	if err != nil {
		return nil, err
	}
	return p.Sites, nil
}

// BuildUpstream plants all mutants of Upstream in a copy of upstream, and builds this program with it, and, if they are wanted, the tests of
// the packages that have mutants. It takes minutes the first time.
func BuildUpstream(ctx context.Context, log io.Writer, tests bool) (*Tree, error) {
	start := time.Now()
	source, original, err := harness.Copy(ctx, "mutants-by-rule")
	if err != nil {
		return nil, err
	}
	t := &Tree{Own: source.Own(), Tests: map[string]Test{}, source: source}
	if t.Planted, err = plant.Plant(ctx, t.Own, kubernetes, switchesAt, plant.Upstream()); err != nil {
		return nil, err
	}
	if err := t.write(source.Dir, original); err != nil {
		return nil, err
	}
	t.say(log)
	if t.Binary, err = harness.Build(ctx, source.Dir, log); err != nil {
		return nil, err
	}
	for _, dir := range t.packages() {
		if !tests {
			break
		}
		test := Test{Dir: filepath.Join(source.Dir, filepath.FromSlash(dir))}
		test.Binary = filepath.Join(test.Dir, "preemptcheck-mutants.test")
		fmt.Fprintf(log, "building the tests of %s\n", dir)
		if err := source.BuildTest(ctx, path.Join(kubernetes, dir), test.Binary); err != nil {
			return nil, err
		}
		t.add(dir, test)
	}
	return t, t.finish(start)
}

// BuildModel plants all mutants of Specification in this program's source, and builds it, and the tests of these packages if they are wanted.
func BuildModel(ctx context.Context, log io.Writer, tests bool) (t *Tree, err error) {
	start := time.Now()
	t = &Tree{Tests: map[string]Test{}}
	if t.Own, err = harness.OwnSource(ctx); err != nil {
		return nil, err
	}
	if t.Planted, err = plant.Plant(ctx, t.Own, plant.Ours, modelSwitchesAt, plant.Specification()); err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "preemptcheck", "mutants-of-model")
	overlay := map[string]string{}
	for name, source := range t.Files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, source, 0o644); err != nil {
			return nil, err
		}
		overlay[filepath.Join(t.Own, filepath.FromSlash(name))] = file
	}
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, data, 0o644); err != nil {
		return nil, err
	}
	t.say(log)
	t.Binary = filepath.Join(dir, "preemptcheck")
	if err := t.command(ctx, "build", "-overlay="+overlayFile, "-o", t.Binary, "./cmd/preemptcheck"); err != nil {
		return nil, err
	}
	for _, p := range t.packages() {
		if !tests {
			break
		}
		test := Test{Binary: filepath.Join(dir, filepath.FromSlash(p), "preemptcheck-mutants.test"), Dir: filepath.Join(t.Own, filepath.FromSlash(p))}
		if err := t.command(ctx, "test", "-c", "-vet=off", "-overlay="+overlayFile, "-o", test.Binary, "./"+p); err != nil {
			return nil, err
		}
		t.add(p, test)
	}
	return t, t.finish(start)
}

// command runs the go command in this program's source.
func (t *Tree) command(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.Own
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// add notes the tests of a package, if it has any.
func (t *Tree) add(dir string, test Test) {
	if _, err := os.Stat(test.Binary); err == nil {
		t.Tests[dir] = test
	}
}

func (t *Tree) say(log io.Writer) {
	fmt.Fprintf(log, "%d mutants in %d files\n", len(t.Sites), len(t.Files)-1)
}

// finish sets Hash and Built.
func (t *Tree) finish(start time.Time) error {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t.Files)) {
		fmt.Fprintf(hash, "%s\n%s", name, t.Files[name])
	}
	binary, err := os.ReadFile(t.Binary)
	if err != nil {
		return err
	}
	hash.Write(binary)
	t.Hash = fmt.Sprintf("%x", hash.Sum(nil))[:12]
	t.Built = time.Since(start)
	return nil
}

// packages are the directories of those that have mutants.
func (t *Tree) packages() (dirs []string) {
	for _, s := range t.Sites {
		if dir := path.Dir(s.File); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// write writes the changed files into a copy, after it has restored those that were changed earlier.
func (t *Tree) write(into, original string) error {
	var before []string
	listFile := filepath.Join(into, list)
	switch data, err := os.ReadFile(listFile); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(data, &before); err != nil {
			return fmt.Errorf("%s: %w", listFile, err)
		}
	}
	now := slices.Sorted(maps.Keys(t.Files))
	writeList := func(names []string) error {
		data, err := json.Marshal(names)
		if err != nil {
			return err
		}
		return os.WriteFile(listFile, data, 0o644)
	}
	if err := writeList(append(before, now...)); err != nil { // should this process be killed in between
		return err
	}
	for _, name := range before {
		if t.Files[name] != nil || strings.HasPrefix(name, switchesAt) {
			continue
		}
		source, err := os.ReadFile(filepath.Join(original, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(into, filepath.FromSlash(name)), source, 0o644); err != nil {
			return err
		}
	}
	for _, name := range now {
		file := filepath.Join(into, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, t.Files[name], 0o644); err != nil {
			return err
		}
	}
	return writeList(now)
}
