// Package minimize makes a cluster on which something was found as small as it
// can be while the same is found. It works on the cluster itself, so it serves a
// generated cluster and a user's dump alike.
//
// A step is one simplification: an object or a field less, a smaller number, a
// plainer name. Steps are taken as long as one keeps the fingerprint of the
// finding; when none does, the cluster is 1-minimal, and the steps that failed
// say what each thing that is left is needed for.
package minimize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Result is a minimised cluster.
type Result struct {
	Cluster *model.Cluster
	// Finding is the finding as it shows on Cluster.
	Finding properties.Finding
	// Checks counts the clusters checked.
	Checks int
	// Minimal certifies that no single further step keeps the fingerprint. It is
	// false if there was no time to find out.
	Minimal bool
	// Needs holds, for each step that is possible on Cluster, why it was not
	// taken. It is empty unless Minimal.
	Needs []Need
	// Neighbour is the nearest cluster on which nothing is found, or nil if no
	// single edit leads to one.
	Neighbour *Neighbour
}

// Need says why something is left in a minimised cluster.
type Need struct {
	// Step is the step that was tried, for example "Pod default/a: without
	// spec.tolerations".
	Step string `json:"step"`
	// Becomes is what is found after it, by everything that the checker looks
	// at: Agrees, the fingerprints of other findings, or why the question has no
	// answer; "gone" if there was no time for that.
	Becomes string `json:"becomes"`

	cluster *model.Cluster
}

// Neighbour is a cluster that differs in one edit from a minimised one.
type Neighbour struct {
	Edit    string
	Cluster *model.Cluster
}

// ErrNotFound is the error of Minimise for a cluster without the finding.
var ErrNotFound = errors.New("the finding does not occur")

// Minimise makes c, which is admitted and stays as it is, as small as it can be
// while the checker finds want in it. When ctx is done it returns what it has by
// then, with Minimal unset. The same question has the same answer, unless what
// the system does depends on chance.
func Minimise(ctx context.Context, checker *properties.Checker, c *model.Cluster, want fingerprint.Fingerprint) (*Result, error) {
	m := &minimiser{ctx: ctx, full: checker, narrow: narrowed(checker, want), want: want}
	start := c.DeepCopy()
	if err := apiserver.Admit(start); err != nil {
		return nil, err
	}
	if want.Property == fingerprint.Failed {
		if _, err := m.check(m.narrow, start); err != nil {
			m.cause = causeOf(err)
		}
	}
	if becomes := m.ask(start); becomes != kept {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w: %s", want, ErrNotFound, becomes)
	}
	m.c = start
	m.result.Finding = m.seen
	m.chunks()
	for round := 0; round < maxRounds && !m.stopped(); round++ {
		m.result.Needs = nil
		if m.round() || m.stopped() {
			continue
		}
		m.result.Minimal = true
		m.explain()
		break
	}
	if !m.result.Minimal {
		m.result.Needs = nil
	}
	m.result.Cluster = m.c
	return &m.result, nil
}

// maxRounds is never reached, as each step but a renaming makes something
// smaller: it guards against a system that answers by chance.
const maxRounds = 100

// minimiser is one run of Minimise.
type minimiser struct {
	ctx          context.Context
	full, narrow *properties.Checker
	want         fingerprint.Fingerprint
	cause        string         // of the error, if that is wanted
	c            *model.Cluster // the smallest so far
	seen         properties.Finding
	result       Result
}

// narrowed looks for the wanted property only: the others take long.
func narrowed(checker *properties.Checker, want fingerprint.Fingerprint) *properties.Checker {
	if want.Property == fingerprint.Failed {
		return checker
	}
	narrow := *checker
	narrow.Properties, narrow.Relations = nil, 0
	for _, p := range allProperties(checker) {
		if p.Name == want.Property {
			narrow.Properties = []properties.Property{p}
			break
		}
	}
	return &narrow
}

func allProperties(checker *properties.Checker) []properties.Property {
	if checker.Relations == 0 {
		return checker.Properties
	}
	return slices.Concat(checker.Properties, properties.Relations())
}

func (m *minimiser) stopped() bool { return m.ctx.Err() != nil }

// step is one simplification. to gives the simpler cluster, which shares what it
// does not change, or nil if there is none.
type step struct {
	what string
	to   func(c *model.Cluster) *model.Cluster
}

// take takes a step from c, and gives nil if it changes nothing, or makes the
// cluster one that the API server refuses or that crowds another node.
func (s step) take(c *model.Cluster) *model.Cluster {
	next := s.to(c)
	if next == nil || apiserver.Admit(next) != nil || same(c, next) || crowded(next) > crowded(c) {
		return nil
	}
	return next
}

// family is all steps of a kind that a cluster offers.
type family func(c *model.Cluster) []step

// families are in the order in which they pay off.
var families = []family{removals, merges, sharedFields, fields, priorities, quantities, times, allowances, names}

// round tries each possible step once, and tells whether one was taken.
func (m *minimiser) round() (changed bool) {
	for _, f := range families {
		steps := f(m.c)
		for i := 0; i < len(steps) && !m.stopped(); {
			if m.try(steps[i]) {
				changed = true
				steps = f(m.c) // those before i were tried already
			} else {
				i++
			}
		}
	}
	return changed
}

// try takes a step if it keeps the fingerprint, and notes why it does not.
func (m *minimiser) try(s step) bool {
	next := s.take(m.c)
	if next == nil || m.stopped() {
		return false
	}
	switch becomes := m.ask(next); {
	case m.stopped():
		return false
	case becomes != kept:
		m.result.Needs = append(m.result.Needs, Need{s.what, becomes, next})
		return false
	}
	m.c = next
	m.result.Finding = m.seen
	return true
}

// kept is what a cluster becomes that still has the finding.
const kept = ""

// Agrees is what becomes of a cluster on which nothing is found any more.
const Agrees = "agrees"

// gone is what becomes of a finding when there is no time to look for others.
const gone = "gone"

// again is how often a cluster is checked on which the scheduler throws a dice.
const again = 5

// ask says what is found in a cluster.
func (m *minimiser) ask(c *model.Cluster) (becomes string) {
	for range again {
		r, err := m.check(m.narrow, c)
		if becomes = m.judge(r, err); becomes != kept {
			return becomes
		}
		if err != nil || r.Observation == nil || r.Decision.DecidedBy(r.Observation) != model.Tie {
			break
		}
	}
	return kept
}

func (m *minimiser) judge(r *properties.Result, err error) string {
	switch {
	case err != nil:
		m.seen = properties.Finding{Property: fingerprint.Failed, Detail: err.Error()}
		if m.want == fingerprint.OfFinding(&m.seen) && m.cause == causeOf(err) {
			return kept
		}
		return "error: " + firstLine(err)
	case r.Unmodelled != nil:
		return "not modelled"
	}
	for _, f := range r.Findings {
		if fingerprint.OfFinding(&f) == m.want {
			m.seen = f
			return kept
		}
	}
	if len(r.Findings) == 0 && r.Undecided != "" {
		return "undecided"
	}
	var others []string
	for _, f := range fingerprint.Of(r) {
		others = append(others, f.String())
	}
	return cmp.Or(strings.Join(others, ", "), Agrees)
}

// particular matches what one error of a kind says and another does not: numbers
// and quoted names.
var particular = regexp.MustCompile(`[0-9]+|"[^"]*"`)

// causeOf tells errors apart, as fingerprints tell findings apart.
func causeOf(err error) string { return particular.ReplaceAllString(firstLine(err), "") }

// firstLine leaves out the stack of a panic.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// check is Check, with a panic as an error.
func (m *minimiser) check(checker *properties.Checker, c *model.Cluster) (r *properties.Result, err error) {
	m.result.Checks++
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return checker.Check(m.ctx, c)
}
