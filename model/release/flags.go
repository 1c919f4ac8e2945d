package release

import (
	"cmp"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release/storage"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// Flag is a part of today's algorithm that some releases do without.
type Flag struct {
	// Name says what releases that have it do.
	Name string
	// In is which releases those are, as far as the sources of Releases tell.
	In string
	// Source is where a release that has it says so, or does so.
	Source string
	// Instead is what the other releases do.
	Instead string

	without func(r *answers.Rules)
}

// Flags are all in which the algorithms that releases document differ. What a
// release does against its documentation is no flag, but a Quirk.
func Flags() []Flag {
	return []Flag{
		// Who may preempt.
		{"a pod whose nominated node has become unresolvable may preempt again", ">=1.19.0",
			"default_preemption.go:198@v1.19.16, PodEligibleToPreemptOthers", "it waits for terminating pods there all the same",
			func(r *answers.Rules) {
				eligible := r.Eligible
				r.Eligible = func(cy *model.Cycle, _ map[string]*model.Verdict) model.Eligibility { return eligible(cy, nil) }
			}},
		{"only pods that terminate by preemption are waited for", ">=1.27.0",
			"default_preemption.go:266@v1.27.16, podTerminatingByPreemption; KEP-3329", "any terminating pod of lower priority is",
			func(r *answers.Rules) { r.Awaited = func(p *filter.Pod) bool { return p.DeletionTimestamp != nil } }},

		// Filter.
		{"the nominated node is tried first, and taken if the pod fits there", ">=1.22.0",
			"PreferNominatedNode (kube_features.go@v1.22.17); KEP-1923", "it is a node like any other",
			func(r *answers.Rules) { r.NominatedFirst = func(*model.Cycle) *filter.Node { return nil } }},
		{"a request above what a node can allocate is unresolvable", ">=1.34.0",
			"noderesources/fit.go:572@v1.34.4, fitsRequest", "it may be resolved by preemption, as any lack of resources",
			onPlugin("NodeResourcesFit", variant.Rejudge(func(_ filter.State, _ *filter.Node, _ filter.View, failed *filter.Verdict) *filter.Verdict {
				if failed != nil {
					failed.Unresolvable = false
				}
				return failed
			}))},
		{"only resources that the pod requests count", ">=1.29.0",
			"noderesources/fit.go:329@v1.29.6, fitsRequest", "a pod that requests any resource needs a node on which neither CPU, memory nor ephemeral storage is overcommitted",
			onPlugin("NodeResourcesFit", variant.Alter(usualResources))},
		{"a pod that is resized takes the largest of what is desired, allocated and in effect, of all containers together", ">=1.37.0",
			"component-helpers/resource/helpers.go@v0.37.1, AggregateContainerRequests", "each container takes the largest of its own",
			onPlugin("NodeResourcesFit", variant.MisreadPlaced(resizedEach))},
		{"a rejection before any node is looked at names the plugin", ">=1.22.0",
			"runtime/framework.go:419@v1.22.17, RunPreFilterPlugins (SetFailedPlugin)", "it names none",
			func(r *answers.Rules) {
				filterNodes := r.Filter
				r.Filter = func(cy *model.Cycle) (map[string]*model.Verdict, string) {
					verdicts, failure := filterNodes(cy)
					if cy.PreFiltered.Rejection != nil {
						for _, v := range verdicts {
							v.Plugin = ""
						}
					}
					return verdicts, failure
				}
			}},
		{"taints and node affinity are judged before resources", ">=1.20.0",
			"v1beta2/default_plugins.go:47@v1.22.17; algorithmprovider/registry.go:87@v1.20.15", "resources are judged first: the unresolvable failure of a full node is not seen",
			firstOf("NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity", "VolumeRestrictions", "TaintToleration")},
		{"host name, ports, node affinity and resources are judged one after another", ">=1.19.0",
			"legacy_registry.go:186@v1.19.16", "they are one predicate, which names all that fail (predicates.go:1196@v1.16.15, GeneralPredicates)",
			asGeneralPredicates("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity")},
		{"a pod's affinity to others is judged before the anti-affinity of others to it", ">=1.19.0",
			"interpodaffinity/filtering.go:386@v1.19.16, Filter", "after it, so that what cannot be resolved is not seen",
			onPlugin("InterPodAffinity", variant.Rejudge(func(st *filter.InterPodAffinityState, n *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
				if failed != nil && st.ExistingViolated(n, v) {
					return filter.Resolvable("node(s) didn't satisfy existing pods anti-affinity rules")
				}
				return failed
			}))},
		{"the first of a group of pods needs a node with all the labels that its affinity names", ">=1.19.0",
			"interpodaffinity/filtering.go:355@v1.19.16, satisfyPodAffinity", "any node will do",
			onPlugin("InterPodAffinity", variant.Alter(func(st *filter.InterPodAffinityState) {
				for i := range st.Labelled {
					st.Labelled[i] = true
				}
			}))},
		{"PreFilter leaves out nodes that the pod does not require by name", ">=1.24.0",
			"nodeaffinity/node_affinity.go:88@v1.25.16, PreFilter", "every node is filtered",
			onPlugin("NodeAffinity", variant.WithoutPreFilter())},
		{"nodes that are left out are said to be so", ">=1.32.0",
			"schedule_one.go:502@v1.32.13, findNodesThatFitPod (SetAbsentNodesStatus)", "they have no status",
			func(r *answers.Rules) { r.AbsentUnreported = true }},
		{"preemption is not tried on nodes without a status", ">=1.27.15 <1.28.0 || >=1.28.11 <1.29.0 || >=1.29.6",
			"preemption/preemption.go:409@v1.27.16, nodesWherePreemptionMightHelp; kubernetes#125306", "it is",
			func(r *answers.Rules) {
				leftOut := r.LeftOut
				r.LeftOut = func(cy *model.Cycle) *model.Verdict {
					v := leftOut(cy)
					v.Unresolvable = false
					return v
				}
			}},
		{"a pod whose claims are missing, or deleted, is rejected", ">=1.20.0",
			"volumebinding/volume_binding.go:162@v1.22.17, PreFilter", "its cycle ends in an error (generic_scheduler.go:589@v1.19.16, podPassesBasicChecks)",
			onPlugin("VolumeBinding", variant.AlterBoth(storage.MissingClaimIsError))},
		{"a pod whose claim has lost its volume is rejected", ">=1.23.0",
			"volumebinding/volume_binding.go:152@v1.23.0, podHasPVCs", "the claim is like any that is bound",
			onVolumes("VolumeBinding", variant.MisreadObjects(func(c *v1.PersistentVolumeClaim) {
				if c.Status.Phase == v1.ClaimLost {
					c.Status.Phase = v1.ClaimBound
				}
			}))},
		{"a pod whose claims ought to be bound is rejected", ">=1.19.0",
			"volumebinding/volume_binding.go:137@v1.19.16, PreFilter", "its cycle ends in an error on a node that has passed all before (scheduler_binder.go@v1.16.15, FindPodVolumes)",
			onPlugin("VolumeBinding", variant.AlterBoth(storage.ImmediateIsError))},
		{"a claim for which a node was selected may still wait for the pod", ">=1.14.0",
			"scheduling/scheduler_binder.go:215@v1.16.15, FindPodVolumes", "it ought to be bound (pv_controller.go:297@v1.13.0, shouldDelayBinding)",
			func(r *answers.Rules) {
				onVolumes("VolumeBinding", variant.MisreadObjects(storage.SelectedOughtToBeBound))(r)
				onVolumes("VolumeZone", variant.MisreadObjects(storage.SelectedOughtToBeBound))(r)
			}},
		{"no node has a volume that does not exist", ">=1.19.0",
			"scheduling/scheduler_binder.go@v1.19.16, checkBoundClaims", "the cycle ends in an error",
			onPlugin("VolumeBinding", variant.Alter(storage.LostVolumeIsError))},
		{"zone labels have the names of today, too", ">=1.19.0",
			"volumezone/volume_zone.go:56@v1.19.16, volumeZoneLabels", "just failure-domain.beta.kubernetes.io/zone and region (predicates.go:774@v1.16.15)",
			onVolumes("VolumeZone", storage.ZoneLabelsOfOld)},
		{"VolumeRestrictions looks up the pod's claims before any node is looked at", ">=1.27.0",
			"volumerestrictions/volume_restrictions.go:166@v1.27.16, PreFilter; ReadWriteOncePod", "VolumeBinding is the first to miss one",
			onPlugin("VolumeRestrictions", variant.WithoutPreFilter())},
		{"VolumeZone looks up the pod's volumes before any node is looked at", ">=1.27.0",
			"volumezone/volume_zone.go:98@v1.27.16, PreFilter", "it looks them up on each node that has a zone",
			onPlugin("VolumeZone", storage.LookedUpOnZonedNodes())},
		{"a node need not have the zone labels that have been renamed", ">=1.29.0",
			"volumezone/volume_zone.go:205@v1.29.6, translateToGALabel", "a volume's label has to be matched under its own name",
			onVolumes("VolumeZone", variant.MisreadNodes(storage.ZoneLabelsNotRenamed))},
		{"volumes of the plugin of OpenStack count for its CSI driver on each node", storage.CountOnEachNode["kubernetes.io/cinder"],
			"nodevolumelimits/utils.go@v1.25.16, isCSIMigrationOn", "only on nodes that say that they have migrated it",
			onVolumes("NodeVolumeLimits", storage.NotTakenOver("kubernetes.io/cinder"))},
		{"volumes of the plugins of AWS and Azure count for their CSI drivers on each node", storage.CountOnEachNode["kubernetes.io/aws-ebs"],
			"nodevolumelimits/utils.go@v1.27.16, isCSIMigrationOn", "only on nodes that say that they have migrated them",
			onVolumes("NodeVolumeLimits", storage.NotTakenOver("kubernetes.io/aws-ebs", "kubernetes.io/azure-disk"))},
		{"volumes of the plugin of Google count for its CSI driver on each node", storage.CountOnEachNode["kubernetes.io/gce-pd"],
			"nodevolumelimits/utils.go@v1.29.6, isCSIMigrationOn", "only on nodes that say that they have migrated it",
			onVolumes("NodeVolumeLimits", storage.NotTakenOver("kubernetes.io/gce-pd"))},
		{"volumes of the plugin of Portworx count for its CSI driver on each node", storage.CountOnEachNode["kubernetes.io/portworx-volume"],
			"nodevolumelimits/utils.go@v1.36.3, isCSIMigrationOn", "only on nodes that say that they have migrated it",
			onVolumes("NodeVolumeLimits", storage.NotTakenOver("kubernetes.io/portworx-volume"))},
		{"volumes that are attached, though no pod there mounts them, count for the limit", ">=1.32.0",
			"nodevolumelimits/csi.go@v1.32.13, getNodeVolumeAttachmentInfo", "only those that pods mount do",
			onVolumes("NodeVolumeLimits", variant.MisreadObjects(func(a *storagev1.VolumeAttachment) { a.Spec.Attacher = "" }))},
		{"DynamicResources filters", ">=1.34.0",
			"DynamicResourceAllocation (kube_features.go:1290@v1.34.4)", "the gate is off",
			func(r *answers.Rules) { r.Plugins = variant.Without(r.Plugins, "DynamicResources") }},
		{"NodeDeclaredFeatures filters", ">=1.36.0",
			"NodeDeclaredFeatures (kube_features.go@v1.36.3); KEP-5328", "the gate is off",
			func(r *answers.Rules) { r.Plugins = variant.Without(r.Plugins, "NodeDeclaredFeatures") }},

		// Whom.
		{"pod groups count when a pod preempts, too", ">=1.37.0",
			"docs: concepts/workloads/workload-api/disruption-and-priority, whose note says what v1.36 does not do; KEP-5710; default_preemption.go:299@v1.37.1",
			"they count when a group preempts; to a pod, the pods of groups are like any others",
			func(r *answers.Rules) {
				r.Notices = withoutGroups
			}},
		{"of equally important pods, the one that has run longer is more important", ">=1.15.0",
			"util/utils.go:120@v1.16.15, MoreImportantPod", "only the priority counts",
			func(r *answers.Rules) {
				r.Importance = func(a, b *unit.Unit) int { return cmp.Compare(b.Priority, a.Priority) }
			}},

		{"a node without pods of lower priority is not filtered again", ">=1.19.0",
			"default_preemption.go:578@v1.19.16, selectVictimsOnNode", "it is, and fails as before",
			afterDryRun(func(cy *model.Cycle, run *model.DryRunOnNode, budgetOrder []int) {
				if len(run.Possible) > 0 {
					return
				}
				if run.Failed = cy.FitsIn(run.Emptied()); run.Failed == nil {
					run.Listed = cy.Reprieve(cy, run, nil, budgetOrder)
				}
			})},
		{"a dry run tells whether what fails is resolvable", ">=1.22.0",
			"default_preemption.go:656@v1.22.17, selectVictimsOnNode returns a Status", "just that the pod does not fit",
			func(r *answers.Rules) { r.DryRunStatusUnreported = true }},
		{"a node without victims is no candidate", ">=1.22.0",
			"default_preemption.go:353@v1.22.17, dryRunPreemption", "it is, and up to 1.18 the best",
			func(r *answers.Rules) { // not modelled where it could show
				r.Unmodelled = append(slices.Clip(r.Unmodelled), func(c *model.Cluster, report filter.Report) {
					for i := range c.Settings.Extenders {
						if c.Settings.Extenders[i].Filter != nil {
							report("scheduler", fmt.Sprintf("extenders[%d].filter", i), "a node that nothing but an extender rejects is a candidate without victims")
						}
					}
				})
			}},

		// Budgets.
		{"each victim takes a disruption from its budgets", ">=1.18.0",
			"default_preemption.go:665@v1.19.16, filterPodsWithPDBViolation", "a budget with none left is violated by each of its victims, any other by none",
			func(r *answers.Rules) {
				r.TakeBudgets = func(left []int32, budgets []int) int {
					for _, b := range budgets {
						if left[b] <= 0 {
							return b
						}
					}
					return -1
				}
			}},
		{"a victim takes nothing from the budgets after the one that it violates", ">=1.18.0 <1.19.0 || >=1.37.0",
			"preemption/util.go:203@v1.37.1, FilterVictimsWithPDBViolation", "it takes from every budget that protects it",
			func(r *answers.Rules) {
				take := r.TakeBudgets
				r.TakeBudgets = func(left []int32, budgets []int) int {
					violated := -1
					for i := range budgets {
						if b := take(left, budgets[i:i+1]); violated < 0 {
							violated = b
						}
					}
					return violated
				}
			}},
		{"pods that the API server has counted as disrupted violate no budget", ">=1.19.0",
			"default_preemption.go:658@v1.19.16, filterPodsWithPDBViolation", "they are pods like others",
			func(r *answers.Rules) {
				protects := r.Protects
				r.Protects = func(b *model.Budget, p *filter.Pod) bool {
					if _, disrupted := b.Status.DisruptedPods[p.Name]; disrupted {
						budget := *b.PodDisruptionBudget
						budget.Status.DisruptedPods = nil
						b = &model.Budget{PodDisruptionBudget: &budget, Selector: b.Selector}
					}
					return protects(b, p)
				}
			}},

		// Which node.
		{"the last criterion is the latest start of the highest-priority victims", ">=1.15.0",
			"generic_scheduler.go:869@v1.16.15, pickOneNodeForPreemption", "the number of victims is the last",
			func(r *answers.Rules) { r.Criteria = r.Criteria[:len(r.Criteria)-1] }},
		{"enough candidates end the search", ">=1.20.0",
			"default_preemption.go:176@v1.22.17, calculateNumCandidates; DefaultPreemptionArgs", "all potential nodes are tried",
			func(r *answers.Rules) { r.NumCandidates = func(_, _ int32, _, potential int) int { return potential } }},

		// Actuation.
		{"a pod that preemption does not help loses its nomination", ">=1.24.0",
			"preemption/preemption.go:168@v1.25.16, Preempt", "it does only if there is no node to try",
			func(r *answers.Rules) {
				noCandidate := r.NoCandidate
				r.NoCandidate = func(d *model.Decision) *model.Actuation {
					tried := len(d.Errors) > 0 || len(d.Cycle.Nodes) == 0 || len(d.PotentialNodes) > 0
					if tried || d.Cycle.Preemptor.Status.NominatedNodeName == "" {
						return &model.Actuation{Nomination: model.NominationKept}
					}
					return noCandidate(d)
				}
				nothingLeftKeepsNomination(r)
			}},
		{"victims are marked DisruptionTarget", ">=1.26.0",
			"PodDisruptionConditions (kube_features.go@v1.27.16); KEP-3329", "they are deleted, and nothing else",
			afterActuate(func(_ *model.Cycle, a *model.Actuation) { a.DisruptionTarget = nil })},
		{"victims that terminate already are not deleted again", ">=1.35.0",
			"preemption/executor.go:192@v1.36.3; kubernetes#131519", "they are",
			func(r *answers.Rules) {
				actuate := r.Actuate
				r.Actuate = func(cy *model.Cycle, n *filter.Node, victims []*filter.Pod) *model.Actuation {
					return actuate(cy, n, variant.Pods(victims, func(p *v1.Pod) { p.DeletionTimestamp = nil }))
				}
			}},
	}
}
