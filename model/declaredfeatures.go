package model

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// Features that a node has to declare in status.declaredFeatures before a pod
// that needs them may run there (KEP-5328). Of the registry of v1.37.1 these are
// the ones that scheduling looks at; the others matter to updates of a pod
// (nodedeclaredfeatures/features/registry.go:31@v0.37.1).
const (
	// FeatureRestartAll: a container's exit may restart the whole pod (KEP-5532).
	FeatureRestartAll = "RestartAllContainersOnContainerExits"
	// FeatureHostNetworkUsers: user namespaces in pods of the host's network (KEP-5607).
	FeatureHostNetworkUsers = "UserNamespacesHostNetworkSupport"
	// FeatureBindMountOptions: options of a container's bind mounts.
	FeatureBindMountOptions = "VolumeBindMountOptions"
)

// declaredFeaturesFail: the node has to declare every feature that the pod needs.
// What a node declares does not change with the pods on it.
func declaredFeaturesFail(q *question, n *node, _ view) *Verdict {
	for _, feature := range q.features {
		if !slices.Contains(n.Status.DeclaredFeatures, feature) {
			return unresolvable("node(s) didn't match Pod's required features")
		}
	}
	return nil
}

// NeededFeatures are the features that p needs of its node.
func NeededFeatures(p *v1.Pod) []string { return neededFeatures(p, Documented().declared) }

// neededFeatures are the features that p needs of its node, by what its spec
// says, whether or not a gate is on: the API server refuses such a spec when its
// own gate is off. No feature is so old yet that every node has it (MaxVersion).
func neededFeatures(p *v1.Pod, rules declaredRules) []string {
	var needed []string
	if p.Spec.HostNetwork && p.Spec.HostUsers != nil && !*p.Spec.HostUsers {
		needed = append(needed, FeatureHostNetworkUsers)
	}
	if anyContainer(p, rules.initContainers, restartsAll) {
		needed = append(needed, FeatureRestartAll)
	}
	if anyContainer(p, rules.initContainers, mountsWithOptions) {
		needed = append(needed, FeatureBindMountOptions)
	}
	return needed
}

// anyContainer tells whether something is so of a container of p. A pod that waits
// has no ephemeral containers.
func anyContainer(p *v1.Pod, init bool, is func(c *v1.Container) bool) bool {
	for i := range p.Spec.Containers {
		if is(&p.Spec.Containers[i]) {
			return true
		}
	}
	for i := range p.Spec.InitContainers {
		if init && is(&p.Spec.InitContainers[i]) {
			return true
		}
	}
	return false
}

// restartsAll: one of the container's rules, whatever its exit codes, has the
// action RestartAllContainers.
func restartsAll(c *v1.Container) bool {
	for i := range c.RestartPolicyRules {
		if c.RestartPolicyRules[i].Action == v1.ContainerRestartRuleActionRestartAllContainers {
			return true
		}
	}
	return false
}

func mountsWithOptions(c *v1.Container) bool {
	for i := range c.VolumeMounts {
		if len(c.VolumeMounts[i].BindMountOptions) > 0 {
			return true
		}
	}
	return false
}

// declaredRules is what Mutants break.
type declaredRules struct {
	initContainers bool // their rules count as those of the others do
}
