package mutant

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// misreads is a mutant that sees every pod changed, the preemptor included.
type misreads = mutation[v1.Pod]

// ofConstraints misread topology spread constraints.
var ofConstraints = []misreads{
	{"spread: maxSkew is one more", eachConstraint(func(c *v1.TopologySpreadConstraint) { c.MaxSkew++ })},
	{"spread: minDomains ignored", eachConstraint(func(c *v1.TopologySpreadConstraint) { c.MinDomains = nil })},
	{"spread: matchLabelKeys ignored", eachConstraint(func(c *v1.TopologySpreadConstraint) { c.MatchLabelKeys = nil })},
	{"spread: nodeAffinityPolicy ignored", eachConstraint(func(c *v1.TopologySpreadConstraint) { c.NodeAffinityPolicy = nil })},
	{"spread: nodeTaintsPolicy ignored", eachConstraint(func(c *v1.TopologySpreadConstraint) { c.NodeTaintsPolicy = nil })},
	{"spread: ScheduleAnyway taken for DoNotSchedule", eachConstraint(func(c *v1.TopologySpreadConstraint) { c.WhenUnsatisfiable = v1.DoNotSchedule })},
	{"spread: just the first constraint counts", func(p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = p.Spec.TopologySpreadConstraints[:min(1, len(p.Spec.TopologySpreadConstraints))]
	}},
}

func eachConstraint(change func(*v1.TopologySpreadConstraint)) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = variant.Each(p.Spec.TopologySpreadConstraints, change)
	}
}

// ofRequests misread what pods request, their host ports and their tolerations.
var ofRequests = []misreads{
	{"requests: overhead ignored", func(p *v1.Pod) { p.Spec.Overhead = nil }},
	{"requests: init containers ignored", func(p *v1.Pod) {
		p.Spec.InitContainers = slices.DeleteFunc(slices.Clone(p.Spec.InitContainers), func(c v1.Container) bool { return !filter.IsSidecar(&c) })
	}},
	{"requests: sidecars end like init containers", func(p *v1.Pod) {
		p.Spec.InitContainers = variant.Each(p.Spec.InitContainers, func(c *v1.Container) { c.RestartPolicy = nil })
	}},
	{"requests: pod-level requests ignored", func(p *v1.Pod) { p.Spec.Resources = nil }},
	{"requests: in-place resizes ignored", func(p *v1.Pod) {
		p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.AllocatedResources, p.Status.Resources = nil, nil, nil, nil
	}},
	{"requests: deferred resizes taken for infeasible", func(p *v1.Pod) {
		p.Status.Conditions = variant.Each(p.Status.Conditions, func(c *v1.PodCondition) {
			if c.Type == v1.PodResizePending {
				c.Reason = v1.PodReasonInfeasible
			}
		})
	}},
	{"ports: those of init containers count", func(p *v1.Pod) {
		p.Spec.Containers = slices.Clone(p.Spec.Containers)
		for i := range p.Spec.InitContainers {
			if c := &p.Spec.InitContainers[i]; !filter.IsSidecar(c) {
				p.Spec.Containers[0].Ports = slices.Concat(p.Spec.Containers[0].Ports, c.Ports)
			}
		}
	}},
	{"ports: those of sidecars do not count", func(p *v1.Pod) {
		p.Spec.InitContainers = variant.Each(p.Spec.InitContainers, func(c *v1.Container) { c.Ports = nil })
	}},
	{"taints: numbers are not compared", func(p *v1.Pod) {
		p.Spec.Tolerations = slices.DeleteFunc(slices.Clone(p.Spec.Tolerations), func(t v1.Toleration) bool {
			return t.Operator == v1.TolerationOpGt || t.Operator == v1.TolerationOpLt
		})
	}},
	{"taints: NoExecute ignored", func(p *v1.Pod) {
		p.Spec.Tolerations = append(slices.Clone(p.Spec.Tolerations), v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute})
	}},
	{"ports: host addresses ignored", func(p *v1.Pod) {
		p.Spec.Containers = variant.Each(p.Spec.Containers, func(c *v1.Container) {
			c.Ports = variant.Each(c.Ports, func(port *v1.ContainerPort) { port.HostIP = "" })
		})
	}},
}

// ofTerms misread affinity and anti-affinity to other pods.
var ofTerms = []misreads{
	{"affinity: ignored", terms(func(_ *v1.Pod, affinity, _ *[]v1.PodAffinityTerm) { *affinity = nil })},
	{"affinity: the first term suffices", terms(func(_ *v1.Pod, affinity, _ *[]v1.PodAffinityTerm) { *affinity = (*affinity)[:min(1, len(*affinity))] })},
	{"anti-affinity: that of pods on nodes ignored", terms(func(p *v1.Pod, _, anti *[]v1.PodAffinityTerm) {
		if p.Spec.NodeName != "" {
			*anti = nil
		}
	})},
	{"anti-affinity: that of waiting pods ignored", terms(func(p *v1.Pod, _, anti *[]v1.PodAffinityTerm) {
		if p.Spec.NodeName == "" {
			*anti = nil
		}
	})},
	{"affinity: every domain is a node", eachTerm(func(t *v1.PodAffinityTerm) { t.TopologyKey = v1.LabelHostname })},
	{"affinity: namespaces ignored", eachTerm(func(t *v1.PodAffinityTerm) { t.Namespaces = nil })},
	{"affinity: namespaceSelector ignored", eachTerm(func(t *v1.PodAffinityTerm) { t.NamespaceSelector = nil })},
	{"affinity: labels of namespaces ignored", eachTerm(func(t *v1.PodAffinityTerm) {
		if t.NamespaceSelector != nil {
			t.NamespaceSelector = &metav1.LabelSelector{}
		}
	})},
	{"affinity: a term without selector selects all", eachTerm(func(t *v1.PodAffinityTerm) {
		if t.LabelSelector == nil {
			t.LabelSelector = &metav1.LabelSelector{}
		}
	})},
}

func terms(change func(p *v1.Pod, affinity, anti *[]v1.PodAffinityTerm)) func(*v1.Pod) {
	return func(p *v1.Pod) {
		if p.Spec.Affinity == nil {
			return
		}
		affinity, anti := filter.RequiredAffinity(p), filter.RequiredAntiAffinity(p)
		change(p, &affinity, &anti)
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: p.Spec.Affinity.NodeAffinity,
			PodAffinity:     &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: affinity},
			PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: anti}}
	}
}

func eachTerm(change func(t *v1.PodAffinityTerm)) func(*v1.Pod) {
	return terms(func(_ *v1.Pod, affinity, anti *[]v1.PodAffinityTerm) {
		*affinity, *anti = variant.Each(*affinity, change), variant.Each(*anti, change)
	})
}
