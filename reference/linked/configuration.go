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
	"k8s.io/apimachinery/pkg/util/validation/field"
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
	if err := validate(cfg); err != nil {
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

// validate is upstream's validation, and that all plugins that are enabled are there: upstream
// finds out about that when it makes a scheduler.
func validate(cfg *config.KubeSchedulerConfiguration) error {
	var all []error
	if wrong := validation.ValidateKubeSchedulerConfiguration(cfg); wrong != nil {
		all = append(all, wrong.Errors()...)
	}
	known := slices.Sorted(maps.Keys(frameworkplugins.NewInTreeRegistry()))
	for i := range cfg.Profiles {
		for point, set := range pluginSets(cfg.Profiles[i].Plugins) {
			path := field.NewPath("profiles").Index(i).Child("plugins", point, "enabled")
			for j, p := range set.Enabled {
				if !slices.Contains(known, p.Name) {
					all = append(all, field.NotSupported(path.Index(j).Child("name"), p.Name, known))
				}
			}
		}
	}
	var words []string
	for _, err := range all {
		if !slices.Contains(words, err.Error()) {
			words = append(words, err.Error())
		}
	}
	if len(words) == 0 {
		return nil
	}
	slices.Sort(words)
	return errors.New(strings.Join(words, "\n"))
}

// pluginSets are the plugins of a profile by the extension point.
func pluginSets(p *config.Plugins) map[string]config.PluginSet {
	sets := map[string]config.PluginSet{}
	if p == nil {
		return sets
	}
	// The versioned type has the names of the points as its users write them.
	versioned := configv1.Plugins{}
	if err := scheme.Scheme.Convert(p, &versioned, nil); err != nil {
		return sets
	}
	data, err := json.Marshal(versioned)
	if err == nil {
		err = json.Unmarshal(data, &sets)
	}
	if err != nil {
		panic(err) // it is plain data
	}
	return sets
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
