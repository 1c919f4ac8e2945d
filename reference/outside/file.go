// Package outside runs schedulers with plugins that are not Kubernetes' own, from a file that says where they are: each
// is a driver, as package releases has them, which is built with the Kubernetes of the plugins' own go.mod.
package outside

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// APIVersion and Kind are those of a File.
const (
	APIVersion = "preemptcheck/v1alpha1"
	FileKind   = "Plugins"
)

// File says which plugins a scheduler has besides its own, and where they are.
type File struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Module is the plugins' module. It is of a Version, or in a directory, Dir, which is relative to the file.
	Module  string `json:"module"`
	Version string `json:"version,omitempty"`
	Dir     string `json:"dir,omitempty"`
	// Schemes are packages that, when they are imported, have the scheduler know the arguments of plugins.
	Schemes []string `json:"schemes,omitempty"`
	Plugins []Plugin `json:"plugins"`
	// Versions are those to take of other modules, instead of what the plugins' go.mod says: by their paths.
	Versions map[string]string `json:"versions,omitempty"`
	// Kinds are those of objects that are not Kubernetes' own, and that plugins read with a client of their own.
	Kinds []ObjectKind `json:"kinds,omitempty"`
	// Objects are some that generated clusters have: of these kinds, or priority classes. PodLabels are labels that their
	// pods may have, and the values.
	Objects   []json.RawMessage   `json:"objects,omitempty"`
	PodLabels map[string][]string `json:"podLabels,omitempty"`

	path string
}

// Plugin is one of a profile, at all extension points that it has.
type Plugin struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	// Factory is the function of the package that makes it; "" is New.
	Factory string `json:"factory,omitempty"`
	// Replaces are plugins of the scheduler's own that the profile does not have then.
	Replaces []string `json:"replaces,omitempty"`
	// Keeps are the properties that are asked of the scheduler with the plugin: their names, or "all" and "-name" of those
	// that are not. None are those of any preemption, if it
	// replaces DefaultPreemption, and all otherwise, but for relations if there are Kinds.
	Keeps []string `json:"keeps,omitempty"`
	// Args are its arguments, as in the pluginConfig of a KubeSchedulerConfiguration.
	Args json.RawMessage `json:"args,omitempty"`
}

// ObjectKind is a kind of objects.
type ObjectKind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Resource is its name in addresses of the API; "" is the kind in lower case with an s.
	Resource string `json:"resource,omitempty"`
	// Cluster says that objects are in no namespace.
	Cluster bool `json:"cluster,omitempty"`
}

// IsFile tells whether the name of a scheduler is that of a File.
func IsFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

// Read reads a File strictly. Errors name the file and the field.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path}
	if err := yaml.UnmarshalStrict(data, f, yaml.DisallowUnknownFields); err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error unmarshaling JSON: "), "while decoding JSON: "))
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range f.Plugins {
		if f.Plugins[i].Factory == "" {
			f.Plugins[i].Factory = "New"
		}
	}
	for i := range f.Kinds {
		if k := &f.Kinds[i]; k.Resource == "" {
			k.Resource = strings.ToLower(k.Kind) + "s"
		}
	}
	if f.Dir != "" && !filepath.IsAbs(f.Dir) {
		if f.Dir, err = filepath.Abs(filepath.Join(filepath.Dir(path), f.Dir)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

var (
	identifier = regexp.MustCompile(`^[A-Z][A-Za-z0-9_]*$`)
	importPath = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~/-]*$`)
	versions   = regexp.MustCompile(`^v[0-9][A-Za-z0-9.+-]*$`)
)

// check tells what is wrong: all of it.
func (f *File) check() error {
	var errs []error
	wrong := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
	}
	if f.APIVersion != APIVersion {
		wrong("apiVersion", "must be %s", APIVersion)
	}
	if f.Kind != FileKind {
		wrong("kind", "must be %s", FileKind)
	}
	if !importPath.MatchString(f.Module) {
		wrong("module", "%q is no module path", f.Module)
	}
	switch {
	case (f.Version == "") == (f.Dir == ""):
		wrong("version", "give either it or dir")
	case f.Version != "" && !versions.MatchString(f.Version):
		wrong("version", "%q is none: want v0.34.7, for example", f.Version)
	}
	inModule := func(field, pkg string) {
		if !importPath.MatchString(pkg) {
			wrong(field, "%q is no import path", pkg)
		}
	}
	for i, pkg := range f.Schemes {
		inModule(fmt.Sprintf("schemes[%d]", i), pkg)
	}
	for path, version := range f.Versions {
		if !importPath.MatchString(path) || !versions.MatchString(version) {
			wrong("versions", "%s: %s is no version of a module", path, version)
		}
	}
	if len(f.Plugins) == 0 {
		wrong("plugins", "there are none")
	}
	names := map[string]bool{}
	for i, p := range f.Plugins {
		at := fmt.Sprintf("plugins[%d].", i)
		if p.Name == "" || names[p.Name] {
			wrong(at+"name", "%q is missing, or there twice", p.Name)
		}
		names[p.Name] = true
		inModule(at+"package", p.Package)
		if p.Factory != "" && !identifier.MatchString(p.Factory) {
			wrong(at+"factory", "%q is no exported function", p.Factory)
		}
	}
	for i, k := range f.Kinds {
		at := fmt.Sprintf("kinds[%d].", i)
		if k.APIVersion == "" {
			wrong(at+"apiVersion", "is missing")
		}
		if !identifier.MatchString(k.Kind) {
			wrong(at+"kind", "%q is no kind", k.Kind)
		}
	}
	for i, data := range f.Objects {
		var o struct {
			APIVersion, Kind string
			Metadata         struct{ Name string }
		}
		at := fmt.Sprintf("objects[%d]", i)
		if err := json.Unmarshal(data, &o); err != nil || o.Metadata.Name == "" {
			wrong(at, "is no object with a name")
		} else if o.Kind != "PriorityClass" && !slices.ContainsFunc(f.Kinds, func(k ObjectKind) bool { return k.APIVersion == o.APIVersion && k.Kind == o.Kind }) {
			wrong(at, "%s %s is neither among kinds nor a PriorityClass", o.APIVersion, o.Kind)
		}
	}
	return errors.Join(errs...)
}

// Replaces tells whether a plugin of the scheduler's own has no place in the profile.
func (f *File) Replaces(name string) bool {
	return slices.ContainsFunc(f.Plugins, func(p Plugin) bool { return slices.Contains(p.Replaces, name) })
}
