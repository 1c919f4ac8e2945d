package model

// Rules are the documented algorithm as a table: what Decide holds a scheduler
// to. Documented is the table for v1.37.1; With adds known bugs to it, so that a
// disagreement can be attributed; Mutants breaks it in one place at a time.
type Rules struct {
	// Release is the version of Kubernetes whose algorithm this is.
	Release string

	filters  []Filter
	criteria []Criterion

	// Who may preempt. never: preemptionPolicy Never is respected.
	// retryUnresolvable: a pod whose nominated node has become unresolvable may
	// preempt again. nominatedFirst: it is scheduled there if it fits. waitsFor: a
	// pod with these properties on the nominated node has to go first.
	never             bool
	retryUnresolvable bool
	nominatedFirst    bool
	waitsFor          func(p *pod) bool

	// Whom. preempts and yields compare the priority of the preemptor with that
	// of a pod on the node, or nominated to it.
	preempts   func(preemptor, victim int32) bool
	yields     func(preemptor, nominated int32) bool
	secondPass bool

	// firstOfGroup tells whether the preemptor may be the first of the pods that
	// its affinity selects: whether it selects itself, and others that run.
	firstOfGroup func(itself, others bool) bool

	// In which order. importance is negative if a matters more than b.
	importance             func(a, b *pod) int
	reprieve               bool
	reprieveViolatingFirst bool
	resort                 bool
	// Dry runs. noVictimsAtOnce: a node without possible victims is not filtered
	// again. dryRunStatus: they tell whether what fails is resolvable.
	// zeroVictimsFail: a node where everybody is reprieved is no candidate.
	noVictimsAtOnce, dryRunStatus, zeroVictimsFail bool

	// Budgets.
	budgetNamespaces    bool
	disruptedPodsExempt bool
	decrementBudgets    bool
	stopAtViolation     bool
	exhausted           func(left int32) bool

	// Nodes that PreFilter leaves out: whether they have a status, and are tried.
	excludedHaveStatus, excludedAreTried bool
	// preFilterNamed: a rejection by PreFilter names the plugin.
	preFilterNamed bool

	// Resources.
	tooLargeUnresolvable bool
	resizeSums           bool // see occupied

	// Topology spread.
	spread spreadRules

	// Volumes. zoneLabelsRenamed: a node may have just today's names of zone labels.
	once              onceRules
	limits            limitRules
	binding           bindingRules
	zoneLabelsRenamed bool
	// Features that nodes declare.
	declared declaredRules

	// Resource claims.
	claims claimRules

	// Shortlist: whether there is one, and the least number of candidates.
	shortlists   bool
	minShortlist int
	// offset is at which potential node dry runs begin.
	offset func(Settings) int

	// Actuation. clearsWithoutCandidates: a pod that preemption does not help loses
	// its nomination.
	clears                  func(preemptor, nominated int32) bool
	clearsWithoutCandidates bool
	marksVictims            bool
	deletesTerminating      bool

	// Extenders.
	extenders extenderRules

	// Quirks: see Quirk.
	emptySelectorMatchesNothing    bool
	unlabelledPodsUnprotected      bool
	terminatingVictimsKeepNominees bool
	hostPortsForgotten             bool
	nominatedNodeBlamesOthers      bool
	preFilterRejectionIsError      bool
	percentageOfPotentialNodes     bool
	onePodForAllTerms              bool
	unlabelledNodesHideFirst       bool
	nominatedRefusalsSkipped       bool
	sidecarPortsForgotten          bool
	statusOverwritten              bool
	missingNodeIsError             bool
	oneTermConflicts               bool
	hostNamesAreNodeNames          bool
	unknownDomainPanics            bool
}

// Documented is the algorithm of v1.37.1 as its documentation, its KEPs and its
// doc comments describe it. Each rule is argued where it is applied.
func Documented() *Rules {
	return &Rules{
		Release:                 Linked.String(),
		filters:                 defaultFilters(),
		criteria:                defaultCriteria(),
		never:                   true,
		retryUnresolvable:       true,
		nominatedFirst:          true,
		waitsFor:                terminatingByPreemption,
		preempts:                func(preemptor, victim int32) bool { return victim < preemptor },
		yields:                  func(preemptor, nominated int32) bool { return nominated >= preemptor },
		secondPass:              true,
		firstOfGroup:            func(itself, others bool) bool { return itself && !others },
		importance:              moreImportant,
		reprieve:                true,
		reprieveViolatingFirst:  true,
		resort:                  true,
		budgetNamespaces:        true,
		disruptedPodsExempt:     true,
		decrementBudgets:        true,
		stopAtViolation:         true,
		exhausted:               func(left int32) bool { return left < 0 },
		spread:                  documentedSpread(),
		once:                    onceRules{everywhere: true, nominated: true},
		limits:                  limitRules{shared: true, attached: true, unbound: true, mustBeHere: true},
		binding:                 documentedBinding(),
		zoneLabelsRenamed:       true,
		declared:                declaredRules{initContainers: true},
		claims:                  documentedClaims(),
		shortlists:              true,
		minShortlist:            1,
		offset:                  Settings.offset,
		clears:                  func(preemptor, nominated int32) bool { return nominated < preemptor },
		clearsWithoutCandidates: true,
		marksVictims:            true,
		excludedHaveStatus:      true,
		noVictimsAtOnce:         true,
		dryRunStatus:            true,
		zeroVictimsFail:         true,
		preFilterNamed:          true,
		resizeSums:              true,
		tooLargeUnresolvable:    true,
		extenders: extenderRules{filter: true, interest: true, ignorable: true, abort: true, ignorableLast: true, trims: true, counts: true,
			excludes: func(listed bool) bool { return listed }},
	}
}

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
	// UnknownDomainPanics: the scheduler panics when a dry run removes a pod that a
	// spread constraint selects from a domain whose nodes are all left out.
	UnknownDomainPanics Quirk = "unknown-domain-panics"
)

// Quirks are all quirks there are, in a fixed order.
func Quirks() []Quirk {
	return []Quirk{EmptySelector, UnlabelledPod, TerminatingVictimsKeepNominations, ZeroCandidates, HostPortsForgotten,
		NominatedNodeBlamesOthers, PreFilterRejectionIsError, PercentageOfPotentialNodes, TerminatingPodUncounted, EmptySpreadSelector,
		ClaimOfOtherNamespace, ClaimCountedOnce, NominatedClaimIgnored, AttachedVolumeCountedTwice, VictimVolumesStayAttached,
		ForeignEphemeralClaim, MissingDriverResolvable, VolumeNodeFields,
		OnePodForAllTerms, UnlabelledNodesHideFirst, NominatedRefusalsSkipped,
		ExtenderRejectionIsError, NothingLeftKeepsNomination, FirstVictimIsHighest,
		ClaimAllocatedTwice,
		VictimsUnsorted, VictimStatusOverwritten, SidecarPortsForgotten, MissingNodeIsError, OneTermConflicts, HostNamesAreNodeNames, UnknownDomainPanics}
}

// With is a copy of r with quirks switched on.
func (r *Rules) With(quirks ...Quirk) *Rules {
	out := *r
	for _, q := range quirks {
		switch q {
		case EmptySelector:
			out.emptySelectorMatchesNothing = true
		case UnlabelledPod:
			out.unlabelledPodsUnprotected = true
		case TerminatingVictimsKeepNominations:
			out.terminatingVictimsKeepNominees = true
		case ZeroCandidates:
			out.minShortlist = 0
		case HostPortsForgotten:
			out.hostPortsForgotten = true
		case NominatedNodeBlamesOthers:
			out.nominatedNodeBlamesOthers = true
		case PreFilterRejectionIsError:
			out.preFilterRejectionIsError = true
		case PercentageOfPotentialNodes:
			out.percentageOfPotentialNodes = true
		case TerminatingPodUncounted:
			out.spread.terminatingUncounted = true
		case EmptySpreadSelector:
			out.spread.emptySelectorCounts0 = true
		case ClaimOfOtherNamespace:
			out.once.anyNamespace = true
		case ClaimCountedOnce:
			out.once.countedOnce = true
		case NominatedClaimIgnored:
			out.once.skips = true
		case AttachedVolumeCountedTwice:
			out.limits.attachedTwice = true
		case VictimVolumesStayAttached:
			out.limits.victimsAttached = true
		case ForeignEphemeralClaim:
			out.limits.brokenIsAnError = true
		case MissingDriverResolvable:
			out.limits.missingResolvable = true
		case VolumeNodeFields:
			out.binding.noNodeFields = true
		case ClaimAllocatedTwice:
			out.claims.allocatedTwice = true
		case OnePodForAllTerms:
			out.onePodForAllTerms = true
		case UnlabelledNodesHideFirst:
			out.unlabelledNodesHideFirst = true
		case NominatedRefusalsSkipped:
			out.nominatedRefusalsSkipped = true
		case ExtenderRejectionIsError:
			out.extenders.rejectionIsError = true
		case NothingLeftKeepsNomination:
			out.extenders.nothingLeftKeepsNomination = true
		case FirstVictimIsHighest:
			out.criteria = firstVictimIsHighest(out.criteria)
		case VictimsUnsorted:
			// The criteria take the first victim for the highest.
			out.resort, out.criteria = false, firstVictimIsHighest(out.criteria)
		case VictimStatusOverwritten:
			out.statusOverwritten = true
		case SidecarPortsForgotten:
			out.sidecarPortsForgotten = true
		case MissingNodeIsError:
			out.missingNodeIsError = true
		case OneTermConflicts:
			out.oneTermConflicts = true
		case HostNamesAreNodeNames:
			out.hostNamesAreNodeNames = true
		case UnknownDomainPanics:
			out.unknownDomainPanics = true
		default:
			panic("model: unknown quirk " + string(q))
		}
	}
	return &out
}
