package outside

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/reference/releases"
	"github.com/preemptcheck/preemptcheck/reference/releases/built"
)

// about is what is known of a driver once it is built.
type about struct {
	// Kubernetes is the version that it is built with.
	Kubernetes string `json:"kubernetes"`
}

const aboutFile = "about.json"

// Build builds the driver of a file, unless it is in the user's cache. It says so on log.
func Build(ctx context.Context, f *File, log io.Writer) error {
	name, err := f.cacheName()
	if err != nil {
		return err
	}
	return built.Make(ctx, name, "a kube-scheduler with the plugins of "+f.path, log, f.compile)
}

// cacheName is that of the driver's directory: it is made of all that it is built from.
func (f *File) cacheName() (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), f.Module, f.Version, f.Schemes, f.Versions)
	for _, p := range f.Plugins {
		fmt.Fprintln(hash, p.Name, p.Package, p.Factory)
	}
	add := func(name string, content []byte) error {
		_, err := fmt.Fprintf(hash, "%s %d\n%s", name, len(content), content)
		return err
	}
	if err := errors.Join(releases.WalkOutside(add), releases.WalkCalls(release.Linked.Minor, add), releases.AddEdits(hash)); err != nil {
		return "", err
	}
	if f.Dir != "" {
		if err := walkModule(f.Dir, add); err != nil {
			return "", fmt.Errorf("%s: dir: %w", f.path, err)
		}
	}
	return fmt.Sprintf("plugins-%x", hash.Sum(nil)[:8]), nil
}

// walkModule calls f with the files of a module in a directory that a build may read.
func walkModule(dir string, f func(name string, content []byte) error) error {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return f(name, content)
	})
}

// module is what "go list -m" and "go mod download" tell of one.
type module struct {
	Path, Version, Dir, GoMod string
	Replace                   *module
}

// compile makes the driver in temp.
func (f *File) compile(ctx context.Context, temp string) error {
	source := filepath.Join(temp, "source")
	defer os.RemoveAll(source)
	if err := os.Mkdir(source, 0o755); err != nil {
		return err
	}
	if err := f.writeModule(ctx, source); err != nil {
		return err
	}
	kubernetes, r, err := f.kubernetes(ctx, source)
	if err != nil {
		return err
	}
	if err := edited(kubernetes.Dir, filepath.Join(source, "kubernetes")); err != nil {
		return err
	}
	programs := map[string]func(f func(name string, content []byte) error) error{
		"driver":    releases.WalkOutside,
		callsDriver: func(add func(name string, content []byte) error) error { return releases.WalkCalls(r.Minor, add) },
	}
	for name, walk := range programs {
		if err := f.program(ctx, filepath.Join(source, name), r, walk, filepath.Join(temp, name)); err != nil {
			return err
		}
	}
	data, err := json.Marshal(about{Kubernetes: r.String()})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(temp, aboutFile), data, 0o644)
}

// callsDriver is the program that asks plugins one by one.
const callsDriver = "calls"

// program builds one of the programs in a directory below that of the module.
func (f *File) program(ctx context.Context, dir string, r release.Release, walk func(func(name string, content []byte) error) error, binary string) error {
	write := func(name string, content []byte) error { return built.WriteFile(dir, name, content) }
	if err := walk(write); err != nil {
		return err
	}
	if err := write("outside/registered.go", f.registered()); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(dir), name))
		if err != nil {
			return err
		}
		if err := write(name, content); err != nil {
			return err
		}
	}
	_, err := built.Go(ctx, dir, nil, "mod", "edit", "-dropreplace=k8s.io/kubernetes", "-replace=k8s.io/kubernetes=../kubernetes")
	if err != nil {
		return err
	}
	_, err = built.Go(ctx, dir, nil, "build", "-mod=mod", "-trimpath", "-tags="+releases.Tags(r.Minor), "-ldflags=-s -w -X main.release="+r.String(), "-o", binary, ".")
	return err
}

// writeModule writes the go.mod of a module that requires that of the plugins, and replaces what it replaces.
func (f *File) writeModule(ctx context.Context, source string) error {
	mod := &strings.Builder{}
	fmt.Fprint(mod, "module github.com/preemptcheck/preemptcheck\n\ngo 1.26.0\n")
	if err := os.WriteFile(filepath.Join(source, "go.mod"), []byte(mod.String()), 0o644); err != nil {
		return err
	}
	theirs, version := filepath.Join(f.Dir, "go.mod"), f.Version
	if f.Dir == "" {
		out, err := built.Go(ctx, source, nil, "mod", "download", "-json", f.Module+"@"+f.Version)
		if err != nil {
			return err
		}
		var m module
		if err := json.Unmarshal(out, &m); err != nil {
			return err
		}
		theirs = filepath.Join(m.Dir, "go.mod")
	} else {
		version = "v0.0.0"
		fmt.Fprintf(mod, "\nreplace %s => %s\n", f.Module, strconv.Quote(f.Dir))
	}
	out, err := built.Go(ctx, source, nil, "mod", "edit", "-json", theirs)
	if err != nil {
		return err
	}
	var read struct {
		Module  struct{ Path string }
		Require []struct {
			Path, Version string
			Indirect      bool
		}
		Replace []struct{ Old, New module }
	}
	if err := json.Unmarshal(out, &read); err != nil {
		return err
	}
	if read.Module.Path != f.Module {
		return fmt.Errorf("module: %s is what its go.mod says, not %s", read.Module.Path, f.Module)
	}
	fmt.Fprintf(mod, "\nrequire %s %s\n", f.Module, version)
	for _, r := range read.Require {
		fmt.Fprintf(mod, "require %s %s\n", r.Path, r.Version)
	}
	for path, version := range f.Versions {
		fmt.Fprintf(mod, "replace %s => %s %s\n", path, path, version)
	}
	for _, r := range read.Replace {
		if f.Versions[r.Old.Path] != "" {
			continue
		}
		to := r.New.Path
		if r.New.Version == "" && !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(theirs), to)
		}
		fmt.Fprintf(mod, "replace %s %s => %s %s\n", r.Old.Path, r.Old.Version, strconv.Quote(to), r.New.Version)
	}
	if sum, err := os.ReadFile(strings.TrimSuffix(theirs, ".mod") + ".sum"); err == nil {
		if err := os.WriteFile(filepath.Join(source, "go.sum"), sum, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(source, "go.mod"), []byte(mod.String()), 0o644)
}

var releaseOf = regexp.MustCompile(`^v1\.\d+\.\d+`)

// kubernetes is the module of Kubernetes that the plugins' module takes.
func (f *File) kubernetes(ctx context.Context, source string) (*module, release.Release, error) {
	const path = "k8s.io/kubernetes"
	if _, err := built.Go(ctx, source, nil, "mod", "download", path); err != nil {
		return nil, release.Release{}, err
	}
	out, err := built.Go(ctx, source, nil, "list", "-mod=mod", "-m", "-json", path)
	if err != nil {
		return nil, release.Release{}, fmt.Errorf("module: it does not require %s: %w", path, err)
	}
	m := &module{}
	if err := json.Unmarshal(out, m); err != nil {
		return nil, release.Release{}, err
	}
	version := m.Version
	if m.Replace != nil && m.Replace.Version != "" {
		version = m.Replace.Version
	}
	r, err := release.Parse(releaseOf.FindString(version))
	if err != nil {
		return nil, r, fmt.Errorf("module: it requires %s %s, which is no release", path, version)
	}
	if r.Minor < releases.OldestEvaluator || r.Minor > release.Linked.Minor {
		return nil, r, fmt.Errorf("module: it requires %s %s; plugins can be run with those from v1.%d to v1.%d", path, version, releases.OldestEvaluator, release.Linked.Minor)
	}
	return m, r, nil
}

// edited writes a copy of the module of Kubernetes, with the edit that drivers need.
func edited(kubernetes, to string) error {
	return filepath.WalkDir(kubernetes, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(kubernetes, path)
		switch {
		case errors.Join(err, relErr) != nil:
			return errors.Join(err, relErr)
		case d.IsDir() && slices.Contains([]string{"api", "staging", "test", "vendor"}, name):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		if err == nil && filepath.ToSlash(name) == releases.EvaluatorFile {
			var text string
			text, err = releases.WithHook(string(content))
			content = []byte(text)
		}
		if err != nil {
			return err
		}
		return built.WriteFile(to, filepath.ToSlash(name), content)
	})
}

// registered is the file of the driver that has the factories.
func (f *File) registered() []byte {
	text := &strings.Builder{}
	fmt.Fprint(text, "package outside\n\nimport (\n\tframeworkruntime \"k8s.io/kubernetes/pkg/scheduler/framework/runtime\"\n")
	for _, s := range f.Schemes {
		fmt.Fprintf(text, "\t_ %q\n", s)
	}
	for i, p := range f.Plugins {
		fmt.Fprintf(text, "\tplugin%d %q\n", i, p.Package)
	}
	fmt.Fprint(text, ")\n\nvar registered = frameworkruntime.Registry{\n")
	for i, p := range f.Plugins {
		fmt.Fprintf(text, "\t%q: plugin%d.%s,\n", p.Name, i, p.Factory)
	}
	fmt.Fprint(text, "}\n")
	return []byte(text.String())
}
