package releasediff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Side is a release with its scheduler.
type Side struct {
	Release release.Release
	System  reference.System
	// Name is that of a scheduler that is no release, but one with plugins of its own: the release is what it is built
	// with. "" is the release.
	Name string
	// Life is the scheduler that runs timelines; nil if there is none. NoLife then says why.
	Life   reference.LifeSystem
	NoLife string
}

// String is the name of the scheduler.
func (s Side) String() string { return cmp.Or(s.Name, s.Release.String()) }

// Comparer compares the decisions of two releases. Several goroutines may use it at
// once if they may use the systems.
type Comparer struct {
	From, To Side
	changes  []Change
	all      subset

	mu    sync.Mutex
	rules map[string]*answers.Rules // by which changes are made
}

// New compares the schedulers of two releases.
func New(from, to Side) *Comparer {
	c := &Comparer{From: from, To: to, changes: Changes(from.Release, to.Release), all: subset{}, rules: map[string]*answers.Rules{}}
	for i := range c.changes {
		c.all.Insert(i)
	}
	return c
}

// Verdict is what a comparison comes to.
type Verdict string

// The verdicts.
const (
	Same      Verdict = "same"      // as far as users can see, or chance may have it
	Different Verdict = "different" // by the changes that Effects name
	// Unexplained: what one did is none of its own dialect's answers.
	Unexplained Verdict = "unexplained"
	// Refused: one of the releases does not know something in the cluster.
	Refused     Verdict = "refused"
	NotModelled Verdict = "not modelled" // they may differ
	Undecided   Verdict = "undecided"    // there are more allowed answers than are known
	Failed      Verdict = "failed"       // one of the schedulers could not be asked
)

// Comparison is what two releases make of one cluster.
type Comparison struct {
	Cluster *model.Cluster
	Verdict Verdict
	// Why says why the cluster was refused, is not modelled or undecided, without
	// names of objects. Object names what is to blame, if anything is.
	Why, Object string
	// Did is what the two schedulers did; nil if they were not asked.
	Did [2]*model.Observation
	// Effects are the differences, if the verdict is Different or Unexplained.
	Effects []Effect
}

// Effect is what one change does to a decision.
type Effect struct {
	// Change is nil if nothing explains it.
	Change *Change
	// Kind says what is different, in words that do not depend on the cluster.
	Kind string
}

// Compare asks both schedulers, and explains what they do differently. An error
// means that one of them could not be asked.
func (c *Comparer) Compare(ctx context.Context, cluster *model.Cluster) (*Comparison, error) {
	return c.compare(ctx, cluster, nil)
}

// compare takes what the first scheduler did, if it is known.
func (c *Comparer) compare(ctx context.Context, cluster *model.Cluster, did *model.Observation) (*Comparison, error) {
	cluster = present(cluster)
	r := &Comparison{Cluster: cluster, Verdict: Refused, Did: [2]*model.Observation{did}}
	if group := unmodelled.Group(cluster); group != nil {
		r.Verdict, r.Why, r.Object = NotModelled, kindOf(group[0].Object)+": "+group[0].Field, group[0].Object
		return r, nil
	}
	sides := []*Side{&c.From, &c.To}
	for _, side := range sides {
		if unknown := vocabulary.Unknown(side.Release, cluster); len(unknown) > 0 {
			r.Why, r.Object = refusal(side.Release, unknown[0].Object, unknown[0].Field), unknown[0].Object
			return r, nil
		}
	}
	for i, side := range sides {
		if r.Did[i] != nil {
			continue
		}
		var err error
		var refused *reference.Refusal
		if r.Did[i], err = side.System.Observe(ctx, cluster); errors.As(err, &refused) {
			what, _, _ := strings.Cut(refused.What, "; ")
			object, field, _ := strings.Cut(what, ": ")
			r.Why, r.Object = refusal(side.Release, object, field), object
			return r, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", side, err)
		}
	}
	if answers.SameVisibly(cluster, r.Did[0], r.Did[1]) {
		r.Verdict = Same
		return r, nil
	}
	err := c.judge(r)
	var missing model.Unmodelled
	if errors.As(err, &missing) {
		r.Verdict, r.Why, r.Object = NotModelled, kindOf(missing[0].Object)+": "+missing[0].Field, missing[0].Object
		return r, nil
	}
	return r, err
}

// present is a cluster without the pods that are on no node and nominated to none.
// No scheduler looks at them, and what one of them has that a release does not know
// says nothing about the others.
func present(c *model.Cluster) *model.Cluster {
	waits := func(p *v1.Pod) bool { return p.Spec.NodeName == "" && p.Status.NominatedNodeName == "" }
	if !slices.ContainsFunc(c.Pods, waits) {
		return c
	}
	out := *c
	out.Pods = slices.DeleteFunc(slices.Clone(c.Pods), waits)
	return &out
}

// refusal names what a release does not know, without the name of the object.
func refusal(version release.Release, object, field string) string {
	if field == "" {
		return fmt.Sprintf("%s: %s", version, object)
	}
	return fmt.Sprintf("%s: %s: %s", version, kindOf(object), field)
}

func kindOf(object string) string {
	kind, _, _ := strings.Cut(object, " ")
	return kind
}

// judge decides whether two observations that are not alike differ.
func (c *Comparer) judge(r *Comparison) error {
	e := &explainer{c: c, r: r}
	own := []*answers.Contrast{e.contrast(nil, 0), e.contrast(c.all, 1)}
	byFrom, byTo := e.contrast(nil, 1), e.contrast(c.all, 0)
	if e.err != nil {
		return e.err
	}
	for i, contrast := range own {
		if contrast != nil && !contrast.Undecided {
			r.Verdict = Unexplained
			side, without := []*Side{&c.From, &c.To}[i], ""
			if side.Name != "" {
				without = " without plugins"
			}
			r.Effects = []Effect{{Kind: fmt.Sprintf("%s does what its algorithm%s does not allow: %s", side, without, kind(contrast))}}
			return nil
		}
	}
	switch {
	case slices.ContainsFunc(append(own, byFrom, byTo), func(x *answers.Contrast) bool { return x != nil && x.Undecided }):
		r.Verdict, r.Why = Undecided, "too many equally important pods, or orders of budgets, to know all allowed answers"
	case byFrom == nil && byTo == nil:
		r.Verdict = Same // but for chance
	default:
		r.Verdict, r.Effects = Different, e.explain(byFrom, byTo)
	}
	return e.err
}

// subset is some of the changes, by their indices.
type subset = sets.Set[int]

// rulesWith are the rules on the way from one release to the other after some of
// the changes.
func (c *Comparer) rulesWith(s subset) *answers.Rules {
	indices := sets.List(s)
	key := fmt.Sprint(indices)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.rules[key]
	if r == nil {
		if len(c.rules) > maxRules {
			clear(c.rules)
		}
		var made []Change
		for _, i := range indices {
			made = append(made, c.changes[i])
		}
		r = rules(c.From.Release, made)
		c.rules[key] = r
	}
	return r
}

// maxRules bounds the memory for rules of subsets.
const maxRules = 1000
