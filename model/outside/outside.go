// Package outside models plugins that are not Kubernetes' own, from their documents: what of the rules of a release is
// otherwise with one of them. Neither the specification nor package release knows of it.
//
// The documents of such plugins are short, and some contradict each other. Each way to read them is a Reading, and a
// scheduler has to keep to one. Where no reading tells, the cluster is not modelled.
package outside

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// Module is that of the plugins that are modelled, Versions are those whose documents were read.
const Module = "sigs.k8s.io/scheduler-plugins"

// Versions are the releases of Module whose documents the models are of.
func Versions() []string { return []string{"v0.34.7"} }

// Variant is the model of a scheduler with one plugin in the place of DefaultPreemption.
type Variant struct {
	// Plugin is the name of the plugin.
	Plugin string
	// Readings are the ways to read the plugin's documents, the likeliest first.
	Readings []Reading
}

// Reading changes the rules of a release into those of a scheduler with the plugin, with some known bugs of the plugin: quirks.
type Reading func(rules *answers.Rules, quirks ...release.Quirk) *answers.Rules

// Of is the model of a plugin with its arguments as in the pluginConfig of a profile; nil if it is not modelled. The
// error names an argument that cannot be read.
func Of(plugin string, args json.RawMessage) (*Variant, error) {
	switch plugin {
	case PreemptionToleration:
		return toleration(args)
	case CapacityScheduling:
		return &Variant{CapacityScheduling, quotaReadings()}, nil
	}
	return nil, nil
}

// readings are all combinations of so many questions to which the documents give two answers each: the likelier one of
// all first. make is told of each question whether the other answer is taken.
func readings(questions int, make func(rules *answers.Rules, quirks []release.Quirk, other []bool)) (all []Reading) {
	for n := range 1 << questions {
		other := []bool{}
		for i := range questions {
			other = append(other, n>>i&1 == 1)
		}
		all = append(all, func(rules *answers.Rules, quirks ...release.Quirk) *answers.Rules {
			out := rules.Clone()
			out.Unmodelled = append(slices.Clip(out.Unmodelled), configured)
			make(out, quirks, other)
			return out
		})
	}
	return all
}

// configured reports that the profile of the file is not the one that counts.
func configured(c *model.Cluster, report filter.Report) {
	if c.Settings.Configuration != nil {
		report("scheduler", "profiles", "another profile than that with the plugin")
	}
}

// eligible is model.Eligible, with the pods for whose end the preemptor waits on its nominated node.
func eligible(cy *model.Cycle, verdicts map[string]*model.Verdict, awaits func(*filter.Pod) bool) model.Eligibility {
	alone := *cy // the nominated node counts for nothing else there
	algorithm := *cy.Algorithm
	algorithm.Awaited = func(*filter.Pod) bool { return false }
	alone.Algorithm = &algorithm
	if e := model.Eligible(&alone, verdicts); !e.OK {
		return e
	}
	n := cy.Node(cy.Preemptor.Status.NominatedNodeName)
	if n == nil {
		return model.Eligibility{OK: true}
	}
	if v := verdicts[n.Name]; v != nil && v.Unresolvable {
		return model.Eligibility{OK: true}
	}
	for _, p := range n.Pods {
		if awaits(p) {
			return model.Eligibility{Reason: fmt.Sprintf("it waits for %s to terminate on its nominated node %s", p.Key, n.Name)}
		}
	}
	return model.Eligibility{OK: true}
}
