package model

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// DeepCopy is a copy that shares nothing with c.
func (c *Cluster) DeepCopy() *Cluster {
	out := *c
	out.Nodes = copies[v1.Node](c.Nodes)
	out.Pods = copies[v1.Pod](c.Pods)
	out.PodDisruptionBudgets = copies[policyv1.PodDisruptionBudget](c.PodDisruptionBudgets)
	out.PriorityClasses = copies[schedulingv1.PriorityClass](c.PriorityClasses)
	out.Extra = slices.Clone(c.Extra)
	for i, o := range out.Extra {
		out.Extra[i] = o.DeepCopyObject()
	}
	out.NotGiven = slices.Clone(c.NotGiven)
	out.Preemptor = c.Preemptor.DeepCopy()
	out.Settings = c.Settings.DeepCopy()
	return &out
}

// DeepCopy is a copy that shares nothing with s.
func (s Settings) DeepCopy() Settings {
	s.MinCandidateNodesPercentage = copyOf(s.MinCandidateNodesPercentage)
	s.MinCandidateNodesAbsolute = copyOf(s.MinCandidateNodesAbsolute)
	if s.SecondProfile != nil {
		second := *s.SecondProfile
		second.MinCandidateNodesPercentage = copyOf(second.MinCandidateNodesPercentage)
		second.MinCandidateNodesAbsolute = copyOf(second.MinCandidateNodesAbsolute)
		s.SecondProfile = &second
	}
	s.Parallelism, s.PercentageOfNodesToScore, s.DryRunOffset = copyOf(s.Parallelism), copyOf(s.PercentageOfNodesToScore), copyOf(s.DryRunOffset)
	s.FeatureGates = maps.Clone(s.FeatureGates)
	s.Extenders = slices.Clone(s.Extenders)
	for i := range s.Extenders {
		s.Extenders[i] = s.Extenders[i].DeepCopy()
	}
	return s
}

// RenameNodes is a copy of s in which the names of nodes are replaced.
func (s Settings) RenameNodes(to func(string) string) Settings {
	s = s.DeepCopy()
	rename := func(names []string) {
		for i := range names {
			names[i] = to(names[i])
		}
	}
	for _, e := range s.Extenders {
		if e.Filter != nil {
			rename(e.Filter.Rejects)
			rename(e.Filter.Excludes)
			rename(e.Filter.Omits)
		}
		if e.Preempt != nil {
			rename(e.Preempt.Drops)
			for i := range e.Preempt.Changes {
				e.Preempt.Changes[i].Node = to(e.Preempt.Changes[i].Node)
			}
		}
	}
	return s
}

// DeepCopy is a copy that shares nothing with e.
func (e Extender) DeepCopy() Extender {
	e.ManagedResources = slices.Clone(e.ManagedResources)
	if e.Filter != nil {
		f := *e.Filter
		f.Rejects, f.Excludes, f.Omits = slices.Clone(f.Rejects), slices.Clone(f.Excludes), slices.Clone(f.Omits)
		e.Filter = &f
	}
	if e.Preempt != nil {
		p := *e.Preempt
		p.Drops, p.Changes = slices.Clone(p.Drops), slices.Clone(p.Changes)
		for i := range p.Changes {
			p.Changes[i].Keeps, p.Changes[i].Violations = copyOf(p.Changes[i].Keeps), copyOf(p.Changes[i].Violations)
		}
		e.Preempt = &p
	}
	return e
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// copies keeps a nil list nil.
func copies[T any, P interface {
	*T
	DeepCopy() *T
}](list []*T) []*T {
	if list == nil {
		return nil
	}
	out := make([]*T, len(list))
	for i, o := range list {
		out[i] = P(o).DeepCopy()
	}
	return out
}
