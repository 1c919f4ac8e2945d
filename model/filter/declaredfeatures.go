package filter

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Features that a node has to declare in status.declaredFeatures before a pod
// that needs them may run there (KEP-5328). Of the registry of v1.37.1 these are
// the ones that pods need by themselves; most others matter to updates of a pod
// (nodedeclaredfeatures/features/registry.go:31@v0.37.1).
const (
	// FeatureRestartAll: a container's exit may restart the whole pod (KEP-5532).
	FeatureRestartAll = "RestartAllContainersOnContainerExits"
	// FeatureHostNetworkUsers: user namespaces in pods of the host's network (KEP-5607).
	FeatureHostNetworkUsers = "UserNamespacesHostNetworkSupport"
	// FeatureBindMountOptions: options of a container's bind mounts.
	FeatureBindMountOptions = "VolumeBindMountOptions"
)

// FeatureSkipOperations: operations of a node are left out for an allocated device (KEP-5945). It is for DynamicResources to look whether a node
// declares it (nodedeclaredfeatures/features/draoptionalnodeoperations/feature.go:48@v0.37.1), not for NodeDeclaredFeatures.
const FeatureSkipOperations = "DRAOptionalNodeOperations"

// NodeDeclaredFeatures: the node has to declare every feature that the pod needs.
// What a node declares does not change with the pods on it.
type NodeDeclaredFeatures struct{}

// Name implements Plugin.
func (NodeDeclaredFeatures) Name() string { return "NodeDeclaredFeatures" }

// PreFilter implements Plugin.
func (NodeDeclaredFeatures) PreFilter(s *Snapshot) (State, Answer) {
	needed := NeededFeatures(s.Preemptor.Pod)
	if len(needed) == 0 {
		return nil, Answer{}
	}
	return EachNode(func(n *v1.Node) *Verdict {
		for _, feature := range needed {
			if !slices.Contains(n.Status.DeclaredFeatures, feature) {
				return Unresolvable("node(s) didn't match Pod's required features")
			}
		}
		return nil
	}), Answer{}
}

// NeededFeatures are the features that p needs of its node, by what its spec
// says, whether or not a gate is on: the API server refuses such a spec when its
// own gate is off. No feature is so old yet that every node has it (MaxVersion).
func NeededFeatures(p *v1.Pod) []string {
	var needed []string
	if p.Spec.HostNetwork && !ptr.Deref(p.Spec.HostUsers, true) {
		needed = append(needed, FeatureHostNetworkUsers)
	}
	if AnyContainer(p, restartsAll) {
		needed = append(needed, FeatureRestartAll)
	}
	if AnyContainer(p, MountsWithOptions) {
		needed = append(needed, FeatureBindMountOptions)
	}
	return needed
}

// AnyContainer tells whether something is so of a container of p, or of an init
// container. A pod that waits has no ephemeral containers.
func AnyContainer(p *v1.Pod, is func(v1.Container) bool) bool {
	return slices.ContainsFunc(p.Spec.Containers, is) || slices.ContainsFunc(p.Spec.InitContainers, is)
}

// restartsAll: one of the container's rules, whatever its exit codes, has the
// action RestartAllContainers.
func restartsAll(c v1.Container) bool {
	return slices.ContainsFunc(c.RestartPolicyRules, func(r v1.ContainerRestartRule) bool {
		return r.Action == v1.ContainerRestartRuleActionRestartAllContainers
	})
}

// MountsWithOptions: one of the container's mounts has options of bind mounts.
func MountsWithOptions(c v1.Container) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m v1.VolumeMount) bool { return len(m.BindMountOptions) > 0 })
}
