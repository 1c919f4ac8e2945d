package releasediff

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
)

// AgreeName is the name of the property that two releases decide alike.
const AgreeName = "releases-agree"

// Checker checks that the releases decide alike, for the minimiser: each effect is
// a finding of its own.
func (c *Comparer) Checker() *properties.Checker {
	return &properties.Checker{
		System: c.From.System,
		Decide: func(cluster *model.Cluster) (*answers.Set, error) { return answers.Decide(cluster, c.rulesWith(nil)) },
		Properties: []properties.Property{{
			Name:    AgreeName,
			Promise: "The releases decide alike.",
			Check:   c.check,
		}},
	}
}

// draws is how often both are asked where a difference may fail to show by chance.
const draws = 8

func (c *Comparer) check(s *properties.Subject) ([]properties.Finding, error) {
	if len(s.Cluster.Nodes) == 0 {
		return nil, nil // whatever differs there does not help anybody to understand it
	}
	r, err := c.compareOften(s.Context, s.Cluster, s.Observation)
	switch {
	case err != nil:
		return nil, err
	case len(r.Effects) == 0 && r.Verdict != Same:
		return nil, errors.New(string(r.Verdict) + ": " + r.Why)
	}
	var findings []properties.Finding
	for _, e := range r.Effects {
		findings = append(findings, properties.Finding{Property: AgreeName, Kind: e.String(), Detail: e.String()})
	}
	return findings, nil
}

// CompareOften is Compare, but asks several times where a difference may fail to
// show by chance.
func (c *Comparer) CompareOften(ctx context.Context, cluster *model.Cluster) (*Comparison, error) {
	return c.compareOften(ctx, cluster, nil)
}

func (c *Comparer) compareOften(ctx context.Context, cluster *model.Cluster, did *model.Observation) (r *Comparison, err error) {
	for range draws {
		if r, err = c.compare(ctx, cluster, did); err != nil || r.Verdict != Same || !c.byChance(r) {
			break
		}
		did = nil
	}
	return r, err
}

// Show compares until an effect shows, which may be up to chance; nil if it does
// not.
func (c *Comparer) Show(ctx context.Context, cluster *model.Cluster, effect Effect) *Comparison {
	for range draws {
		if r, err := c.Compare(ctx, cluster); err == nil && slices.Contains(r.Effects, effect) {
			return r
		}
	}
	return nil
}

// byChance tells whether one of the two might have done something else.
func (c *Comparer) byChance(r *Comparison) bool {
	for i, s := range []subset{nil, c.all} {
		d, err := answers.Decide(r.Cluster, c.rulesWith(s))
		if err == nil && (len(d.Fits) > 1 || explain.DecidedBy(d, r.Did[i]) == model.Tie) {
			return true
		}
	}
	return false
}

// String names the change, and what is different. It does not depend on the cluster.
func (e Effect) String() string {
	if e.Change == nil {
		return e.Kind
	}
	return fmt.Sprintf("%s; %s", e.Change.Title, e.Kind)
}
