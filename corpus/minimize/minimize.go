// Package minimize makes a cluster on which something was found as small as it
// can be while the same is found. It works on the cluster itself, so it serves a
// generated cluster and a user's dump alike.
//
// A step is one simplification: an object or a field less, a smaller number, a
// plainer name. Steps are taken as long as one keeps the fingerprint of the
// finding; when none does, the cluster is 1-minimal, and the steps that failed
// say what each thing that is left is needed for. Then every smaller cluster
// within an exhaustive bound is looked at, as several steps together may lead
// where no single one does.
package minimize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/reference/patience"
)

// Options say how to minimise.
type Options struct {
	// Workers is how many clusters are checked at once; 0 is one. For more, the
	// system must be one that several goroutines may use, and answers at once: a
	// reference.Pool. The Result is the same for any number.
	Workers int
	// Certify is how many classes of smaller clusters may be searched when no
	// single step is left: see Certificate. 0 is no search.
	Certify uint64
	// Progress, if it is not nil, is called after each check, from the goroutine
	// that called Minimise.
	Progress func(Progress)
}

// Progress is how far Minimise is.
type Progress struct {
	// Cluster is the smallest so far.
	Cluster *model.Cluster
	// Checks is Result.Checks so far.
	Checks int
	// Search is how far the search for a smaller cluster is; nil at other times.
	Search *Certificate
}

// String says it in a line.
func (p Progress) String() string {
	line := fmt.Sprintf("%s, down to %s", words.Plural(p.Checks, "check"), SizeOf(p.Cluster))
	if p.Search != nil {
		line += fmt.Sprintf("; searched %d of %d classes of smaller clusters", p.Search.Searched, p.Search.Classes)
	}
	return line
}

// Result is a minimised cluster.
type Result struct {
	Cluster *model.Cluster
	// Finding is the finding as it shows on Cluster.
	Finding properties.Finding
	// Checks counts the clusters checked, without those that were checked ahead
	// of a step that was then taken.
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
	// Smallest says how far it is certain that no smaller cluster has the
	// finding; nil if that was not asked for, or Minimal is false.
	Smallest *Certificate
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
// then, with Minimal unset, or Smallest incomplete. The same question has the same
// answer, unless what the system does depends on chance.
func Minimise(ctx context.Context, checker *properties.Checker, c *model.Cluster, want fingerprint.Fingerprint, o Options) (*Result, error) {
	hurried := Hurried(ctx, want.Kind)
	r, err := minimise(hurried, checker, c, want, o)
	if hurried == ctx || err == nil && ctx.Err() != nil {
		return r, err
	}
	if err == nil {
		// What was a standstill in a hurry has to be one at leisure.
		confirms := minimiser{narrow: narrowed(checker, want), want: want}
		if a := confirms.ask(ctx, r.Cluster); a.becomes == kept {
			r.Finding = a.finding
			return r, nil
		}
	}
	return minimise(ctx, checker, c, want, o)
}

// hurry is how long a scheduler may show no progress that is known to come to a standstill: some
// hundred times as long as a small cluster takes. Each try that keeps the finding costs as much.
const hurry = 300 * time.Millisecond

// Hurried is a context in which a standstill is noticed sooner, if the kind of a finding is one.
func Hurried(ctx context.Context, kind string) context.Context {
	if properties.IsHang(kind) {
		return patience.With(ctx, hurry)
	}
	return ctx
}

func minimise(ctx context.Context, checker *properties.Checker, c *model.Cluster, want fingerprint.Fingerprint, o Options) (*Result, error) {
	m := &minimiser{ctx: ctx, full: checker, narrow: narrowed(checker, want), want: want, options: o, slots: make(chan struct{}, max(1, o.Workers))}
	defer m.trials.Wait()
	start := c.DeepCopy()
	if err := apiserver.Admit(start); err != nil {
		return nil, err
	}
	a := m.ask(ctx, start)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.becomes != kept {
		return nil, fmt.Errorf("%s: %w: %s", want, ErrNotFound, a.becomes)
	}
	if want.Property == fingerprint.Failed { // not to slip from one error to another
		m.want = fingerprint.OfFinding(&a.finding)
	}
	m.c, m.result.Finding, m.result.Checks = start, a.finding, a.checks
	for {
		m.minimal()
		if !m.result.Minimal || o.Certify == 0 || !m.smaller() {
			break
		}
	}
	m.result.Cluster = m.c
	return &m.result, nil
}

// minimal takes steps until none is left, and explains why.
func (m *minimiser) minimal() {
	r := &m.result
	r.Minimal, r.Neighbour, r.Smallest = false, nil, nil
	m.round(chunks(m.c))
	for range maxRounds {
		r.Needs = nil
		if !m.round(families) && !m.stopped() {
			r.Minimal = true
			m.explain()
			return
		}
		if m.stopped() {
			break
		}
	}
	r.Needs = nil
}

// maxRounds is never reached, as each step but a renaming makes something
// smaller: it guards against a system that answers by chance.
const maxRounds = 100

// minimiser is one run of Minimise.
type minimiser struct {
	ctx          context.Context
	full, narrow *properties.Checker
	want         fingerprint.Fingerprint
	options      Options
	c            *model.Cluster // the smallest so far
	result       Result
	trials       sync.WaitGroup
	slots        chan struct{} // one for each trial that may run
	searching    *Certificate  // see Progress.Search
}

// narrowed looks for the wanted property only: the others take long.
func narrowed(checker *properties.Checker, want fingerprint.Fingerprint) *properties.Checker {
	if want.Property == fingerprint.Failed {
		return checker
	}
	narrow := *checker
	narrow.Properties, narrow.Sample = nil, nil
	candidates := checker.Properties
	if checker.Sample != nil {
		candidates = slices.Concat(candidates, all.Costly())
	}
	if i := slices.IndexFunc(candidates, func(p properties.Property) bool { return p.Name == want.Property }); i >= 0 {
		narrow.Properties = candidates[i : i+1 : i+1]
	}
	return &narrow
}

func (m *minimiser) stopped() bool { return m.ctx.Err() != nil }
