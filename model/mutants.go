package model

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mutant is a model that is wrong in one place. A check that does not notice a
// mutant does not check the rule that it breaks.
type Mutant struct {
	// Name says which rule is broken and how.
	Name string
	// Decide decides as Decide does, but for the broken rule.
	Decide func(*Cluster) (*Decision, error)
}

// Mutants are models that each break one rule of the algorithm: every criterion,
// filter, budget rule, and the rest of the decision core.
func Mutants() []Mutant {
	var mutants []Mutant
	breaks := func(name string, change func(r *Rules)) {
		rules := Documented()
		change(rules)
		mutants = append(mutants, Mutant{name, func(c *Cluster) (*Decision, error) { return Decide(c, rules) }})
	}
	misreads := func(name string, distort func(p *v1.Pod)) {
		mutants = append(mutants, Mutant{name, func(c *Cluster) (*Decision, error) { return Decide(distorted(c, distort), Documented()) }})
	}

	for i, criterion := range defaultCriteria() {
		breaks("criterion dropped: "+criterion.Name, func(r *Rules) { r.criteria = slices.Delete(slices.Clone(r.criteria), i, i+1) })
		breaks("criterion reversed: "+criterion.Name, func(r *Rules) {
			r.criteria[i].compare = func(a, b *Outcome) int { return criterion.compare(b, a) }
		})
	}
	for i, filter := range defaultFilters() {
		if filter.Plugin == "NodeName" {
			continue // a pod that waits names no node
		}
		breaks("filter dropped: "+filter.Plugin, func(r *Rules) { r.filters = slices.Delete(slices.Clone(r.filters), i, i+1) })
		breaks("filter with the other resolvability: "+filter.Plugin, func(r *Rules) {
			if filter.preFilter != nil {
				r.filters[i].preFilter = func(q *question) *preFilterAnswer {
					a := filter.preFilter(q)
					if a != nil && a.rejection != nil {
						a.rejection.Unresolvable = !a.rejection.Unresolvable
					}
					return a
				}
			}
			r.filters[i].fails = func(q *question, n *node, v view) *Verdict {
				failed := filter.fails(q, n, v)
				if failed != nil {
					failed.Unresolvable = !failed.Unresolvable
				}
				return failed
			}
		})
	}

	breaks("budget: namespaces ignored", func(r *Rules) { r.budgetNamespaces = false })
	breaks("budget: disrupted pods counted again", func(r *Rules) { r.disruptedPodsExempt = false })
	breaks("budget: never decremented", func(r *Rules) { r.decrementBudgets = false })
	breaks("budget: the last disruption is a violation", func(r *Rules) { r.exhausted = func(left int32) bool { return left <= 0 } })
	breaks("budget: one violation more is allowed", func(r *Rules) { r.exhausted = func(left int32) bool { return left < -1 } })
	breaks("budget: taken from all after a violation", func(r *Rules) { r.stopAtViolation = false })

	breaks("eligible: preemptionPolicy Never ignored", func(r *Rules) { r.never = false })
	breaks("eligible: an unresolvable nominated node holds the pod", func(r *Rules) { r.retryUnresolvable = false })
	breaks("eligible: every terminating pod is waited for", func(r *Rules) { r.waitsFor = func(p *pod) bool { return p.DeletionTimestamp != nil } })
	breaks("eligible: nothing is waited for", func(r *Rules) { r.waitsFor = func(*pod) bool { return false } })

	breaks("victims: equal priority is preempted", func(r *Rules) { r.preempts = func(preemptor, victim int32) bool { return victim <= preemptor } })
	breaks("victims: nobody is reprieved", func(r *Rules) { r.reprieve = false })
	breaks("victims: violating pods are reprieved last", func(r *Rules) { r.reprieveViolatingFirst = false })
	breaks("victims: not sorted again after the reprieve", func(r *Rules) { r.resort = false })
	breaks("victims: start times do not matter", func(r *Rules) {
		r.importance = func(a, b *pod) int { return cmp.Compare(b.priority, a.priority) }
	})
	breaks("victims: younger pods matter more", func(r *Rules) {
		r.importance = func(a, b *pod) int {
			if a.priority != b.priority {
				return moreImportant(a, b)
			}
			return moreImportant(b, a)
		}
	})
	breaks("victims: lower priorities matter more", func(r *Rules) {
		r.importance = func(a, b *pod) int {
			if a.priority != b.priority {
				return moreImportant(b, a)
			}
			return moreImportant(a, b)
		}
	})

	breaks("nominated: equal priority does not hold its room", func(r *Rules) { r.yields = func(preemptor, nominated int32) bool { return nominated > preemptor } })
	breaks("nominated: lower priority holds its room", func(r *Rules) { r.yields = func(int32, int32) bool { return true } })
	breaks("nominated: nobody holds room", func(r *Rules) { r.yields = func(int32, int32) bool { return false } })

	breaks("nominated: who holds room need not stay away", func(r *Rules) { r.secondPass = false })

	breaks("affinity: nobody is the first", func(r *Rules) { r.firstOfGroup = func(bool, bool) bool { return false } })
	breaks("affinity: the first comes again", func(r *Rules) { r.firstOfGroup = func(itself, _ bool) bool { return itself } })
	breaks("affinity: a stranger is the first", func(r *Rules) { r.firstOfGroup = func(_, others bool) bool { return !others } })

	breaks("actuate: equal nominations are cleared", func(r *Rules) { r.clears = func(preemptor, nominated int32) bool { return nominated <= preemptor } })
	breaks("actuate: no nomination is cleared", func(r *Rules) { r.clears = func(int32, int32) bool { return false } })
	breaks("actuate: terminating victims are deleted again", func(r *Rules) { r.deletesTerminating = true })

	breaks("spread: the preemptor does not count itself", func(r *Rules) { r.spread.countsSelf = false })
	breaks("spread: pods of all namespaces count", func(r *Rules) { r.spread.countsNamespace = false })
	breaks("spread: terminating pods count", func(r *Rules) { r.spread.skipsTerminating = false })
	breaks("spread: a node without one of the keys counts for the others", func(r *Rules) { r.spread.needsAllKeys = false })
	breaks("spread: domains are not compared to the emptiest", func(r *Rules) { r.spread.minimum = false })
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

	misreads("requests: overhead ignored", func(p *v1.Pod) { p.Spec.Overhead = nil })
	misreads("requests: init containers ignored", func(p *v1.Pod) {
		p.Spec.InitContainers = slices.DeleteFunc(slices.Clone(p.Spec.InitContainers), func(c v1.Container) bool { return !isSidecar(&c) })
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
	misreads("ports: host addresses ignored", func(p *v1.Pod) {
		p.Spec.Containers = slices.Clone(p.Spec.Containers)
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Ports = slices.Clone(p.Spec.Containers[i].Ports)
			for j := range p.Spec.Containers[i].Ports {
				p.Spec.Containers[i].Ports[j].HostIP = ""
			}
		}
	})
	misreadsTerms := func(name string, distort func(p *v1.Pod, affinity, anti []v1.PodAffinityTerm) (_, _ []v1.PodAffinityTerm)) {
		misreads(name, func(p *v1.Pod) {
			affinity, anti := distort(p, slices.Clone(requiredAffinity(p)), slices.Clone(requiredAntiAffinity(p)))
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
	return mutants
}

// distorted is c with every pod, the preemptor included, changed as distort
// says. c itself is left alone.
func distorted(c *Cluster, distort func(p *v1.Pod)) *Cluster {
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
