package upstreamtests

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/harness"
)

// Mends has the findings that a small change to the scheduler mends, each with the
// packages whose own tests must pass with the change, besides the package to which
// the finding's test belongs.
var Mends = map[string][]string{
	"zero-candidates":           nil,
	"terminating-pod-uncounted": nil,
	"claim-of-other-namespace":  nil,
	"volume-node-fields":        {"k8s.io/component-helpers/storage/volume"},
	"claim-allocated-twice":     nil,
	"claim-takes-two-volumes":   nil,
}

//go:embed mends/*.patch
var patches embed.FS

// Patch is the change that mends a finding, as a unified diff of a Kubernetes
// repository.
func Patch(finding string) ([]byte, error) { return patches.ReadFile("mends/" + finding + ".patch") }

// TryMends applies each change that mends the finding of one of the tests to a copy
// of the files that it touches, and runs all tests of its packages with the test
// added: every one has to pass. It reports to w how many did.
func TryMends(ctx context.Context, w io.Writer, tests []Test) error {
	upstream, _, err := harness.Copy(ctx, "upstream")
	if err != nil {
		return err
	}
	var wrong []string
	for _, t := range tests {
		more, ok := Mends[t.Finding]
		if !ok {
			continue
		}
		problem, err := try(ctx, w, upstream, t, append([]string{t.Package()}, more...))
		if err != nil {
			return fmt.Errorf("%s: %w", t.Finding, err)
		}
		if problem != "" {
			fmt.Fprintf(w, "WRONG: %s: %s\n", t.Finding, problem)
			wrong = append(wrong, t.Finding)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d changes do not do: %s", len(wrong), strings.Join(wrong, ", "))
	}
	return nil
}

func try(ctx context.Context, w io.Writer, upstream *harness.Source, test Test, packages []string) (problem string, err error) {
	temp, err := os.MkdirTemp("", "upstreammends-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	c, err := apply(ctx, upstream.Dir, test.Finding, temp)
	if err != nil {
		return "", err
	}
	events, err := goTest(ctx, upstream, []Test{test}, c, packages)
	if err != nil {
		return "", err
	}
	if problem := judgeMend(test, packages, events); problem != "" {
		return problem, nil
	}
	for _, p := range packages {
		passed := 0
		for _, e := range events {
			if e.Package == p && e.Action == "pass" && e.Test != "" && !strings.Contains(e.Test, "/") {
				passed++
			}
		}
		with := ""
		if p == test.Package() {
			with = ", " + test.Name + " with them"
		}
		fmt.Fprintf(w, "mended: %s: all %d tests of %s pass%s\n", test.Finding, passed, p, with)
	}
	return "", nil
}

// change is what a build needs to take changed files for those that are there.
type change struct {
	files   map[string]string // in the place of those of the copy, by their paths
	modules []string          // replace directives, for staging modules
}

// apply writes the changed files of upstream to a directory. Of a staging module,
// which the module cache holds, it needs all files.
func apply(ctx context.Context, upstream, finding, dir string) (*change, error) {
	patch, err := Patch(finding)
	if err != nil {
		return nil, err
	}
	c := &change{files: map[string]string{}}
	staging := map[string]bool{}
	for line := range bytes.Lines(patch) {
		name, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "+++ b/")
		if !ok {
			continue
		}
		if file, ok := strings.CutPrefix(name, "staging/src/"); ok {
			parts := strings.SplitN(file, "/", 3)
			staging[parts[0]+"/"+parts[1]] = true
			continue
		}
		original, mended := filepath.Join(upstream, filepath.FromSlash(name)), filepath.Join(dir, filepath.FromSlash(name))
		content, err := os.ReadFile(original)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(mended), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(mended, content, 0o644); err != nil {
			return nil, err
		}
		c.files[original] = mended
	}
	for module := range staging {
		original, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			return nil, err
		}
		copied := filepath.Join(dir, "staging", "src", filepath.FromSlash(module))
		if err := os.CopyFS(copied, os.DirFS(strings.TrimSpace(string(original)))); err != nil {
			return nil, err
		}
		c.modules = append(c.modules, module+"="+copied)
	}
	cmd := exec.CommandContext(ctx, "git", "apply", "--unidiff-zero", "-")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git apply: %w\n%s", err, out)
	}
	return c, nil
}

// judgeMend says what is wrong if anything but passing happens, if a package did
// not run to its end, or if the subtests that fail without the change did not run.
func judgeMend(t Test, packages []string, events []event) string {
	passed := map[string]bool{}
	output := map[string]string{}
	for _, e := range events {
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			output[key] += e.Output
		case "fail", "build-fail":
			return fmt.Sprintf("%s fails\n%s", strings.TrimSpace(key), output[key])
		case "pass":
			passed[key] = true
		}
	}
	for name := range t.Fails {
		if !passed[t.Package()+" "+t.Name+"/"+strings.ReplaceAll(name, " ", "_")] {
			return fmt.Sprintf("%q did not pass", name)
		}
	}
	if i := slices.IndexFunc(packages, func(p string) bool { return !passed[p+" "] }); i >= 0 {
		return packages[i] + " did not pass"
	}
	return ""
}
