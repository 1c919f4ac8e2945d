package properties

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/reference"
)

// asked are the scripts of a subject that were run, and what came of them.
type asked struct {
	answers map[[sha256.Size]byte]transcript
	tally   map[string]map[string]int
}

type transcript struct {
	answers []calls.Answer
	err     error
}

// Ask asks the plugins of the system: see reference.PluginSystem. The same script is run once only. The error is
// errors.ErrUnsupported if the system cannot be asked.
func (s *Subject) Ask(script []calls.Call) ([]calls.Answer, error) {
	system, ok := s.System.(reference.PluginSystem)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	data, err := json.Marshal(script)
	if err != nil {
		return nil, err
	}
	if s.asked == nil {
		s.asked = &asked{answers: map[[sha256.Size]byte]transcript{}, tally: map[string]map[string]int{}}
	}
	key := sha256.Sum256(data)
	t, known := s.asked.answers[key]
	if !known {
		t.answers, t.err = system.Ask(s.Context, s.Cluster, script)
		s.asked.answers[key] = t
	}
	return t.answers, t.err
}

// AskedOf tells whether the contract of a plugin is asked: of all, or of those only that are not Kubernetes' own.
func (s *Subject) AskedOf(plugin string) bool {
	return s.ofPlugins == nil || slices.Contains(s.ofPlugins, plugin)
}

// HasOutside tells whether there are plugins that are not Kubernetes' own: one may take the place of any other.
func (s *Subject) HasOutside() bool { return len(s.ofPlugins) > 0 }

// IsOutside tells whether a plugin is one of the system that is not Kubernetes' own.
func (s *Subject) IsOutside(plugin string) bool { return slices.Contains(s.ofPlugins, plugin) }

// Tally counts something about a plugin: see Result.Plugins. Nothing is counted while findings are explained.
func (s *Subject) Tally(plugin, what string, n int) {
	if s.AssumesAny() || s.asked == nil || n == 0 {
		return
	}
	if s.asked.tally[plugin] == nil {
		s.asked.tally[plugin] = map[string]int{}
	}
	s.asked.tally[plugin][what] += n
}

// Counted is what was counted; nil if nothing was.
func (s *Subject) Counted() map[string]map[string]int {
	if s.asked == nil {
		return nil
	}
	return maps.Clone(s.asked.tally)
}

// FoundOfPlugin reports a promise that a plugin broke, in one of several ways, which kind tells apart.
func FoundOfPlugin(kind, detail string) Finding {
	return Finding{Stage: model.StageFilter, Kind: kind, Detail: detail, about: kind}
}
