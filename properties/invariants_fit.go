package properties

import (
	"cmp"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

func preemptorFits() Property {
	return Property{
		Name:    "preemptor-fits",
		Promise: "After the Pods are gone, P can be scheduled on the Node.",
		Source:  docsPreemption + "; pods of equal or higher priority nominated to the node count (runtime/framework.go:1268@v1.37.1)",
		Applies: proposed,
		Check: func(s *Subject) (findings []Finding, err error) {
			for _, p := range s.proposals() {
				if s.miscounts(p.node) {
					continue
				}
				ok, err := s.fitsByModel(p.node, set(p.victims...))
				if err != nil {
					return nil, err
				}
				if !ok {
					findings = append(findings, foundOf(p.stage, p.node, "", fmt.Sprintf("by the model's filters the preemptor does not fit once %v are gone", p.victims)))
				}
			}
			if s.Observation.Pick == nil || s.miscounts(s.picked().node) {
				return findings, nil
			}
			p := s.picked()
			judged, err := s.fits(p.node, set(p.victims...))
			if err == nil && !judged.bySystem {
				findings = append(findings, foundOf(model.StagePick, p.node, "by the system", fmt.Sprintf("%s itself does not schedule the preemptor there once %v are gone", s.System.Name(), p.victims)))
			}
			return findings, err
		},
	}
}

func judgesAgree() Property {
	return Property{
		Name:    "judges-agree",
		Promise: "The filtering step finds the set of Nodes where it's feasible to schedule the Pod.",
		Source:  "docs: concepts/scheduling-eviction/kube-scheduler, \"Node selection in kube-scheduler\"; asked of the cluster without the victims, in a full cycle and of the model's filters",
		Applies: preempted,
		Check: func(s *Subject) ([]Finding, error) {
			p := s.picked()
			judged, err := s.fits(p.node, set(p.victims...))
			if err != nil || judged.byModel == judged.bySystem || s.miscounts(p.node) {
				return nil, err
			}
			return found(model.StageFilter, p.node, fmt.Sprintf("once %v are gone, the preemptor fits: %t by the model, %t by %s", p.victims, judged.byModel, judged.bySystem, s.System.Name())), nil
		},
	}
}

func noFreeNode() Property {
	return Property{
		Name:    "no-free-node",
		Promise: "If no Node is found that satisfies all the specified requirements of the Pod, preemption logic is triggered for the pending Pod.",
		Source:  docsPreemption,
		Applies: preempted,
		Check: func(s *Subject) (findings []Finding, err error) {
			if to := s.Observation.ScheduledTo; to != "" {
				findings = append(findings, foundOf(model.StagePick, to, "", "preempted, although the pod was scheduled there"))
			}
			for _, n := range s.Cluster.Nodes {
				if _, failed := s.Decision.Verdicts[n.Name]; !failed && !s.miscounts(n.Name) {
					findings = append(findings, foundOf(model.StagePick, n.Name, "free", "preempted, although the preemptor fits there as it is"))
				}
			}
			return findings, nil
		},
	}
}

// miscounts tells whether, with known findings granted, volumes, or the pods that
// the preemptor has to be spread over, are counted otherwise than documented when
// a node is tried.
func (s *Subject) miscounts(node string) bool {
	if s.miscountsVolumes(node) {
		return true
	}
	if !spreads(s.Cluster.Preemptor) {
		return false
	}
	if s.grants("terminating-pod-uncounted") && slices.ContainsFunc(s.preemptable(node), terminating) {
		return true
	}
	return s.grants("empty-spread-selector") && slices.ContainsFunc(s.Cluster.Preemptor.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool {
		return c.LabelSelector != nil && len(c.LabelSelector.MatchLabels)+len(c.LabelSelector.MatchExpressions) == 0
	})
}

// after is the cluster without the pods gone.
func (s *Subject) after(node string, gone map[string]bool) *model.Cluster {
	c := *s.Cluster
	c.Pods, c.Extra = s.staying(node, gone), s.attachmentsWithout(node, gone)
	for _, p := range s.Cluster.Pods {
		if p.Spec.NodeName != node && !gone[model.Key(p)] {
			c.Pods = append(c.Pods, p)
		}
	}
	return &c
}

// staying are the pods on a node without those gone. With host-ports-forgotten
// granted, they do not hold the ports that they shared with pods that may be
// preempted.
func (s *Subject) staying(node string, gone map[string]bool) []*v1.Pod {
	var pods []*v1.Pod
	for _, p := range s.index().onNode[node] {
		if !gone[model.Key(p)] {
			pods = append(pods, p)
		}
	}
	if !s.grants("host-ports-forgotten") {
		return pods
	}
	forgotten := map[v1.ContainerPort]bool{}
	for _, p := range s.preemptable(node) {
		for _, containers := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range containers {
				for _, port := range containers[i].Ports {
					forgotten[hostPort(port)] = true
				}
			}
		}
	}
	for i, p := range pods {
		p = p.DeepCopy()
		for _, containers := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range containers {
				containers[i].Ports = slices.DeleteFunc(containers[i].Ports, func(port v1.ContainerPort) bool { return forgotten[hostPort(port)] })
			}
		}
		pods[i] = p
	}
	return pods
}

// hostPort is what two ports of the node have in common if they are the same; an
// address left out means all, a protocol left out TCP.
func hostPort(port v1.ContainerPort) v1.ContainerPort {
	return v1.ContainerPort{HostPort: port.HostPort, HostIP: cmp.Or(port.HostIP, "0.0.0.0"), Protocol: cmp.Or(port.Protocol, v1.ProtocolTCP)}
}

// fitsByModel tells whether, by the model's filters, the preemptor runs on a node
// once the pods gone are gone. It is cheap: the rest of the cluster is left out
// unless a filter looks at it, and the preemptor may not preempt, so that nothing
// but the filters is asked.
func (s *Subject) fitsByModel(node string, gone map[string]bool) (bool, error) {
	never, preemptor := v1.PreemptNever, *s.Cluster.Preemptor
	preemptor.Spec.PreemptionPolicy = &never
	c := &model.Cluster{
		Pods:      append(s.staying(node, gone), s.index().waiting...),
		Preemptor: &preemptor,
		Settings:  s.Cluster.Settings,
	}
	if !alone(s.Cluster.Preemptor) {
		after := s.after(node, gone)
		c.Nodes, c.Pods, c.Extra = after.Nodes, after.Pods, after.Extra
	} else {
		for _, n := range s.Cluster.Nodes {
			if n.Name == node {
				c.Nodes = append(c.Nodes, n)
			}
		}
	}
	d, err := model.Decide(c, model.Documented())
	if err != nil {
		return false, err
	}
	return d.Verdicts[node] == nil, nil
}
