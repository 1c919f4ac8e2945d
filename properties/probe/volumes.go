package probe

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/explain"
)

// What the scheduler decides by claims, volumes and disks. Some of it cannot be
// seen: a claim that NodeVolumeLimits misses, VolumeRestrictions or VolumeBinding
// rejected before any node was filtered; a volume that VolumeBinding misses,
// VolumeZone did.

var volumeFilterProbes = []Probe{
	{"claim missing", "VolumeRestrictions rejects the pod, as a claim does not exist", few,
		func(c *cycle) bool { return c.failed("VolumeRestrictions", true) }},
	{"claim unusable", "VolumeBinding rejects the pod: a claim is lost, being deleted, another pod's, or not bound yet", few,
		func(c *cycle) bool { return explain.PreFilterRejects(c.Decision) && c.failed("VolumeBinding", true) }},
	{"volume missing", "VolumeZone rejects the pod, as a claim is bound to a volume that does not exist", few,
		func(c *cycle) bool { return explain.PreFilterRejects(c.Decision) && c.failed("VolumeZone", true) }},
	{"fails VolumeRestrictions: disk", "a pod of the node has the disk, which removing pods may resolve", few,
		func(c *cycle) bool { return c.fails("VolumeRestrictions", diskTaken) }},
	{"fails VolumeRestrictions: claim", "another pod has the claim, which removing pods may resolve", few,
		func(c *cycle) bool { return c.fails("VolumeRestrictions", claimTaken) }},
	{"fails NodeVolumeLimits", "a node has attached all volumes that it can, which removing pods may resolve", few,
		func(c *cycle) bool { return c.fails("NodeVolumeLimits", limitReached) }},
	{"fails NodeVolumeLimits: driver", "a node lacks a driver that the pod is to wait for, reported as if removing pods may resolve it", few,
		func(c *cycle) bool {
			return c.failed("NodeVolumeLimits", false) && !c.fails("NodeVolumeLimits", limitReached)
		}},
	{"fails VolumeBinding: bound", "a node cannot reach a volume, which removing pods does not resolve", few,
		func(c *cycle) bool { return c.fails("VolumeBinding", outOfReach) }},
	{"fails VolumeBinding: unbound", "no volume is free or can be made for a claim on a node, which removing pods does not resolve", few,
		func(c *cycle) bool { return c.fails("VolumeBinding", noneToBind) }},
	{"fails VolumeZone", "a volume is in another zone than the node, which removing pods does not resolve", few,
		func(c *cycle) bool { return !explain.PreFilterRejects(c.Decision) && c.failed("VolumeZone", true) }},
	{"volumes found", "the pod fits on a node that its claims can be bound on", few,
		func(c *cycle) bool {
			return c.Observation.ScheduledTo != "" && slices.ContainsFunc(c.Cluster.Preemptor.Spec.Volumes,
				func(v v1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
		}},
	{"filter fails on a claim", "the cycle ends in an error, as the claim of a placed pod's ephemeral volume is not its own", once,
		func(c *cycle) bool { return strings.Contains(c.Observation.CycleError, "pod is not owner") }},
}

var volumeDryRunProbes = []Probe{
	{"dry run fails VolumeRestrictions", "a pod that may not be preempted has the disk or the claim", few,
		func(c *cycle) bool { return c.dryRunFailed("VolumeRestrictions", false) }},
	{"dry run fails NodeVolumeLimits", "pods that may not be preempted, or volumes of none, take up what a node can attach", few,
		func(c *cycle) bool { return c.dryRunFailed("NodeVolumeLimits", false) }},
	{"dry run fails VolumeBinding", "pods make room on a node that cannot reach a volume", few,
		func(c *cycle) bool { return c.dryRunFailed("VolumeBinding", true) }},
	{"dry run fails VolumeZone", "pods make room on a node of another zone than a volume", few,
		func(c *cycle) bool { return c.dryRunFailed("VolumeZone", true) }},
	{"victims for a claim", "preempting the pod that has the claim helps", few,
		func(c *cycle) bool { return c.helps("VolumeRestrictions", claimTaken) }},
	{"victims for a disk", "preempting the pod that has the disk helps", few,
		func(c *cycle) bool { return c.helps("VolumeRestrictions", diskTaken) }},
	{"victims for a volume's place", "preempting pods with volumes lets the node attach another", few,
		func(c *cycle) bool { return c.helps("NodeVolumeLimits", limitReached) }},
	{"volume shared by two pods", "preempting pods with volumes helps on a node where two pods have the same volume", once,
		func(c *cycle) bool {
			return c.dryRun(func(r *run) bool { return len(r.Victims) > 0 && c.shareClaim(r.node) })
		}},
}

// The reasons of the filters, in the words of the model.
const (
	diskTaken    = "node(s) had no available disk"
	claimTaken   = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
	limitReached = "node(s) exceed max volume count"
	outOfReach   = "node(s) didn't match PersistentVolume's node affinity"
	noneToBind   = "node(s) didn't find available persistent volumes to bind"
)

// helps tells whether preemption helps on a node where the filter fails the
// preemptor for that reason.
func (c *cycle) helps(plugin, reason string) bool {
	return c.dryRun(func(r *run) bool {
		v := c.Decision.Verdicts[r.node]
		return len(r.Victims) > 0 && v != nil && v.Plugin == plugin && slices.Contains(v.Reasons, reason)
	})
}

// shareClaim tells whether a filter counts the volumes of a node on which two pods
// mount the same claim.
func (c *cycle) shareClaim(node string) bool {
	if c.Observation.Filters[node].Plugin != "NodeVolumeLimits" {
		return false
	}
	seen := map[string]int{}
	for i, p := range c.Cluster.Pods {
		if p.Spec.NodeName != node {
			continue
		}
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			key := p.Namespace + "/" + v.PersistentVolumeClaim.ClaimName
			if first, again := seen[key]; again && first != i {
				return true
			}
			seen[key] = i
		}
	}
	return false
}
