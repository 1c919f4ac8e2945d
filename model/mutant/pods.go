package mutant

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// misreadPods reads a cluster with every pod, the preemptor included, changed as
// distort says. The cluster itself is left alone.
func misreadPods(distort func(p *v1.Pod)) func(*model.Cluster) *model.Cluster {
	return func(c *model.Cluster) *model.Cluster {
		out := *c
		change := func(p *v1.Pod) *v1.Pod {
			changed := *p
			distort(&changed)
			return &changed
		}
		out.Preemptor = change(c.Preemptor)
		out.Pods = make([]*v1.Pod, len(c.Pods))
		for i, p := range c.Pods {
			out.Pods[i] = change(p)
		}
		return &out
	}
}

// ofRequests misread what pods request, their host ports and their tolerations.
func ofRequests(misreads func(name string, distort func(p *v1.Pod))) {
	misreads("requests: overhead ignored", func(p *v1.Pod) { p.Spec.Overhead = nil })
	misreads("requests: init containers ignored", func(p *v1.Pod) {
		p.Spec.InitContainers = slices.DeleteFunc(slices.Clone(p.Spec.InitContainers), func(c v1.Container) bool { return !filter.IsSidecar(&c) })
	})
	misreads("requests: sidecars end like init containers", func(p *v1.Pod) {
		p.Spec.InitContainers = slices.Clone(p.Spec.InitContainers)
		for i := range p.Spec.InitContainers {
			p.Spec.InitContainers[i].RestartPolicy = nil
		}
	})
	misreads("requests: pod-level requests ignored", func(p *v1.Pod) { p.Spec.Resources = nil })
	misreads("requests: in-place resizes ignored", func(p *v1.Pod) {
		p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.AllocatedResources, p.Status.Resources = nil, nil, nil, nil
	})
	misreads("requests: deferred resizes taken for infeasible", func(p *v1.Pod) {
		p.Status.Conditions = slices.Clone(p.Status.Conditions)
		for i := range p.Status.Conditions {
			if p.Status.Conditions[i].Type == v1.PodResizePending {
				p.Status.Conditions[i].Reason = v1.PodReasonInfeasible
			}
		}
	})
	misreads("ports: those of init containers count", func(p *v1.Pod) {
		p.Spec.Containers = slices.Clone(p.Spec.Containers)
		for i := range p.Spec.InitContainers {
			if c := &p.Spec.InitContainers[i]; !filter.IsSidecar(c) {
				p.Spec.Containers[0].Ports = slices.Concat(p.Spec.Containers[0].Ports, c.Ports)
			}
		}
	})
	misreads("ports: those of sidecars do not count", func(p *v1.Pod) {
		p.Spec.InitContainers = slices.Clone(p.Spec.InitContainers)
		for i := range p.Spec.InitContainers {
			p.Spec.InitContainers[i].Ports = nil
		}
	})
	misreads("taints: numbers are not compared", func(p *v1.Pod) {
		p.Spec.Tolerations = slices.DeleteFunc(slices.Clone(p.Spec.Tolerations), func(t v1.Toleration) bool {
			return t.Operator == v1.TolerationOpGt || t.Operator == v1.TolerationOpLt
		})
	})
	misreads("taints: NoExecute ignored", func(p *v1.Pod) {
		p.Spec.Tolerations = append(slices.Clone(p.Spec.Tolerations), v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute})
	})
	misreads("ports: host addresses ignored", func(p *v1.Pod) {
		p.Spec.Containers = slices.Clone(p.Spec.Containers)
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Ports = slices.Clone(p.Spec.Containers[i].Ports)
			for j := range p.Spec.Containers[i].Ports {
				p.Spec.Containers[i].Ports[j].HostIP = ""
			}
		}
	})
}

// ofTerms misread affinity and anti-affinity to other pods.
func ofTerms(misreads func(name string, distort func(p *v1.Pod))) {
	misreadsTerms := func(name string, distort func(p *v1.Pod, affinity, anti []v1.PodAffinityTerm) (_, _ []v1.PodAffinityTerm)) {
		misreads(name, func(p *v1.Pod) {
			affinity, anti := distort(p, slices.Clone(filter.RequiredAffinity(p)), slices.Clone(filter.RequiredAntiAffinity(p)))
			if p.Spec.Affinity == nil {
				return
			}
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: p.Spec.Affinity.NodeAffinity,
				PodAffinity:     &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: affinity},
				PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: anti}}
		})
	}
	misreadsEach := func(name string, distort func(t *v1.PodAffinityTerm)) {
		misreadsTerms(name, func(_ *v1.Pod, affinity, anti []v1.PodAffinityTerm) (_, _ []v1.PodAffinityTerm) {
			for _, terms := range [][]v1.PodAffinityTerm{affinity, anti} {
				for i := range terms {
					distort(&terms[i])
				}
			}
			return affinity, anti
		})
	}
	misreadsTerms("affinity: ignored", func(_ *v1.Pod, _, anti []v1.PodAffinityTerm) (_, _ []v1.PodAffinityTerm) { return nil, anti })
	misreadsTerms("affinity: the first term suffices", func(_ *v1.Pod, affinity, anti []v1.PodAffinityTerm) (_, _ []v1.PodAffinityTerm) {
		return affinity[:min(1, len(affinity))], anti
	})
	misreadsTerms("anti-affinity: that of pods on nodes ignored", func(p *v1.Pod, affinity, anti []v1.PodAffinityTerm) (_, _ []v1.PodAffinityTerm) {
		if p.Spec.NodeName != "" {
			anti = nil
		}
		return affinity, anti
	})
	misreadsTerms("anti-affinity: that of waiting pods ignored", func(p *v1.Pod, affinity, anti []v1.PodAffinityTerm) (_, _ []v1.PodAffinityTerm) {
		if p.Spec.NodeName == "" {
			anti = nil
		}
		return affinity, anti
	})
	misreadsEach("affinity: every domain is a node", func(t *v1.PodAffinityTerm) { t.TopologyKey = v1.LabelHostname })
	misreadsEach("affinity: namespaces ignored", func(t *v1.PodAffinityTerm) { t.Namespaces = nil })
	misreadsEach("affinity: namespaceSelector ignored", func(t *v1.PodAffinityTerm) { t.NamespaceSelector = nil })
	misreadsEach("affinity: labels of namespaces ignored", func(t *v1.PodAffinityTerm) {
		if t.NamespaceSelector != nil {
			t.NamespaceSelector = &metav1.LabelSelector{}
		}
	})
	misreadsEach("affinity: a term without selector selects all", func(t *v1.PodAffinityTerm) {
		if t.LabelSelector == nil {
			t.LabelSelector = &metav1.LabelSelector{}
		}
	})

}

// ofConstraints misread topology spread constraints.
func ofConstraints(misreads func(name string, distort func(p *v1.Pod))) {
	constraints := func(name string, distort func(c *v1.TopologySpreadConstraint)) {
		misreads("spread: "+name, func(p *v1.Pod) {
			p.Spec.TopologySpreadConstraints = slices.Clone(p.Spec.TopologySpreadConstraints)
			for i := range p.Spec.TopologySpreadConstraints {
				distort(&p.Spec.TopologySpreadConstraints[i])
			}
		})
	}
	constraints("maxSkew is one more", func(c *v1.TopologySpreadConstraint) { c.MaxSkew++ })
	constraints("minDomains ignored", func(c *v1.TopologySpreadConstraint) { c.MinDomains = nil })
	constraints("matchLabelKeys ignored", func(c *v1.TopologySpreadConstraint) { c.MatchLabelKeys = nil })
	constraints("nodeAffinityPolicy ignored", func(c *v1.TopologySpreadConstraint) { c.NodeAffinityPolicy = nil })
	constraints("nodeTaintsPolicy ignored", func(c *v1.TopologySpreadConstraint) { c.NodeTaintsPolicy = nil })
	constraints("ScheduleAnyway taken for DoNotSchedule", func(c *v1.TopologySpreadConstraint) { c.WhenUnsatisfiable = v1.DoNotSchedule })
	misreads("spread: just the first constraint counts", func(p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = p.Spec.TopologySpreadConstraints[:min(1, len(p.Spec.TopologySpreadConstraints))]
	})

}
