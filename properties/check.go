// Package properties holds what must be true of any scheduler's answer to any
// cluster: the differential, which holds it against the model, and the promises
// made to users, which do not depend on how the model chooses victims. It keeps
// the ledger of findings that are known.
package properties

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Checker checks what a system does with clusters. Several goroutines may use it
// at once if they may use the system: a reference.Pool, for example.
type Checker struct {
	System reference.System
	// Release is whose algorithm the system is held to, and whose known findings
	// explain what it does; zero is model.Linked.
	Release model.Release
	// Decide is the model; nil means the documented rules of the release.
	Decide func(*model.Cluster) (*model.Decision, error)
	// Properties are checked after the differential, in this order.
	Properties []Property
	// Relations is how many relations (see SomeRelations) are checked of each
	// cluster after that. Each asks the system once more.
	Relations int
	// Filters is of how many clusters one is drawn, by the cluster alone, to ask its
	// filters one by one after that (see FiltersAlone), which takes as long as some
	// tens of clusters do; 0 is none.
	Filters int
}

// Result is what became of one cluster.
type Result struct {
	Cluster *model.Cluster
	// Observation is what the system did; nil if the model does not cover the
	// cluster.
	Observation *model.Observation
	// Decision is what the model allows.
	Decision *model.Decision
	// Unmodelled says what the model does not cover, or the system does not know:
	// Refused tells which.
	Unmodelled model.Unmodelled
	Refused    bool
	// Undecided says where the model does not know all allowed answers, and what
	// was observed is none of those it knows (model.Decision.Exact). It is no
	// finding, and no agreement either.
	Undecided string
	// Filters counts, by plugin, what filters said that were asked one by one.
	Filters map[string]FilterCount
	// Findings are the promises that were broken, known ones included.
	Findings []Finding
}

// Unexplained are the findings that no entry of the ledger explains.
func (r *Result) Unexplained() []Finding {
	var out []Finding
	for _, f := range r.Findings {
		if len(f.Known) == 0 {
			out = append(out, f)
		}
	}
	return out
}

// Finding is a promise that a system broke on a cluster.
type Finding struct {
	// Property is the name of the property that does not hold.
	Property string
	// Stage is the first stage at which it shows, Node the node, if it shows on
	// one.
	Stage model.Stage
	Node  string
	// Kind says how it does not hold, in words that do not depend on the cluster:
	// see model.Disagreement.Kind. "" if there is one way only.
	Kind string
	// Detail says what was wanted and what happened.
	Detail string
	// Known holds the ids of the ledger entries that together explain the
	// finding; none if it is new.
	Known []string

	// about names the pod or node in question, if Node does not. Findings of one
	// property are told apart by Stage, Node and about: Detail may hold numbers
	// that depend on other findings.
	about string
}

func (f Finding) String() string {
	where := string(f.Stage)
	if f.Node != "" {
		where += " on " + f.Node
	}
	text := fmt.Sprintf("%s: %s: %s", f.Property, where, f.Detail)
	if len(f.Known) == 0 {
		return "finding: " + text
	}
	prefix := ""
	for _, id := range f.Known {
		prefix += "known finding " + id + ": "
	}
	return prefix + text
}

// Check runs one cluster through the system and the properties. A cluster that
// the model does not cover is no error: Result.Unmodelled says so. A panic is one,
// with its stack from the second line on: one bad cluster must not end a run over
// many.
func (c *Checker) Check(ctx context.Context, cluster *model.Cluster) (r *Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	release := cmp.Or(c.Release, model.Linked)
	if unknown := release.Unknown(cluster); unknown != nil {
		return &Result{Cluster: cluster, Unmodelled: unknown, Refused: true}, nil
	}
	r = &Result{Cluster: cluster}
	decide := c.Decide
	if decide == nil {
		decide = func(c *model.Cluster) (*model.Decision, error) { return model.Decide(c, release.Rules()) }
	}
	if r.Decision, err = decide(cluster); err != nil {
		if !errors.As(err, &r.Unmodelled) {
			return nil, err
		}
		r.Refused = release != model.Linked && c.refuses(ctx, cluster)
		return r, nil
	}
	if r.Observation, err = c.System.Observe(ctx, cluster); err != nil {
		var refusal *reference.Refusal
		if errors.As(err, &refusal) {
			return &Result{Cluster: cluster, Unmodelled: unknown(refusal), Refused: true}, nil
		}
		return nil, err
	}
	r.Findings = differential(release, r)
	s := &Subject{Context: ctx, Cluster: cluster, Observation: r.Observation, Decision: r.Decision, System: c.System, Release: release}
	properties := slices.Concat(c.Properties, SomeRelations(cluster, c.Relations))
	if c.Filters > 0 && randomOf(cluster, "filters").IntN(c.Filters) == 0 {
		properties = append(properties, FiltersAlone())
	}
	for _, p := range properties {
		findings, err := p.run(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		r.Findings = append(r.Findings, findings...)
	}
	r.Filters = s.filters
	return r, nil
}

// refuses tells whether the system does not take the cluster at all.
func (c *Checker) refuses(ctx context.Context, cluster *model.Cluster) bool {
	_, err := c.System.Observe(ctx, cluster)
	return errors.As(err, new(*reference.Refusal))
}

// unknown is what a system refuses as what is not modelled: of neither can be told
// whether it is right.
func unknown(r *reference.Refusal) (u model.Unmodelled) {
	for _, what := range strings.Split(r.What, "; ") {
		object, field, ok := strings.Cut(what, ": ")
		if !ok {
			object, field = "scheduler", what
		}
		u = append(u, model.UnmodelledField{Object: object, Field: field, Why: r.System + " does not know it"})
	}
	return u
}
