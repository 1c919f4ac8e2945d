package releases

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// Build returns the path of the driver of a release. It builds it if it is not in
// the user's cache yet, which downloads the release's modules and takes one to
// seven minutes of CPU, and says so on log.
func Build(ctx context.Context, version string, log io.Writer) (binary string, err error) {
	return cycles.build(ctx, version, log)
}

// program is a driver: walk calls a function with the files of its module, named as they are
// in it.
type program struct {
	suffix string // of its name
	walk   func(version string, f func(name string, content []byte) error) error
}

// cycles are the drivers of single cycles, lives those that run timelines.
var cycles, lives = program{walk: walk}, program{suffix: "-timelines", walk: walkLife}

func (p program) build(ctx context.Context, version string, log io.Writer) (binary string, err error) {
	binary, built, err := p.cached(version)
	if err != nil || built {
		return binary, err
	}
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("building the scheduler of %s takes the go command: %w", version, err)
	}
	fmt.Fprintf(log, "building the kube-scheduler of %s%s, which takes minutes the first time\n", version, p.what())
	start := time.Now()
	// Another build may be under way: the directory gets its name when it is whole.
	dir := filepath.Dir(binary)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	removeOld(filepath.Dir(dir), start)
	temp, err := os.MkdirTemp(filepath.Dir(dir), "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	if err := p.compile(ctx, version, temp); err != nil {
		return "", err
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, built, _ := p.cached(version); !built {
			return "", err
		}
	}
	fmt.Fprintf(log, "built %s in %.0f s\n", version, time.Since(start).Seconds())
	return binary, nil
}

// what says what a driver is for, if it is not for single cycles.
func (p program) what() string {
	if p.suffix == "" {
		return ""
	}
	return " for timelines"
}

// Built returns the path of the driver of a release, if it has been built.
func Built(version string) (binary string, ok bool) {
	binary, ok, err := cycles.cached(version)
	return binary, ok && err == nil
}

// cached returns where the driver belongs: the name is made of all that it is
// built from.
func (p program) cached(version string) (binary string, built bool, err error) {
	if _, err := release.Parse(version); err != nil {
		return "", false, err
	}
	if !Known(version) {
		return "", false, fmt.Errorf("the scheduler of %s cannot be driven: %s can", version, strings.Join(All(), ", "))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", false, err
	}
	hash := sha256.New()
	fmt.Fprintln(hash, version, runtime.Version())
	err = p.walk(version, func(name string, content []byte) error {
		_, err := fmt.Fprintf(hash, "%s %d\n%s", name, len(content), content)
		return err
	})
	if err != nil {
		return "", false, err
	}
	binary = filepath.Join(cache, "preemptcheck", "releases", fmt.Sprintf("%s%s-%x", version, p.suffix, hash.Sum(nil)[:6]), "driver")
	_, err = os.Stat(binary)
	return binary, err == nil, nil
}

// walk calls f with the files of the driver's module, named as they are in it.
func walk(version string, f func(name string, content []byte) error) error {
	driver, _ := driverOf(mustParse(version))
	add := func(name, file string) error {
		content, err := fs.ReadFile(sources, file)
		if err != nil {
			return err
		}
		return f(name, content)
	}
	for _, dir := range []string{driver, "shared"} {
		files, err := fs.ReadDir(sources, path.Join("_driver", dir))
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := add(file.Name(), path.Join("_driver", dir, file.Name())); err != nil {
				return err
			}
		}
	}
	if err := walkMod(version, f); err != nil {
		return err
	}
	// Releases before 1.25 require a module that is no more, and use nothing of it.
	if err := f("stub/go.mod", []byte("module vbom.ml/util\n")); err != nil {
		return err
	}
	// The driver's module has the name of this one. So what both compile is imported
	// by the same path.
	for _, file := range []string{"wire/wire.go", "wire/gated.go", "standin/client.go", "standin/extender.go"} {
		if err := add("reference/releases/"+file, file); err != nil {
			return err
		}
	}
	if err := f("model/settings.go", model.SettingsSource); err != nil {
		return err
	}
	if err := f("model/configured.go", model.ConfiguredSource); err != nil {
		return err
	}
	return f("model/observation/observation.go", observation.Source)
}

// walkMod calls f with the go.mod and go.sum of the driver's module.
func walkMod(version string, f func(name string, content []byte) error) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := fs.ReadFile(sources, strings.TrimSuffix(modFile(version), ".mod")+path.Ext(name))
		if err != nil {
			return err
		}
		if err := f(name, content); err != nil {
			return err
		}
	}
	return nil
}

// compile writes the driver's module into dir and builds it there. Only the binary
// is left.
func (p program) compile(ctx context.Context, version, dir string) error {
	source := filepath.Join(dir, "source")
	defer os.RemoveAll(source)
	err := p.walk(version, func(name string, content []byte) error {
		file := filepath.Join(source, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, content, 0o644)
	})
	if err != nil {
		return err
	}
	staged, err := stage(ctx, version, source)
	if err != nil {
		return err
	}
	_, tags := driverOf(mustParse(version))
	args := []string{"build", "-mod=readonly", "-tags=" + strings.Join(tags, ","),
		"-ldflags=-s -w -X main.release=" + version, "-o", filepath.Join(dir, "driver")}
	if staged {
		args = append(args, "-trimpath") // what was compiled in another directory is the same
	}
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it has files to remove
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("building the scheduler of %s: %w", version, context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("building the scheduler of %s: %w\n%s", version, err, bytes.TrimSpace(out))
	}
	return nil
}

// keepFor is how long a driver is kept after it was built, if another has taken
// its place.
const keepFor = 30 * 24 * time.Hour

// removeOld removes drivers and what builds that died have left.
func removeOld(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > keepFor {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
