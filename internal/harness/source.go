package harness

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Source is a source of Kubernetes that this program can be built against.
type Source struct {
	// Dir is its directory, an absolute path.
	Dir string
	// Version is the release it is, or the last one before it: "v1.37.1",
	// "v1.38.0-alpha.1".
	Version string
	// Detail says how the version is known, and where the staging modules come
	// from.
	Detail string

	// own is the directory of this program's source; replaces are the replace
	// directives that a build of it needs, as module=target.
	own      string
	replaces []string
}

// stamp is the Source that this program was built against, written by the linker.
var stamp string

// BuiltFrom is the Source that this program was built against with Build. It is
// zero if that is the module that go.mod requires.
func BuiltFrom() Source { return readStamp(stamp) }

// stamp is the source as text that needs no quotes.
func (s *Source) stamp() string {
	return url.Values{"dir": {s.Dir}, "version": {s.Version}, "detail": {s.Detail}}.Encode()
}

func readStamp(text string) Source {
	v, _ := url.ParseQuery(text) // nothing but stamp writes it
	return Source{Dir: v.Get("dir"), Version: v.Get("version"), Detail: v.Get("detail")}
}

func (s Source) String() string { return fmt.Sprintf("%s from %s (%s)", s.Version, s.Dir, s.Detail) }

// Open finds out what source of Kubernetes there is in dir. If nothing tells its
// version, it takes the one that this program requires, and says so.
func Open(ctx context.Context, dir string) (*Source, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	own, err := ownSource(ctx)
	if err != nil {
		return nil, err
	}
	linked, err := linkedVersion(ctx, own)
	if err != nil {
		return nil, err
	}
	s := &Source{Dir: abs, own: own}
	mod, err := readGoMod(ctx, abs)
	if err != nil {
		return nil, fmt.Errorf("%s is no source of Kubernetes: %w", dir, err)
	}
	if mod.Module.Path != kubernetes {
		return nil, fmt.Errorf("%s is no source of Kubernetes: its go.mod is of the module %s", dir, cmp.Or(mod.Module.Path, "of no name"))
	}
	if _, err := os.Stat(filepath.Join(abs, "pkg", "scheduler")); err != nil {
		return nil, fmt.Errorf("%s is no complete source of Kubernetes: %w", dir, err)
	}
	var how string
	s.Version, how = version(ctx, abs, linked)
	from := s.replace(mod)
	s.Detail = how + "; " + from
	return s, nil
}

// Copy makes a copy of the Kubernetes that this program requires in the user's
// cache, some 120 MB, unless it is there: into the module cache no file may be
// added, and none changed. Copies for different purposes are apart. It also returns
// the directory of the original.
func Copy(ctx context.Context, purpose string) (_ *Source, original string, err error) {
	out, err := goCommand(ctx, "", "list", "-m", "-f", "{{.Version}}\n{{.Dir}}", kubernetes)
	if err != nil {
		return nil, "", err
	}
	version, original, _ := strings.Cut(out, "\n")
	cache, err := cacheDir(purpose)
	if err != nil {
		return nil, "", err
	}
	dir := filepath.Join(cache, version)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		// A copy under its name is complete: it gets the name at the end.
		temp, err := os.MkdirTemp(cache, "copy-")
		if err != nil {
			return nil, "", err
		}
		defer os.RemoveAll(temp)
		if err := os.CopyFS(filepath.Join(temp, version), os.DirFS(original)); err != nil {
			return nil, "", err
		}
		if err := os.Rename(filepath.Join(temp, version), dir); err != nil {
			return nil, "", err
		}
	}
	s, err := Open(ctx, dir)
	return s, original, err
}

// WriteModFile writes a go.mod for building this module against the source, and
// beside it the go.sum that goes with it: the sums of both, so that nothing has to
// be asked for that is there already.
func (s *Source) WriteModFile(ctx context.Context, modFile string) error {
	mod, err := os.ReadFile(filepath.Join(s.own, "go.mod"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(modFile, mod, 0o644); err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, dir := range []string{s.own, s.Dir} {
		sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		sums.Write(sum)
	}
	if err := os.WriteFile(strings.TrimSuffix(modFile, ".mod")+".sum", sums.Bytes(), 0o644); err != nil {
		return err
	}
	edit := []string{"mod", "edit"}
	for _, r := range s.replaces {
		edit = append(edit, "-replace", r)
	}
	_, err = goCommand(ctx, s.own, append(edit, modFile)...)
	return err
}

// Own is the directory of this program's source.
func (s *Source) Own() string { return s.own }

// BuildTest builds the tests of a package of the source into a file, as "go test -c" does. Go vet is not asked.
func (s *Source) BuildTest(ctx context.Context, pkg, file string, flags ...string) error {
	temp, err := os.MkdirTemp("", "build-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	modFile := filepath.Join(temp, "go.mod")
	if err := s.WriteModFile(ctx, modFile); err != nil {
		return err
	}
	args := []string{"test", "-c", "-vet=off", "-modfile=" + modFile, "-mod=mod", "-o", file}
	_, err = goCommand(ctx, s.own, append(append(args, flags...), pkg)...)
	return err
}

// goMod is what matters of a go.mod.
type goMod struct {
	Module  struct{ Path string }
	Require []struct{ Path, Version string }
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

func readGoMod(ctx context.Context, dir string) (*goMod, error) {
	file := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no go.mod in it")
	} else if err != nil {
		return nil, err
	}
	out, err := goCommand(ctx, dir, "mod", "edit", "-json", file)
	if err != nil {
		return nil, err
	}
	mod := &goMod{}
	return mod, json.Unmarshal([]byte(out), mod)
}

// replace notes the replaces for a build against s, whose go.mod is mod, and says
// where the staging modules come from. All replaces of the source are taken over,
// as the go command heeds only those of the module it builds.
func (s *Source) replace(mod *goMod) (staging string) {
	s.replaces = []string{kubernetes + "=" + s.Dir}
	released := "v0" + strings.TrimPrefix(s.Version, "v1") // v0.37.1 goes with v1.37.1
	present, missing := 0, 0
	for _, r := range mod.Replace {
		from, to := at(r.Old.Path, r.Old.Version), at(r.New.Path, r.New.Version)
		if r.New.Version == "" {
			to = r.New.Path
			if !filepath.IsAbs(to) {
				to = filepath.Join(s.Dir, filepath.FromSlash(to))
			}
			_, err := os.Stat(filepath.Join(to, "go.mod"))
			isStaging := strings.HasPrefix(r.New.Path, "./staging/")
			switch {
			case err == nil && isStaging:
				present++
			case isStaging:
				missing++
				to = at(r.Old.Path, released)
			}
		}
		s.replaces = append(s.replaces, from+"="+to)
	}
	switch {
	case missing == 0:
		return "with its staging modules"
	case present == 0:
		return "with the staging modules " + released
	default:
		return fmt.Sprintf("with its staging modules, %d of %d of them missing and taken as %s", missing, present+missing, released)
	}
}

// linkedVersion is the version of Kubernetes that the module in dir requires.
func linkedVersion(ctx context.Context, dir string) (string, error) {
	mod, err := readGoMod(ctx, dir)
	if err != nil {
		return "", err
	}
	for _, r := range mod.Require {
		if r.Path == kubernetes {
			return r.Version, nil
		}
	}
	return "", fmt.Errorf("the go.mod in %s does not require %s", dir, kubernetes)
}

// at is a module, or one version of it.
func at(path, version string) string {
	if version == "" {
		return path
	}
	return path + "@" + version
}
