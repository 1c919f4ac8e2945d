// Package properties checks what a scheduler does with clusters. The differential
// holds it against the model; all other properties are promises to users that do
// not depend on how the model chooses victims. Findings that are known are in the
// ledger, and are told apart from new ones.
//
// A Checker is handed its properties. Package all assembles one that checks
// everything.
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
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Checker checks what a system does with clusters. Several goroutines may use it
// at once if they may use the system: a reference.Pool, for example.
type Checker struct {
	System reference.System
	// Release is whose algorithm the system is held to, and whose known findings
	// explain what it does; zero is release.Linked.
	Release release.Release
	// Decide is the model; nil means the documented rules of the release.
	Decide func(*model.Cluster) (*answers.Set, error)
	// Properties are checked of each cluster after the differential, in this order.
	Properties []Property
	// Sample draws the properties that are checked of a cluster after that; nil
	// draws none. It has to draw the same for the same cluster.
	Sample func(*model.Cluster) []Property
	// Looks take the place of Sample where a campaign looks at a case of the corpus as it is, which it does twice: the first is for the
	// less costly; nil if it does not.
	Looks *[2]func(*model.Cluster) []Property
	// HoldsCases tells whether such a case also has to be as it says, at the last look. That takes one that leaves out nothing; groups are asked for
	// Properties only.
	HoldsCases bool
	// Outside are plugins of the system that are not Kubernetes' own; nil if it has none.
	Outside *Outside
}

// Check checks one cluster: whether the scheduler gets through it, whether the answer
// is one that the model allows, and then each property. A cluster that the model does
// not cover is no error: Result.Unmodelled says so, and it is asked all that needs no
// model. A panic is one, with its stack from the second line on, because one bad cluster
// must not end a run over many.
func (c *Checker) Check(ctx context.Context, cluster *model.Cluster) (r *Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, panicked(p, debug.Stack())
		}
	}()
	s := &Subject{Context: ctx, Cluster: cluster, System: c.System, Release: cmp.Or(c.Release, release.Linked), reached: map[string]bool{}}
	if c.Outside != nil {
		s.ofPlugins, s.model = c.Outside.Plugins, c.Outside.Model
	}
	if r, err = c.ask(s); err != nil || r.Observation == nil {
		return r, err
	}
	if s.Observation.Crash != nil {
		through := GetsThrough()
		r.Findings, err = through.Findings(s)
		return r, err
	}
	if s.allowed() != nil {
		r.Findings, r.Undecided = differential(s)
	}
	properties := c.Properties
	if c.Sample != nil && s.Cluster.Preemptor != nil {
		properties = slices.Concat(properties, c.Sample(cluster))
	}
	if c.Outside != nil && s.model == nil {
		properties = append(slices.Clip(properties), NoErrorByPlugins())
	}
	for _, p := range properties {
		if c.Outside != nil && p.Name != noErrorByPlugins && !c.Outside.Keeps(p.Name) {
			continue
		}
		findings, err := p.Findings(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		r.Findings = append(r.Findings, findings...)
	}
	r.Filters, r.Reached, r.Plugins = s.filters, s.reached, s.Counted()
	return r, nil
}

// OwnPanic begins the errors of checks that panic in preemptcheck's own code.
const OwnPanic = "preemptcheck itself panics: "

// panicked is the error of a check that panics, with its stack from the second line on. If the
// scheduler is anywhere between the panic and the check, it may be its panic.
func panicked(p any, stack []byte) error {
	begin := OwnPanic
	if observation.Innermost(stack) != observation.NotUpstream {
		begin = "panic: "
	}
	return fmt.Errorf("%s%v\n%s", begin, p, stack)
}

// ask asks the model and the system what they decide. Either may not know the
// cluster.
func (c *Checker) ask(s *Subject) (r *Result, err error) {
	if unknown := vocabulary.Unknown(s.Release, s.Cluster); unknown != nil {
		return &Result{Cluster: s.Cluster, Unmodelled: unknown, Refused: true}, nil
	}
	r = &Result{Cluster: s.Cluster}
	if s.model != nil {
		r.Modelled = s.model.Plugin
	}
	observe := c.observing(s)
	if err = c.decide(s); err != nil && !errors.As(err, &s.Unmodelled) {
		return nil, err
	}
	covered := s.Unmodelled == nil
	if c.Outside != nil && s.model == nil {
		s.plain, s.Decision, s.Group = s.Decision, nil, nil
		s.Unmodelled = append(s.Unmodelled, c.Outside.Unmodelled...)
	}
	s.Cluster = s.Release.Rules().Noticed(s.Cluster)
	if s.Unmodelled == nil && s.Decision != nil {
		s.Unmodelled = unseenByQuirks(s)
	}
	r.Unmodelled = s.Unmodelled
	if r.Unmodelled != nil && !c.isAsked(s) {
		// The drivers of other releases do not show which nodes the scheduler looked at.
		r.Refused = s.Release != release.Linked && (s.Unmodelled.OnlySeen() || c.refuses(s))
		return r, nil
	}
	if s.Observation, err = observe(); err != nil {
		var refusal *reference.Refusal
		if errors.As(err, &refusal) {
			return &Result{Cluster: s.Cluster, Unmodelled: refused(refusal), Refused: true}, nil
		}
		if r.Unmodelled != nil && !covered && s.Context.Err() == nil {
			return r, nil // a pod that no scheduler tries, or a gate that cannot be set
		}
		return nil, err
	}
	if r.Unmodelled != nil && c.Decide == nil && s.Cluster.Preemptor != nil && s.Release == release.Linked {
		s.Decision = believing(s)
		if s.Decision != nil && s.Unmodelled.OnlySeen() {
			r.Unmodelled = nil // all is compared
		}
	}
	if s.read(); s.Decision == nil && s.Unmodelled != nil {
		if !s.Unmodelled.LeftToChance() {
			s.Unmodelled = append(s.Unmodelled, unmodelled.Chance(s.Cluster)...)
		}
		r.Unmodelled = s.Unmodelled
	}
	r.Decision, r.Group, r.Observation = s.Decision, s.Group, s.Observation
	return r, nil
}

// manyPods is from how many pods on it is worth while to observe beside deciding: below, other
// clusters keep the processors busy.
const manyPods = 10_000

// observing is how the observation of a cluster is had. That of a large one begins at once, so
// that it is there when the model has decided.
func (c *Checker) observing(s *Subject) func() (*model.Observation, error) {
	cluster := s.Cluster
	observe := func() (*model.Observation, error) { return c.System.Observe(s.Context, cluster) }
	if len(cluster.Pods) < manyPods {
		return observe
	}
	type result struct {
		seen *model.Observation
		err  error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = panicked(p, debug.Stack())
			}
			done <- r
		}()
		r.seen, r.err = observe()
	}()
	return func() (*model.Observation, error) {
		r := <-done
		return r.seen, r.err
	}
}

// isAsked tells whether a cluster that the model does not cover is asked what needs no
// model. It is not if parts of it were left out: what is found then may be due to that.
// Nor is it of another release, of which the model would say what it does otherwise, unless there are plugins that it
// knows nothing of. Nor is it if the scheduler may try a pod for its resize, as the properties are about pods that need a node.
func (c *Checker) isAsked(s *Subject) bool {
	return len(s.Cluster.NotGiven) == 0 && (s.Release == release.Linked || c.Outside != nil) && !unmodelled.MakesRoomForResizes(s.Cluster)
}

// unseenByQuirks is that a search for nodes may end early by the known findings of the release,
// while by the documents it looks at all nodes.
func unseenByQuirks(s *Subject) (unseen model.Unmodelled) {
	if !slices.ContainsFunc(s.Cluster.Settings.Extenders, func(e model.Extender) bool { return e.Filter != nil }) {
		return nil
	}
	if _, err := answers.Decide(s.Cluster, s.rulesWith(s.known()...)); errors.As(err, &unseen) && unseen.OnlySeen() {
		return unseen
	}
	return nil
}

// believing is what the model allows if the plugins that it does not cover are believed,
// and with what is left to chance as it came out; nil if that is not enough.
func believing(s *Subject) *answers.Set {
	if !s.Unmodelled.OnlyBy(answers.CanBeTold()...) {
		return nil
	}
	rules, ok := believed(s.with(), s)
	if !ok {
		return nil
	}
	d, err := answers.Decide(s.Cluster, rules)
	if err != nil {
		return nil
	}
	if !s.Unmodelled.LeftToChance() {
		s.Unmodelled = append(s.Unmodelled, unmodelled.Unseen(d.Decision)...)
	}
	return d
}

// believed are rules in which what is not modelled is as it was observed.
func believed(rules *answers.Rules, s *Subject) (*answers.Rules, bool) {
	rules = answers.Searched(rules, s.Observation)
	if s.Unmodelled.OnlySeen() {
		return rules, true
	}
	return answers.Told(rules, s.Observation)
}

func (c *Checker) decide(s *Subject) (err error) {
	switch {
	case s.Cluster.PreemptorGroup != "":
		s.Group, err = podgroups.Decide(s.Cluster, s.Release.Rules())
	case c.Decide != nil:
		s.Decision, err = c.Decide(s.Cluster)
	default:
		s.Decision, err = answers.Decide(s.Cluster, s.with())
	}
	return err
}

// refuses tells whether the system does not take the cluster at all.
func (c *Checker) refuses(s *Subject) bool {
	_, err := c.System.Observe(s.Context, s.Cluster)
	return errors.As(err, new(*reference.Refusal))
}

// refused is what a system refuses: nobody can tell whether a decision about it
// is right, as with what the model does not cover.
func refused(r *reference.Refusal) (u model.Unmodelled) {
	for _, what := range strings.Split(r.What, "; ") {
		object, field, ok := strings.Cut(what, ": ")
		if !ok {
			object, field = "scheduler", what
		}
		u = append(u, model.UnmodelledField{Object: object, Field: field, Why: r.System + " does not know it"})
	}
	return u
}
