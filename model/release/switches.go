package release

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release/storage"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// switches are all quirks there are, each with what it changes, in the order in
// which they are switched on.
var switches = []struct {
	quirk Quirk
	on    func(r *answers.Rules)
}{
	{EmptySelector, func(r *answers.Rules) {
		protects := r.Protects
		r.Protects = func(b *model.Budget, p *filter.Pod) bool { return !b.Selector.Empty() && protects(b, p) }
	}},
	{UnlabelledPod, func(r *answers.Rules) {
		protects := r.Protects
		r.Protects = func(b *model.Budget, p *filter.Pod) bool { return len(p.Labels) > 0 && protects(b, p) }
	}},
	{TerminatingVictimsKeepNominations, afterActuate(func(cy *model.Cycle, a *model.Actuation) {
		if len(a.Deleted) == 0 && cy.Settings.AsyncPreemption() {
			a.Cleared = nil
		}
	})},
	{ZeroCandidates, func(r *answers.Rules) {
		enough := r.NumCandidates
		r.NumCandidates = func(percentage, absolute int32, nodes, potential int) int {
			if absolute <= 0 && nodes*int(percentage)/100 <= 0 {
				return 0
			}
			return enough(percentage, absolute, nodes, potential)
		}
	}},
	{HostAddressesAreText, onPlugin("NodePorts", variant.AlterBoth(func(s *filter.Snapshot, st *filter.PortsState, _ *filter.Answer) {
		st.Read(s, func(text string) string { return text })
	}))},
	{HostPortsForgotten, onPlugin("NodePorts", variant.Rejudge(hostPortsForgotten))},
	{NominatedNodeBlamesOthers, nominatedNodeBlamesOthers},
	{PreFilterRejectionIsError, afterDecide(func(d *model.Decision) {
		pre := &d.Cycle.PreFiltered
		// The state that DynamicResources has when it has been asked itself is missing.
		if d.Eligible == nil || !pre.Stopped || pre.Rejection != nil && pre.Rejection.Plugin == "DynamicResources" {
			return
		}
		*d = model.Decision{Cycle: d.Cycle, Verdicts: d.Verdicts, PostFilterError: "not found"}
	})},
	{PercentageOfPotentialNodes, func(r *answers.Rules) {
		enough := r.NumCandidates
		r.NumCandidates = func(percentage, absolute int32, _, potential int) int {
			return enough(percentage, absolute, potential, potential)
		}
	}},
	{TerminatingPodUncounted, onPlugin("PodTopologySpread", variant.Around(terminatingPodUncounted))},
	{EmptySpreadSelector, onPlugin("PodTopologySpread", variant.Around(emptySpreadSelector))},
	{ClaimOfOtherNamespace, onPlugin("VolumeRestrictions", countUsers(othersOfThatName, func(c *usersCounted) { c.anyNamespace = true }))},
	{ClaimCountedOnce, onPlugin("VolumeRestrictions", countUsers(usedTwice, func(c *usersCounted) { c.countedOnce = true }))},
	{NominatedClaimIgnored, onPlugin("VolumeRestrictions", countUsers(usedByNominated, func(c *usersCounted) { c.skipsNominated = true }))},
	{AttachedVolumeCountedTwice, onPlugin("NodeVolumeLimits", variant.Rejudge(storage.AttachedVolumeCountedTwice))},
	{VictimVolumesStayAttached, onPlugin("NodeVolumeLimits", variant.AlterBoth(func(s *filter.Snapshot, st *volume.LimitsState, _ *filter.Answer) {
		for i, n := range s.Nodes {
			st.Attached[i] = st.Index.AttachedTo(n.Name)
		}
	}))},
	{ForeignEphemeralClaim, onPlugin("NodeVolumeLimits", variant.Around(storage.ForeignEphemeralClaim))},
	{MigratedDriverNotMissed, onPlugin("NodeVolumeLimits", variant.AlterBoth(storage.MigratedDriverNotMissed))},
	{MissingDriverResolvable, onPlugin("NodeVolumeLimits", variant.Alter(func(st *volume.LimitsState) {
		for _, missing := range st.Missing {
			if missing != nil {
				missing.Unresolvable = false
			}
		}
	}))},
	{MigratedAttachmentUncounted, onPlugin("NodeVolumeLimits", storage.MigratedAttachmentUncounted)},
	{VolumeNodeFields, onVolumes("VolumeBinding", variant.MisreadObjects(storage.WithoutNodeFields))},
	{ClaimTakesTwoVolumes, onVolumes("VolumeBinding", variant.Alter(storage.ClaimTakesTwoVolumes))},
	{OnePodForAllTerms, onPlugin("InterPodAffinity", variant.Around(onePodForAllTerms))},
	{UnlabelledNodesHideFirst, onPlugin("InterPodAffinity", variant.AlterBoth(unlabelledNodesHideFirst))},
	{HostsOfOneNameApart, onPlugin("InterPodAffinity", variant.Where(hostsShareName, variant.Misread(hostsApart)))},
	{NominatedRefusalsSkipped, onPlugin("InterPodAffinity", variant.Around(nominatedRefusalsSkipped))},
	{ExtenderRejectionIsError, afterDryRun(func(_ *model.Cycle, run *model.DryRunOnNode, _ []int) {
		if run.Failed != nil && run.Failed.Plugin == model.ExtenderName {
			run.Failed = nil
		}
	})},
	{NothingLeftKeepsNomination, nothingLeftKeepsNomination},
	{FirstVictimIsHighest, firstVictimIsHighest},
	{MemberRanksAsGroup, memberRanksAsGroup},
	{PickByOwnPriority, pickByOwnPriority},
	{MemberOnDeletedNodeIsError, memberOnDeletedNodeIsError},
	{NominationByOwnPriority, nominationByOwnPriority},
	{SkippedStaySkipped, skippedStaySkipped},
	{LeastOfTwoDomains, leastOfTwoDomains},
	{PreemptsForUnscheduledGroups, preemptsForUnscheduledGroups},
	{UnknownDomainIsError, unknownDomainIsError},
	{GroupWithoutNodesIsError, groupWithoutNodesIsError},
	{GroupKeepsLowerNominations, groupKeepsLowerNominations},
	{MembersStayNominated, membersStayNominated},
	{OwnNominationsCount, ownNominationsCount},
	{SharerSwapsDevices, sharerSwapsDevices},
	{BoundMemberLosesItsClaim, boundMemberLosesItsClaim},
	{SkippedEntryShiftsClaims, skippedEntryShiftsClaims},
	{SizesWrapAround, onVolumes("VolumeBinding", variant.Alter(storage.SizesWrapAround))},
	{ScoresWrapAround, func(r *answers.Rules) {
		afterDecide(scoresWrapAround)(r)
		domainScoresWrapAround(r)
	}},
	{AdminDevicesWithheld, readDevices(func(r *device.Reading) { r.Withholds = func(admin, other int) bool { return admin <= other } })},
	{AdminAccessConsumes, readDevices(func(r *device.Reading) { r.AdminPays = true })},
	{CapacityNamesAreText, readDevices(func(r *device.Reading) { r.NamesAreText = true })},
	{FailureBehindUnready, readDevices(func(r *device.Reading) { r.StopsAtUnready = true })},
	{ShareReadAsAnother, readDevices(func(r *device.Reading) { r.SharesAreAlike = true })},
	{SharedDeviceGivenWhole, readDevices(func(r *device.Reading) { r.SharesAreFree = true })},
	{SkippedOperationsIgnored, readDevices(func(r *device.Reading) { r.SkipsAreUnseen = true })},
	{TaintedClaimShared, onPlugin("DynamicResources", variant.AlterBoth(func(s *filter.Snapshot, st *device.State, _ *filter.Answer) {
		if len(st.Tainted) > 0 {
			st.Tainted = nil
			st.Judge(s)
		}
	}))},
	// What reads another cluster comes after what has devices judged anew: that has to see the same.
	{QuantitiesWrapAround, func(r *answers.Rules) {
		onPlugin("NodeResourcesFit", variant.Around(int64WrapsAround))(r)
		onPlugin("DynamicResources", variant.Misread(nothingOfHuge))(r)
	}},
	{UnpickedClassUnnamed, func(r *answers.Rules) {
		onPlugin("NodeResourcesFit", variant.Where(anyUnpicked, variant.Misread(withoutUnpicked)))(r)
		onPlugin("DynamicResources", variant.Where(anyUnpicked, variant.Misread(unpickedMisnamed)))(r)
	}},
	{ClaimAllocatedTwice, onPlugin("DynamicResources", variant.Where(
		func(s *filter.Snapshot) bool { return len(s.Preemptor.Spec.ResourceClaims) > 1 }, variant.Misread(claimAllocatedTwice)))},

	{VictimsUnsorted, func(r *answers.Rules) {
		reprieve := r.Reprieve
		r.Reprieve = func(cy *model.Cycle, run *model.DryRunOnNode, possible []*unit.Unit, budgetOrder []int) *model.Outcome {
			o := reprieve(cy, run, possible, budgetOrder)
			violates := func(p *filter.Pod) bool { return o.Violates[p.Key] != "" }
			o.Pods = slices.Concat(
				slices.DeleteFunc(slices.Clone(o.Pods), func(p *filter.Pod) bool { return !violates(p) }),
				slices.DeleteFunc(slices.Clone(o.Pods), violates))
			for i, p := range o.Pods {
				o.Victims[i] = p.Key
			}
			return o
		}
		firstVictimIsHighest(r) // the criteria take the first victim for the highest
	}},
	{VictimStatusOverwritten, victimStatusOverwritten},
	{SidecarPortsForgotten, onPlugin("NodePorts", variant.MisreadPods(func(p *v1.Pod) { p.Spec.InitContainers = nil }))},
	{MissingNodeIsError, missingNodeIsError},
	{OneTermConflicts, onPlugin("NodeAffinity", oneTermConflicts)},
	{HostNamesAreNodeNames, onPlugin("VolumeBinding", variant.AlterBoth(func(_ *filter.Snapshot, st *volume.BindingState, a *filter.Answer) {
		if a.Rejection == nil && a.Error == "" {
			a.Nodes = storage.HostNames(st.Claims)
		}
	}))},
	{NoNodeLeftIsTried, noNodeLeftIsTried},
	{AllocatedClaimFailsScore, afterDecide(func(d *model.Decision) {
		claims, ok := filter.As[*device.State](d.Cycle.State("DynamicResources"))
		if ok && len(d.Fits) > 1 && len(claims.Open) > 0 && len(claims.Allocated) > 0 {
			*d = model.Decision{Cycle: d.Cycle, Errors: []string{"is smaller than number of claims"}}
		}
	})},
	{UnknownDomainPanics, unknownDomainPanics},
	{NominatedPodsUnmet, onPlugin("InterPodAffinity", variant.AlterBoth(func(s *filter.Snapshot, st *filter.InterPodAffinityState, _ *filter.Answer) {
		for _, n := range s.Nodes {
			for _, p := range n.Nominated {
				r := &st.Relations[p.Index]
				*r = filter.Relation{Affinity: make([]bool, len(r.Affinity)), Existing: r.Existing}
			}
		}
	}))},
	{ReprievedPodsShunned, onPlugin("InterPodAffinity", variant.Rejudge(reprievedPodsShunned))},
	{EphemeralVolumesUncounted, onPlugin("NodeVolumeLimits", storage.EphemeralVolumesUncounted)},
	{LeftOutNodesCounted, onPlugin("PodTopologySpread", variant.Alter(leftOutNodesCounted))},
	{ClassAnnotationIgnored, onVolumes("VolumeBinding", variant.MisreadObjects(func(c *v1.PersistentVolumeClaim) {
		field, none := "", "?" // it is seen to ask for attributes that no volume has
		if c.Spec.StorageClassName != nil {
			field = *c.Spec.StorageClassName
		}
		if class, named := c.Annotations[v1.BetaStorageClassAnnotation]; named && class != field {
			c.Spec.VolumeAttributesClassName = &none
		}
	}))},
	{InitContainersForgotten, onPlugin("NodeResourcesFit", variant.MisreadPlaced(func(p *v1.Pod) { p.Spec.InitContainers = nil }))},
	{RuleWithoutSelector, onPlugin("DynamicResources", variant.MisreadObjects(func(r *resourcev1.DeviceTaintRule) {
		r.Spec.DeviceSelector = cmp.Or(r.Spec.DeviceSelector, &resourcev1.DeviceTaintSelector{})
	}))},
	{ExcludedNamespacesCount, onPlugin("InterPodAffinity", variant.Where(selectsUnlabelled, variant.MisreadPreemptor(excludedNamespacesCount)))},
}

func nominatedNodeBlamesOthers(r *answers.Rules) {
	filterNodes := r.Filter
	r.Filter = func(cy *model.Cycle) (map[string]*model.Verdict, string) {
		verdicts, failure := filterNodes(cy)
		first, pre := cy.NominatedFirst(cy), &cy.PreFiltered
		if first == nil || pre.Nodes == nil {
			return verdicts, failure
		}
		if v := verdicts[first.Name]; v != nil && !slices.Contains(pre.Blamed, v.Plugin) {
			pre.Blamed = append(slices.Clip(pre.Blamed), v.Plugin)
			for name := range cy.Absent {
				verdicts[name] = cy.LeftOut(cy)
			}
		}
		return verdicts, failure
	}
}

func nothingLeftKeepsNomination(r *answers.Rules) {
	r.NoneLeft = func(bool) *model.Actuation {
		return &model.Actuation{Nomination: model.NominationKept}
	}
}

func firstVictimIsHighest(r *answers.Rules) {
	r.Criteria = slices.Clone(r.Criteria)
	for i := range r.Criteria {
		if r.Criteria[i].Name == model.DefaultCriteria()[1].Name {
			r.Criteria[i].Compare = func(a, b *model.Outcome) int { return cmp.Compare(a.Pods[0].Priority, b.Pods[0].Priority) }
		}
	}
}

func victimStatusOverwritten(r *answers.Rules) {
	actuate := r.Actuate
	r.Actuate = func(cy *model.Cycle, n *filter.Node, victims []*filter.Pod) *model.Actuation {
		// Whether the condition is there already is asked of the preemptor.
		a := actuate(cy, n, variant.Pods(victims, func(p *v1.Pod) { p.Status.Conditions = nil }))
		if cy.MarkedAlready(cy.Preemptor.Pod) {
			a.DisruptionTarget = nil
		}
		return a
	}
	r.Seen = func(o *model.Observation) *model.Observation {
		seen, a := *o, *o.Actuation
		seen.Actuation = &a
		a.Other = slices.DeleteFunc(slices.Clone(a.Other), func(write string) bool {
			return slices.ContainsFunc(a.DisruptionTarget, func(key string) bool { return strings.HasPrefix(write, "patch "+key+" [status]: ") })
		})
		if len(a.Other) == 0 {
			a.Other = nil
		}
		return &seen
	}
}

func missingNodeIsError(r *answers.Rules) {
	filterNodes := r.Filter
	r.Filter = func(cy *model.Cycle) (map[string]*model.Verdict, string) {
		verdicts, failure := filterNodes(cy)
		if first := cy.NominatedFirst(cy); failure != "" || first != nil && verdicts[first.Name] == nil {
			return verdicts, failure
		}
		for _, name := range slices.Sorted(maps.Keys(cy.PreFiltered.Nodes)) {
			if cy.Node(name) == nil {
				return nil, fmt.Sprintf("nodeinfo not found for node name %q", name)
			}
		}
		return verdicts, ""
	}
}

func noNodeLeftIsTried(r *answers.Rules) {
	preFilter := r.PreFilter
	r.PreFilter = func(cy *model.Cycle) model.PreFiltered {
		pre := preFilter(cy)
		if pre.Nodes != nil && len(pre.Nodes) == 0 {
			pre.Rejection.Unresolvable = false
		}
		return pre
	}
	afterDryRun(func(cy *model.Cycle, run *model.DryRunOnNode, _ []int) {
		if cy.PreFiltered.Stopped && len(run.Possible) > 0 {
			run.Failed = &model.Verdict{Error: "from cycleState: not found"}
		}
	})(r)
}

func unknownDomainPanics(r *answers.Rules) {
	const panics = "process died: panic: runtime error: invalid memory address or nil pointer dereference"
	filterNodes := r.Filter
	r.Filter = func(cy *model.Cycle) (map[string]*model.Verdict, string) {
		comes := func(n *filter.Node) bool { return unknownDomain(cy, n, cy.Respected(n)) }
		if cy.PreFiltered.Rejection == nil && cy.PreFiltered.Error == "" && slices.ContainsFunc(cy.Nodes, comes) {
			return nil, panics
		}
		return filterNodes(cy)
	}
	afterDecide(func(d *model.Decision) {
		goes := func(name string) bool {
			n := d.Cycle.Node(name)
			return unknownDomain(d.Cycle, n, d.Cycle.PodsOn(n, true))
		}
		if slices.ContainsFunc(d.PotentialNodes, goes) {
			*d = model.Decision{Cycle: d.Cycle, Errors: []string{panics}}
		}
	})(r)
}

// readDevices has the documents on devices read otherwise.
func readDevices(change func(*device.Reading)) func(*answers.Rules) {
	return onPlugin("DynamicResources", variant.AlterBoth(func(s *filter.Snapshot, st *device.State, _ *filter.Answer) {
		st.Read(s, change)
	}))
}

// claimAllocatedTwice: a claim that the preemptor names twice, and that has no devices
// yet, is seen to be two alike.
func claimAllocatedTwice(s *filter.Snapshot) {
	claims := map[string]*resourcev1.ResourceClaim{}
	for _, o := range s.Objects {
		if claim, ok := o.(*resourcev1.ResourceClaim); ok {
			claims[filter.Key(claim)] = claim
		}
	}
	s.Preemptor.Pod = variant.Changed(s.Preemptor.Pod, func(p *v1.Pod) {
		times := map[*resourcev1.ResourceClaim]int{}
		p.Spec.ResourceClaims = variant.Each(p.Spec.ResourceClaims, func(entry *v1.PodResourceClaim) {
			name, _ := device.ClaimName(p, entry)
			claim := claims[p.Namespace+"/"+name]
			if claim == nil || claim.Status.Allocation != nil || entry.ResourceClaimName == nil && !filter.Controls(p, claim) {
				return
			}
			if times[claim]++; times[claim] > 1 {
				another := fmt.Sprintf("%s, time %d", name, times[claim])
				s.Objects = append(s.Objects, variant.Changed(claim, func(c *resourcev1.ResourceClaim) { c.Name = another }))
				entry.ResourceClaimName, entry.ResourceClaimTemplateName = &another, nil
			}
		})
	})
}
