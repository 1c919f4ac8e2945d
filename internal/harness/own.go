package harness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// ownSource finds the source of this program: the module of the current
// directory, the files it was compiled from, or the version that it is of.
func ownSource(ctx context.Context) (dir string, err error) {
	if here, err := goCommand(ctx, "", "env", "GOMOD"); err == nil && isOurs(ctx, filepath.Dir(here)) {
		return filepath.Dir(here), nil
	}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) { // not with -trimpath
		if dir := filepath.Join(filepath.Dir(file), "..", ".."); isOurs(ctx, dir) {
			return dir, nil
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != ours || !isRelease(info.Main.Version) {
		return "", errors.New("the source of this program is not known: run it in the directory that holds it")
	}
	out, err := goCommand(ctx, os.TempDir(), "mod", "download", "-json", ours+"@"+info.Main.Version)
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	return module.Dir, json.Unmarshal([]byte(out), &module)
}

// isOurs: dir holds this module.
func isOurs(ctx context.Context, dir string) bool {
	mod, err := readGoMod(ctx, dir)
	return err == nil && mod.Module.Path == ours
}

// isRelease: the module proxy can have that version, which it does not have of
// changed files.
func isRelease(version string) bool {
	return strings.HasPrefix(version, "v") && !strings.HasSuffix(version, "+dirty")
}
