// Command dist builds what is released: a static binary for each platform, in an archive, the
// manifest by which krew installs it as a kubectl plugin, a container image, and the checksums
// of all.
//
// All of it is reproducible: the same commit and the same Go give the same bytes, wherever they
// are built.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platform is an operating system and an architecture, as Go names them.
type platform struct{ OS, Arch string }

func (p platform) String() string { return p.OS + "/" + p.Arch }

// released are the platforms that binaries are released for.
var released = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// binary is a program that was built for a platform.
type binary struct {
	platform
	path string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

// aVersion is what a version may be: it becomes part of file names and addresses.
var aVersion = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	out := flags.String("out", "dist", "the directory to write to")
	version := flags.String("version", "", "the version, as v1.2.3; by default v0.0.0- and the commit")
	overlay := flags.String("overlay", "", "replace files of the source by others, as \"go build -overlay\" does: for tests")
	only := flags.String("platforms", "", "build only these, as linux/amd64,darwin/arm64")
	if err := flags.Parse(args); err != nil {
		return err
	}
	platforms, err := parsePlatforms(*only)
	if err != nil {
		return err
	}
	commit, when, err := head(ctx)
	if err != nil {
		return err
	}
	if *version == "" {
		*version = "v0.0.0-" + commit
	}
	if !aVersion.MatchString(*version) {
		return fmt.Errorf("-version: %q is no version such as v1.2.3", *version)
	}
	if err := os.MkdirAll(*out, 0o777); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(*out, ".building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	var binaries []binary
	for i, p := range platforms {
		start := time.Now()
		fmt.Fprintf(os.Stderr, "%d of %d: %s\n", i+1, len(platforms), p)
		b := binary{p, filepath.Join(temp, p.OS+"-"+p.Arch)}
		if err := build(ctx, b, *version, *overlay); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		fmt.Fprintf(os.Stderr, "  built in %s\n", time.Since(start).Round(time.Second))
		binaries = append(binaries, b)
	}
	r := &release{version: *version, when: when, out: *out, log: os.Stderr}
	if r.pages, err = pages(ctx, binaries, temp, *version, *overlay, when); err != nil {
		return fmt.Errorf("manual and completions: %w", err)
	}
	return r.write(binaries)
}

// pages are the man pages, and what shells complete by, as the program itself prints them.
func pages(ctx context.Context, binaries []binary, temp, version, overlay string, when time.Time) (all []entry, err error) {
	own := binary{platform{runtime.GOOS, runtime.GOARCH}, filepath.Join(temp, "own")}
	if i := slices.IndexFunc(binaries, func(b binary) bool { return b.platform == own.platform }); i >= 0 {
		own = binaries[i]
	} else if err := build(ctx, own, version, overlay); err != nil {
		return nil, err
	}
	man := filepath.Join(temp, "man")
	if out, err := exec.CommandContext(ctx, own.path, "manual", "--man", man, "--date", strconv.FormatInt(when.Unix(), 10)).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	files, err := os.ReadDir(man) // in the order of their names
	if err != nil {
		return nil, err
	}
	for _, shell := range []string{"bash", "fish", "zsh"} {
		script, err := exec.CommandContext(ctx, own.path, "completion", shell).Output()
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name: "completions/" + program + "." + shell, mode: 0o644, data: script})
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(man, f.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name: "man/" + f.Name(), mode: 0o644, data: text})
	}
	return all, nil
}

// parsePlatforms reads a list of platforms; "" is all that are released.
func parsePlatforms(text string) (platforms []platform, err error) {
	if text == "" {
		return released, nil
	}
	for _, name := range strings.Split(text, ",") {
		found := false
		for _, p := range released {
			if found = p.String() == name; found {
				platforms = append(platforms, p)
				break
			}
		}
		if !found {
			return nil, fmt.Errorf("-platforms: %q is none of %v", name, released)
		}
	}
	return platforms, nil
}

// head is the commit that is built, in short, and when it was made. What is not committed is
// named: it cannot be built again.
func head(ctx context.Context) (commit string, when time.Time, err error) {
	out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%h %ct").Output()
	if err != nil {
		return "", when, fmt.Errorf("which commit is this? git log: %w", err)
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return "", when, err
	}
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output()
	if err == nil && len(changed) > 0 {
		fmt.Fprintln(os.Stderr, "warning: there are changes that are not committed")
		commit += "-changed"
	}
	return commit, time.Unix(unix, 0).UTC(), err
}

// build builds the program without anything that depends on where or when it is built: neither
// paths, nor the state of the repository, nor a C compiler.
func build(ctx context.Context, b binary, version, overlay string) error {
	path, err := filepath.Abs(b.path)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-overlay="+overlay,
		"-ldflags", "-s -w -buildid= -X github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program.ownVersion="+version, "-o", path, "./cmd/preemptcheck")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+b.OS, "GOARCH="+b.Arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}
