package fingerprint

import (
	"iter"
	"reflect"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// aspect is something that can be in play in a cluster. Which aspects a minimised
// cluster cannot do without tells one cause of a finding from another.
type aspect struct {
	name  string
	strip func(c *model.Cluster)
}

// aspects that can be taken away from any cluster.
var aspects = []aspect{
	{"settings", func(c *model.Cluster) {
		if profile := c.Settings.SecondProfile; profile != nil {
			for _, p := range c.Preemptors() {
				if p.Spec.SchedulerName == profile.SchedulerName {
					p.Spec.SchedulerName = v1.DefaultSchedulerName
				}
			}
		}
		var gates map[string]bool
		if c.PreemptorGroup != "" { // without them it is no group
			gates = groupGates(c)
		}
		c.Settings = model.Settings{Extenders: c.Settings.Extenders, FeatureGates: gates}
	}},
	{"extenders", func(c *model.Cluster) { c.Settings.Extenders = nil }},
	{"budgets", func(c *model.Cluster) { c.PodDisruptionBudgets = nil }},
	{"allowed disruptions", eachOf(func(b *policyv1.PodDisruptionBudget) { b.Status.DisruptionsAllowed = 0 })},
	{"disrupted pods", eachOf(func(b *policyv1.PodDisruptionBudget) { b.Status.DisruptedPods = nil })},
	{"taints", eachOf(func(n *v1.Node) {
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key != v1.TaintNodeUnschedulable })
	})},
	{"cordons", eachOf(func(n *v1.Node) {
		n.Spec.Unschedulable = false
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeUnschedulable })
	})},
	{"tolerations", eachPreemptor(func(p *v1.Pod) { p.Spec.Tolerations = nil })},
	{"topology spread", eachPreemptor(func(p *v1.Pod) { p.Spec.TopologySpreadConstraints = nil })},
	{"resource claims", func(c *model.Cluster) {
		each(c, func(p *v1.Pod) { p.Spec.ResourceClaims, p.Status.ResourceClaimStatuses = nil, nil })
		remove[*resourcev1.ResourceClaim](c)
		remove[*resourcev1.ResourceSlice](c)
		remove[*resourcev1.DeviceClass](c)
	}},
	{"declared features", func(c *model.Cluster) {
		each(c, func(n *v1.Node) { n.Status.DeclaredFeatures = nil })
		for _, p := range c.Preemptors() {
			for _, list := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} {
				for i := range list {
					if k := &list[i]; len(k.RestartPolicyRules) > 0 {
						k.RestartPolicy, k.RestartPolicyRules = nil, nil
					}
				}
			}
		}
	}},
	{"node affinity", eachPreemptor(func(p *v1.Pod) {
		p.Spec.NodeSelector = nil
		stripAffinity(p, func(a *v1.Affinity) { a.NodeAffinity = nil })
	})},
	{"pod affinity", eachPreemptor(func(p *v1.Pod) { stripAffinity(p, func(a *v1.Affinity) { a.PodAffinity = nil }) })},
	{"pod anti-affinity", eachPreemptor(func(p *v1.Pod) { stripAffinity(p, func(a *v1.Affinity) { a.PodAntiAffinity = nil }) })},
	{"anti-affinity of others", eachOther(func(p *v1.Pod) {
		stripAffinity(p, func(a *v1.Affinity) { a.PodAntiAffinity = nil })
	})},
	{"preemption policy", eachPreemptor(func(p *v1.Pod) { p.Spec.PreemptionPolicy = nil })},
	{"nominated preemptor", eachPreemptor(func(p *v1.Pod) { p.Status.NominatedNodeName = "" })},
	{"nominated pods", eachOther(func(p *v1.Pod) { p.Status.NominatedNodeName = "" })},
	{"terminating pods", eachOther(func(p *v1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = nil, nil
	})},
	{"pod conditions", eachOf(func(p *v1.Pod) { p.Status.Conditions = nil })},
	{"host ports", eachContainer(func(k *v1.Container) { k.Ports = nil })},
	{"host addresses", eachContainer(func(k *v1.Container) {
		for i := range k.Ports {
			k.Ports[i].HostIP = ""
		}
	})},
	{missingStartTimes, eachOther(func(p *v1.Pod) {
		if p.Spec.NodeName != "" && p.Status.StartTime == nil {
			p.Status.StartTime = &metav1.Time{Time: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
		}
	})},
	{"init containers", eachOf(func(p *v1.Pod) {
		p.Spec.InitContainers = slices.DeleteFunc(p.Spec.InitContainers, func(k v1.Container) bool { return !sidecar(&k) })
	})},
	{"sidecars", eachOf(func(p *v1.Pod) {
		p.Spec.InitContainers = slices.DeleteFunc(p.Spec.InitContainers, func(k v1.Container) bool { return sidecar(&k) })
	})},
	{"overhead", eachOf(func(p *v1.Pod) { p.Spec.Overhead = nil })},
	{"pod-level resources", eachOf(func(p *v1.Pod) { p.Spec.Resources = nil })},
	{"resized pods", eachOf(func(p *v1.Pod) {
		p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.AllocatedResources, p.Status.Resources = nil, nil, nil, nil
	})},
}

// groupGates are those without which a cluster has no group to schedule.
func groupGates(c *model.Cluster) map[string]bool {
	gates := map[string]bool{model.GateWorkload: true}
	for _, gate := range []string{model.GateComposite, model.GateTopology} {
		if c.Settings.FeatureGates[gate] {
			gates[gate] = true
		}
	}
	return gates
}

// fit names the aspects that decide only about what fits on a node, besides those
// of volumes.
var fit = []string{"taints", "cordons", "tolerations", "node affinity", "topology spread", "pod affinity", "pod anti-affinity", "anti-affinity of others",
	"resource claims", "declared features",
	"nominated pods", "host ports", "host addresses", "init containers", "sidecars", "overhead", "pod-level resources", "resized pods"}

const (
	startTimes        = "start times"
	missingStartTimes = "missing start times"
)

// traits are aspects that cannot be taken away by themselves.
var traits = []struct {
	name string
	has  func(c *model.Cluster) bool
}{
	{"several namespaces", func(c *model.Cluster) bool {
		seen := map[string]bool{}
		for _, p := range c.Pods {
			seen[p.Namespace] = true
		}
		for _, b := range c.PodDisruptionBudgets {
			seen[b.Namespace] = true
		}
		return len(seen) > 1
	}},
	{"overlapping budgets", func(c *model.Cluster) bool {
		return slices.ContainsFunc(c.Pods, func(p *v1.Pod) bool { return budgetsOf(c, p) > 1 })
	}},
	{"higher priority", func(c *model.Cluster) bool {
		return slices.ContainsFunc(c.Pods, func(p *v1.Pod) bool {
			return slices.ContainsFunc(c.Preemptors(), func(own *v1.Pod) bool { return model.Priority(p) > model.Priority(own) })
		})
	}},
	{claimsToBeBound, toBeBound},
	{startTimes, func(c *model.Cluster) bool {
		seen := map[metav1.Time]bool{}
		for _, p := range c.Pods {
			if p.Spec.NodeName != "" && p.Status.StartTime != nil {
				seen[*p.Status.StartTime] = true
			}
		}
		return len(seen) > 1
	}},
}

func sidecar(k *v1.Container) bool {
	return k.RestartPolicy != nil && *k.RestartPolicy == v1.ContainerRestartPolicyAlways
}

func budgetsOf(c *model.Cluster, p *v1.Pod) int {
	count := 0
	for _, b := range c.PodDisruptionBudgets {
		if b.Namespace == p.Namespace && properties.Selects(b, p) {
			count++
		}
	}
	return count
}

// each calls do with all objects of a type.
func each[T runtime.Object](c *model.Cluster, do func(o T)) {
	for _, o := range c.Objects() {
		if o, is := o.(T); is {
			do(o)
		}
	}
}

func eachOf[T runtime.Object](strip func(o T)) func(c *model.Cluster) {
	return func(c *model.Cluster) { each(c, strip) }
}

// remove takes away the extra objects of a type.
func remove[T runtime.Object](c *model.Cluster) {
	c.Extra = slices.DeleteFunc(c.Extra, func(o runtime.Object) bool { _, is := o.(T); return is })
}

// eachPreemptor strips the preemptor, or all members of a group that are.
func eachPreemptor(strip func(p *v1.Pod)) func(c *model.Cluster) {
	return func(c *model.Cluster) {
		for _, p := range c.Preemptors() {
			strip(p)
		}
	}
}

// eachOther strips all pods but those.
func eachOther(strip func(p *v1.Pod)) func(c *model.Cluster) {
	return func(c *model.Cluster) {
		preemptors := c.Preemptors()
		for _, p := range c.Pods {
			if !slices.Contains(preemptors, p) {
				strip(p)
			}
		}
	}
}

// stripAffinity strips a pod's affinity, if it has one; one of nothing is none.
func stripAffinity(p *v1.Pod, strip func(a *v1.Affinity)) {
	if p.Spec.Affinity == nil {
		return
	}
	if strip(p.Spec.Affinity); *p.Spec.Affinity == (v1.Affinity{}) {
		p.Spec.Affinity = nil
	}
}

func eachContainer(strip func(k *v1.Container)) func(c *model.Cluster) {
	return eachOf(func(p *v1.Pod) {
		for i := range p.Spec.Containers {
			strip(&p.Spec.Containers[i])
		}
		for i := range p.Spec.InitContainers {
			strip(&p.Spec.InitContainers[i])
		}
	})
}

// Without yields, for each aspect that a cluster has, its name and a copy of the
// cluster that does without.
func Without(c *model.Cluster) iter.Seq2[string, *model.Cluster] {
	return func(yield func(string, *model.Cluster) bool) {
		for _, a := range slices.Concat(aspects, volumeAspects) {
			if plain := a.without(c); plain != nil && !yield(a.name, plain) {
				return
			}
		}
	}
}

// Strip is a copy of a cluster that does without the aspect of that name, or nil
// if the cluster does not have it.
func Strip(c *model.Cluster, name string) *model.Cluster {
	for _, a := range slices.Concat(aspects, volumeAspects) {
		if a.name == name {
			return a.without(c)
		}
	}
	return nil
}

func (a *aspect) without(c *model.Cluster) *model.Cluster {
	plain := c.DeepCopy()
	a.strip(plain)
	if reflect.DeepEqual(c, plain) || equality.Semantic.DeepEqual(c, plain) { // the first is much faster
		return nil
	}
	return plain
}

// Shape names the aspects that a cluster has.
func Shape(c *model.Cluster) []string {
	var names []string
	for name := range Without(c) {
		names = append(names, name)
	}
	for _, t := range traits {
		if t.has(c) {
			names = append(names, t.name)
		}
	}
	return names
}
