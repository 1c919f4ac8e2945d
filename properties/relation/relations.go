// Package relation holds metamorphic relations: promises about what a scheduler
// answers to two clusters, of which one is a variation of the other.
package relation

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// relation is a metamorphic relation: a change of the cluster after which the
// outcome has to stand in a known relation to the outcome before. It needs no
// model, only the scheduler's answers to both clusters.
type relation struct {
	name string
	// promise says what has to hold and why; source says by which documentation.
	promise, source string
	// releases is the range of those that make the promise; "" is all.
	releases string
	// lies name what breaks the relation in the tests.
	lies []string
	// vary changes the cluster; nil if the relation says nothing about it.
	vary func(s *properties.Subject, random *rand.Rand) *variation
	// extenders tells whether it holds with extenders, too. Others say nothing if
	// there are any, which may answer differently for other nodes, victims or
	// priorities.
	extenders bool
}

func relations() []relation {
	return []relation{
		renaming, permutingLists, permutingBudgets,
		shiftingPriorities, rankingPriorities, scalingResources,
		addingUselessNode, addingIdleBudget, addingImportantPod, removingUselessNode, duplicatingNode,
		raisingBudget, addingCapacity, splittingBudget, settingStartTimes,
	}
}

// All are the relations in a fixed order. Each asks the system once more, unless it
// says nothing about the cluster. What it leaves to choice, such as which node is
// removed, depends on the cluster alone.
func All() []properties.Property { return slices.Clone(shared()) }

// Count is how many there are.
func Count() int { return len(shared()) }

var shared = sync.OnceValue(func() (all []properties.Property) {
	for _, r := range relations() {
		all = append(all, properties.Property{Name: r.name, Promise: r.promise, Source: r.source, Releases: r.releases, Needs: properties.NeedsRepetition, Ungrouped: true, Lies: r.lies, Check: r.check})
	}
	return all
})

// Circumstances are the relations of two answers to one cluster, under other circumstances.
func Circumstances() []properties.Property { return []properties.Property{UpdatesAgree, TwinsAgree} }

// Some are n of All, for a campaign that cannot afford all on each cluster. They
// depend on the cluster alone: the same cluster always gets the same, and over many
// clusters each gets its share.
func Some(c *model.Cluster, n int) []properties.Property {
	all := shared()
	chosen := make([]properties.Property, 0, n)
	for _, i := range properties.Random(c, "relations").Perm(len(all))[:min(n, len(all))] {
		chosen = append(chosen, all[i])
	}
	return chosen
}

func (r relation) check(s *properties.Subject) ([]properties.Finding, error) {
	if s.Extended() && !r.extenders {
		return nil, nil
	}
	v := r.vary(s, properties.Random(s.Cluster, r.name))
	if v == nil {
		return nil, nil
	}
	after, err := s.System.Observe(s.Context, v.cluster)
	if refusal := (*reference.Refusal)(nil); errors.As(err, &refusal) {
		return nil, nil // the release does not know the change
	}
	if err != nil {
		return nil, err
	}
	// A known crash is no finding: where the system knows two capacities, which it reads is chance.
	if breaks, findings := properties.Breaks(v.cluster, after); breaks {
		return findings, nil // there is nothing to compare
	}
	if knownError(s, s.Cluster, s.Observation) != knownError(s, v.cluster, after) {
		return nil, nil // as little
	}
	return (&comparison{s, v, after}).findings(), nil
}

// knownError tells whether a cycle ended in an error of scores that is known. Nodes are
// scored where there is a choice of them, which a relation may make or take away.
func knownError(s *properties.Subject, c *model.Cluster, o *model.Observation) bool {
	if !strings.Contains(o.CycleError, release.InvalidScore) {
		return false
	}
	d, err := answers.Decide(c, s.Known())
	return err == nil && d.Admits(o) == nil
}

// copyOf is a copy of a cluster, to be changed, and all of its pods, the preemptor
// first.
func copyOf(c *model.Cluster) (out *model.Cluster, pods []*v1.Pod) {
	out = c.DeepCopy()
	return out, append([]*v1.Pod{out.Preemptor}, out.Pods...)
}
