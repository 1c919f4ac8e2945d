package releases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/releases/lifewire"
)

// oldestLife is the first minor release whose scheduler can be run through timelines.
const oldestLife = 34

// Lives tells whether the scheduler of a release can be run through timelines. The linked one needs
// no driver for that.
func Lives(version string) bool {
	if !Known(version) {
		return false
	}
	r := mustParse(version)
	return r.Minor >= oldestLife && r != release.Linked
}

// BuildLife is Build of the driver that runs timelines.
func BuildLife(ctx context.Context, version string, log io.Writer) (binary string, err error) {
	if !Lives(version) {
		return "", fmt.Errorf("the scheduler of %s cannot be run through timelines", version)
	}
	return lives.build(ctx, version, log)
}

// Life is the scheduler of a release that runs timelines.
type Life struct{ System }

var _ reference.LifeSystem = (*Life)(nil)

// NewLife returns the scheduler of a release for timelines. It must have been built.
func NewLife(version string) (*Life, error) {
	binary, built, err := lives.cached(version)
	if err != nil {
		return nil, err
	}
	if !built {
		return nil, fmt.Errorf("the scheduler of %s is not built for timelines: run \"preemptcheck references --build %s\"", version, version)
	}
	return &Life{System{release: version, command: func() *exec.Cmd { return exec.Command(binary) }, timeout: driverTimeout}}, nil
}

// Live implements reference.LifeSystem. What ends the process is the Crash of a trace: it is asked
// once more then, to tell all that it sees as it sees it.
func (s *Life) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	if t.Cluster.Settings.FeatureGates[model.GateWorkload] {
		return nil, &reference.Refusal{System: s.release, What: "pod groups in timelines: its driver does not watch them"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ask := func(tell bool) (a lifeAnswer, err error) {
		data, err := json.Marshal(lifewire.Request{Timeline: lifewire.OfTimeline(t), Tell: tell})
		if err != nil {
			return a, err
		}
		err = s.ask(ctx, data, s.timeout, &a)
		return a, err
	}
	a, err := ask(false)
	switch died := (*failure)(nil); {
	case errors.As(err, &died):
		trace := &timeline.Trace{System: s.release, Crash: died.crash()}
		if a, err = ask(true); errors.As(err, &died) { // it is the timeline that does it
			trace.Add(&a.told)
		}
		return trace, ctx.Err()
	case err != nil:
		return nil, err
	case a.Error != "":
		return nil, errors.New(a.Error)
	case a.Trace == nil:
		return nil, fmt.Errorf("the scheduler of %s gave an empty answer", s.release)
	}
	return a.Trace.Received(), nil
}

// growing is an answer that comes in parts: what is new of a trace, until the last one.
type growing struct {
	Part *lifewire.Trace `json:",omitempty"`

	told timeline.Trace
}

// more implements unfinished.
func (g *growing) more() bool {
	if g.Part == nil {
		return false
	}
	g.told.Add(g.Part.Received())
	g.Part = nil
	return true
}

type lifeAnswer struct {
	lifewire.Answer
	growing
}

// walkLife is walk for the driver that runs timelines.
func walkLife(version string, f func(name string, content []byte) error) error {
	minor := mustParse(version).Minor
	main, err := fs.ReadFile(sources, "_driver/life/main.go")
	if err != nil {
		return err
	}
	if err := f("main.go", main); err != nil {
		return err
	}
	if err := walkMod(version, f); err != nil {
		return err
	}
	for _, name := range []string{"wire/wire.go", "lifewire/lifewire.go"} {
		content, err := fs.ReadFile(sources, name)
		if err != nil {
			return err
		}
		if err := f("reference/releases/"+name, content); err != nil {
			return err
		}
	}
	left := func(path string) bool {
		return slices.Contains([]string{"life/podgroups.go", "life/api/podgroups.go", "life/system.go"}, path)
	}
	return walkEdited(minor, left, f, sourceTree{"model", model.LifeSources}, sourceTree{"reference", reference.LifeSources})
}

// sourceTree are packages below a directory of this module.
type sourceTree struct {
	dir   string
	files fs.FS
}

// walkEdited calls f with the sources of packages, edited for a minor release. Those that are left out are named by
// their paths in a tree.
func walkEdited(minor int, left func(path string) bool, f func(name string, content []byte) error, trees ...sourceTree) error {
	for _, from := range trees {
		err := fs.WalkDir(from.files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || left(path) {
				return err
			}
			content, err := fs.ReadFile(from.files, path)
			if err != nil {
				return err
			}
			name := from.dir + "/" + path
			text, err := editLife(minor, name, string(content))
			if err != nil {
				return fmt.Errorf("making the driver of 1.%d: %w", minor, err)
			}
			return f(name, []byte(text))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
