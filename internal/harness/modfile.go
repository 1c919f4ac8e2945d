package harness

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// WriteModFile writes a go.mod for building this module against the source, and
// beside it the go.sum that goes with it: the sums of both, so that nothing has to
// be asked for that is there already.
func (s *Source) WriteModFile(ctx context.Context, modFile string) error {
	if err := copyFile(filepath.Join(s.own, "go.mod"), modFile); err != nil {
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
	_, err := goCommand(ctx, s.own, append(edit, modFile)...)
	return err
}
