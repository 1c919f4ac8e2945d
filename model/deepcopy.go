package model

import (
	"encoding/json"
	"slices"
)

// DeepCopy is a copy that shares nothing with c.
func (c *Cluster) DeepCopy() *Cluster {
	out := *c
	out.Nodes, out.Pods = copies(c.Nodes), copies(c.Pods)
	out.PodDisruptionBudgets, out.PriorityClasses = copies(c.PodDisruptionBudgets), copies(c.PriorityClasses)
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
func (s Settings) DeepCopy() (out Settings) {
	data, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		panic(err) // they are plain data
	}
	return out
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

// copies keeps a nil list nil.
func copies[T interface{ DeepCopy() T }](list []T) []T {
	out := slices.Clone(list)
	for i, o := range out {
		out[i] = o.DeepCopy()
	}
	return out
}
