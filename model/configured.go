package model

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// ConfiguredSource is the text of this file, which goes with SettingsSource.
//
//go:embed configured.go
var ConfiguredSource []byte

// Under are the settings with a configuration, as JSON. It takes the place of all that it could
// say; none leaves them as they are.
func (s Settings) Under(configuration json.RawMessage) Settings {
	if len(configuration) == 0 {
		return s
	}
	return Settings{Configuration: configuration, DryRunOffset: s.DryRunOffset, FeatureGates: s.FeatureGates, Extenders: s.Extenders}
}

// Configured is what this package reads of a KubeSchedulerConfiguration. Whoever takes one
// from a user has it read by the scheduler's own loader first: here nothing is checked.
type Configured struct {
	Parallelism              *int32              `json:"parallelism"`
	PercentageOfNodesToScore *int32              `json:"percentageOfNodesToScore"`
	Profiles                 []ConfiguredProfile `json:"profiles"`
}

// ConfiguredProfile is one of its profiles.
type ConfiguredProfile struct {
	SchedulerName            string               `json:"schedulerName"`
	PercentageOfNodesToScore *int32               `json:"percentageOfNodesToScore"`
	PluginConfig             []ConfiguredPluginOf `json:"pluginConfig"`
}

// ConfiguredPluginOf are the arguments of a plugin.
type ConfiguredPluginOf struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// configurations are those that were read, by their text.
var configurations sync.Map

// configured is the Configuration; nil if there is none. One that names no profile has the
// default one, and a profile without a name is that of the default scheduler
// (apis/config/v1/defaults.go:108@v1.37.1, SetDefaults_KubeSchedulerConfiguration).
func (s Settings) configured() *Configured {
	if len(s.Configuration) == 0 {
		return nil
	}
	if known, ok := configurations.Load(string(s.Configuration)); ok {
		return known.(*Configured)
	}
	c := &Configured{}
	_ = json.Unmarshal(s.Configuration, c) // see Configured
	if len(c.Profiles) == 0 {
		c.Profiles = []ConfiguredProfile{{}}
	}
	for i := range c.Profiles {
		if p := &c.Profiles[i]; p.SchedulerName == "" && len(c.Profiles) == 1 {
			p.SchedulerName = DefaultSchedulerName
		}
	}
	configurations.Store(string(s.Configuration), c)
	return c
}

func (c *Configured) profile(schedulerName string) *ConfiguredProfile {
	for i := range c.Profiles {
		if c.Profiles[i].SchedulerName == schedulerName {
			return &c.Profiles[i]
		}
	}
	return nil
}

// arguments are those of DefaultPreemption.
func (c *Configured) arguments(schedulerName string) Profile {
	out := Profile{SchedulerName: schedulerName}
	if p := c.profile(schedulerName); p != nil {
		for _, plugin := range p.PluginConfig {
			if plugin.Name == "DefaultPreemption" {
				_ = json.Unmarshal(plugin.Args, &out)
			}
		}
	}
	return out
}
