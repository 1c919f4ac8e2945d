package findingsdoc

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

func podDetails(p *v1.Pod) (d details) {
	d.add(p.Spec.NodeName != "", "on %s", p.Spec.NodeName)
	d.add(p.Status.NominatedNodeName != "", "nominated to %s", p.Status.NominatedNodeName)
	if g := p.Spec.SchedulingGroup; g != nil {
		d.add(true, "of group %s", ptr.Deref(g.PodGroupName, ""))
	}
	d.add(true, "priority %d", model.Priority(p))
	d.requests(p)
	d.topology(p)
	d.volumes(p)
	d.add(p.DeletionTimestamp != nil, "terminating")
	d.add(p.Spec.NodeName != "" && p.Status.Phase == v1.PodPending, "phase Pending")
	for _, c := range p.Status.Conditions {
		d.add(true, "%s %s", c.Type, c.Status)
	}
	return append(d, labels(p.Labels))
}

// requests are what a pod needs of a node.
func (d *details) requests(p *v1.Pod) {
	container := func(kind string, c *v1.Container) {
		*d = append(*d, strings.TrimSpace(kind+" "+words.Resources(c.Resources.Requests)))
		for _, port := range c.Ports {
			d.add(port.HostPort > 0, "host port %d", port.HostPort)
		}
	}
	for i := range p.Spec.Containers {
		container("", &p.Spec.Containers[i])
	}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways {
			container("sidecar", c)
		} else {
			container("init container", c)
		}
	}
	if r := p.Spec.Resources; r != nil {
		d.add(true, "pod-level %s", words.Resources(r.Requests))
	}
	d.add(len(p.Spec.Overhead) > 0, "overhead %s", words.Resources(p.Spec.Overhead))
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		d.add(len(s.AllocatedResources) > 0, "container %s has %s allocated", s.Name, words.Resources(s.AllocatedResources))
		if s.Resources != nil {
			d.add(true, "container %s has %s in effect", s.Name, words.Resources(s.Resources.Requests))
		}
	}
	for _, c := range p.Spec.ResourceClaims {
		d.add(true, "resource claim %s", c.Name)
	}
}

// topology is where a pod may be, and next to which others.
func (d *details) topology(p *v1.Pod) {
	for _, key := range slices.Sorted(maps.Keys(p.Spec.NodeSelector)) {
		d.add(true, "requires %s=%s", key, p.Spec.NodeSelector[key])
	}
	a := ptr.Deref(p.Spec.Affinity, v1.Affinity{})
	d.terms("near", ptr.Deref(a.PodAffinity, v1.PodAffinity{}).RequiredDuringSchedulingIgnoredDuringExecution)
	d.terms("not near", ptr.Deref(a.PodAntiAffinity, v1.PodAntiAffinity{}).RequiredDuringSchedulingIgnoredDuringExecution)
	for _, c := range p.Spec.TopologySpreadConstraints {
		d.add(c.WhenUnsatisfiable == v1.DoNotSchedule, "spreads %s by %s, maxSkew %d", selector(c.LabelSelector), c.TopologyKey, c.MaxSkew)
	}
	for _, t := range p.Spec.Tolerations {
		*d = append(*d, strings.TrimSpace(fmt.Sprintf("tolerates %s %s %s %s", t.Key, t.Operator, t.Value, t.Effect)))
	}
	d.add(ptr.Deref(p.Spec.PreemptionPolicy, "") == v1.PreemptNever, "preemptionPolicy Never")
	d.add(p.Spec.SchedulerName != "" && p.Spec.SchedulerName != v1.DefaultSchedulerName, "for the scheduler %s", p.Spec.SchedulerName)
	d.requirements(ptr.Deref(a.NodeAffinity, v1.NodeAffinity{}).RequiredDuringSchedulingIgnoredDuringExecution)
}

func (d *details) terms(where string, all []v1.PodAffinityTerm) {
	for _, t := range all {
		text := fmt.Sprintf("%s %s by %s", where, selector(t.LabelSelector), t.TopologyKey)
		text += when(len(t.Namespaces) > 0, " in "+strings.Join(t.Namespaces, " "))
		text += when(t.NamespaceSelector != nil, " in namespaces "+selector(t.NamespaceSelector))
		*d = append(*d, text)
	}
}

// requirements are those of nodes.
func (d *details) requirements(s *v1.NodeSelector) {
	for _, term := range ptr.Deref(s, v1.NodeSelector{}).NodeSelectorTerms {
		for _, r := range slices.Concat(term.MatchFields, term.MatchExpressions) {
			d.add(true, "requires %s %s %v", r.Key, r.Operator, r.Values)
		}
	}
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
