// Package probe tells what a campaign has seen: which decisions of the scheduler its
// clusters exercised, how often, and how many different scheduling cycles there
// were. Without that, the absence of findings says nothing.
package probe

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Probe is a decision of the scheduler. A campaign has to have seen it some number of
// times before the absence of findings says anything.
type Probe struct {
	Name string
	// What happens when it is exercised, for people.
	What string
	// Quota is in how many clusters it has to be exercised, at least.
	Quota int

	occurs occurs
}

// Probes are all probes, in the order in which a cycle comes to them.
func Probes() []Probe { return slices.Clone(probes) }

// few is the quota of most probes: enough not to be an accident. once is the quota of
// what only one in a thousand clusters shows, rare of what is asked of a share of them. Of 10,000 generated clusters, at least
// three times the quota exercise each probe.
const few, rare, once = 10, 4, 1

var probes = slices.Concat(filterProbes, extendedProbes, volumeFilterProbes, eligibleProbes, dryRunProbes, volumeDryRunProbes, groupProbes, extenderProbes, pickProbes, actuateProbes)

var filterProbes = []Probe{
	{"fits", "the pod fits on some node without preemption", few,
		func(c *cycle) bool { return c.Observation.ScheduledTo != "" }},
	{"fits on nominated node", "the pod fits on the node that an earlier preemption nominated", few,
		func(c *cycle) bool { return c.nominated != "" && c.Observation.ScheduledTo == c.nominated }},
	{"no nodes", "the cluster has no nodes: the cycle ends in an error", few,
		func(c *cycle) bool { return c.Observation.CycleError != "" && len(c.Cluster.Nodes) == 0 }},
	{"PreFilter rejects", "required node names contradict each other, so no node is filtered", once,
		func(c *cycle) bool { return explain.PreFilterRejects(c.Decision) }},
	{"PreFilter narrows", "required node names exclude some of the nodes before any is filtered", few,
		func(c *cycle) bool { return explain.PreFilterNarrows(c.Decision) }},
	{"fails NodeUnschedulable", "a node is cordoned, which removing pods does not resolve", few, failed("NodeUnschedulable", forGood)},
	{"fails TaintToleration", "a taint is not tolerated, which removing pods does not resolve", few, failed("TaintToleration", forGood)},
	{"fails NodeAffinity", "node affinity or selector do not match, which removing pods does not resolve", few, failed("NodeAffinity", forGood)},
	{"fails NodePorts", "a host port is taken, which removing pods may resolve", few, failed("NodePorts", resolvable)},
	{"fails NodeResourcesFit", "a resource is used up, which removing pods may resolve", few, failed("NodeResourcesFit", resolvable)},
	{"fails NodeResourcesFit for good", "the node is smaller than the pod, which removing pods does not resolve", few, failed("NodeResourcesFit", forGood)},
	{"fails PodTopologySpread", "the pods of a domain are too many more than elsewhere, which removing pods may resolve", few, failed("PodTopologySpread", resolvable)},
	{"fails PodTopologySpread for good", "a node lacks the label to spread over, which removing pods does not resolve", few, failed("PodTopologySpread", forGood)},
	{"fails InterPodAffinity", "a pod is not to be near another one, which removing pods may resolve", few, failed("InterPodAffinity", resolvable)},
	{"fails InterPodAffinity for good", "no pod to be near to is there, which removing pods does not resolve", few, failed("InterPodAffinity", forGood)},
	{"shunned by the preemptor", "a node has a pod that the preemptor's anti-affinity selects", few, fails("InterPodAffinity", "node(s) didn't match pod anti-affinity rules")},
	{"shuns the preemptor", "a node has a pod whose anti-affinity selects the preemptor", few, fails("InterPodAffinity", "node(s) didn't satisfy existing pods anti-affinity rules")},
	{"first of its group", "a node fits, or would by preemption, where the pod's own affinity finds nobody but itself", few, (*cycle).firstOfGroup},
	{"second pass decides", "a node fits beside a nominated pod, which the pod wants to be near to, but not without it", once, (*cycle).needsNominated},
	{"fails DynamicResources", "a claim is allocated for other nodes, or there are not the devices that it needs, which removing pods does not resolve", few,
		func(c *cycle) bool {
			return failed("DynamicResources", forGood)(c) && !explain.PreFilterRejects(c.Decision)
		}},
	{"PreFilter rejects claims", "a claim is missing, going or in use, so that no node is filtered", few,
		func(c *cycle) bool {
			return failed("DynamicResources", forGood)(c) && explain.PreFilterRejects(c.Decision)
		}},
	{"device taint in the way", "a node has not the devices that are needed, and some devices are tainted", once,
		func(c *cycle) bool {
			return failed("DynamicResources", forGood)(c) && len(c.openRequests()) > 0 && c.devicesTainted()
		}},
	{"prioritized list of devices", "a claim asks for one of several sets of devices, and the pod fits or would by preemption", once,
		func(c *cycle) bool {
			return c.placed() && slices.ContainsFunc(c.openRequests(), func(r resourcev1.DeviceRequest) bool { return len(r.FirstAvailable) > 1 })
		}},
	{"devices for administration", "a claim asks for devices that may be in use, and the pod fits or would by preemption", once,
		func(c *cycle) bool {
			return c.placed() && slices.ContainsFunc(c.openRequests(), func(r resourcev1.DeviceRequest) bool {
				return r.Exactly != nil && r.Exactly.AdminAccess != nil && *r.Exactly.AdminAccess
			})
		}},
	{"share of a device", "a claim gets a part of a device of which another has one, and the pod fits or would by preemption", once,
		func(c *cycle) bool { return c.placed() && len(c.openRequests()) > 0 && c.shares() }},
	{"capacity in the way", "a node has not the devices that are needed, and a capacity is requested", once,
		func(c *cycle) bool {
			return failed("DynamicResources", forGood)(c) && slices.ContainsFunc(c.openRequests(), func(r resourcev1.DeviceRequest) bool { return r.Exactly != nil && r.Exactly.Capacity != nil })
		}},
	{"counters in the way", "a node has not the devices that are needed, and devices consume counters", once,
		func(c *cycle) bool {
			return failed("DynamicResources", forGood)(c) && len(c.openRequests()) > 0 && c.devices(func(d *resourcev1.Device) bool { return len(d.ConsumesCounters) > 0 })
		}},
	{"partition of a device", "devices consume counters, and the pod fits or would by preemption", once,
		func(c *cycle) bool {
			return c.placed() && len(c.openRequests()) > 0 && c.devices(func(d *resourcev1.Device) bool { return len(d.ConsumesCounters) > 0 })
		}},
	{"devices for nodes of their own", "devices say themselves from where they can be used, and the pod fits or would by preemption", once,
		func(c *cycle) bool {
			return c.placed() && len(c.openRequests()) > 0 && c.devices(func(d *resourcev1.Device) bool { return d.NodeName != nil })
		}},
	{"constraint between devices", "a claim wants devices that are alike, or none that are, and the pod fits or would by preemption", once,
		func(c *cycle) bool { return c.placed() && c.constrained() }},
	{"constraint in the way", "a node has not the devices that are needed, and they have to be alike, or not", once,
		func(c *cycle) bool { return failed("DynamicResources", forGood)(c) && c.constrained() }},
	{"fails NodeDeclaredFeatures", "a node does not declare a feature that the pod needs, which removing pods does not resolve", few, failed("NodeDeclaredFeatures", forGood)},
	{"lacks cpu", "a node has not enough CPU left", few, fails("NodeResourcesFit", "Insufficient cpu")},
	{"lacks memory", "a node has not enough memory left", few, fails("NodeResourcesFit", "Insufficient memory")},
	{"lacks ephemeral storage", "a node has not enough ephemeral storage left", few, fails("NodeResourcesFit", "Insufficient ephemeral-storage")},
	{"lacks extended resource", "a node has not enough of an extended resource left", few, fails("NodeResourcesFit", "Insufficient example.com/gpu")},
	{"lacks pod slots", "a node has its maximum number of pods", few, fails("NodeResourcesFit", "Too many pods")},
	{"nomination by another scheduler", "no room is kept for a nominated pod of another scheduler", few, (*cycle).ignoresNominated},
	{"held for equal nomination", "a node is kept for a nominated pod of the same priority", few, held(func(its, own int32) bool { return its == own })},
	{"held for higher nomination", "a node is kept for a nominated pod of higher priority", few, held(func(its, own int32) bool { return its > own })},
}

var eligibleProbes = []Probe{
	{"not eligible: never", "preemptionPolicy Never forbids the pod to preempt", few,
		func(c *cycle) bool { return c.ineligible() && c.never() }},
	{"not eligible: waits", "the pod waits for its victims to terminate on its nominated node", few,
		func(c *cycle) bool { return c.ineligible() && !c.never() }},
	{"eligible again", "the nominated node has become unresolvable, so the pod does not wait for its victims there", once,
		func(c *cycle) bool { return c.eligible() && explain.RetriesUnresolvable(c.Decision) }},
	{"nominated node gone", "the pod is nominated to a node that does not exist", few,
		func(c *cycle) bool { return c.eligible() && c.nominated != "" && c.node(c.nominated) == nil }},
	{"no potential nodes", "preemption is tried on no node, as it could help on none", few,
		func(c *cycle) bool { return c.eligible() && len(c.Observation.PotentialNodes) == 0 }},
	{"some nodes unresolvable", "preemption is tried on some nodes and not on others", few,
		func(c *cycle) bool {
			n := len(c.Observation.PotentialNodes)
			return n > 0 && n < len(c.Cluster.Nodes)
		}},
}

var dryRunProbes = []Probe{
	{"no lower priority", "a dry run ends at once, as no pod on the node has lower priority", few, dryRunFailed("", forGood)},
	{"dry run fails NodePorts", "a pod that may not be preempted has the host port", few, dryRunFailed("NodePorts", resolvable)},
	{"dry run fails NodeResourcesFit", "pods that may not be preempted use up a resource", few, dryRunFailed("NodeResourcesFit", resolvable)},
	{"dry run fails PodTopologySpread", "pods that may not be preempted, or are on other nodes of the domain, are too many more than elsewhere", few, dryRunFailed("PodTopologySpread", resolvable)},
	{"dry run fails DynamicResources", "with the room made, it shows that the devices are not there", few, dryRunFailed("DynamicResources", forGood)},
	{"dry run fails NodeDeclaredFeatures", "with the room made, it shows that the node does not declare a feature that the pod needs", few, dryRunFailed("NodeDeclaredFeatures", forGood)},
	{"victims for the spread", "preempting pods helps on a node that only PodTopologySpread fails", few,
		anyDryRun(func(r *run) bool {
			return len(r.Victims) > 0 && r.Observation.Filters[r.node].Plugin == "PodTopologySpread"
		})},
	{"dry run fails InterPodAffinity", "pods that may not be preempted, or are elsewhere, shun the preemptor or are shunned", few, dryRunFailed("InterPodAffinity", resolvable)},
	{"dry run loses pods to be near to", "with its victims the pods that the preemptor wants to be near to are gone", few, dryRunFailed("InterPodAffinity", forGood)},
	{"preemption resolves anti-affinity", "a node fails by anti-affinity, and preemption on it helps", few,
		anyDryRun(func(r *run) bool {
			v, failed := r.Observation.Filters[r.node]
			return failed && v.Plugin == "InterPodAffinity" && len(r.Victims) > 0
		})},
	{"dry run held for nomination", "preempting everything does not help, as the room is a nominated pod's", few,
		anyDryRun(func(r *run) bool { return len(explain.DryRunHeldFor(r.Decision, r.node)) > 0 })},
	{"reprieve", "a pod that violates no budget is reprieved", few, anyPossible(func(p *possible) bool { return !p.victim && p.Violates == nil })},
	{"violating pod reprieved", "a pod whose eviction would violate a budget is reprieved", few,
		anyPossible(func(p *possible) bool { return !p.victim && p.Violates != nil })},
	{"violating victim", "a victim violates a budget", few, anyPossible(func(p *possible) bool { return p.victim && p.Violates != nil })},
	{"budget against importance", "a pod that would violate a budget stays, and a more important one goes", few,
		inOrder(func(first, later *possible) bool {
			return first.victim && first.Violates == nil && !later.victim && later.Violates != nil
		})},
	{"victims sorted again", "a violating victim is less important than one that violates nothing", few,
		inOrder(func(first, later *possible) bool {
			return first.victim && first.Violates == nil && later.victim && later.Violates != nil
		})},
	{"less important pod reprieved", "a pod stays although a more important one goes", few,
		inOrder(func(first, later *possible) bool { return first.victim && !later.victim })},
	{"reprieve among equals", "of two equally important pods one goes and one stays", few,
		inOrder(func(first, later *possible) bool {
			return first.victim != later.victim && first.subject.CompareImportance(first.Pod, later.Pod) == 0
		})},
	{"budget exhausted", "a budget allows some disruptions, but not all those of a dry run", few,
		anyPossible(func(p *possible) bool { return p.Violates != nil && p.Violates.Status.DisruptionsAllowed > 0 })},
	{"budget suffices", "a victim takes a disruption from its budget and violates none", few,
		anyPossible(func(p *possible) bool { return p.victim && len(p.Budgets) > 0 && p.Violates == nil })},
	{"overlapping budgets", "two budgets protect the same possible victim", few, anyPossible(func(p *possible) bool { return len(p.Budgets) > 1 })},
	{"DisruptedPods", "a possible victim costs its budget nothing, as it was evicted already", few, anyPossible((*possible).disrupted)},
	{"budget of another namespace", "a budget would select a possible victim, but is in another namespace", few,
		anyPossible((*possible).selectedFromElsewhere)},
	{"no priority", "a possible victim has no priority, which is 0", few, anyPossible(func(p *possible) bool { return p.Pod.Spec.Priority == nil })},
	{"negative priority", "a possible victim has a negative priority", few, anyPossible(func(p *possible) bool { return model.Priority(p.Pod) < 0 })},
	{"no start time", "a possible victim has no start time, which is now", few, anyPossible(func(p *possible) bool { return p.Pod.Status.StartTime == nil })},
	{"terminating pod", "a possible victim is terminating already", few, anyPossible(func(p *possible) bool { return p.Pod.DeletionTimestamp != nil })},
	{"in-place resize", "a possible victim is being resized", few, anyPossible(func(p *possible) bool { return len(p.Pod.Status.ContainerStatuses) > 0 })},
	{"init containers", "a pod in question requests for its init containers", few, anyPod(func(p *v1.Pod) bool { return len(p.Spec.InitContainers) > 0 })},
	{"sidecars", "a pod in question has a sidecar", few, anyPod(hasSidecar)},
	{"overhead", "a pod in question has overhead", few, anyPod(func(p *v1.Pod) bool { return len(p.Spec.Overhead) > 0 })},
	{"pod-level resources", "a pod in question requests resources as a whole", few, anyPod(func(p *v1.Pod) bool { return p.Spec.Resources != nil })},
	{"dry runs end early", "the shortlist is full before all potential nodes are tried", few,
		func(c *cycle) bool {
			return c.Observation.DryRuns != nil && len(c.Observation.DryRuns) < len(c.Observation.PotentialNodes)
		}},
	{"dry runs begin elsewhere", "dry runs begin at another than the first potential node, and end before all are tried", few,
		func(c *cycle) bool {
			o := c.Cluster.Settings.DryRunOffset
			n := len(c.Observation.PotentialNodes)
			return o != nil && n > 0 && int(*o)%n > 0 && len(c.Observation.DryRuns) < n
		}},
	{"several workers", "dry runs go on side by side", few,
		func(c *cycle) bool {
			p := c.Cluster.Settings.Parallelism
			return p != nil && *p > 1 && len(c.Observation.DryRuns) > 1
		}},
	{"second profile", "a pod of the second profile preempts", few,
		func(c *cycle) bool {
			return c.pick != nil && c.Cluster.Preemptor.Spec.SchedulerName != model.DefaultSchedulerName
		}},
	{"nomination by the other profile", "a pod of the scheduler's other profile is nominated to a node that is filtered", few,
		func(c *cycle) bool {
			return len(c.Observation.Filters) > 0 && slices.ContainsFunc(c.Cluster.Pods, func(p *v1.Pod) bool {
				return p.Spec.NodeName == "" && c.node(p.Status.NominatedNodeName) != nil && c.Cluster.Settings.Schedules(p.Spec.SchedulerName) &&
					p.Spec.SchedulerName != c.Cluster.Preemptor.Spec.SchedulerName
			})
		}},
	{"idle feature gates", "feature gates are set on which no decision depends", few,
		func(c *cycle) bool {
			_, set := c.Cluster.Settings.FeatureGates[unmodelled.IdleGates()[0]]
			return c.pick != nil && set
		}},
	{"search for no violations", "the shortlist is long enough, but all on it violate budgets, so the search goes on", few, (*cycle).searchesOn},
	{"no room on the shortlist", "a shortlist of no places ends every preemption", few,
		func(c *cycle) bool {
			return c.Observation.Pick == nil && anyDryRun(func(r *run) bool { return len(r.Victims) > 0 })(c)
		}},
}

// pickProbes has one for each criterion, in front of the others.
var pickProbes = func() []Probe {
	decides := func(name string) occurs {
		return func(c *cycle) bool { return c.decidedBy == name }
	}
	var all []Probe
	for _, name := range explain.CriterionNames() {
		all = append(all, Probe{"decided by " + name, "the criterion leaves one of several candidates", few, decides(name)})
	}
	return append(all,
		Probe{"tie between candidates", "all criteria leave several candidates", few, decides(model.Tie)},
		Probe{"only one candidate", "preemption helps on one node only", few, decides(model.OnlyCandidate)},
		Probe{"violation cannot be avoided", "every candidate violates a budget", few, func(c *cycle) bool {
			return c.Observation.Pick != nil && c.Observation.Pick.Violations > 0 && len(c.Observation.Candidates) > 1
		}},
		Probe{"no help", "preemption is tried and helps on no node", few, func(c *cycle) bool {
			return len(c.Observation.DryRuns) > 0 && len(c.Observation.Candidates) == 0
		}},
	)
}()

var actuateProbes = []Probe{
	{"pod signed", "the pod has a signature, by which an equal one after it may share its results", few,
		func(c *cycle) bool { return c.Observation.Aftermath != nil && c.Observation.Aftermath.Signed }},
	{"batch hint used", "asked again, the pod is placed by what was found out for the equal one before it", rare,
		func(c *cycle) bool { return c.Reached[properties.HintUsed] }},
	{"batch hint worse", "asked a second later, the node of that hint is none of the best, and the hint too old to be used", rare,
		func(c *cycle) bool { return c.Reached[properties.HintWorse] }},
	{"failure said already", "asked again, the pod fails for what its condition PodScheduled says already", few,
		func(c *cycle) bool { return c.Reached[properties.SaidAlready] }},
	{"assumed and bound", "loaded by updates, a pod is assumed on its node and then seen there", rare,
		func(c *cycle) bool { return c.Reached[model.AssumedConfirmed] }},
	{"assumed and forgotten", "loaded by updates, a pod is assumed on a node and given up before it comes", rare,
		func(c *cycle) bool { return c.Reached[model.AssumedForgotten] }},
	{"assumed, and bound elsewhere", "loaded by updates, a pod is assumed on a node and then seen on another one", rare,
		func(c *cycle) bool { return c.Reached[model.AssumedElsewhere] }},
	{"asynchronous API calls", "the calls are made by a dispatcher, and pods are preempted", few,
		func(c *cycle) bool { return c.pick != nil && c.Cluster.Settings.FeatureGates["SchedulerAsyncAPICalls"] }},
	{"preempts asynchronously", "the victims are deleted after the cycle", few,
		func(c *cycle) bool { return c.Observation.Pick != nil && c.Cluster.Settings.AsyncPreemption() }},
	{"preempts synchronously", "the victims are deleted within the cycle", few,
		func(c *cycle) bool { return c.Observation.Pick != nil && !c.Cluster.Settings.AsyncPreemption() }},
	{"claim deallocated", "an idle claim in the pod's way loses its allocation", few,
		func(c *cycle) bool {
			return c.Observation.Actuation != nil && len(c.Observation.Actuation.Deallocated) > 0
		}},
	{"several victims", "more than one pod is preempted", few, func(c *cycle) bool { return len(c.victims) > 1 }},
	{"victim of another namespace", "a pod of another namespace than the preemptor's is preempted", few,
		func(c *cycle) bool {
			return anyVictim(func(p *v1.Pod) bool { return p.Namespace != c.Cluster.Preemptor.Namespace })(c)
		}},
	{"terminating victim", "a victim is terminating already, and not deleted again", few, anyVictim(terminating)},
	{"marked victim", "a victim is marked DisruptionTarget already, but not terminating", few,
		anyVictim(func(p *v1.Pod) bool { return properties.MarkedAsVictim(p) && !terminating(p) })},
	{"nothing left to delete", "all victims are terminating already", few,
		func(c *cycle) bool {
			return len(c.victims) > 0 && !anyVictim(func(p *v1.Pod) bool { return !terminating(p) })(c)
		}},
	{"lower nominations cleared", "pods of lower priority lose their nomination to the node", few,
		func(c *cycle) bool {
			return c.pick != nil && c.Observation.Actuation != nil && len(c.Observation.Actuation.Cleared) > 0
		}},
	{"nomination moves", "the pod was nominated to another node before", few,
		func(c *cycle) bool { return c.pick != nil && c.nominated != "" && c.nominated != c.pick.Node }},
	{"nomination repeated", "the pod was nominated to the same node before", few,
		func(c *cycle) bool { return c.pick != nil && c.nominated == c.pick.Node }},
	{"nomination cleared", "the pod loses its nomination, as preemption does not help", few,
		func(c *cycle) bool {
			return c.nominated != "" && c.Observation.Actuation != nil && c.Observation.Actuation.Nomination == model.NominationCleared
		}},
}

// What the scheduler decides by claims, volumes and disks. Some of it cannot be
// seen: a claim that NodeVolumeLimits misses, VolumeRestrictions or VolumeBinding
// rejected before any node was filtered; a volume that VolumeBinding misses,
// VolumeZone did.

var volumeFilterProbes = []Probe{
	{"claim missing", "VolumeRestrictions rejects the pod, as a claim does not exist", few, failed("VolumeRestrictions", forGood)},
	{"claim unusable", "VolumeBinding rejects the pod: a claim is lost, being deleted, another pod's, or not bound yet", few,
		func(c *cycle) bool {
			return explain.PreFilterRejects(c.Decision) && failed("VolumeBinding", forGood)(c)
		}},
	{"volume missing", "VolumeZone rejects the pod, as a claim is bound to a volume that does not exist", few,
		func(c *cycle) bool { return explain.PreFilterRejects(c.Decision) && failed("VolumeZone", forGood)(c) }},
	{"fails VolumeRestrictions: disk", "a pod of the node has the disk, which removing pods may resolve", few, fails("VolumeRestrictions", diskTaken)},
	{"fails VolumeRestrictions: claim", "another pod has the claim, which removing pods may resolve", few, fails("VolumeRestrictions", claimTaken)},
	{"fails NodeVolumeLimits", "a node has attached all volumes that it can, which removing pods may resolve", few, fails("NodeVolumeLimits", limitReached)},
	{"fails NodeVolumeLimits: driver", "a node lacks a driver that the pod is to wait for, reported as if removing pods may resolve it", few,
		func(c *cycle) bool {
			return failed("NodeVolumeLimits", resolvable)(c) && !fails("NodeVolumeLimits", limitReached)(c)
		}},
	{"fails VolumeBinding: bound", "a node cannot reach a volume, which removing pods does not resolve", few, fails("VolumeBinding", outOfReach)},
	{"fails VolumeBinding: unbound", "no volume is free or can be made for a claim on a node, which removing pods does not resolve", few, fails("VolumeBinding", noneToBind)},
	{"fails VolumeZone", "a volume is in another zone than the node, which removing pods does not resolve", few,
		func(c *cycle) bool { return !explain.PreFilterRejects(c.Decision) && failed("VolumeZone", forGood)(c) }},
	{"volumes found", "the pod fits on a node that its claims can be bound on", few,
		func(c *cycle) bool {
			return c.Observation.ScheduledTo != "" && claims(c.Cluster.Preemptor)
		}},
	{"held for a nominated pod's volumes", "a node is kept for a nominated pod by what its claims hold: a volume that is for one pod, or places for volumes", once, (*cycle).heldForVolumes},
	{"beside a nominated pod's volumes", "the pod goes with its claims to a node to which another pod with claims is nominated, which it has to yield to", once, (*cycle).besideNominatedVolumes},
	{"filter fails on a claim", "the cycle ends in an error, as the claim of a placed pod's ephemeral volume is not its own", once,
		func(c *cycle) bool { return strings.Contains(c.Observation.CycleError, "pod is not owner") }},
}

var volumeDryRunProbes = []Probe{
	{"dry run fails VolumeRestrictions", "a pod that may not be preempted has the disk or the claim", few, dryRunFailed("VolumeRestrictions", resolvable)},
	{"dry run fails NodeVolumeLimits", "pods that may not be preempted, or volumes of none, take up what a node can attach", few, dryRunFailed("NodeVolumeLimits", resolvable)},
	{"dry run fails VolumeBinding", "pods make room on a node that cannot reach a volume", few, dryRunFailed("VolumeBinding", forGood)},
	{"dry run fails VolumeZone", "pods make room on a node of another zone than a volume", few, dryRunFailed("VolumeZone", forGood)},
	{"victims for a claim", "preempting the pod that has the claim helps", few, helps("VolumeRestrictions", claimTaken)},
	{"victims for a disk", "preempting the pod that has the disk helps", few, helps("VolumeRestrictions", diskTaken)},
	{"victims for a volume's place", "preempting pods with volumes lets the node attach another", few, helps("NodeVolumeLimits", limitReached)},
	{"volume shared by two pods", "preempting pods with volumes helps on a node where two pods have the same volume", once,
		anyDryRun(func(r *run) bool { return len(r.Victims) > 0 && r.sharesClaim() })},
}

// The reasons of the filters, in the words of the model.
const (
	diskTaken    = "node(s) had no available disk"
	claimTaken   = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
	limitReached = "node(s) exceed max volume count"
	outOfReach   = volume.OutOfReach
	noneToBind   = volume.NothingToBind
)

// extenderProbes are about what extenders do to nodes and candidates.
var extenderProbes = []Probe{
	{"extender rejects", "an extender fails a node that passes all filters, which preemption may resolve", few, failed(model.ExtenderName, resolvable)},
	{"extender excludes", "an extender fails a node that passes all filters, which preemption does not resolve", few, failed(model.ExtenderName, forGood)},
	{"search ends early", "an extender rejects all nodes that were found, and some were not looked at", once, func(c *cycle) bool {
		return c.Decision.Search != nil && c.Decision.Search.Enough > 0 && len(c.Observation.Absent) > 0
	}},
	{"extender alone in the way", "a dry run preempts nobody, as only an extender rejects the node", once,
		anyDryRun(func(r *run) bool { return len(r.Victims) == 0 && r.rejectedByExtenderAlone() })},
	{"extender fails the filter", "the error of an extender that is not ignorable ends the cycle", once,
		func(c *cycle) bool { return c.Observation.CycleError != "" && len(c.Cluster.Nodes) > 0 && c.extended() }},
	{"extender drops", "an extender takes a node off the candidates, and others stay", few,
		func(c *cycle) bool {
			return len(c.Observation.AfterExtenders) > 0 && len(c.Observation.AfterExtenders) < len(c.Observation.Candidates)
		}},
	{"extenders leave nothing", "extenders take all candidates away", few,
		func(c *cycle) bool {
			return c.Observation.AfterExtenders != nil && len(c.Observation.AfterExtenders) == 0 && len(c.Observation.Candidates) > 0
		}},
	{"extender trims", "an extender spares some of the victims of a node", few,
		afterExtenders(func(before, after model.DryRun) bool { return len(after.Victims) < len(before.Victims) })},
	{"extender reorders", "an extender puts the victims of a node in another order", few,
		afterExtenders(func(before, after model.DryRun) bool {
			return len(after.Victims) == len(before.Victims) && !slices.Equal(after.Victims, before.Victims)
		})},
	{"extender recounts violations", "an extender returns another number of budget violations", few,
		afterExtenders(func(before, after model.DryRun) bool { return after.Violations != before.Violations })},
	{"extender fails the preemption", "the error of an extender that is not ignorable ends the preemption", few,
		func(c *cycle) bool {
			return c.extended() && c.Observation.PostFilterCode == "Error" && len(c.Observation.Candidates) > 0
		}},
	{"extender ignored", "an ignorable extender fails, and the preemption goes on without it", few,
		func(c *cycle) bool {
			return c.Observation.AfterExtenders != nil && slices.ContainsFunc(c.Cluster.Settings.Extenders, func(e model.Extender) bool {
				return e.Ignorable && e.Preempt != nil && e.Preempt.Fails != "" && len(e.ManagedResources) == 0
			})
		}},
	{"extender not interested", "an extender is not asked, as the pod requests none of its resources", few,
		func(c *cycle) bool { return len(c.Observation.Candidates) > 0 && explain.Uninterested(c.Decision) }},
}
