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
	EmptySelector                     Quirk = "empty-selector"                       // an empty selector of a budget matches no pod
	UnlabelledPod                     Quirk = "unlabelled-pod"                       // no budget protects a pod without labels
	TerminatingVictimsKeepNominations Quirk = "terminating-victims-keep-nominations" // lower nominations stay if every victim is terminating already
	ZeroCandidates                    Quirk = "zero-candidates"                      // the shortlist may have no places at all
	HostPortsForgotten                Quirk = "host-ports-forgotten"                 // a host port of two pods is free as soon as one of them is removed
	HostAddressesAreText              Quirk = "host-addresses-are-text"              // a host address in another spelling is another address
	NominatedNodeBlamesOthers         Quirk = "nominated-node-blames-others"         // what fails the nominated node is blamed for nodes that PreFilter left out
	PreFilterRejectionIsError         Quirk = "prefilter-rejection-is-error"         // PostFilter ends in an error if PreFilter rejects the pod
	PercentageOfPotentialNodes        Quirk = "percentage-of-potential-nodes"        // minCandidateNodesPercentage is taken of the potential nodes, not of all
	TerminatingPodUncounted           Quirk = "terminating-pod-uncounted"            // a terminating pod, which spreading does not count, is taken off when removed
	EmptySpreadSelector               Quirk = "empty-spread-selector"                // an empty selector counts only the preemptor and pods that come and go
	ClaimOfOtherNamespace             Quirk = "claim-of-other-namespace"             // a pod that comes or goes uses the claim if one of its own has that name
	ClaimCountedOnce                  Quirk = "claim-counted-once"                   // a ReadWriteOncePod claim counts once, but each user that goes is taken off
	NominatedClaimIgnored             Quirk = "nominated-claim-ignored"              // a ReadWriteOncePod claim is free if only nominated pods use it
	AttachedVolumeCountedTwice        Quirk = "attached-volume-counted-twice"        // an attached volume counts twice if the preemptor alone mounts it
	VictimVolumesStayAttached         Quirk = "victim-volumes-stay-attached"         // volumes of removed pods count as long as they are attached
	ForeignEphemeralClaim             Quirk = "foreign-ephemeral-claim"              // an error where an ephemeral volume of a pod has somebody else's claim
	MissingDriverResolvable           Quirk = "missing-driver-resolvable"            // a node that lacks a driver fails in a resolvable way
	MigratedDriverNotMissed           Quirk = "migrated-driver-not-missed"           // a node without a CSINode lacks no driver for the volumes of in-tree plugins
	MigratedAttachmentUncounted       Quirk = "migrated-attachment-uncounted"        // an attached volume of an in-tree plugin takes no room of its own
	VolumeNodeFields                  Quirk = "volume-node-fields"                   // a volume's node affinity to fields of the node, as its name, is ignored
	ClaimTakesTwoVolumes              Quirk = "claim-takes-two-volumes"              // a claim that the preemptor mounts twice is bound twice
	ClaimAllocatedTwice               Quirk = "claim-allocated-twice"                // a claim that the preemptor names twice is allocated twice
	UnpickedClassUnnamed              Quirk = "unpicked-class-unnamed"               // a class that comes second to one of its name cannot be asked for by its own
	AdminDevicesWithheld              Quirk = "admin-devices-withheld"               // what a claim administers is taken from the claims after it
	AdminAccessConsumes               Quirk = "admin-access-consumes"                // administration needs counters and capacity that are free
	CapacityNamesAreText              Quirk = "capacity-names-are-text"              // a capacity is found only by the name as it is written
	FailureBehindUnready              Quirk = "failure-behind-unready-device"        // a device that failed is not seen behind one that is not ready
	ShareReadAsAnother                Quirk = "share-read-as-another"                // a share of a device that failed is not seen behind one that has not
	SharedDeviceGivenWhole            Quirk = "shared-device-given-whole"            // a device that is no longer shared is free beside those that have shares
	SkippedOperationsIgnored          Quirk = "skipped-operations-ignored"           // with the gate off, devices are given for which operations of a node are left out
	TaintedClaimShared                Quirk = "tainted-claim-shared"                 // taints of devices that are allocated keep no pod away
	OnePodForAllTerms                 Quirk = "one-pod-for-all-terms"                // a pod counts for a term of affinity only if all terms select it
	UnlabelledNodesHideFirst          Quirk = "unlabelled-nodes-hide-first"          // pods on nodes without the topology labels are no members of the group
	HostsOfOneNameApart               Quirk = "hosts-of-one-name-apart"              // with a gate, nodes of one host name are several domains of affinity
	NominatedRefusalsSkipped          Quirk = "nominated-refusals-skipped"           // anti-affinity of nominated pods counts only beside that of others
	ExtenderRejectionIsError          Quirk = "extender-rejection-is-error"          // a dry run ends in an error if only an extender rejects the node
	NothingLeftKeepsNomination        Quirk = "nothing-left-keeps-nomination"        // the nomination stays if extenders leave no candidate
	QuantitiesWrapAround              Quirk = "quantities-wrap-around"               // amounts beyond 64 bits are 0, or below 0
	SizesWrapAround                   Quirk = "storage-sizes-wrap-around"            // sizes of volumes beyond 64 bits are 0, or below 0
	ScoresWrapAround                  Quirk = "invalid-score-fails-cycle"            // an error if the score of a node that fits leaves 64 bits
	FirstVictimIsHighest              Quirk = "first-victim-is-highest"              // the first victim's priority counts as the highest, whoever put it first
	MemberRanksAsGroup                Quirk = "member-ranks-as-group"                // a pod that names a group ranks as one, though it goes by itself
	PickByOwnPriority                 Quirk = "pick-by-own-priority"                 // the choice among nodes goes by the priority of pods, not by that of their groups
	MemberOnDeletedNodeIsError        Quirk = "member-on-deleted-node-is-error"      // a dry run ends in an error if what goes together has a pod on a node that is gone
	NominationByOwnPriority           Quirk = "nomination-by-own-priority"           // nominated pods of groups count by their own priority
	SkippedStaySkipped                Quirk = "skipped-plugins-stay-skipped"         // giving units back, a plugin is not asked that had nothing to say without them
	LeastOfTwoDomains                 Quirk = "least-of-two-domains"                 // giving units back, the least of two domains is taken for that of all
	PreemptsForUnscheduledGroups      Quirk = "preempts-for-unscheduled-groups"      // units are preempted for members of groups that are not scheduled, too
	UnknownDomainIsError              Quirk = "unknown-topology-domain-is-error"     // an error if no topology domain has the nodes of all members that run
	GroupKeepsLowerNominations        Quirk = "group-keeps-lower-nominations"        // preempting for a group withdraws no nomination
	MembersStayNominated              Quirk = "members-stay-nominated"               // members of a group without a place keep their nomination
	GroupWithoutNodesIsError          Quirk = "group-without-nodes-is-error"         // the cycle of a group ends in an error if there are no nodes
	OwnNominationsCount               Quirk = "own-nominations-count"                // a group of priority 0 or less has its own nominations in its way
	BoundMemberLosesItsClaim          Quirk = "bound-member-loses-its-claim"         // a claim that is reserved for a member before its cycle is not, once it is bound
	SkippedEntryShiftsClaims          Quirk = "skipped-entry-shifts-claims"          // behind an entry that needs no claim, a claim of a group is reserved for the pod
	SharerSwapsDevices                Quirk = "sharer-swaps-devices"                 // a member that shares a claim has its devices in place of those of another claim
)

// The quirks that v1.37.1 no longer has.
const (
	VictimsUnsorted           Quirk = "victims-unsorted"            // victims are listed as they were not reprieved: violating ones first
	VictimStatusOverwritten   Quirk = "victim-status-overwritten"   // with the condition DisruptionTarget a victim gets the preemptor's status
	SidecarPortsForgotten     Quirk = "sidecar-ports-forgotten"     // the host ports of sidecars are free
	MissingNodeIsError        Quirk = "missing-node-is-error"       // the cycle ends in an error if a node that is required by name is missing
	OneTermConflicts          Quirk = "one-term-conflicts"          // one term of node affinity that no node can match keeps the pod from all
	HostNamesAreNodeNames     Quirk = "host-names-are-node-names"   // a volume that requires a host name leaves just the nodes of that name
	NoNodeLeftIsTried         Quirk = "no-node-left-is-tried"       // where plugins leave no node in common all are tried, with an error
	AllocatedClaimFailsScore  Quirk = "allocated-claim-fails-score" // an error if several nodes fit a pod with one claim allocated and one not
	UnknownDomainPanics       Quirk = "unknown-domain-panics"       // the scheduler panics when a selected pod comes to, or leaves, a domain left out
	NominatedPodsUnmet        Quirk = "nominated-pods-unmet"        // the preemptor's own affinity and anti-affinity ignore nominated pods
	ReprievedPodsShunned      Quirk = "reprieved-pods-shunned"      // a reprieved pod counts for all terms of anti-affinity if one selects it
	EphemeralVolumesUncounted Quirk = "ephemeral-volumes-uncounted" // ephemeral volumes do not count for the limits of CSI drivers
	LeftOutNodesCounted       Quirk = "left-out-nodes-counted"      // pods of nodes that spreading leaves out count if their domain does
	ClassAnnotationIgnored    Quirk = "class-annotation-ignored"    // there is no volume for a claim that names its class by annotation
	InitContainersForgotten   Quirk = "init-containers-forgotten"   // what init containers of pods on a node need is free
	RuleWithoutSelector       Quirk = "rule-without-selector"       // a DeviceTaintRule without a selector taints all devices
	ExcludedNamespacesCount   Quirk = "excluded-namespaces-count"   // terms that select namespaces by what they lack are about all namespaces
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
