package steps

import (
	"encoding/json"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// plainer makes the settings, the priorities of all pods and the patches plainer.
func (m *minimiser) plainer() {
	for _, gate := range slices.Sorted(maps.Keys(m.best.Cluster.Settings.FeatureGates)) {
		if len(m.best.Cluster.Settings.FeatureGates) == 1 {
			break // simplify drops the last one
		}
		t := m.best.Clone()
		t.Cluster.Settings.FeatureGates = maps.Clone(t.Cluster.Settings.FeatureGates)
		delete(t.Cluster.Settings.FeatureGates, gate)
		m.try(t)
	}
	m.rankPriorities()
	for i := range m.best.Steps {
		m.shrinkPatch(i)
	}
}

// rankPriorities makes priorities 0, 1, 2 and so on, in their order, and as few as there may be.
func (m *minimiser) rankPriorities() {
	ranks := priorities(m.best)
	plain := map[int32]int32{}
	for i, p := range ranks {
		plain[p] = int32(i)
	}
	if len(ranks) > 0 && ranks[len(ranks)-1] != int32(len(ranks)-1) {
		m.reprioritise(plain)
	}
	for i := len(ranks) - 1; i > 0; i-- {
		now := priorities(m.best)
		if i >= len(now) {
			continue
		}
		merged := map[int32]int32{}
		for j, p := range now {
			merged[p] = now[j]
			if j >= i {
				merged[p] = now[j-1]
			}
		}
		m.reprioritise(merged)
	}
}

// pods are those of the start, and those that steps create.
func pods(t *timeline.Timeline) (all []*v1.Pod) {
	all = slices.Clone(t.Cluster.Pods)
	for i := range t.Steps {
		if p := t.Steps[i].CreatedPod(); p != nil {
			all = append(all, p)
		}
	}
	return all
}

// priorities are those that pods have, in order; none if a class gives them one.
func priorities(t *timeline.Timeline) (all []int32) {
	for _, p := range pods(t) {
		if p.Spec.PriorityClassName != "" {
			return nil
		}
		all = append(all, model.Priority(p))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// reprioritise tries other priorities.
func (m *minimiser) reprioritise(to map[int32]int32) {
	t := m.best.Clone()
	other := func(p *v1.Pod) *v1.Pod {
		p = p.DeepCopy()
		p.Spec.Priority = ptr.To(to[model.Priority(p)])
		return p
	}
	for i, p := range t.Cluster.Pods {
		t.Cluster.Pods[i] = other(p)
	}
	for i := range t.Steps {
		if p := t.Steps[i].CreatedPod(); p != nil {
			t.Steps[i].Create = other(p)
		}
	}
	m.try(t)
}

// shrinkPatch leaves out of the patch of a step what it can do without.
func (m *minimiser) shrinkPatch(i int) {
	for again := m.best.Steps[i].Change != ""; again; {
		again = false
		for _, smaller := range smallerPatches(m.best.Steps[i].With) {
			t := m.best.Clone()
			t.Steps[i].With = smaller
			if m.try(t) {
				again = true
				break
			}
		}
	}
}

// smallerPatches are the patches without one of its fields, the outer ones first.
func smallerPatches(patch json.RawMessage) (all []json.RawMessage) {
	var whole map[string]any
	if json.Unmarshal(patch, &whole) != nil {
		return nil
	}
	var without func(fields map[string]any)
	without = func(fields map[string]any) {
		names := slices.Sorted(maps.Keys(fields))
		for _, name := range names {
			if len(fields) == 1 {
				break // the field around it goes
			}
			value := fields[name]
			delete(fields, name)
			if smaller, err := json.Marshal(whole); err == nil {
				all = append(all, smaller)
			}
			fields[name] = value
		}
		for _, name := range names {
			if inner, ok := fields[name].(map[string]any); ok {
				without(inner)
			}
		}
	}
	without(whole)
	return all
}
