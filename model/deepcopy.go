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
	return s
}

func copyOf(p *int32) *int32 {
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
