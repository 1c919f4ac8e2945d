package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	inName   = regexp.MustCompile(`(?:^|@)(v1\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?)$`)
	inTag    = regexp.MustCompile(`^v1\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?`)
	inBase   = regexp.MustCompile(`DefaultKubeBinaryVersion\s*=\s*"(1\.\d+)"`)
	inChange = regexp.MustCompile(`(?m)^- \[(v1\.\d+\.\d+\S*)\]`)
)

// version finds out which release the source in dir is, or the last one before
// it, and says how.
func version(ctx context.Context, dir, linked string) (version, how string) {
	if v, how := describe(ctx, dir); v != "" {
		return v, how
	}
	if m := inName.FindStringSubmatch(filepath.Base(dir)); m != nil {
		return m[1], "by the name of the directory"
	}
	// What else there is names the minor release only, or lags behind: the
	// changelog of a patch release is written after it.
	release := func(found string) string {
		if minor(found) == minor(linked) {
			return linked
		}
		return found
	}
	base, _ := os.ReadFile(filepath.Join(dir, "staging/src/k8s.io/component-base/version/base.go"))
	if m := inBase.FindSubmatch(base); m != nil {
		v := release("v" + string(m[1]) + ".0")
		return v, fmt.Sprintf("component-base says %s: taken as %s", m[1], v)
	}
	if v := newestInChangelogs(dir); v != "" {
		return release(v), fmt.Sprintf("its changelog ends with %s: taken as %s", v, release(v))
	}
	return linked, fmt.Sprintf("of a version that is not known: taken as %s", linked)
}

// describe asks git, if dir is the root of a repository with tags.
func describe(ctx context.Context, dir string) (version, how string) {
	root, err := output(ctx, dir, "git", "rev-parse", "--show-toplevel")
	if err != nil || !sameDir(root, dir) {
		return "", ""
	}
	out, err := output(ctx, dir, "git", "describe", "--tags", "--match", "v1.*", "--dirty")
	if err != nil {
		return "", ""
	}
	return inTag.FindString(out), "git describe " + out
}

func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// minor is the minor release of a version: "v1.37" of "v1.37.1".
func minor(version string) string {
	return strings.Join(strings.SplitN(version, ".", 3)[:2], ".")
}

// newestInChangelogs is the first version in the changelog of the newest minor
// release, or empty.
func newestInChangelogs(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "CHANGELOG", "CHANGELOG-1.*.md"))
	newest, file := -1, ""
	for _, f := range files {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(f), "CHANGELOG-1.%d.md", &n); err == nil && n > newest {
			newest, file = n, f
		}
	}
	text, _ := os.ReadFile(file)
	if m := inChange.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}
