package outside

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// PreemptionToleration is the plugin by which a priority class says which preemptors its pods tolerate, and for how long
// (scheduler-plugins v0.34.7: pkg/preemptiontoleration/README.md; KEP-205, kep/205-preemption-toleration/README.md).
const PreemptionToleration = "PreemptionToleration"

// The annotations of a PriorityClass.
const (
	MinimumPreemptablePriority = "preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority"
	TolerationSeconds          = "preemption-toleration.scheduling.x-k8s.io/toleration-seconds"
)

// The known bugs of PreemptionToleration.
const (
	DeletedClassFailsDryRun release.Quirk = "deleted-class-fails-dry-run" // the dry run on the node of a pod whose class is gone ends in an error
	TolerationWrapsAround   release.Quirk = "toleration-wraps-around"     // a toleration of more than 292 years is over at once
)

// Boundary is how near to now a toleration must not end: whether it is over is not modelled then. The model decides before the
// scheduler is asked, by the same clock.
const Boundary = time.Hour

// toleration is the variant with the plugin's arguments, which are those of DefaultPreemption (apis/config/types.go).
func toleration(args json.RawMessage) (*Variant, error) {
	var a struct{ MinCandidateNodesPercentage, MinCandidateNodesAbsolute *int32 }
	if len(args) > 0 {
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, fmt.Errorf("args of %s: %w", PreemptionToleration, err)
		}
	}
	percentage, absolute := model.DefaultMinCandidateNodesPercentage, model.DefaultMinCandidateNodesAbsolute
	if a.MinCandidateNodesPercentage != nil {
		percentage = *a.MinCandidateNodesPercentage
	}
	if a.MinCandidateNodesAbsolute != nil {
		absolute = *a.MinCandidateNodesAbsolute
	}
	return &Variant{PreemptionToleration, readings(2, func(r *answers.Rules, quirks []release.Quirk, other []bool) {
		t := &tolerations{zeroEnds: other[0], wraps: slices.Contains(quirks, TolerationWrapsAround)}
		knowClasses(r)
		r.Unmodelled = append(r.Unmodelled, t.unmodelled)
		mayPreempt, awaited := r.MayPreempt, r.Awaited
		r.MayPreempt = func(cy *model.Cycle, u *unit.Unit) bool {
			return mayPreempt(cy, u) && !slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return t.tolerates(cy, p) })
		}
		// The doc comment of PodEligibleToPreemptOthers has the pod wait as long as there are terminating pods; the KEP changes
		// nothing but which victims are selected, so that it waits for those that terminate by preemption, as with
		// DefaultPreemption of 1.34. Both are about pods of lower priority, whatever they tolerate: it is not theirs to say who waits.
		r.Eligible = func(cy *model.Cycle, verdicts map[string]*model.Verdict) model.Eligibility {
			return eligible(cy, verdicts, func(p *filter.Pod) bool {
				if p.Priority >= cy.Preemptor.Priority {
					return false
				}
				if other[1] {
					return awaited(p)
				}
				return p.DeletionTimestamp != nil
			})
		}
		enough := r.NumCandidates
		r.NumCandidates = func(_, _ int32, nodes, potential int) int { return enough(percentage, absolute, nodes, potential) }
		if slices.Contains(quirks, DeletedClassFailsDryRun) {
			deletedClassFails(r)
		}
	})}, nil
}

// knowClasses has the rules see the priority classes of a cluster.
func knowClasses(r *answers.Rules) {
	notices := r.Notices
	r.Notices = func(c *model.Cluster) *model.Cluster {
		if notices != nil {
			c = notices(c)
		}
		noticed := *c
		noticed.Extra = append(model.ObjectsOf(c.PriorityClasses), c.Extra...)
		return &noticed
	}
}

// Policy is what a class says of its pods (KEP-205, "Preemption Toleration API").
type Policy struct {
	// Minimum is the lowest priority that can preempt them whatever they tolerate: by default the next above that of the class.
	Minimum int32
	// Seconds is how long they tolerate others after they were scheduled: not at all if it is 0, the default, and for ever if it is
	// negative.
	Seconds int64
}

// PolicyOf reads the annotations of a class.
func PolicyOf(c *schedulingv1.PriorityClass) (p Policy, err error) {
	p.Minimum = c.Value + 1
	if text, ok := c.Annotations[MinimumPreemptablePriority]; ok {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return p, fmt.Errorf("%s: %w", MinimumPreemptablePriority, err)
		}
		p.Minimum = int32(n)
	}
	if text, ok := c.Annotations[TolerationSeconds]; ok {
		if p.Seconds, err = strconv.ParseInt(text, 10, 64); err != nil {
			return p, fmt.Errorf("%s: %w", TolerationSeconds, err)
		}
	}
	return p, nil
}

// tolerations are one reading of who tolerates whom.
type tolerations struct {
	// zeroEnds: zero seconds are no toleration at all, also of a pod of which it is not known since when it is scheduled, as the
	// comment on TolerationSeconds says; the sketch of CanToleratePreemption has such a pod tolerate the preemptor. Both are in KEP-205.
	zeroEnds bool
	// wraps: see TolerationWrapsAround.
	wraps bool
}

// tolerates tells whether a pod cannot be preempted by the preemptor. One without a class, or whose class is gone, has no policy:
// pods of a deleted class remain unchanged (docs: concepts/scheduling-eviction/pod-priority-preemption, "Notes about PodPriority
// and existing clusters").
func (t *tolerations) tolerates(cy *model.Cycle, p *filter.Pod) bool {
	class := classOf(cy, p)
	if class == nil {
		return false
	}
	policy, err := PolicyOf(class)
	if err != nil || cy.Preemptor.Priority >= policy.Minimum {
		return false
	}
	if policy.Seconds < 0 {
		return true
	}
	at := scheduledAt(p.Pod)
	if at == nil {
		return policy.Seconds > 0 || !t.zeroEnds
	}
	return t.end(at, policy.Seconds).After(time.Now())
}

// end is when a toleration ends; far away if that is more than the clock has.
func (t *tolerations) end(at *v1.PodCondition, seconds int64) time.Time {
	if seconds > math.MaxInt64/int64(time.Second) && !t.wraps {
		return at.LastTransitionTime.AddDate(292, 0, 0)
	}
	return at.LastTransitionTime.Add(time.Duration(seconds) * time.Second)
}

// scheduledAt is the condition that says since when a pod is scheduled; nil if there is none.
func scheduledAt(p *v1.Pod) *v1.PodCondition {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodScheduled {
			return c
		}
	}
	return nil
}

// classOf is the class of a pod, nil if it names none or if that is gone.
func classOf(cy *model.Cycle, p *filter.Pod) *schedulingv1.PriorityClass {
	if p.Spec.PriorityClassName == "" {
		return nil
	}
	for _, o := range cy.Objects {
		if c, ok := o.(*schedulingv1.PriorityClass); ok && c.Name == p.Spec.PriorityClassName {
			return c
		}
	}
	return nil
}

// unmodelled reports pods whose toleration no document decides: annotations that cannot be read, conditions that say that a
// bound pod is not scheduled, and tolerations that end about now.
func (t *tolerations) unmodelled(c *model.Cluster, report filter.Report) {
	if c.Preemptor == nil {
		return
	}
	for _, p := range c.Pods {
		if p.Spec.NodeName == "" || p.Spec.PriorityClassName == "" || model.Priority(p) >= model.Priority(c.Preemptor) {
			continue
		}
		for _, class := range c.PriorityClasses {
			if class.Name != p.Spec.PriorityClassName {
				continue
			}
			policy, err := PolicyOf(class)
			if err != nil {
				report("PriorityClass "+class.Name, "metadata.annotations", "no document says what an annotation means that cannot be read")
				continue
			}
			if policy.Seconds < 0 || model.Priority(c.Preemptor) >= policy.Minimum {
				continue
			}
			switch at := scheduledAt(p); {
			case at == nil:
			case at.Status != v1.ConditionTrue:
				report("Pod "+model.Key(p), "status.conditions", "it is bound, and said not to be scheduled")
			default:
				if left := time.Until(t.end(at, policy.Seconds)); left.Abs() < Boundary {
					report("Pod "+model.Key(p), "status.conditions", "what it tolerates ends about now")
				}
			}
		}
	}
}

// deletedClassFails is the quirk DeletedClassFailsDryRun.
func deletedClassFails(r *answers.Rules) {
	dryRun := r.DryRun
	r.DryRun = func(cy *model.Cycle, n *filter.Node, budgetOrder []int) *model.DryRunOnNode {
		for _, u := range cy.Units.On(n) {
			if u.Priority < cy.Preemptor.Priority && slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool {
				return p.Spec.PriorityClassName != "" && classOf(cy, p) == nil
			}) {
				return &model.DryRunOnNode{Node: n, Possible: []*unit.Unit{u}, Failed: &model.Verdict{Error: "not found"}}
			}
		}
		return dryRun(cy, n, budgetOrder)
	}
}
