package harness

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

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
