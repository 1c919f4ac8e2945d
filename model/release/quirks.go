package release

import (
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model/answers"
)

// Quirk is a known bug of upstream that the model can imitate. A disagreement
// is explained by a quirk if it goes away when the quirk is switched on.
type Quirk string

// The quirks of v1.37.1. The ledger of findings describes each.
const (
	// EmptySelector: an empty selector of a budget matches no pod.
	EmptySelector Quirk = "empty-selector"
	// UnlabelledPod: no budget protects a pod without labels.
	UnlabelledPod Quirk = "unlabelled-pod"
	// TerminatingVictimsKeepNominations: when every victim is terminating
	// already, asynchronous preemption leaves the lower nominations in place.
	TerminatingVictimsKeepNominations Quirk = "terminating-victims-keep-nominations"
	// ZeroCandidates: the shortlist may have no places at all.
	ZeroCandidates Quirk = "zero-candidates"
	// HostPortsForgotten: a host port that two pods of a node share is free as
	// soon as one of them is removed.
	HostPortsForgotten Quirk = "host-ports-forgotten"
	// NominatedNodeBlamesOthers: the plugin that fails the nominated node is
	// also blamed for the nodes that PreFilter excluded.
	NominatedNodeBlamesOthers Quirk = "nominated-node-blames-others"
	// PreFilterRejectionIsError: when PreFilter rejects the pod, PostFilter ends
	// in an error before preemption is asked.
	PreFilterRejectionIsError Quirk = "prefilter-rejection-is-error"
	// PercentageOfPotentialNodes: minCandidateNodesPercentage is taken of the
	// potential nodes, not of all.
	PercentageOfPotentialNodes Quirk = "percentage-of-potential-nodes"
	// TerminatingPodUncounted: a terminating pod, which spread constraints do not
	// count, is taken off the count when it is removed.
	TerminatingPodUncounted Quirk = "terminating-pod-uncounted"
	// EmptySpreadSelector: an empty selector of a spread constraint counts no pod
	// of those that are there, but the preemptor, and those removed and added.
	EmptySpreadSelector Quirk = "empty-spread-selector"
	// ClaimOfOtherNamespace: a pod that goes or comes counts as a user of the
	// preemptor's ReadWriteOncePod claim if a claim in its own namespace has that
	// name.
	ClaimOfOtherNamespace Quirk = "claim-of-other-namespace"
	// ClaimCountedOnce: a ReadWriteOncePod claim that is in use counts once, but
	// every pod that goes, and every volume of it, is taken off.
	ClaimCountedOnce Quirk = "claim-counted-once"
	// NominatedClaimIgnored: a ReadWriteOncePod claim that no pod uses is free,
	// though a nominated pod is to use it.
	NominatedClaimIgnored Quirk = "nominated-claim-ignored"
	// AttachedVolumeCountedTwice: a volume that the preemptor mounts, and that is
	// attached to the node already, counts twice if no pod there mounts it.
	AttachedVolumeCountedTwice Quirk = "attached-volume-counted-twice"
	// VictimVolumesStayAttached: the volumes of removed pods count as long as they
	// are attached.
	VictimVolumesStayAttached Quirk = "victim-volumes-stay-attached"
	// ForeignEphemeralClaim: on a node with a pod whose ephemeral volume has
	// somebody else's claim, pods with CSI volumes end in an error.
	ForeignEphemeralClaim Quirk = "foreign-ephemeral-claim"
	// MissingDriverResolvable: a node that lacks a driver is said to fail in a way
	// that removing pods may resolve.
	MissingDriverResolvable Quirk = "missing-driver-resolvable"
	// VolumeNodeFields: what a volume's node affinity requires of fields of the
	// node, such as its name, is ignored.
	VolumeNodeFields Quirk = "volume-node-fields"
	// ClaimAllocatedTwice: a claim that the preemptor names twice is allocated twice.
	ClaimAllocatedTwice Quirk = "claim-allocated-twice"
	// OnePodForAllTerms: pods count for a term of affinity only if all terms of
	// the pod select them.
	OnePodForAllTerms Quirk = "one-pod-for-all-terms"
	// UnlabelledNodesHideFirst: a pod counts as the first of its group although
	// others of it run, on nodes without the topology labels.
	UnlabelledNodesHideFirst Quirk = "unlabelled-nodes-hide-first"
	// NominatedRefusalsSkipped: the anti-affinity of nominated pods counts only if
	// some other pod's affinity or anti-affinity does.
	NominatedRefusalsSkipped Quirk = "nominated-refusals-skipped"
	// ExtenderRejectionIsError: a dry run ends in an error if nothing but an
	// extender keeps the pod from the node.
	ExtenderRejectionIsError Quirk = "extender-rejection-is-error"
	// NothingLeftKeepsNomination: the nomination stays if extenders leave no
	// candidate.
	NothingLeftKeepsNomination Quirk = "nothing-left-keeps-nomination"
	// FirstVictimIsHighest: the first victim's priority counts as the highest,
	// also if an extender put it first.
	FirstVictimIsHighest Quirk = "first-victim-is-highest"
)

// The quirks that v1.37.1 no longer has.
const (
	// VictimsUnsorted: the victims are listed in the order in which they were not
	// reprieved, those that violate a budget first.
	VictimsUnsorted Quirk = "victims-unsorted"
	// VictimStatusOverwritten: with the condition DisruptionTarget a victim gets the
	// rest of the preemptor's status, too.
	VictimStatusOverwritten Quirk = "victim-status-overwritten"
	// SidecarPortsForgotten: the host ports of sidecars are free.
	SidecarPortsForgotten Quirk = "sidecar-ports-forgotten"
	// MissingNodeIsError: the cycle ends in an error if the preemptor requires a node
	// by a name that no node has.
	MissingNodeIsError Quirk = "missing-node-is-error"
	// OneTermConflicts: one term of the preemptor's node affinity that no node can
	// match keeps it from all nodes, whatever the other terms match.
	OneTermConflicts Quirk = "one-term-conflicts"
	// HostNamesAreNodeNames: a volume that requires a host name leaves just the nodes
	// of that name.
	HostNamesAreNodeNames Quirk = "host-names-are-node-names"
	// NoNodeLeftIsTried: preemption is tried on all nodes if plugins leave none in
	// common, and ends in an error where there are pods to preempt.
	NoNodeLeftIsTried Quirk = "no-node-left-is-tried"
	// AllocatedClaimFailsScore: the cycle ends in an error if several nodes fit and the
	// preemptor has a claim that is allocated beside one that is not.
	AllocatedClaimFailsScore Quirk = "allocated-claim-fails-score"
	// UnknownDomainPanics: the scheduler panics when a pod that a spread constraint
	// selects is removed from a domain whose nodes are all left out, or is nominated
	// to it.
	UnknownDomainPanics Quirk = "unknown-domain-panics"
	// NominatedPodsUnmet: the preemptor's own affinity and anti-affinity ignore
	// nominated pods.
	NominatedPodsUnmet Quirk = "nominated-pods-unmet"
	// ReprievedPodsShunned: a pod that is reprieved counts for all terms of the
	// preemptor's anti-affinity if one of them selects it.
	ReprievedPodsShunned Quirk = "reprieved-pods-shunned"
	// EphemeralVolumesUncounted: ephemeral volumes do not count for the limits of CSI
	// drivers.
	EphemeralVolumesUncounted Quirk = "ephemeral-volumes-uncounted"
	// LeftOutNodesCounted: the pods of nodes that spread constraints leave out count,
	// if a node of the same domain is not left out.
	LeftOutNodesCounted Quirk = "left-out-nodes-counted"
	// ClassAnnotationIgnored: there is no volume for a claim that names its class by
	// an annotation.
	ClassAnnotationIgnored Quirk = "class-annotation-ignored"
	// InitContainersForgotten: what init containers of pods on a node need is free.
	InitContainersForgotten Quirk = "init-containers-forgotten"
)

// Quirks are all quirks there are, in a fixed order.
func Quirks() []Quirk {
	all := make([]Quirk, len(switches))
	for i, s := range switches {
		all[i] = s.quirk
	}
	return all
}

// With is a copy of r with quirks switched on.
func With(r *answers.Rules, quirks ...Quirk) *answers.Rules {
	out := r.Clone()
	found := 0
	for _, s := range switches {
		if slices.Contains(quirks, s.quirk) {
			s.on(out)
			found++
		}
	}
	if found < len(quirks) {
		panic(fmt.Sprintf("release: unknown quirk among %v", quirks))
	}
	return out
}
