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

	// Affinity to other pods. affinityFirst: that of the preemptor is judged before
	// the anti-affinity of others. firstNeedsLabels: see finds.
	affinityFirst, firstNeedsLabels bool

	// Resources. onlyRequested: see lookedAt.
	tooLargeUnresolvable bool
	onlyRequested        bool
	resizeSums           bool // see occupied

	// Topology spread.
	spread spreadRules

	// Volumes. zoneLabelsOfToday: zone labels have the names of today, too.
	// zoneLabelsRenamed: a node may have just these.
	once              onceRules
	limits            limitRules
	binding           bindingRules
	zoneLabelsOfToday bool
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
	noNodeLeftIsTried              bool
	unknownDomainPanics            bool
	nominatedPodsUnmet             bool
	reprievedPodsShunned           bool
	initContainersForgotten        bool
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
		zoneLabelsOfToday:       true,
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
		affinityFirst:           true,
		firstNeedsLabels:        true,
		resizeSums:              true,
		onlyRequested:           true,
		tooLargeUnresolvable:    true,
		extenders: extenderRules{filter: true, interest: true, ignorable: true, abort: true, ignorableLast: true, trims: true, counts: true,
			excludes: func(listed bool) bool { return listed }},
	}
}
