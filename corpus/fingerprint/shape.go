package fingerprint

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// aspect is something that can be in play in a cluster. Which aspects a minimised
// cluster cannot do without tells one cause of a finding from another.
type aspect struct {
	name  string
	strip func(c *model.Cluster)
}

var aspects = []aspect{
	{"budgets", func(c *model.Cluster) { c.PodDisruptionBudgets = nil }},
	{"settings", func(c *model.Cluster) { c.Settings = model.Settings{} }},
	{"taints", func(c *model.Cluster) {
		for _, n := range c.Nodes {
			n.Spec.Taints, n.Spec.Unschedulable = nil, false
		}
	}},
	{"tolerations", func(c *model.Cluster) { c.Preemptor.Spec.Tolerations = nil }},
	{"node affinity", func(c *model.Cluster) { c.Preemptor.Spec.NodeSelector, c.Preemptor.Spec.Affinity = nil, nil }},
	{"nominated preemptor", func(c *model.Cluster) { c.Preemptor.Status.NominatedNodeName = "" }},
	{"nominated pods", func(c *model.Cluster) {
		for _, p := range c.Pods {
			p.Status.NominatedNodeName = ""
		}
	}},
	{"terminating pods", func(c *model.Cluster) {
		for _, p := range c.Pods {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = nil, nil
		}
	}},
	{"pod conditions", eachPod(func(p *v1.Pod) { p.Status.Conditions = nil })},
	{"pod labels", eachPod(func(p *v1.Pod) { p.Labels = nil })},
	{"host ports", eachPod(func(p *v1.Pod) {
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Ports = nil
		}
	})},
	{"missing start times", func(c *model.Cluster) {
		for _, p := range c.Pods {
			if p.Spec.NodeName != "" && p.Status.StartTime == nil {
				p.Status.StartTime = &metav1.Time{Time: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
			}
		}
	}},
	{"init containers", eachPod(func(p *v1.Pod) { p.Spec.InitContainers = nil })},
	{"overhead", eachPod(func(p *v1.Pod) { p.Spec.Overhead = nil })},
	{"pod-level resources", eachPod(func(p *v1.Pod) { p.Spec.Resources = nil })},
	{"resized pods", eachPod(func(p *v1.Pod) { p.Status.ContainerStatuses, p.Status.Resources = nil, nil })},
}

func eachPod(strip func(p *v1.Pod)) func(c *model.Cluster) {
	return func(c *model.Cluster) {
		for _, p := range c.Pods {
			strip(p)
		}
		strip(c.Preemptor)
	}
}

// stripped is a copy of c without the aspect, or nil if c does not have it.
func (a *aspect) stripped(c *model.Cluster) *model.Cluster {
	plain := c.DeepCopy()
	a.strip(plain)
	if equality.Semantic.DeepEqual(c, plain) {
		return nil
	}
	return plain
}

// Shape names the aspects that a cluster has.
func Shape(c *model.Cluster) []string {
	var names []string
	for _, a := range aspects {
		if a.stripped(c) != nil {
			names = append(names, a.name)
		}
	}
	return names
}
