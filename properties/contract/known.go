package contract

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// breach is a way in which a plugin breaks a clause, and where.
type breach struct {
	*interview
	plugin  string
	changes changes // that the plugin was told of
	event   *event  // that the pod sleeps through
	reasons string  // why nodes were rejected, or the error
}

// known are the breaches that the ledger knows: by id, of which plugin, and where. What is said here of a cluster is what the cause needs, and
// no more: another bug of the plugin is to be found beside it.
var known = []struct {
	id, clause, plugin string
	where              func(*breach) bool
}{
	{"host-ports-forgotten", "contract-incremental", "NodePorts", func(b *breach) bool { return b.share(hostPorts) }},
	{"terminating-pod-uncounted", "contract-incremental", "PodTopologySpread", func(b *breach) bool {
		return slices.ContainsFunc(b.changes, func(c change) bool { return c.pod.DeletionTimestamp != nil })
	}},
	{"empty-spread-selector", "contract-incremental", "PodTopologySpread", func(b *breach) bool {
		return slices.ContainsFunc(b.Cluster.Preemptor.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool {
			return c.LabelSelector != nil && len(c.LabelSelector.MatchLabels)+len(c.LabelSelector.MatchExpressions) == 0
		})
	}},
	{"left-out-nodes-counted", "contract-incremental", "PodTopologySpread", func(b *breach) bool {
		return slices.ContainsFunc(b.changes, func(c change) bool { return b.leavesOut(c.node) })
	}},
	{"least-of-two-domains", "contract-incremental", "PodTopologySpread", func(b *breach) bool { return len(b.changes) > 1 && len(b.Cluster.Nodes) > 2 }},
	{"claim-of-other-namespace", "contract-incremental", "VolumeRestrictions", func(b *breach) bool {
		return slices.ContainsFunc(b.changes, func(c change) bool {
			return c.pod.Namespace != b.Cluster.Preemptor.Namespace && slices.ContainsFunc(claims(c.pod), func(name string) bool { return slices.Contains(claims(b.Cluster.Preemptor), name) })
		})
	}},
	{"claim-counted-once", "contract-incremental", "VolumeRestrictions", func(b *breach) bool { return b.share(ownClaims) || b.mountsTwice() }},
	{"nominated-claim-ignored", "contract-skip", "VolumeRestrictions", func(b *breach) bool {
		return slices.ContainsFunc(b.changes, func(c change) bool {
			return c.add && slices.ContainsFunc(ownClaims(c.pod), func(name string) bool { return slices.Contains(ownClaims(b.Cluster.Preemptor), name) })
		})
	}},
	{"nominated-refusals-skipped", "contract-skip", "InterPodAffinity", func(b *breach) bool {
		return slices.ContainsFunc(b.changes, func(c change) bool {
			a := c.pod.Spec.Affinity
			return c.add && a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
		})
	}},
	{"foreign-ephemeral-claim", "contract-no-errors", "NodeVolumeLimits", func(b *breach) bool { return strings.Contains(b.reasons, "pod is not owner") }},
	{"growing-pool-is-error", "contract-no-errors", "DynamicResources", func(b *breach) bool {
		return strings.Contains(b.reasons, "is currently being updated") || strings.Contains(b.reasons, "is currently invalid")
	}},
	{"unmet-claim-is-error", "contract-no-errors", "DynamicResources", func(b *breach) bool {
		return strings.Contains(b.reasons, "a claim constraint would not be satisfied") || strings.Contains(b.reasons, "exceeds the claim limit")
	}},
	{"quantities-wrap-around", "", "NodeResourcesFit", func(b *breach) bool { return wrapsAround(b.Cluster) }},

	{"infeasible-resize-hides-requests", "contract-hints", "NodeResourcesFit", func(b *breach) bool {
		smaller := b.event.is("Pod updated: smaller requests") || b.event.is("Pod updated: the pod itself, smaller requests")
		return smaller && filter.ResizeInfeasible(b.Cluster.Preemptor)
	}},
	{"ignored-resource-counts", "contract-hints", "NodeResourcesFit", func(b *breach) bool {
		return (b.event.is("Node added") || b.event.is("Node updated")) && b.lacksIgnored()
	}},
	{"unpicked-class-unnamed", "contract-hints", "NodeResourcesFit", func(b *breach) bool {
		return b.event.is("DeviceClass updated: no name of a resource") && b.sharesItsName(b.event.object.Name)
	}},
	{"node-for-shunned-pod-unnoticed", "contract-hints", "InterPodAffinity", func(b *breach) bool {
		return (b.event.is("Node added") || b.event.is("Node updated")) && strings.Contains(b.reasons, "existing pods anti-affinity")
	}},
	{"first-of-its-kind-unnoticed", "contract-hints", "InterPodAffinity", func(b *breach) bool {
		p := b.Cluster.Preemptor
		return strings.Contains(b.reasons, "pod affinity rules") && wants(p, p) && b.losesWanted()
	}},
	{"one-of-two-terms-unnoticed", "contract-hints", "InterPodAffinity", func(b *breach) bool {
		a := b.Cluster.Preemptor.Spec.Affinity
		return b.event.is("Pod updated: a label") && a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 1
	}},
	{"namespace-selector-unnoticed", "contract-hints", "InterPodAffinity", func(b *breach) bool {
		own := selectsNamespaces(b.Cluster.Preemptor)
		return b.event.is("Namespace") || (b.event.is("Pod added") || b.event.is("Pod updated: a label")) && own ||
			b.event.is("Pod deleted") && (own || slices.ContainsFunc(b.Cluster.Pods, selectsNamespaces))
	}},
	{"spread-eased-unnoticed", "contract-hints", "PodTopologySpread", func(b *breach) bool { return b.event.is("Pod updated: terminating") }},
	{"own-label-keys-unnoticed", "contract-hints", "PodTopologySpread", func(b *breach) bool {
		return b.event.is("Pod updated: the pod itself, a label") && slices.ContainsFunc(b.Cluster.Preemptor.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool {
			return slices.Contains(c.MatchLabelKeys, b.event.label)
		})
	}},
	{"own-label-default-unnoticed", "contract-hints", "PodTopologySpread", func(b *breach) bool {
		return b.event.is("Pod updated: the pod itself, a label less") && configuration.HasDefaults(b.Cluster.Settings, b.Cluster.Preemptor) && b.leavesService()
	}},
	{"left-out-node-unnoticed", "contract-hints", "PodTopologySpread", func(b *breach) bool {
		p := b.Cluster.Preemptor
		spreads := slices.ContainsFunc(configuration.Spread(b.Cluster.Settings, p), func(c v1.TopologySpreadConstraint) bool {
			return c.WhenUnsatisfiable == v1.DoNotSchedule && c.TopologyKey == b.event.label
		})
		return b.event.is("Node updated: a label") && !spreads && (len(p.Spec.NodeSelector) > 0 || requiresNodes(p))
	}},
	{"added-affinity-unnoticed", "contract-hints", "NodeAffinity", func(b *breach) bool {
		was, is := b.event.nodes()
		return b.event.is("Node updated: a label") && strings.Contains(b.reasons, "scheduler-enforced node affinity") && was != nil && is != nil &&
			filter.MatchesNodeAffinity(b.Cluster.Preemptor, was) && filter.MatchesNodeAffinity(b.Cluster.Preemptor, is)
	}},
	{"driver-on-node-unnoticed", "contract-hints", "NodeVolumeLimits", func(b *breach) bool {
		return b.event.is("CSINode updated: a driver more") && strings.Contains(b.reasons, "is not installed on the node")
	}},
	{"ephemeral-volume-detached-unnoticed", "contract-hints", "NodeVolumeLimits", func(b *breach) bool {
		p := b.Cluster.Preemptor
		return b.event.is("VolumeAttachment deleted") && len(claims(p)) == 0 && strings.Contains(b.reasons, "exceed max volume count") &&
			slices.ContainsFunc(p.Spec.Volumes, func(v v1.Volume) bool { return v.Ephemeral != nil })
	}},
	{"volume-limit-lifted-unnoticed", "contract-hints", "NodeVolumeLimits", func(b *breach) bool {
		return b.event.is("Node added") || b.event.is("CSINode updated: a driver less") || b.event.is("PersistentVolume added") || b.event.is("PersistentVolumeClaim updated: bound") || b.event.is("Pod added") ||
			b.event.is("PersistentVolumeClaim added") && !slices.Contains(ownClaims(b.Cluster.Preemptor), b.event.object.Namespace+"/"+b.event.object.Name) ||
			b.event.is("PersistentVolume updated: a label") && slices.Contains(zoneLabels, b.event.label) && b.isGCEDisk(b.event.object.Name)
	}},
	{"objects-gone-unnoticed", "contract-hints", "NodeVolumeLimits", func(b *breach) bool {
		return !b.event.is("Pod deleted") && !b.event.is("VolumeAttachment deleted") && strings.HasSuffix(b.event.kind, " deleted")
	}},
	{"objects-gone-unnoticed", "contract-hints", "VolumeBinding", func(b *breach) bool {
		return b.event.is("CSIDriver deleted") || b.event.is("PersistentVolume deleted") || b.event.is("CSINode deleted") && strings.Contains(b.reasons, "PersistentVolume's node affinity")
	}},
	{"capacity-check-off-unnoticed", "contract-hints", "VolumeBinding", func(b *breach) bool {
		return b.event.is("CSIDriver updated") && !slices.ContainsFunc(b.Cluster.Preemptor.Spec.Volumes, func(v v1.Volume) bool { return v.CSI != nil && v.CSI.Driver == b.event.object.Name })
	}},
	{"declared-operations-unnoticed", "contract-hints", "DynamicResources", func(b *breach) bool {
		was, is := b.event.nodes()
		declares := func(n *v1.Node) bool { return slices.Contains(n.Status.DeclaredFeatures, filter.FeatureSkipOperations) }
		return b.event.is("Node updated: declared features") && (strings.Contains(b.reasons, "resourceclaim not available on the node") && b.skipsOperations() ||
			strings.Contains(b.reasons, "cannot allocate all claims") && b.mayGetSkips()) &&
			was != nil && is != nil && !declares(was) && declares(is)
	}},
	{"objects-gone-unnoticed", "contract-hints", "DynamicResources", func(b *breach) bool {
		return b.event.is("ResourceClaim deleted") && strings.Contains(b.reasons, "extended resource claim") || b.event.is("DeviceClass deleted") || b.event.is("ResourceSlice deleted") || b.event.is("ResourceSlice updated: a device less")
	}},
	{"objects-gone-unnoticed", "contract-hints", "InterPodAffinity", func(b *breach) bool { return b.event.is("Node deleted") }},
	{"objects-gone-unnoticed", "contract-hints", "VolumeRestrictions", func(b *breach) bool { return b.event.is("Node deleted") }},
	{"disk-of-other-namespace-unnoticed", "contract-hints", "VolumeRestrictions", func(b *breach) bool {
		return b.event.is("Pod deleted") && b.event.object.Namespace != b.Cluster.Preemptor.Namespace && strings.Contains(b.reasons, "no available disk")
	}},
}

// isKnown tells whether a breach is one of those that are assumed.
func (b *breach) isKnown() bool {
	for _, k := range known {
		if k.plugin == b.plugin && (k.clause == "" || k.clause == b.clause) && b.Assumes(k.id) && (b.event != nil || k.clause != "contract-hints") && k.where(b) {
			return true
		}
	}
	return false
}

func (e *event) is(kind string) bool { return strings.HasPrefix(e.kind, kind) }

// zoneLabels say in which zone a volume is.
var zoneLabels = []string{v1.LabelTopologyZone, v1.LabelFailureDomainBetaZone}

// isGCEDisk tells whether a volume is a disk of Google's in-tree plugin, of whose name for the CSI driver the zone is a part.
func (b *breach) isGCEDisk(volume string) bool {
	return slices.ContainsFunc(b.Cluster.Extra, func(o runtime.Object) bool {
		pv, is := o.(*v1.PersistentVolume)
		return is && pv.Name == volume && pv.Spec.GCEPersistentDisk != nil
	})
}

// share tells whether two pods of the cluster have something in common, of what is given of a pod.
func (b *breach) share(what func(*v1.Pod) []string) bool {
	var seen []string
	for _, p := range b.Cluster.Pods {
		for _, one := range what(p) {
			if slices.Contains(seen, one) {
				return true
			}
		}
		seen = append(seen, what(p)...)
	}
	return false
}

// hostPorts are the host ports of a pod, those of its sidecars among them, as text.
func hostPorts(p *v1.Pod) (all []string) {
	sidecars := slices.DeleteFunc(slices.Clone(p.Spec.InitContainers), func(c v1.Container) bool {
		return c.RestartPolicy == nil || *c.RestartPolicy != v1.ContainerRestartPolicyAlways
	})
	for _, c := range slices.Concat(sidecars, p.Spec.Containers) {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				all = append(all, resource.NewQuantity(int64(port.HostPort), resource.DecimalSI).String())
			}
		}
	}
	return all
}

// claims are the names of the claims that a pod mounts; ownClaims say of which namespace.
func claims(p *v1.Pod) (all []string) {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			all = append(all, v.PersistentVolumeClaim.ClaimName)
		}
	}
	return all
}

func ownClaims(p *v1.Pod) (all []string) {
	for _, name := range claims(p) {
		all = append(all, p.Namespace+"/"+name)
	}
	return all
}

// mountsTwice tells whether a pod that changed mounts a claim under two names.
func (b *breach) mountsTwice() bool {
	return slices.ContainsFunc(b.changes, func(c change) bool {
		all := claims(c.pod)
		slices.Sort(all)
		return len(slices.Compact(slices.Clone(all))) < len(all)
	})
}

// leavesService tells whether an event takes the pod out of a Service, and no workload that owns the pod tells what it was from what it is: the
// hint compares both by what the pod still belongs to (podtopologyspread/plugin.go:196@v1.37.1).
func (b *breach) leavesService() bool {
	was, is := b.event.pods()
	if was == nil || is == nil {
		return false
	}
	left := slices.ContainsFunc(b.Cluster.Extra, func(o runtime.Object) bool {
		s, service := o.(*v1.Service)
		selector := func() labels.Selector { return labels.SelectorFromSet(s.Spec.Selector) }
		return service && s.Namespace == is.Namespace && selector().Matches(labels.Set(was.Labels)) && !selector().Matches(labels.Set(is.Labels))
	})
	return left && !slices.ContainsFunc(configuration.OwnedBy(is, b.Cluster.Extra), func(s *metav1.LabelSelector) bool {
		selector, err := metav1.LabelSelectorAsSelector(s)
		return err != nil || selector.Matches(labels.Set(was.Labels)) != selector.Matches(labels.Set(is.Labels))
	})
}

// leavesOut tells whether the preemptor may not be on a node at all, or its spread constraints have no domain there.
func (b *breach) leavesOut(node string) bool {
	for _, n := range b.Cluster.Nodes {
		if n.Name != node {
			continue
		}
		for _, c := range configuration.Spread(b.Cluster.Settings, b.Cluster.Preemptor) {
			if _, ok := n.Labels[c.TopologyKey]; !ok {
				return true
			}
			if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == v1.NodeInclusionPolicyHonor && len(n.Spec.Taints) > 0 {
				return true
			}
		}
	}
	p := b.Cluster.Preemptor
	return len(p.Spec.NodeSelector) > 0 || requiresNodes(p)
}

func requiresNodes(p *v1.Pod) bool {
	return p.Spec.Affinity != nil && p.Spec.Affinity.NodeAffinity != nil && p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
}

// selectsNamespaces tells whether a term that a pod requires selects namespaces by their labels.
func selectsNamespaces(p *v1.Pod) bool {
	return slices.ContainsFunc(requiredTerms(p), func(t v1.PodAffinityTerm) bool { return t.NamespaceSelector != nil })
}

// requiredTerms are the terms of affinity and anti-affinity to other pods that a pod requires.
func requiredTerms(p *v1.Pod) []v1.PodAffinityTerm {
	return slices.Concat(filter.RequiredAffinity(p), filter.RequiredAntiAffinity(p))
}

// wants tells whether a pod is one of those that another one requires: by the labels, and whatever the namespace.
func wants(p, other *v1.Pod) bool {
	terms := filter.RequiredAffinity(p)
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t v1.PodAffinityTerm) bool {
		selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
		return err != nil || !selector.Matches(labels.Set(other.Labels))
	})
}

// losesWanted tells whether by the event a node no longer has a pod that the preemptor requires: the pod is gone or has other labels, or the node is
// gone or is no longer in the domains of a term.
func (b *breach) losesWanted() bool {
	p := b.Cluster.Preemptor
	switch b.event.object.Kind {
	case "Pod":
		was, is := b.event.pods()
		return was != nil && wants(p, was) && (is == nil || !wants(p, is))
	case "Node":
		left := b.event.is("Node deleted") || b.event.is("Node updated: a label less") &&
			slices.ContainsFunc(filter.RequiredAffinity(p), func(t v1.PodAffinityTerm) bool { return t.TopologyKey == b.event.label })
		return left && slices.ContainsFunc(b.Cluster.Pods, func(other *v1.Pod) bool { return other.Spec.NodeName == b.event.object.Name && wants(p, other) })
	}
	return false
}

// sharesItsName tells whether the preemptor asks for devices by the name of a class that has the name of a resource in common with another one.
func (b *breach) sharesItsName(class string) bool {
	named := map[string]string{} // the name of a resource, by class
	for _, o := range b.Cluster.Objects() {
		if c, is := o.(*resourcev1.DeviceClass); is && c.Spec.ExtendedResourceName != nil {
			named[c.Name] = *c.Spec.ExtendedResourceName
		}
	}
	name := named[class]
	delete(named, class)
	p := b.Cluster.Preemptor
	asks := slices.ContainsFunc(slices.Concat(p.Spec.InitContainers, p.Spec.Containers), func(c v1.Container) bool {
		_, by := c.Resources.Requests[v1.ResourceName(resourcev1.ResourceDeviceClassPrefix+class)]
		return by
	})
	return asks && name != "" && slices.Contains(slices.Collect(maps.Values(named)), name)
}

// skipsOperations tells whether operations of a device of the preemptor's claims are left out.
func (b *breach) skipsOperations() bool {
	own := device.Named(b.Cluster.Preemptor)
	return slices.ContainsFunc(b.Cluster.Extra, func(o runtime.Object) bool {
		c, is := o.(*resourcev1.ResourceClaim)
		return is && slices.Contains(own, filter.Key(c)) && device.SkipsOperations(c)
	})
}

// mayGetSkips tells whether there are devices of which operations are left out, and which are given.
func (b *breach) mayGetSkips() bool {
	return b.Cluster.Settings.FeatureGates[device.GateOptionalOperations] && slices.ContainsFunc(b.Cluster.Extra, func(o runtime.Object) bool {
		s, is := o.(*resourcev1.ResourceSlice)
		return is && len(s.Spec.SkipNodeOperations) > 0
	})
}

// lacksIgnored tells whether the node of an event has too little of a resource that is to be passed over.
func (b *breach) lacksIgnored() bool {
	_, is := b.event.nodes()
	profile := configuration.Of(b.Cluster.Settings, b.Cluster.Preemptor.Spec.SchedulerName)
	if is == nil || profile == nil {
		return false
	}
	ignored := profile.Ignored()
	return ignored != nil && slices.ContainsFunc(filter.Requested(b.Cluster.Preemptor), func(want filter.Amount) bool {
		has := is.Status.Allocatable[want.Name]
		return ignored(want.Name) && has.Value() < want.Units()
	})
}

// wrapsAround tells whether requests, or what is left on a node, may exceed what 64 bits count, in milliCPU or bytes.
func wrapsAround(c *model.Cluster) bool {
	sum := new(big.Int)
	add := func(list v1.ResourceList) {
		for name, q := range list {
			n := q.Value()
			if name == v1.ResourceCPU {
				n = q.MilliValue()
			}
			sum.Add(sum, new(big.Int).Abs(big.NewInt(n)))
		}
	}
	for _, p := range append(slices.Clone(c.Pods), c.Preemptor) {
		for _, container := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			add(container.Resources.Requests)
		}
		add(p.Spec.Overhead)
	}
	for _, n := range c.Nodes {
		add(n.Status.Allocatable)
	}
	return sum.Cmp(big.NewInt(math.MaxInt64/4)) > 0
}
