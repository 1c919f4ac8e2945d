package generators_test

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// TestEveryFeatureOccurs looks for everything that clusters promise to have.
func TestEveryFeatureOccurs(t *testing.T) {
	anyPod := func(is func(*v1.Pod) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool { return slices.ContainsFunc(c.Pods, is) }
	}
	preemptor := func(is func(*v1.Pod) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool { return is(c.Preemptor) }
	}
	anyNode := func(is func(*v1.Node) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool { return slices.ContainsFunc(c.Nodes, is) }
	}
	anyBudget := func(is func(*policyv1.PodDisruptionBudget) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool { return slices.ContainsFunc(c.PodDisruptionBudgets, is) }
	}
	requests := func(name v1.ResourceName) func(*v1.Pod) bool {
		return func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Spec.Containers, func(c v1.Container) bool {
				_, ok := c.Resources.Requests[name]
				return ok
			})
		}
	}
	hasCondition := func(is func(v1.PodCondition) bool) func(*v1.Pod) bool {
		return func(p *v1.Pod) bool { return slices.ContainsFunc(p.Status.Conditions, is) }
	}
	marked := hasCondition(func(c v1.PodCondition) bool {
		return c.Type == v1.DisruptionTarget && c.Reason == v1.PodReasonPreemptionByScheduler
	})
	// nominated tells whether a nominated pod's priority compares so to the preemptor's.
	nominated := func(is func(pod, preemptor int32) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool {
			return slices.ContainsFunc(c.Pods, func(p *v1.Pod) bool {
				return p.Status.NominatedNodeName != "" && is(model.Priority(p), model.Priority(c.Preemptor))
			})
		}
	}
	affinityTerms := func(is func(v1.NodeSelectorTerm) bool) func(*model.Cluster) bool {
		return preemptor(func(p *v1.Pod) bool {
			return p.Spec.Affinity != nil && p.Spec.Affinity.NodeAffinity != nil && slices.ContainsFunc(
				p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, is)
		})
	}

	spreads := func(is func(v1.TopologySpreadConstraint) bool) func(*v1.Pod) bool {
		return func(p *v1.Pod) bool { return slices.ContainsFunc(p.Spec.TopologySpreadConstraints, is) }
	}
	// podTerm is of a required term of a pod's affinity or anti-affinity.
	podTerm := func(is func(v1.PodAffinityTerm) bool) func(*v1.Pod) bool {
		return func(p *v1.Pod) bool {
			a := p.Spec.Affinity
			return a != nil && (a.PodAffinity != nil && slices.ContainsFunc(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, is) ||
				a.PodAntiAffinity != nil && slices.ContainsFunc(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, is))
		}
	}
	shuns := func(p *v1.Pod) bool { return p.Spec.Affinity != nil && p.Spec.Affinity.PodAntiAffinity != nil }

	hasPort := func(address string) func(*v1.Pod) bool {
		return func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Spec.Containers, func(c v1.Container) bool {
				return slices.ContainsFunc(c.Ports, func(p v1.ContainerPort) bool { return p.HostIP == address })
			})
		}
	}
	anyDevice := func(is func(*resourcev1.Device) bool) func(*model.Cluster) bool {
		return withExtra(func(s *resourcev1.ResourceSlice) bool {
			return slices.ContainsFunc(s.Spec.Devices, func(d resourcev1.Device) bool { return is(&d) })
		})
	}
	anyRequest := func(is func(*resourcev1.DeviceRequest) bool) func(*model.Cluster) bool {
		return withExtra(func(c *resourcev1.ResourceClaim) bool {
			return slices.ContainsFunc(c.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool { return is(&r) })
		})
	}
	features := map[string]func(*model.Cluster) bool{
		"no nodes":          func(c *model.Cluster) bool { return len(c.Nodes) == 0 },
		"six nodes":         func(c *model.Cluster) bool { return len(c.Nodes) == 6 },
		"twenty pods":       func(c *model.Cluster) bool { return len(c.Pods) >= 20 },
		"no pods":           func(c *model.Cluster) bool { return len(c.Pods) == 0 },
		"memory":            anyPod(requests(v1.ResourceMemory)),
		"ephemeral storage": anyPod(requests(v1.ResourceEphemeralStorage)),
		"extended resource": anyPod(requests("example.com/gpu")),
		"huge requests": anyPod(func(p *v1.Pod) bool {
			for _, q := range p.Spec.Containers[0].Resources.Requests {
				if q.CmpInt64(math.MaxInt64/1000) > 0 {
					return true
				}
			}
			return false
		}),
		"few pods per node": anyNode(func(n *v1.Node) bool { return n.Status.Allocatable.Pods().Value() <= 4 }),
		"init container": anyPod(func(p *v1.Pod) bool {
			return len(p.Spec.InitContainers) == 1 && p.Spec.InitContainers[0].RestartPolicy == nil
		}),
		"sidecar": anyPod(func(p *v1.Pod) bool {
			return len(p.Spec.InitContainers) == 1 && p.Spec.InitContainers[0].RestartPolicy != nil
		}),
		"sidecar, then init": anyPod(func(p *v1.Pod) bool { return len(p.Spec.InitContainers) == 2 }),
		"overhead":           anyPod(func(p *v1.Pod) bool { return len(p.Spec.Overhead) > 0 }),
		"pod-level requests": anyPod(func(p *v1.Pod) bool { return p.Spec.Resources != nil }),
		"host ports":         preemptor(func(p *v1.Pod) bool { return len(p.Spec.Containers[0].Ports) > 0 }),
		"taints":             anyNode(func(n *v1.Node) bool { return len(n.Spec.Taints) > 0 }),
		"tolerations":        preemptor(func(p *v1.Pod) bool { return len(p.Spec.Tolerations) > 0 }),
		"cordoned":           anyNode(func(n *v1.Node) bool { return n.Spec.Unschedulable }),
		"node selector":      preemptor(func(p *v1.Pod) bool { return len(p.Spec.NodeSelector) > 0 }),
		"match expressions":  affinityTerms(func(t v1.NodeSelectorTerm) bool { return len(t.MatchExpressions) > 0 }),
		"match fields":       affinityTerms(func(t v1.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 }),
		"several fields":     affinityTerms(func(t v1.NodeSelectorTerm) bool { return len(t.MatchFields) > 1 }),
		"empty term":         affinityTerms(func(t v1.NodeSelectorTerm) bool { return len(t.MatchFields)+len(t.MatchExpressions) == 0 }),

		"pod affinity":        preemptor(func(p *v1.Pod) bool { return p.Spec.Affinity != nil && p.Spec.Affinity.PodAffinity != nil }),
		"pod anti-affinity":   preemptor(shuns),
		"bound pod shuns":     anyPod(func(p *v1.Pod) bool { return p.Spec.NodeName != "" && shuns(p) }),
		"nominated pod shuns": anyPod(func(p *v1.Pod) bool { return p.Status.NominatedNodeName != "" && shuns(p) }),
		"two terms": preemptor(func(p *v1.Pod) bool {
			return p.Spec.Affinity != nil && p.Spec.Affinity.PodAffinity != nil && len(p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 2
		}),
		"term without selector": preemptor(podTerm(func(t v1.PodAffinityTerm) bool { return t.LabelSelector == nil })),
		"namespaces of a term":  preemptor(podTerm(func(t v1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 })),
		"namespaces by label": preemptor(podTerm(func(t v1.PodAffinityTerm) bool {
			return t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchLabels) > 0
		})),
		"all namespaces": preemptor(podTerm(func(t v1.PodAffinityTerm) bool {
			return t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchLabels) == 0 && len(t.NamespaceSelector.MatchExpressions) == 0
		})),
		"namespaces by the label that they lack": preemptor(podTerm(func(t v1.PodAffinityTerm) bool {
			return t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchExpressions) > 0
		})),
		"matchLabelKeys":      anyPod(podTerm(func(t v1.PodAffinityTerm) bool { return len(t.MatchLabelKeys) > 0 })),
		"mismatchLabelKeys":   anyPod(podTerm(func(t v1.PodAffinityTerm) bool { return len(t.MismatchLabelKeys) > 0 })),
		"node without a zone": anyNode(func(n *v1.Node) bool { return n.Labels["zone"] == "" }),

		"lowest priority":       anyPod(func(p *v1.Pod) bool { return model.Priority(p) == math.MinInt32 }),
		"system priority":       anyPod(func(p *v1.Pod) bool { return model.Priority(p) >= 2_000_000_000 }),
		"highest priority":      preemptor(func(p *v1.Pod) bool { return model.Priority(p) == math.MaxInt32 }),
		"pod without priority":  anyPod(func(p *v1.Pod) bool { return p.Spec.Priority == nil }),
		"preemptor without one": preemptor(func(p *v1.Pod) bool { return p.Spec.Priority == nil }),
		"never preempts": preemptor(func(p *v1.Pod) bool {
			return p.Spec.PreemptionPolicy != nil && *p.Spec.PreemptionPolicy == v1.PreemptNever
		}),
		"mirror pod":    anyPod(func(p *v1.Pod) bool { return p.Annotations[v1.MirrorPodAnnotationKey] != "" }),
		"missing start": anyPod(func(p *v1.Pod) bool { return p.Spec.NodeName != "" && p.Status.StartTime == nil }),
		"preempted":     anyPod(func(p *v1.Pod) bool { return p.DeletionTimestamp != nil && marked(p) }),
		"deleted":       anyPod(func(p *v1.Pod) bool { return p.DeletionTimestamp != nil && !marked(p) }),
		"marked":        anyPod(func(p *v1.Pod) bool { return p.DeletionTimestamp == nil && marked(p) }),
		"resized":       anyPod(func(p *v1.Pod) bool { return len(p.Status.ContainerStatuses) > 0 }),
		"infeasible resize": anyPod(func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodResizePending })
		}),
		"deleted and nominated": anyPod(func(p *v1.Pod) bool {
			return p.DeletionTimestamp != nil && len(p.Finalizers) > 0 && p.Status.NominatedNodeName != ""
		}),
		"address of IPv6":     anyPod(hasPort("fd00::1")),
		"any address of IPv6": anyPod(hasPort("::")),
		"address in two spellings": func(c *model.Cluster) bool {
			return anyPod(hasPort("fd00::1"))(c) && anyPod(hasPort("FD00:0::1"))(c) || anyPod(hasPort("::"))(c) && anyPod(hasPort("0:0:0:0:0:0:0:0"))(c)
		},
		"address of IPv4 as IPv6": anyPod(hasPort("::ffff:10.0.0.1")),
		"nominated lower":         nominated(func(pod, preemptor int32) bool { return pod < preemptor }),
		"nominated equal":         nominated(func(pod, preemptor int32) bool { return pod == preemptor }),
		"nominated higher":        nominated(func(pod, preemptor int32) bool { return pod > preemptor }),
		"preemptor nominated":     preemptor(func(p *v1.Pod) bool { return p.Status.NominatedNodeName != "" }),
		"nominated node missing":  preemptor(func(p *v1.Pod) bool { return p.Status.NominatedNodeName == "gone" }),
		"other scheduler's":       anyPod(func(p *v1.Pod) bool { return p.Spec.SchedulerName != v1.DefaultSchedulerName }),
		"just waiting":            anyPod(func(p *v1.Pod) bool { return p.Spec.NodeName == "" && p.Status.NominatedNodeName == "" }),
		"second namespace":        anyPod(func(p *v1.Pod) bool { return p.Namespace != "default" }),
		"four budgets":            func(c *model.Cluster) bool { return len(c.PodDisruptionBudgets) == 4 },
		"budget of two":           anyBudget(func(b *policyv1.PodDisruptionBudget) bool { return b.Status.DisruptionsAllowed == 2 }),
		"budget without selector": anyBudget(func(b *policyv1.PodDisruptionBudget) bool { return b.Spec.Selector == nil }),
		"budget for all": anyBudget(func(b *policyv1.PodDisruptionBudget) bool {
			s := b.Spec.Selector
			return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0
		}),
		"budget by expression": anyBudget(func(b *policyv1.PodDisruptionBudget) bool {
			return b.Spec.Selector != nil && len(b.Spec.Selector.MatchExpressions) > 0
		}),
		"disrupted pods":             anyBudget(func(b *policyv1.PodDisruptionBudget) bool { return len(b.Status.DisruptedPods) > 0 }),
		"spread":                     preemptor(spreads(func(v1.TopologySpreadConstraint) bool { return true })),
		"several spread constraints": preemptor(func(p *v1.Pod) bool { return len(p.Spec.TopologySpreadConstraints) > 1 }),
		"soft spread":                preemptor(spreads(func(c v1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == v1.ScheduleAnyway })),
		"minimum of domains":         preemptor(spreads(func(c v1.TopologySpreadConstraint) bool { return c.MinDomains != nil && *c.MinDomains > 1 })),
		"match label keys":           preemptor(spreads(func(c v1.TopologySpreadConstraint) bool { return len(c.MatchLabelKeys) > 0 })),
		"affinity ignored":           preemptor(spreads(func(c v1.TopologySpreadConstraint) bool { return c.NodeAffinityPolicy != nil })),
		"taints honoured":            preemptor(spreads(func(c v1.TopologySpreadConstraint) bool { return c.NodeTaintsPolicy != nil })),
		"declared features":          anyNode(func(n *v1.Node) bool { return len(n.Status.DeclaredFeatures) > 0 }),
		"compared taints": preemptor(func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Spec.Tolerations, func(t v1.Toleration) bool { return t.Operator == v1.TolerationOpGt })
		}),
		"comparisons on": func(c *model.Cluster) bool { return c.Settings.FeatureGates[filter.GateTaintComparison] },
		"unready": anyPod(func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodReady })
		}),
		"generation": preemptor(func(p *v1.Pod) bool { return p.Generation > 1 }),
		"status behind the pod": anyPod(func(p *v1.Pod) bool {
			return p.Status.ObservedGeneration > 0 && p.Status.ObservedGeneration < p.Generation
		}),
		"tried before": preemptor(hasCondition(func(c v1.PodCondition) bool {
			return c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse && c.Reason == v1.PodReasonUnschedulable
		})),
		"error before": preemptor(hasCondition(func(c v1.PodCondition) bool { return c.Reason == v1.PodReasonSchedulerError })),
		"evicted by others": anyPod(hasCondition(func(c v1.PodCondition) bool {
			return c.Type == v1.DisruptionTarget && c.Status == v1.ConditionTrue && c.Reason != v1.PodReasonPreemptionByScheduler
		})),
		"not evicted after all": anyPod(hasCondition(func(c v1.PodCondition) bool { return c.Type == v1.DisruptionTarget && c.Status == v1.ConditionFalse })),
		"eviction policy":       anyBudget(func(b *policyv1.PodDisruptionBudget) bool { return b.Spec.UnhealthyPodEvictionPolicy != nil }),
		"deferred resize": anyPod(func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Reason == v1.PodReasonDeferred })
		}),
		"resize of an init container": anyPod(func(p *v1.Pod) bool { return len(p.Status.InitContainerStatuses) > 0 }),
		"resize of the pod":           anyPod(func(p *v1.Pod) bool { return p.Status.AllocatedResources != nil }),
		"init container's port": anyPod(func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Spec.InitContainers, func(c v1.Container) bool { return len(c.Ports) > 0 && c.RestartPolicy == nil })
		}),
		"sidecar's port": anyPod(func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Spec.InitContainers, func(c v1.Container) bool { return len(c.Ports) > 0 && c.RestartPolicy != nil })
		}),
		"disk pressure": anyNode(func(n *v1.Node) bool {
			return slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeDiskPressure })
		}),
		"over-committed":          overCommitted,
		"host forgotten":          anyNode(func(n *v1.Node) bool { return n.Labels[v1.LabelHostname] == "" }),
		"daemons":                 anyPod(func(p *v1.Pod) bool { return len(p.Spec.Tolerations) > 0 }),
		"resource claims":         preemptor(func(p *v1.Pod) bool { return len(p.Spec.ResourceClaims) > 0 }),
		"others' claims":          anyPod(func(p *v1.Pod) bool { return len(p.Spec.ResourceClaims) > 0 }),
		"tainted device":          anyDevice(func(d *resourcev1.Device) bool { return len(d.Taints) > 0 }),
		"part of a device":        anyDevice(func(d *resourcev1.Device) bool { return len(d.ConsumesCounters) > 0 }),
		"shared device":           anyDevice(func(d *resourcev1.Device) bool { return d.AllowMultipleAllocations != nil }),
		"device bound later":      anyDevice(func(d *resourcev1.Device) bool { return len(d.BindingConditions) > 0 }),
		"device of several nodes": anyDevice(func(d *resourcev1.Device) bool { return d.AllNodes != nil }),
		"admin access":            anyRequest(func(r *resourcev1.DeviceRequest) bool { return r.Exactly != nil && r.Exactly.AdminAccess != nil }),
		"prioritised list":        anyRequest(func(r *resourcev1.DeviceRequest) bool { return len(r.FirstAvailable) > 1 }),
		"all devices":             anyRequest(func(r *resourcev1.DeviceRequest) bool { return r.Exactly != nil && r.Exactly.Count == 0 }),
		"selected devices":        anyRequest(func(r *resourcev1.DeviceRequest) bool { return r.Exactly != nil && len(r.Exactly.Selectors) > 0 }),
		"tolerated device":        anyRequest(func(r *resourcev1.DeviceRequest) bool { return r.Exactly != nil && len(r.Exactly.Tolerations) > 0 }),
		"constrained devices":     withExtra(func(c *resourcev1.ResourceClaim) bool { return len(c.Spec.Devices.Constraints) > 0 }),
		"attribute that is no number": anyDevice(func(d *resourcev1.Device) bool {
			for _, a := range d.Attributes {
				return a.StringValue != nil || a.BoolValue != nil || a.VersionValue != nil
			}
			return false
		}),
		"operations skipped": withExtra(device.SkipsOperations),
		"device with time left": withExtra(func(c *resourcev1.ResourceClaim) bool {
			return c.Status.Allocation != nil && c.Status.Allocation.AllocationTimestamp != nil && c.Status.Allocation.AllocationTimestamp.Year() > 2100
		}),
		"taint rule": withExtra(func(*resourcev1.DeviceTaintRule) bool { return true }),
		"pool of several slices": withExtra(func(s *resourcev1.ResourceSlice) bool {
			return s.Spec.Pool.ResourceSliceCount > 1 && len(s.Spec.Devices) > 0
		}),
		"resource from devices":    withExtra(func(c *resourcev1.DeviceClass) bool { return c.Spec.ExtendedResourceName != nil }),
		"more nodes than filtered": func(c *model.Cluster) bool { return len(c.Nodes) > 100 },
		"needs a feature": preemptor(func(p *v1.Pod) bool {
			return slices.ContainsFunc(slices.Concat(p.Spec.Containers, p.Spec.InitContainers), func(c v1.Container) bool { return len(c.RestartPolicyRules) > 0 })
		}),
		"asynchronous API calls": func(c *model.Cluster) bool { return c.Settings.FeatureGates["SchedulerAsyncAPICalls"] },
		"small shortlist":        func(c *model.Cluster) bool { return c.Settings.MinCandidateNodesAbsolute != nil },
		"many nodes":             func(c *model.Cluster) bool { return len(c.Nodes) > 100 },
		"synchronous":            func(c *model.Cluster) bool { return !c.Settings.AsyncPreemption() },

		"pods of a group":                  anyMember(func(_ *v1.Pod, g *schedulingv1beta1.PodGroup) bool { return g != nil }),
		"pod of a missing group":           anyMember(func(_ *v1.Pod, g *schedulingv1beta1.PodGroup) bool { return g == nil }),
		"pod of a group on a deleted node": anyMember(func(p *v1.Pod, _ *schedulingv1beta1.PodGroup) bool { return p.Spec.NodeName == "gone" }),
		"nominated pod of a group":         anyMember(func(p *v1.Pod, _ *schedulingv1beta1.PodGroup) bool { return p.Status.NominatedNodeName != "" }),
		"terminating pod of a group":       anyMember(func(p *v1.Pod, _ *schedulingv1beta1.PodGroup) bool { return p.DeletionTimestamp != nil }),
		"pods of another priority than their group": anyMember(func(p *v1.Pod, g *schedulingv1beta1.PodGroup) bool {
			return g != nil && model.Priority(p) != ptr.Deref(g.Spec.Priority, 0)
		}),
		"group on several nodes": anyMember(func(p *v1.Pod, g *schedulingv1beta1.PodGroup) bool {
			return g != nil && g.Annotations[v1.LabelHostname] != p.Spec.NodeName && g.Annotations[v1.LabelHostname] != ""
		}),
		"disrupted together":     withExtra(func(g *schedulingv1beta1.PodGroup) bool { return g.Spec.DisruptionMode.All != nil }),
		"disrupted pod by pod":   withExtra(func(g *schedulingv1beta1.PodGroup) bool { return g.Spec.DisruptionMode.Single != nil }),
		"group without priority": withExtra(func(g *schedulingv1beta1.PodGroup) bool { return g.Spec.Priority == nil }),
		"gang":                   withExtra(func(g *schedulingv1beta1.PodGroup) bool { return g.Spec.SchedulingPolicy.Gang != nil }),
		"group of the preemptor's priority": func(c *model.Cluster) bool {
			return anyExtra(c, func(g *schedulingv1beta1.PodGroup) bool {
				return ptr.Deref(g.Spec.Priority, 0) == model.Priority(c.Preemptor)
			})
		},
		"composite group": withExtra(func(*schedulingv1alpha3.CompositePodGroup) bool { return true }),
		"group of a missing parent": withExtra(func(g *schedulingv1beta1.PodGroup) bool {
			return ptr.Deref(g.Spec.ParentCompositePodGroupName, "") == "missing"
		}),
	}
	ranges, _, _ := strings.Cut(rangesAfter(t, "# Ranges"), "## Storage")
	requireKinds(t, features, ranges, 50)
	const clusters = 5000
	count := map[string]int{}
	for seed := range uint64(clusters) {
		c := generators.FromSeed(seed)
		for name, has := range features {
			if has(c) {
				count[name]++
			}
		}
	}
	t.Log(count)
	for name := range features {
		require.Greaterf(t, count[name], clusters/500, "clusters with %s", name)
	}
	// Few promises break just there, and each call may fail in three ways.
	require.Greater(t, count["asynchronous API calls"], clusters/25)
}

// anyMember tells whether something is so of a pod that names a group, and of that group; nil if it
// does not exist. An annotation of the group tells the node of its first pod.
func anyMember(is func(*v1.Pod, *schedulingv1beta1.PodGroup) bool) func(*model.Cluster) bool {
	return func(c *model.Cluster) bool {
		groups := map[string]*schedulingv1beta1.PodGroup{}
		for _, o := range c.Extra {
			if g, ok := o.(*schedulingv1beta1.PodGroup); ok {
				groups[model.Key(g)] = g.DeepCopy()
			}
		}
		for _, p := range c.Pods {
			if p.Spec.SchedulingGroup == nil {
				continue
			}
			g := groups[p.Namespace+"/"+*p.Spec.SchedulingGroup.PodGroupName]
			if is(p, g) {
				return true
			}
			if g != nil && g.Annotations == nil {
				g.Annotations = map[string]string{v1.LabelHostname: p.Spec.NodeName}
			}
		}
		return false
	}
}

// withExtra is anyExtra of any cluster.
func withExtra[T any](is func(T) bool) func(*model.Cluster) bool {
	return func(c *model.Cluster) bool { return anyExtra(c, is) }
}

// rangesAfter is docs/ranges.md from a heading on.
func rangesAfter(t *testing.T, heading string) string {
	text, err := os.ReadFile("../docs/ranges.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), heading)
	require.True(t, ok, heading)
	return rest
}

// requireKinds: the tables name at least so many kinds of clusters, and none that are
// not tested.
func requireKinds[T any](t *testing.T, tested map[string]T, tables string, least int) {
	named := 0
	for line := range strings.Lines(tables) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) == 6 {
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[4], -1) {
				require.Contains(t, tested, name[1], "docs/ranges.md")
				named++
			}
		}
	}
	require.GreaterOrEqual(t, named, least, "docs/ranges.md")
}

// overCommitted tells whether the containers of a node's pods request more CPU
// than it has.
func overCommitted(c *model.Cluster) bool {
	left := map[string]int64{}
	for _, n := range c.Nodes {
		left[n.Name] = n.Status.Allocatable.Cpu().MilliValue()
	}
	for _, p := range c.Pods {
		for _, container := range p.Spec.Containers {
			left[p.Spec.NodeName] -= container.Resources.Requests.Cpu().MilliValue()
		}
	}
	for _, n := range c.Nodes {
		if left[n.Name] < 0 {
			return true
		}
	}
	return false
}
