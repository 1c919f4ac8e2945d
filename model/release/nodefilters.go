package release

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

func usualResources(st *filter.ResourcesState) {
	wanted := slices.Clone(st.Needs[0])
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage} {
		named := func(a filter.Amount) bool { return a.Name == name }
		if len(st.Wanted) > 0 && !slices.ContainsFunc(wanted, named) {
			wanted = append(wanted, filter.Amount{Name: name})
		}
	}
	st.Wanted = wanted
}

// resizedEach: of a pod that is resized each container that has a status of its
// resources counts by itself, and so does what the pod as a whole requests. Init
// containers were not resized, but for sidecars (KEP-1287).
func resizedEach(p *v1.Pod) {
	effective := func(desired, actual, allocated v1.ResourceList) v1.ResourceList {
		if filter.ResizeInfeasible(p) {
			desired = nil
		}
		return largest(desired, actual, allocated)
	}
	resized := func(c *v1.Container) {
		if s := filter.ContainerStatus(p, c.Name); s != nil && s.Resources != nil {
			c.Resources.Requests = effective(c.Resources.Requests, s.Resources.Requests, s.AllocatedResources)
		}
	}
	p.Spec.Containers = variant.Each(p.Spec.Containers, resized)
	p.Spec.InitContainers = variant.Each(p.Spec.InitContainers, func(c *v1.Container) {
		if filter.IsSidecar(c) {
			resized(c)
		}
	})
	if p.Spec.Resources != nil && p.Status.Resources != nil {
		actual, whole := effective(p.Spec.Resources.Requests, p.Status.Resources.Requests, p.Status.AllocatedResources), v1.ResourceList{}
		for name := range p.Spec.Resources.Requests {
			whole[name] = actual[name]
		}
		p.Spec.Resources = &v1.ResourceRequirements{Requests: whole}
	}
	p.Status = v1.PodStatus{} // so that the pod is not taken for one that is resized
}

// largest is the largest amount of each resource.
func largest(lists ...v1.ResourceList) v1.ResourceList {
	out := v1.ResourceList{}
	for _, list := range lists {
		for name, q := range list {
			if has, ok := out[name]; !ok || has.Cmp(q) < 0 {
				out[name] = q
			}
		}
	}
	return out
}

// hostPortsForgotten: upstream keeps the ports in use as a set, without counting
// how many pods use each, so removing one pod frees the port of all
// (kube-scheduler/framework/types.go:610@v0.37.1, HostPortInfo.Remove).
func hostPortsForgotten(ports *filter.PortsState, n *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
	forgets := slices.ContainsFunc(n.Pods, func(p *filter.Pod) bool { return len(remembered(ports, p)) < len(ports.Ports[p.Index]) })
	if !forgets && (len(v.Moves) == 0 || !portsShared(ports, n, v)) {
		return failed
	}
	return ports.FitsBeside(portsAfter(ports, n, v))
}

// portsShared tells whether two pods that are, were or come on a node use one host port.
func portsShared(ports *filter.PortsState, n *filter.Node, v filter.View) bool {
	seen, used := map[string]bool{}, map[filter.HostPort]bool{}
	shared := false
	look := func(p *filter.Pod) {
		if seen[p.Key] {
			return
		}
		seen[p.Key] = true
		for _, port := range ports.Of(p.Pod) {
			shared = shared || used[port]
		}
		for _, port := range ports.Of(p.Pod) {
			used[port] = true
		}
	}
	for _, p := range slices.Concat(n.Pods, v.Pods) {
		look(p)
	}
	for _, m := range v.Moves {
		look(m.Pod)
	}
	return shared
}

// remembered are the host ports of a pod but for those that a scheduler has forgotten before.
func remembered(ports *filter.PortsState, p *filter.Pod) []filter.HostPort {
	known := *p.Pod
	forget := func(containers []v1.Container) []v1.Container {
		containers = slices.Clone(containers)
		for i := range containers {
			c := &containers[i]
			c.Ports = slices.DeleteFunc(slices.Clone(c.Ports), func(port v1.ContainerPort) bool { return port.Name == variant.ForgottenPort })
		}
		return containers
	}
	known.Spec.InitContainers, known.Spec.Containers = forget(known.Spec.InitContainers), forget(known.Spec.Containers)
	return ports.Of(&known)
}

// portsAfter are the ports in use once the pods of a node have come and gone, and
// others are nominated to it.
func portsAfter(ports *filter.PortsState, n *filter.Node, v filter.View) []filter.HostPort {
	var used []filter.HostPort
	for _, p := range n.Pods {
		used = append(used, remembered(ports, p)...)
	}
	for _, move := range v.Moves {
		moved := ports.Of(move.Pod.Pod) // it may be a pod of another snapshot
		if move.Back {
			used = append(used, moved...)
		} else {
			used = slices.DeleteFunc(used, func(port filter.HostPort) bool { return slices.Contains(moved, port) })
		}
	}
	for _, p := range v.Pods {
		if !within(n.Pods, p) {
			used = append(used, ports.Ports[p.Index]...)
		}
	}
	return used
}

// differ sums of over the pods of v that are not bound to n, less those bound to it
// that v is without.
func differ(n *filter.Node, v filter.View, of func(*filter.Pod) int) int {
	sum := 0
	for _, p := range v.Pods {
		if !within(n.Pods, p) {
			sum += of(p)
		}
	}
	for _, p := range n.Pods {
		if !within(v.Pods, p) {
			sum -= of(p)
		}
	}
	return sum
}

// within tells whether a pod is one of pods.
func within(pods []*filter.Pod, p *filter.Pod) bool {
	return slices.ContainsFunc(pods, func(other *filter.Pod) bool { return other.Index == p.Index })
}

func oneTermConflicts(p filter.Plugin) filter.Plugin {
	return variant.Rework(func(s *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		terms := filter.RequiredNodeTerms(s.Preemptor.Pod)
		for i := range terms {
			names, narrows := filter.NamedNodes(&terms[i])
			if !narrows {
				break
			}
			if len(names) == 0 {
				_, a = variant.MisreadPreemptor(func(p *v1.Pod) {
					p.Spec.Affinity = p.Spec.Affinity.DeepCopy()
					p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms = terms[i : i+1]
				})(p).PreFilter(s)
				break
			}
		}
		return st, a
	})(p)
}
