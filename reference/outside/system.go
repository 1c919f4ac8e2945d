package outside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/releases"
	"github.com/preemptcheck/preemptcheck/reference/releases/built"
)

// System is a scheduler with plugins that are not its own.
type System struct {
	*releases.Driver
	calls *releases.Isolated
	asked int // how often
}

// askedOfOne is how often one process is asked about plugins: it keeps all that it ever made.
const askedOfOne = 1000

var _ reference.PluginSystem = (*System)(nil)

// New returns the scheduler of a file, which must have been built.
func New(f *File) (*System, error) {
	dir, a, err := f.built()
	if err != nil {
		return nil, err
	}
	argument, err := f.argument()
	if err != nil {
		return nil, err
	}
	command := func() *exec.Cmd { return exec.Command(filepath.Join(dir, "driver"), argument) }
	asks := func() *exec.Cmd { return exec.Command(filepath.Join(dir, callsDriver), argument) }
	return &System{Driver: releases.NewDriver(f.path, a.Kubernetes, command), calls: releases.NewIsolated(a.Kubernetes, asks)}, nil
}

// Ask implements reference.PluginSystem.
func (s *System) Ask(ctx context.Context, c *model.Cluster, script []calls.Call) ([]calls.Answer, error) {
	if s.asked++; s.asked%askedOfOne == 0 {
		if err := s.calls.Close(); err != nil { // the next one starts a process
			return nil, err
		}
	}
	return s.calls.Ask(ctx, releases.WithPriorityClasses(c), script)
}

// Close implements reference.System.
func (s *System) Close() error {
	return errors.Join(s.Driver.Close(), s.calls.Close())
}

// Release is that of the Kubernetes that the scheduler of a file is built with. It must have been built.
func Release(f *File) (release.Release, error) {
	_, a, err := f.built()
	if err != nil {
		return release.Release{}, err
	}
	return release.Parse(a.Kubernetes)
}

func (f *File) built() (dir string, a about, err error) {
	name, err := f.cacheName()
	if err != nil {
		return "", a, err
	}
	dir, exists, err := built.Dir(name)
	if err != nil {
		return "", a, err
	}
	if !exists {
		return "", a, fmt.Errorf("the scheduler of %s is not built", f.path)
	}
	data, err := os.ReadFile(filepath.Join(dir, aboutFile))
	if err != nil {
		return "", a, err
	}
	return dir, a, errors.Join(json.Unmarshal(data, &a))
}

// argument is what a driver is told of the plugins when it starts.
func (f *File) argument() (string, error) {
	type plugin struct {
		Name     string
		Args     json.RawMessage `json:",omitempty"`
		Replaces []string
	}
	type kind struct {
		APIVersion, Kind, Resource string
		Namespaced                 bool
	}
	var setup struct {
		Plugins []plugin
		Kinds   []kind
	}
	for _, p := range f.Plugins {
		setup.Plugins = append(setup.Plugins, plugin{p.Name, p.Args, p.Replaces})
	}
	for _, k := range f.Kinds {
		setup.Kinds = append(setup.Kinds, kind{k.APIVersion, k.Kind, k.Resource, !k.Cluster})
	}
	data, err := json.Marshal(setup)
	return string(data), err
}

// RegisterKinds has this process know the kinds of a file: objects of them are what they say that they are, unchecked.
func RegisterKinds(f *File) {
	for _, k := range f.Kinds {
		gvk := schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
		if !scheme.Scheme.Recognizes(gvk) {
			scheme.Scheme.AddKnownTypeWithName(gvk, &unstructured.Unstructured{})
		}
	}
}
