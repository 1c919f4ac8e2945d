package findingsdoc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// requests are what a pod needs besides what its containers request.
func requests(p *v1.Pod) []string {
	var details []string
	for _, c := range p.Spec.InitContainers {
		kind := "init container"
		if c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways {
			kind = "sidecar"
		}
		details = append(details, strings.TrimSpace(kind+" "+resources(c.Resources.Requests)))
		for _, port := range c.Ports {
			details = append(details, when(port.HostPort > 0, fmt.Sprintf("host port %d", port.HostPort)))
		}
	}
	if r := p.Spec.Resources; r != nil {
		details = append(details, "pod-level "+resources(r.Requests))
	}
	details = append(details, when(len(p.Spec.Overhead) > 0, "overhead "+resources(p.Spec.Overhead)))
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		details = append(details, when(len(s.AllocatedResources) > 0, fmt.Sprintf("container %s has %s allocated", s.Name, resources(s.AllocatedResources))))
		if s.Resources != nil {
			details = append(details, fmt.Sprintf("container %s has %s in effect", s.Name, resources(s.Resources.Requests)))
		}
	}
	for _, c := range p.Spec.ResourceClaims {
		details = append(details, "resource claim "+c.Name)
	}
	return details
}

// topology is where a pod may be, and next to which others.
func topology(p *v1.Pod) []string {
	var details []string
	for _, key := range slices.Sorted(maps.Keys(p.Spec.NodeSelector)) {
		details = append(details, fmt.Sprintf("requires %s=%s", key, p.Spec.NodeSelector[key]))
	}
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		details = append(details, terms("near", a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)...)
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		details = append(details, terms("not near", a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)...)
	}
	for _, c := range p.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == v1.DoNotSchedule {
			details = append(details, fmt.Sprintf("spreads %s by %s, maxSkew %d", selector(c.LabelSelector), c.TopologyKey, c.MaxSkew))
		}
	}
	for _, t := range p.Spec.Tolerations {
		details = append(details, strings.TrimSpace(fmt.Sprintf("tolerates %s %s %s %s", t.Key, t.Operator, t.Value, t.Effect)))
	}
	if policy := p.Spec.PreemptionPolicy; policy != nil && *policy == v1.PreemptNever {
		details = append(details, "preemptionPolicy Never")
	}
	return append(details, when(p.Spec.SchedulerName != "" && p.Spec.SchedulerName != v1.DefaultSchedulerName, "for the scheduler "+p.Spec.SchedulerName))
}

func terms(where string, all []v1.PodAffinityTerm) []string {
	var details []string
	for _, t := range all {
		text := fmt.Sprintf("%s %s by %s", where, selector(t.LabelSelector), t.TopologyKey)
		if len(t.Namespaces) > 0 {
			text += " in " + strings.Join(t.Namespaces, " ")
		}
		if t.NamespaceSelector != nil {
			text += " in namespaces " + selector(t.NamespaceSelector)
		}
		details = append(details, text)
	}
	return details
}

// selector writes a selector such as "app=a", "{}" for all and "none" for none.
func selector(s *metav1.LabelSelector) string {
	switch {
	case s == nil:
		return "none"
	case len(s.MatchLabels)+len(s.MatchExpressions) == 0:
		return "{}"
	}
	return metav1.FormatLabelSelector(s)
}

func taints(all []v1.Taint) string {
	var parts []string
	for _, t := range all {
		parts = append(parts, "taint "+t.ToString())
	}
	return strings.Join(parts, ", ")
}

// startsDiffer tells whether start times tell pods apart.
func startsDiffer(c *model.Cluster) bool {
	starts := map[string]bool{}
	for _, p := range c.Pods {
		if p.Spec.NodeName != "" {
			starts[started(p)] = true
		}
	}
	return len(starts) > 1
}

func started(p *v1.Pod) string {
	if p.Status.StartTime == nil {
		return "not started"
	}
	return "started " + p.Status.StartTime.UTC().Format(time.RFC3339)
}
