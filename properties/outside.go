package properties

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/outside"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// Outside are plugins that are not the scheduler's own.
type Outside struct {
	// Unmodelled names them, if the model does not cover them, whatever the cluster.
	Unmodelled model.Unmodelled
	// Model is that of a scheduler with the plugin; nil if there is none, or if other plugins are there, too.
	Model *outside.Variant
	// Plugins are their names: of these the contract is asked.
	Plugins []string
	// Keeps tells whether a property is asked of a scheduler that has them.
	Keeps func(property string) bool
}

// known are the quirks of all known findings of the scheduler, and of its modelled plugin.
func (s *Subject) known() []release.Quirk {
	if s.model == nil {
		return ledger.QuirksOf(s.Release)
	}
	return append(slices.Clip(ledger.QuirksOf(s.Release)), ledger.QuirksOfPlugin(s.model.Plugin)...)
}

// Known are the rules with all known findings.
func (s *Subject) Known() *answers.Rules { return s.with(s.known()...) }

// with are the rules of the release with some quirks and, if there is one, its modelled plugin.
func (s *Subject) with(quirks ...release.Quirk) *answers.Rules {
	if s.model == nil {
		return release.With(s.Release.Rules(), quirks...)
	}
	of := ledger.QuirksOfPlugin(s.model.Plugin)
	isOf := func(q release.Quirk) bool { return slices.Contains(of, q) }
	own := slices.DeleteFunc(slices.Clone(quirks), isOf)
	return s.model.Readings[s.reading](release.With(s.Release.Rules(), own...),
		slices.DeleteFunc(slices.Clone(quirks), func(q release.Quirk) bool { return !isOf(q) })...)
}

// read takes the first reading of the documents of the modelled plugin that allows what was observed: by itself or, if
// none does, with what is known. It stays with the first reading if there is none.
func (s *Subject) read() {
	if s.model == nil || s.Decision == nil || s.Decision.Admits(s.Observation) == nil {
		return
	}
	if _, err := answers.Decide(s.Cluster, s.with(s.known()...)); errors.As(err, &s.Unmodelled) { // a known bug leaves it open
		s.Decision = nil
		return
	}
	first := s.reading
	for _, quirks := range [][]release.Quirk{nil, s.known()} {
		for s.reading = range s.model.Readings {
			if d, err := answers.Decide(s.Cluster, s.with(quirks...)); err == nil && d.Admits(s.Observation) == nil {
				if len(quirks) > 0 {
					if d, err = answers.Decide(s.Cluster, s.with()); err != nil {
						continue
					}
				}
				s.Decision = d
				return
			}
		}
	}
	s.reading = first
}

const noErrorByPlugins = "no-error-by-plugins"

// NoErrorByPlugins is asked of a scheduler with plugins that are not its own: that the cycle of a valid cluster, which would
// end in no error without them, ends in none with them.
func NoErrorByPlugins() Property {
	return Property{
		Name:    noErrorByPlugins,
		Promise: "<nil, Error>. This denotes it's a transient/rare error that may be self-healed in future cycles.",
		Source:  "preemption.go:168@v1.37.1, doc comment of Preempt: a valid cluster as such is no reason for one",
		Applies: func(s *Subject) bool {
			return s.plain != nil && len(s.Cluster.Nodes) > 0 && !s.Extended()
		},
		Check: func(s *Subject) (findings []Finding, err error) {
			known := release.With(s.Release.Rules(), ledger.QuirksOf(s.Release)...)
			without := []*answers.Set{s.plain}
			for _, rules := range []*answers.Rules{known, answers.BesideUnknown(known, s.Observation)} {
				d, err := answers.Decide(s.Cluster, rules)
				if err != nil {
					return nil, nil // by what is known of the release, the model does not cover it
				}
				without = append(without, d)
			}
			broken := func(stage model.Stage, node, what, text string, fails func(*answers.Set) bool) {
				if text != "" && !slices.ContainsFunc(without, fails) {
					f := FoundOf(stage, node, answers.Cause(text), fmt.Sprintf("%s ended in an error: %s", what, text))
					f.Kind = answers.Cause(text)
					findings = append(findings, f)
				}
			}
			o := s.Observation
			broken(model.StageFilter, "", "the cycle", o.CycleError, func(d *answers.Set) bool { return d.FilterFails != "" || d.CycleFails(o.CycleError) })
			for _, node := range slices.Sorted(maps.Keys(o.DryRuns)) {
				text := o.DryRuns[node].Error
				broken(model.StageDryRun, node, "the dry run", text, func(d *answers.Set) bool { return d.DryRunFails(node, text) })
			}
			if o.PostFilterCode == "Error" && findings == nil {
				broken(model.StageEligible, "", "PostFilter", o.PostFilterMessage, func(d *answers.Set) bool { return d.PostFilterFails(o) })
			}
			return findings, nil
		},
	}
}
