package outside

import (
	"cmp"
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// CapacityScheduling is the plugin that keeps namespaces to their ElasticQuota, and lets them borrow what others leave
// (scheduler-plugins v0.34.7: pkg/capacityscheduling/README.md; KEP-9, kep/9-capacity-scheduling/README.md).
const CapacityScheduling = "CapacityScheduling"

// The known bugs of CapacityScheduling.
const (
	UnnamedResourceHasNoRoom     release.Quirk = "unnamed-resource-has-no-room"   // a max that does not name cpu, memory or ephemeral storage allows none of it
	QuotaOfContainersOnly        release.Quirk = "quota-of-containers-only"       // sidecars, and what pods request as a whole, do not count
	NominatedForgottenAtFirst    release.Quirk = "nominated-forgotten-at-first"   // preempts where the room is nominated pods', all that it can or with an error
	QuotaVictimsViolateNothing   release.Quirk = "quota-victims-violate-nothing"  // victims that go for the quota alone do not count as violations
	EndedPreFilterNotEligible    release.Quirk = "ended-prefilter-not-eligible"   // where another PreFilter rejects for good, the pod is not eligible
	UnrequestedExtendedUncounted release.Quirk = "unrequested-extended-uncounted" // extended resources that the preemptor does not request are not held against its quota
)

// questions to which the documents of CapacityScheduling give two answers.
const (
	// KEP-9 chooses potential victims "from Quotas that allocates more resources than its min". That may be all pods of such a
	// quota on the node, or only so many, the least important first, as it allocates more: its Story 1 has the rest guaranteed "and
	// hence non-preemptable".
	borrowersWhole = iota
	// Of namespaces without a quota it says nothing: their pods may be left to pods of such namespaces, or to no other rule than
	// that of priorities.
	quotaIsNoShield
	// The comments in the plugin's PodEligibleToPreemptOthers have the pod wait for all pods that terminate on its nominated node
	// and that it could have preempted; in KEP-9 nothing but the choice of victims is another than in DefaultPreemption, which waits
	// for those that terminate by preemption.
	waitsForPreempted
	// Preemptor.Request + Quota.allocated is compared with Quota.min; the doc comments of PreFilterState count nominated pods, too,
	// and do not say for what.
	nominatedBorrowNot
	numQuestions
)

func quotaReadings() []Reading {
	return readings(numQuestions, func(r *answers.Rules, quirks []release.Quirk, other []bool) {
		has := func(q release.Quirk) bool { return slices.Contains(quirks, q) }
		q := &quotaRules{other: other, unnamedIsZero: has(UnnamedResourceHasNoRoom), containersOnly: has(QuotaOfContainersOnly), requestedOnly: has(UnrequestedExtendedUncounted)}
		r.Plugins = append(slices.Clip(r.Plugins), quotaPlugin{q})
		r.Unmodelled = append(r.Unmodelled, q.unmodelled)
		byPriority, awaited, fits := r.MayPreempt, r.Awaited, r.Fits
		r.MayPreempt = func(cy *model.Cycle, u *unit.Unit) bool {
			own, of := q.in(cy), u.Pods[0]
			switch {
			case own.own == nil:
				return byPriority(cy, u) && (other[quotaIsNoShield] || own.quotas[of.Namespace] == nil)
			case own.overMin:
				return of.Namespace == cy.Preemptor.Namespace && byPriority(cy, u)
			}
			return of.Namespace != cy.Preemptor.Namespace && own.lends(cy, of)
		}
		r.Eligible = func(cy *model.Cycle, verdicts map[string]*model.Verdict) model.Eligibility {
			own := q.in(cy)
			if _, asked := filter.As[*usage](cy.State(CapacityScheduling)); !asked && has(EndedPreFilterNotEligible) {
				return model.Eligibility{Reason: "its quota was not looked at"}
			}
			return eligible(cy, verdicts, func(p *filter.Pod) bool {
				lower := p.Priority < cy.Preemptor.Priority
				might := lower && own.quotas[p.Namespace] == nil
				if own.own != nil {
					might = p.Namespace == cy.Preemptor.Namespace && lower ||
						p.Namespace != cy.Preemptor.Namespace && !own.overMin && own.quotas[p.Namespace] != nil && own.borrows(p.Namespace)
				}
				if other[waitsForPreempted] {
					return might && awaited(p)
				}
				return might && p.DeletionTimestamp != nil
			})
		}
		// There is no Filter, but preemption has to make the pod schedulable ("Additional Preemption Details"): it has to keep within
		// max and the sum of min once the victims are gone.
		r.Fits = func(cy *model.Cycle, n *filter.Node, v filter.View) *model.Verdict {
			if failed := fits(cy, n, v); failed != nil {
				return failed
			}
			return q.in(cy).rejects(gone(n, v), true)
		}
		if has(QuotaVictimsViolateNothing) {
			quotaVictimsViolateNothing(r, fits)
		}
		if has(NominatedForgottenAtFirst) {
			nominatedForgottenAtFirst(r, q, fits)
		}
		// How many candidates are enough is not documented, and no argument of the plugin's: all.
		r.NumCandidates = func(_, _ int32, _, potential int) int { return potential }
	})
}

// quotaRules are one reading of the documents.
type quotaRules struct {
	other                                        []bool
	unnamedIsZero, containersOnly, requestedOnly bool
}

// requests is what a pod counts for: what its spec requests (KEP-9, "Motivation"), also while it is resized.
func (q *quotaRules) requests(p *v1.Pod) amounts {
	if q.containersOnly {
		p = p.DeepCopy()
		p.Spec.Resources = nil
		for i := range p.Spec.InitContainers {
			p.Spec.InitContainers[i].RestartPolicy = nil
		}
	}
	return counted(filter.Requested(p))
}

// usage is what is used in a cluster, as the preemptor finds it. It is the State of the plugin: there is no Filter.
type usage struct {
	rules  *quotaRules
	quotas map[string]*quota  // by namespace
	used   map[string]amounts // by namespace, of those with a quota
	all    amounts            // used of all quotas together
	min    amounts            // that of all
	own    *quota             // that of the preemptor's namespace; nil if there is none
	here   string             // the preemptor's namespace
	pod    amounts            // what the preemptor requests
	// nominatedHere and nominated are the preemptor and what is kept for nominated pods: in its own quota those that it
	// respects, and in all quotas these and those of other quotas that do not use more than their min (doc comments of PreFilterState).
	nominatedHere, nominated amounts
	// overMin says that with the preemptor its quota uses more than its min.
	overMin bool
}

// in is the usage of a cycle.
func (q *quotaRules) in(cy *model.Cycle) *usage {
	if st, ok := filter.As[*usage](cy.State(CapacityScheduling)); ok {
		return st
	}
	return q.usage(cy.Snapshot) // the PreFilter of another plugin ended it
}

func (q *quotaRules) usage(s *filter.Snapshot) *usage {
	u := &usage{rules: q, quotas: map[string]*quota{}, used: map[string]amounts{}, all: amounts{}, min: amounts{}, here: s.Preemptor.Namespace}
	for _, o := range s.Objects {
		if namespace, quota, _ := quotaOf(o); quota != nil {
			u.quotas[namespace], u.used[namespace] = quota, amounts{}
			u.min = u.min.plus(quota.min, 1)
		}
	}
	u.own, u.pod = u.quotas[u.here], q.requests(s.Preemptor.Pod)
	s.Bound(func(p *filter.Pod) {
		if used, ok := u.used[p.Namespace]; ok {
			requests := q.requests(p.Pod)
			u.used[p.Namespace], u.all = used.plus(requests, 1), u.all.plus(requests, 1)
		}
	})
	if u.own == nil {
		return u
	}
	u.nominatedHere, u.nominated = u.pod, u.pod
	for _, n := range s.Nodes {
		for _, p := range n.Nominated {
			switch requests := q.requests(p.Pod); {
			case u.quotas[p.Namespace] == nil:
			case p.Namespace != u.here && !u.borrows(p.Namespace):
				u.nominated = u.nominated.plus(requests, 1)
			case p.Namespace == u.here && model.RespectNomination(s.Preemptor, p):
				u.nominatedHere, u.nominated = u.nominatedHere.plus(requests, 1), u.nominated.plus(requests, 1)
			}
		}
	}
	with := u.nominatedHere
	if q.other[nominatedBorrowNot] {
		with = u.pod
	}
	u.overMin = over(q.ofOwn(u.used[u.here].plus(with, 1), with), u.own.min, nothing)
	return u
}

// borrows tells whether the quota of a namespace allocates more resources than its min.
func (u *usage) borrows(namespace string) bool {
	return over(u.used[namespace], u.quotas[namespace].min, nothing)
}

// lends tells whether the quota of another namespace has to give back a pod, now that the preemptor needs its own min.
func (u *usage) lends(cy *model.Cycle, p *filter.Pod) bool {
	if u.quotas[p.Namespace] == nil || !u.borrows(p.Namespace) {
		return false
	}
	if u.rules.other[borrowersWhole] {
		return true
	}
	left := u.used[p.Namespace]
	for _, other := range leastFirst(p.Node, p.Namespace) {
		switch {
		case !over(left, u.quotas[p.Namespace].min, nothing):
			return false
		case other.Index == p.Index:
			return true
		}
		left = left.plus(u.rules.requests(other.Pod), -1)
	}
	return false
}

// leastFirst are the pods of a namespace on a node, the least important first.
func leastFirst(n *filter.Node, namespace string) []*filter.Pod {
	pods := slices.DeleteFunc(slices.Clone(n.Pods), func(p *filter.Pod) bool { return p.Namespace != namespace })
	slices.SortStableFunc(pods, func(a, b *filter.Pod) int { return moreImportant(b, a) })
	return pods
}

// moreImportant is the order of pods that are preempted one by one: see model.MoreImportant.
func moreImportant(a, b *filter.Pod) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Start.Compare(b.Start))
}

// rejects says why the preemptor may not be scheduled once pods are gone; nil if it may: with it, its quota must not use more than its
// max, nor all quotas together more than the sum of their min (KEP-9, "Additional Preemption Details"; doc comment of PreFilter).
// Without nominated, nothing is kept for nominated pods.
func (u *usage) rejects(gone []*filter.Pod, nominated bool) *model.Verdict {
	if u.own == nil {
		return nil
	}
	here, together := u.nominatedHere, u.nominated
	if !nominated {
		here, together = u.pod, u.pod
	}
	used, all := u.used[u.here], u.all
	for _, p := range gone {
		if u.quotas[p.Namespace] == nil {
			continue
		}
		requests := u.rules.requests(p.Pod)
		if all = all.plus(requests, -1); p.Namespace == u.here {
			used = used.plus(requests, -1)
		}
	}
	switch {
	case u.own.limits && over(u.rules.ofOwn(used.plus(here, 1), here), u.own.max, u.rules.unnamedMax):
		return filter.Resolvable("its ElasticQuota would use more than its max")
	case over(all.plus(together, 1), u.min, nothing):
		return filter.Resolvable("all ElasticQuotas would use more than the sum of their min")
	}
	return nil
}

// ofOwn is what of a sum is held against the preemptor's own quota.
func (q *quotaRules) ofOwn(sum, requests amounts) amounts {
	if q.requestedOnly {
		maps.DeleteFunc(sum, func(name v1.ResourceName, _ int64) bool {
			_, requested := requests[name]
			return !requested && !isNative(name)
		})
	}
	return sum
}

func isNative(name v1.ResourceName) bool {
	return name == v1.ResourceCPU || name == v1.ResourceMemory || name == v1.ResourceEphemeralStorage
}

func nothing(v1.ResourceName) int64 { return 0 }

func (q *quotaRules) unnamedMax(name v1.ResourceName) int64 {
	if q.unnamedIsZero && isNative(name) {
		return 0
	}
	return math.MaxInt64
}

// gone are the pods that are bound to a node and not there in a view.
func gone(n *filter.Node, v filter.View) []*filter.Pod {
	there := make(map[int]bool, len(v.Pods))
	for _, p := range v.Pods {
		there[p.Index] = true
	}
	return slices.DeleteFunc(slices.Clone(n.Pods), func(p *filter.Pod) bool { return there[p.Index] })
}

// quotaPlugin is the PreFilter.
type quotaPlugin struct{ rules *quotaRules }

// Name implements filter.Plugin.
func (quotaPlugin) Name() string { return CapacityScheduling }

// PreFilter implements filter.Plugin: the pod fails if its quota, or all together, would use too much (KEP-9, "PreFilter" and
// "Additional Preemption Details"). Preemption may help.
func (p quotaPlugin) PreFilter(s *filter.Snapshot) (filter.State, filter.Answer) {
	u := p.rules.usage(s)
	return u, filter.Answer{Rejection: u.rejects(nil, true)}
}

// Fits implements filter.State.
func (*usage) Fits(*filter.Node, filter.View) *filter.Verdict { return nil }

// Alike implements filter.State.
func (u *usage) Alike(a, b *filter.Pod) bool {
	return a.Namespace == b.Namespace && maps.Equal(u.rules.requests(a.Pod), u.rules.requests(b.Pod))
}

// unmodelled reports what no document decides: two quotas of a namespace, of which KEP-9 has one; amounts beyond 64 bits; and
// which of equally important pods a quota gives back first.
func (q *quotaRules) unmodelled(c *model.Cluster, report filter.Report) {
	if c.Preemptor == nil {
		return
	}
	namespaces := map[string]bool{}
	for _, o := range c.Extra {
		namespace, quota, err := quotaOf(o)
		switch {
		case quota == nil:
			continue
		case err != nil:
			report("ElasticQuota of "+namespace, "spec", "it cannot be read: "+err.Error())
		case namespaces[namespace]:
			report("ElasticQuota of "+namespace, "metadata.namespace", "a namespace has one, and this has two")
		}
		namespaces[namespace] = true
	}
	if len(namespaces) == 0 {
		return
	}
	s := model.NewSnapshot(c)
	u := q.usage(s)
	for _, sum := range []amounts{u.all.plus(u.nominated, 1), u.min} {
		for name, n := range sum {
			if n < 0 || n > tooMuch {
				report("ElasticQuotas", "spec.min", "amounts of "+string(name)+" beyond 64 bits")
			}
		}
	}
	for _, p := range c.Pods {
		if p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
			report("Pod "+model.Key(p), "status.phase", "what a pod counts for that has ended")
		}
	}
	if u.own == nil || u.overMin || q.other[borrowersWhole] {
		return
	}
	for namespace := range u.quotas {
		for _, n := range s.Nodes {
			if namespace != u.here && u.tied(n, namespace) {
				report("Node "+n.Name, "spec.min of the ElasticQuota of "+namespace, "which of equally important pods is given back")
			}
		}
	}
}

// tied tells whether it depends on the order of equally important pods which of them a quota gives back on a node.
func (u *usage) tied(n *filter.Node, namespace string) bool {
	pods, left, min := leastFirst(n, namespace), u.used[namespace], u.quotas[namespace].min
	for len(pods) > 0 && over(left, min, nothing) {
		equal := 1
		for equal < len(pods) && moreImportant(pods[0], pods[equal]) == 0 {
			equal++
		}
		after := left
		for _, p := range pods[:equal] {
			after = after.plus(u.rules.requests(p.Pod), -1)
		}
		for _, last := range pods[:equal] {
			if equal > 1 && !over(after.plus(u.rules.requests(last.Pod), 1), min, nothing) {
				return true
			}
		}
		pods, left = pods[equal:], after
	}
	return false
}
