package linked

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	frameworkplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"sigs.k8s.io/yaml"
)

// configurationKind is the only kind of file that is a configuration.
const configurationKind = "KubeSchedulerConfiguration"

// ReadConfiguration reads a KubeSchedulerConfiguration, in YAML or JSON, and returns it as
// JSON. It is read as kube-scheduler reads its --config: strictly, and then validated
// (cmd/kube-scheduler/app/options/configfile.go:42@v1.37.1, loadConfig; options.go:286@v1.37.1,
// Validate). The error names each field that is wrong, and what is allowed.
func ReadConfiguration(data []byte) (json.RawMessage, error) {
	var meta runtime.TypeMeta
	if err := yaml.Unmarshal(data, &meta); err != nil {
		return nil, err
	}
	if meta.Kind != configurationKind {
		return nil, fmt.Errorf("kind: %q is not %s", meta.Kind, configurationKind)
	}
	if version := configv1.SchemeGroupVersion.String(); meta.APIVersion != version {
		return nil, fmt.Errorf("apiVersion: %q is not %s", meta.APIVersion, version)
	}
	cfg, err := decode(data)
	if err != nil {
		return nil, err
	}
	if err := validate(cfg, data); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(data)
}

// decode decodes a configuration strictly, and sets what it leaves open.
func decode(data []byte) (*config.KubeSchedulerConfiguration, error) {
	obj, _, err := scheme.Codecs.UniversalDecoder().Decode(data, nil, nil)
	if err != nil {
		return nil, explained(err)
	}
	cfg, is := obj.(*config.KubeSchedulerConfiguration)
	if !is {
		return nil, fmt.Errorf("kind: it is not %s", configurationKind)
	}
	cfg.APIVersion = configv1.SchemeGroupVersion.String() // validation asks for it
	return cfg, nil
}

// validate is upstream's validation, and that all plugins that are enabled are there: upstream finds out about
// that when it makes a scheduler.
func validate(cfg *config.KubeSchedulerConfiguration, data []byte) error {
	var words []string
	if wrong := validation.ValidateKubeSchedulerConfiguration(cfg); wrong != nil {
		for _, err := range wrong.Errors() {
			words = append(words, err.Error())
		}
	}
	// Upstream says that there are two profiles of one name, and not which name (validation.go:64@v1.37.1,
	// ValidateKubeSchedulerConfiguration).
	words = slices.DeleteFunc(words, func(word string) bool { return strings.HasSuffix(word, "Duplicate value: {}") })
	seen := map[string]bool{}
	for i, p := range cfg.Profiles {
		if seen[p.SchedulerName] {
			words = append(words, fmt.Sprintf("profiles[%d].schedulerName: Duplicate value: %q: each profile needs a name of its own", i, p.SchedulerName))
		}
		seen[p.SchedulerName] = true
	}
	words = append(words, missingPlugins(data)...)
	if slices.Sort(words); len(words) == 0 {
		return nil
	}
	return errors.New(strings.Join(slices.Compact(words), "\n"))
}

// missingPlugins are those that a file enables and that there are not, by their places in the file.
func missingPlugins(data []byte) (missing []string) {
	var file struct {
		Profiles []struct {
			Plugins map[string]struct {
				Enabled []struct{ Name string }
			}
		}
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil // it was decoded before
	}
	known := frameworkplugins.NewInTreeRegistry()
	maps.Copy(known, Registry())
	for i, profile := range file.Profiles {
		for point, set := range profile.Plugins {
			for j, p := range set.Enabled {
				if known[p.Name] == nil {
					missing = append(missing, fmt.Sprintf("profiles[%d].plugins.%s.enabled[%d].name: this kube-scheduler has no plugin %q; it has %s",
						i, point, j, p.Name, strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
				}
			}
		}
	}
	return missing
}

// unknownField is how the strict decoder names a field that there is not.
var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// explained is an error of the strict decoder, one line for each field, with the fields that
// there are in its place.
func explained(err error) error {
	text := strings.TrimPrefix(err.Error(), "strict decoding error: ")
	var lines []string
	for _, part := range strings.Split(text, ", ") {
		m := unknownField.FindStringSubmatch(part)
		if m == nil {
			lines = append(lines, part)
			continue
		}
		line := part
		if known := fieldsBeside(m[1], part); len(known) > 0 {
			line += "; known are " + strings.Join(known, ", ")
		}
		lines = append(lines, line)
	}
	return errors.New(strings.Join(lines, "\n"))
}
