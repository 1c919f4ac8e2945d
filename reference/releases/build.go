package releases

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/reference/releases/built"
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
	name, err := p.name(version)
	if err != nil {
		return "", err
	}
	what := "the kube-scheduler of " + version + p.what()
	err = built.Make(ctx, name, what, log, func(ctx context.Context, temp string) error { return p.compile(ctx, version, temp) })
	if err != nil {
		return "", err
	}
	binary, _, err = p.cached(version)
	return binary, err
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

// cached returns where the driver is, and whether it is there.
func (p program) cached(version string) (binary string, exists bool, err error) {
	name, err := p.name(version)
	if err != nil {
		return "", false, err
	}
	dir, exists, err := built.Dir(name)
	return filepath.Join(dir, "driver"), exists, err
}

// name is that of the driver's directory: it is made of all that it is built from.
func (p program) name(version string) (string, error) {
	if _, err := release.Parse(version); err != nil {
		return "", err
	}
	if !Known(version) {
		return "", fmt.Errorf("the scheduler of %s cannot be driven: %s can", version, strings.Join(All(), ", "))
	}
	hash := sha256.New()
	fmt.Fprintln(hash, version, runtime.Version())
	err := p.walk(version, func(name string, content []byte) error {
		_, err := fmt.Fprintf(hash, "%s %d\n%s", name, len(content), content)
		return err
	})
	return fmt.Sprintf("%s%s-%x", version, p.suffix, hash.Sum(nil)[:6]), err
}

// walk calls f with the files of the driver's module, named as they are in it.
func walk(version string, f func(name string, content []byte) error) error {
	driver, _ := driverOf(mustParse(version))
	if err := walkDriver(driver, f); err != nil {
		return err
	}
	if err := walkMod(version, f); err != nil {
		return err
	}
	// Releases before 1.25 require a module that is no more, and use nothing of it.
	return f("stub/go.mod", []byte("module vbom.ml/util\n"))
}

// walkDriver calls f with the files of the driver in a directory, and with all that drivers share.
func walkDriver(driver string, f func(name string, content []byte) error) error {
	add := func(name, file string) error {
		content, err := fs.ReadFile(sources, file)
		if err != nil {
			return err
		}
		return f(name, content)
	}
	for _, dir := range []string{driver, "shared"} {
		if err := walkDir("_driver/"+dir, f); err != nil {
			return err
		}
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
	err := p.walk(version, func(name string, content []byte) error { return built.WriteFile(source, name, content) })
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
	_, err = built.Go(ctx, source, nil, append(args, ".")...)
	return err
}
