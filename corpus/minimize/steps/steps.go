// Package steps makes timelines small: it drops steps and objects, makes plainer what is left, and
// moves steps into an order that is the same for timelines that are alike, as long as what was
// found shows.
package steps

import (
	"context"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Result is a small timeline.
type Result struct {
	Timeline *timeline.Timeline
	// Checks is how many timelines were tried.
	Checks int
	// Minimal certifies that none of the reductions, applied once, keeps what was found. It
	// is false if the time was up before.
	Minimal bool
	// Last is how many reductions were tried in the last round. If Minimal, these are all that
	// are possible, and none kept what was found.
	Last int
}

// Shows tells whether a timeline still shows what was found. It must answer alike for equal
// timelines.
type Shows func(ctx context.Context, t *timeline.Timeline) bool

// MinimiseHang is Minimise for what may be a standstill, noticed sooner in the context hurried, which ends
// when ctx does: what is left then has to show without hurry, or else it is made small again without.
func MinimiseHang(ctx, hurried context.Context, t *timeline.Timeline, shows Shows) *Result {
	small := Minimise(hurried, t, shows)
	if hurried == ctx || ctx.Err() != nil || shows(ctx, small.Timeline) {
		return small
	}
	again := Minimise(ctx, t, shows)
	again.Checks += small.Checks
	return again
}

// Minimise makes a timeline small that shows what was found, until no reduction does so or
// ctx is done. It does not change t.
func Minimise(ctx context.Context, t *timeline.Timeline, shows Shows) *Result {
	m := &minimiser{ctx: ctx, shows: shows, best: t.Clone()}
	before := 0
	for m.changed = true; m.changed && ctx.Err() == nil; {
		m.changed, before = false, m.checks
		m.dropSteps()
		m.dropObjects()
		m.simplify()
		if !m.changed {
			m.plainer()
			m.moveSteps()
		}
	}
	return &Result{Timeline: m.best, Checks: m.checks, Minimal: ctx.Err() == nil, Last: m.checks - before}
}

type minimiser struct {
	ctx     context.Context
	shows   Shows
	best    *timeline.Timeline
	checks  int
	changed bool
}

// try keeps a smaller timeline if it shows what was found.
func (m *minimiser) try(t *timeline.Timeline) bool {
	if m.ctx.Err() != nil {
		return false
	}
	m.checks++
	if !m.shows(m.ctx, t) || m.ctx.Err() != nil {
		return false
	}
	m.best, m.changed = t, true
	return true
}

// dropSteps drops runs of steps, long ones first, and then steps one by one, from the end:
// what comes late depends on what came before.
func (m *minimiser) dropSteps() {
	for size := len(m.best.Steps); size > 0; size /= 2 {
		for end := len(m.best.Steps); end > 0; end -= size {
			end = min(end, len(m.best.Steps))
			t := m.best.Clone()
			t.Steps = slices.Delete(t.Steps, max(0, end-size), end)
			m.try(t)
		}
	}
	// A hold and its release, or a pod and what is done to it, go together.
	for i := 0; i < len(m.best.Steps); i++ {
		for j := len(m.best.Steps) - 1; j > i; j-- {
			if about(&m.best.Steps[i]) == "" || about(&m.best.Steps[i]) != about(&m.best.Steps[j]) {
				continue
			}
			t := m.best.Clone()
			t.Steps = slices.Delete(t.Steps, j, j+1)
			t.Steps = slices.Delete(t.Steps, i, i+1)
			if m.try(t) {
				j = min(j, len(m.best.Steps))
			}
		}
	}
	m.joinWaits()
}

// joinWaits makes one wait of two, where the first or where the second is. What takes some time
// may not be told by either alone.
func (m *minimiser) joinWaits() {
	for i := 0; i < len(m.best.Steps); i++ {
		for j := i + 1; j < len(m.best.Steps) && m.best.Steps[i].Wait > 0; j++ {
			both := m.best.Steps[i].Wait + m.best.Steps[j].Wait
			if m.best.Steps[j].Wait == 0 || both > timeline.MaxWait {
				continue
			}
			for _, ends := range [][2]int{{i, j}, {j, i}} {
				t := m.best.Clone()
				t.Steps[ends[0]].Wait = both
				t.Steps = slices.Delete(t.Steps, ends[1], ends[1]+1)
				if m.try(t) {
					j = i // the next to join is behind i again
					break
				}
			}
		}
	}
}

// about is what a step is about: an object or a place.
func about(s *timeline.Step) string {
	switch {
	case s.Create != nil:
		return nameOf(s.Create)
	case s.Change != "":
		return s.Change
	case s.Delete != "":
		return s.Delete
	case s.End != "":
		return "Pod " + s.End
	case s.Replace != nil:
		return "Pod " + s.Replace.Pod
	case s.Hold != nil:
		return s.Hold.String()
	case s.Release != nil:
		return s.Release.String()
	case s.Next != nil:
		return s.Next.String()
	}
	return ""
}

func nameOf(o runtime.Object) string {
	switch o := o.(type) {
	case *v1.Pod:
		return "Pod " + model.Key(o)
	case *v1.Node:
		return "Node " + o.Name
	}
	return ""
}

// dropObjects drops objects of the start, nodes with their pods.
func (m *minimiser) dropObjects() {
	for i := len(m.best.Cluster.Nodes) - 1; i >= 0; i-- {
		t := m.best.Clone()
		name := t.Cluster.Nodes[i].Name
		t.Cluster.Nodes = slices.Delete(t.Cluster.Nodes, i, i+1)
		t.Cluster.Pods = slices.DeleteFunc(t.Cluster.Pods, func(p *v1.Pod) bool { return p.Spec.NodeName == name })
		m.try(t)
	}
	for i := len(m.best.Cluster.Pods) - 1; i >= 0; i-- {
		t := m.best.Clone()
		gone := t.Cluster.Pods[i]
		t.Cluster.Pods = slices.Delete(t.Cluster.Pods, i, i+1)
		if !m.try(t) {
			m.shrunk(t, gone.Spec.NodeName, gone)
		}
	}
	m.dropCreated()
	for i := len(m.best.Cluster.PodDisruptionBudgets) - 1; i >= 0; i-- {
		t := m.best.Clone()
		t.Cluster.PodDisruptionBudgets = slices.Delete(t.Cluster.PodDisruptionBudgets, i, i+1)
		m.try(t)
	}
	for i := len(m.best.Cluster.PriorityClasses) - 1; i >= 0; i-- {
		t := m.best.Clone()
		t.Cluster.PriorityClasses = slices.Delete(t.Cluster.PriorityClasses, i, i+1)
		m.try(t)
	}
	for i := len(m.best.Cluster.Extra) - 1; i >= 0; i-- {
		t := m.best.Clone()
		t.Cluster.Extra = slices.Delete(t.Cluster.Extra, i, i+1)
		m.try(t)
	}
}

// dropCreated drops pods that steps create, and all steps about them, from nodes that become
// smaller by as much: such a pod may only fill a node.
func (m *minimiser) dropCreated() {
	for i := len(m.best.Steps) - 1; i >= 0; i-- {
		if i >= len(m.best.Steps) || m.best.Steps[i].CreatedPod() == nil {
			continue
		}
		gone := m.best.Steps[i].CreatedPod()
		for _, n := range m.best.Cluster.Nodes {
			t := m.best.Clone()
			t.Steps = slices.DeleteFunc(t.Steps, func(s timeline.Step) bool { return about(&s) == nameOf(gone) })
			if m.shrunk(t, n.Name, gone) {
				break
			}
		}
	}
}

// shrunk tries a timeline from which a pod is gone with a node that is smaller by that pod, and
// with pods that are no larger than that.
func (m *minimiser) shrunk(t *timeline.Timeline, node string, gone *v1.Pod) bool {
	if !shrinkNode(t.Cluster, node, gone) {
		return false
	}
	if m.try(t) {
		return true
	}
	t = t.Clone()
	return shrinkPods(t) && m.try(t)
}

// shrinkPods lets no pod request more CPUs than the largest node of the start has. It reports
// whether one did.
func shrinkPods(t *timeline.Timeline) (some bool) {
	var most resource.Quantity
	for _, n := range t.Cluster.Nodes {
		if cpu := n.Status.Allocatable[v1.ResourceCPU]; cpu.Cmp(most) > 0 {
			most = cpu
		}
	}
	for i := range t.Steps {
		p := t.Steps[i].CreatedPod()
		if p == nil || len(p.Spec.Containers) == 0 {
			continue
		}
		if cpu := p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU]; cpu.Cmp(most) > 0 {
			p = p.DeepCopy()
			p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = most
			t.Steps[i].Create, some = p, true
		}
	}
	return some
}

// shrinkNode takes from a node the CPUs that a pod requests. It reports whether the node has some
// left.
func shrinkNode(c *model.Cluster, node string, p *v1.Pod) bool {
	i := slices.IndexFunc(c.Nodes, func(n *v1.Node) bool { return n.Name == node })
	if i < 0 || len(p.Spec.Containers) == 0 {
		return false
	}
	n := c.Nodes[i].DeepCopy()
	left := n.Status.Allocatable[v1.ResourceCPU]
	requested := p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU]
	if left.Sub(requested); requested.IsZero() || left.Sign() <= 0 {
		return false
	}
	for _, resources := range []v1.ResourceList{n.Status.Allocatable, n.Status.Capacity} {
		if resources != nil {
			resources[v1.ResourceCPU] = left
		}
	}
	c.Nodes[i] = n
	return true
}

// simplify makes what is left plainer.
func (m *minimiser) simplify() {
	settings := []func(s *model.Settings) bool{
		func(s *model.Settings) bool { had := s.Configuration != nil; s.Configuration = nil; return had },
		func(s *model.Settings) bool { had := s.SecondProfile != nil; s.SecondProfile = nil; return had },
		func(s *model.Settings) bool {
			had := s.NoDefaultConstraints
			s.NoDefaultConstraints = false
			return had
		},
		func(s *model.Settings) bool { had := s.FeatureGates != nil; s.FeatureGates = nil; return had },
	}
	for _, simpler := range settings {
		t := m.best.Clone()
		if simpler(&t.Cluster.Settings) {
			m.try(t)
		}
	}
	for i := range m.best.Cluster.Pods {
		m.simplifyPod(m.best.Cluster.Pods[i])
	}
	for i := 0; i < len(m.best.Steps); i++ {
		s := &m.best.Steps[i]
		change := func(f func(s *timeline.Step)) {
			t := m.best.Clone()
			f(&t.Steps[i])
			m.try(t)
		}
		switch {
		case s.CreatedPod() != nil:
			m.simplifyPod(s.CreatedPod())
		case s.Wait > time.Second:
			for _, shorter := range []time.Duration{time.Second, 3 * time.Second, 11 * time.Second} {
				if s.Wait > shorter {
					change(func(s *timeline.Step) { s.Wait = shorter })
					s = &m.best.Steps[i]
				}
			}
		case s.Fail != nil:
			if s.Fail.Times > 1 {
				change(func(s *timeline.Step) { f := *s.Fail; f.Times = 1; s.Fail = &f })
			}
			if m.best.Steps[i].Fail.Arrives {
				change(func(s *timeline.Step) { f := *s.Fail; f.Arrives = false; s.Fail = &f })
			}
		case s.Replace != nil:
			if s.Replace.Times > 1 {
				change(func(s *timeline.Step) { r := *s.Replace; r.Times = 1; s.Replace = &r })
			}
			if m.best.Steps[i].Replace.After > 0 {
				change(func(s *timeline.Step) { r := *s.Replace; r.After = 0; s.Replace = &r })
			}
		case s.Behind != nil:
			for _, kind := range slices.Sorted(maps.Keys(s.Behind)) {
				m.seeMore(i, kind)
			}
		case s.Next != nil:
			change(func(s *timeline.Step) { s.Release, s.Next = s.Next, nil })
		}
	}
}

// seeMore makes the list of the new scheduler of step i less far behind.
func (m *minimiser) seeMore(i int, kind string) {
	for n := m.best.Steps[i].Behind[kind]; n > 0; n-- {
		t := m.best.Clone()
		behind := maps.Clone(t.Steps[i].Behind)
		if behind[kind] = m.best.Steps[i].Behind[kind] - n; behind[kind] == 0 {
			delete(behind, kind)
		}
		if len(behind) == 0 {
			behind = nil
		}
		if t.Steps[i].Behind = behind; m.try(t) {
			return
		}
	}
}

// podReductions make a pod plainer. They report whether they changed anything.
var podReductions = []func(p *v1.Pod) bool{
	func(p *v1.Pod) bool { had := len(p.Finalizers) > 0; p.Finalizers = nil; return had },
	func(p *v1.Pod) bool { had := len(p.Spec.SchedulingGates) > 0; p.Spec.SchedulingGates = nil; return had },
	func(p *v1.Pod) bool {
		had := len(p.Spec.Containers[0].Ports) > 0
		p.Spec.Containers[0].Ports = nil
		return had
	},
	func(p *v1.Pod) bool { had := len(p.Labels) > 0; p.Labels = nil; return had },
	func(p *v1.Pod) bool { had := len(p.Spec.Tolerations) > 0; p.Spec.Tolerations = nil; return had },
	func(p *v1.Pod) bool { had := p.Spec.Affinity != nil; p.Spec.Affinity = nil; return had },
	func(p *v1.Pod) bool { return otherGrace(p, v1.DefaultTerminationGracePeriodSeconds) },
	func(p *v1.Pod) bool {
		return ptr.Deref(p.Spec.TerminationGracePeriodSeconds, v1.DefaultTerminationGracePeriodSeconds) != v1.DefaultTerminationGracePeriodSeconds && otherGrace(p, 0)
	},
	func(p *v1.Pod) bool { had := p.Spec.NodeSelector != nil; p.Spec.NodeSelector = nil; return had },
	func(p *v1.Pod) bool { had := p.Spec.PriorityClassName != ""; p.Spec.PriorityClassName = ""; return had },
	func(p *v1.Pod) bool {
		had := p.Spec.TopologySpreadConstraints != nil
		p.Spec.TopologySpreadConstraints = nil
		return had
	},
	func(p *v1.Pod) bool {
		had := p.Spec.SchedulerName != model.DefaultSchedulerName
		p.Spec.SchedulerName = model.DefaultSchedulerName
		return had
	},
	func(p *v1.Pod) bool {
		one := resource.MustParse("1")
		requests := p.Spec.Containers[0].Resources.Requests
		if q := requests[v1.ResourceCPU]; q.Cmp(one) <= 0 {
			return false
		}
		p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: one}
		return true
	},
}

// otherGrace gives a pod a grace period, in seconds. It reports whether it had another one.
func otherGrace(p *v1.Pod, seconds int64) bool {
	other := ptr.Deref(p.Spec.TerminationGracePeriodSeconds, v1.DefaultTerminationGracePeriodSeconds) != seconds
	if other {
		p.Spec.TerminationGracePeriodSeconds = &seconds
	}
	return other
}

// simplifyPod makes a pod plainer, each time that it is created: a name has one manifest.
func (m *minimiser) simplifyPod(p *v1.Pod) {
	for _, simpler := range podReductions {
		c := p.DeepCopy()
		if len(c.Spec.Containers) == 0 || !simpler(c) {
			continue
		}
		t := m.best.Clone()
		same := func(o *v1.Pod) bool { return o != nil && model.Key(o) == model.Key(c) }
		for i := range t.Cluster.Pods {
			if same(t.Cluster.Pods[i]) {
				t.Cluster.Pods[i] = c
			}
		}
		for i := range t.Steps {
			if same(t.Steps[i].CreatedPod()) {
				t.Steps[i].Create = c
			}
		}
		if m.try(t) {
			p = c
		}
	}
}

// Size is how large a timeline is.
type Size struct{ Nodes, Pods, Steps int }

// String is "1 node, 2 pods, 3 steps".
func (s Size) String() string {
	return words.Plural(s.Nodes, "node") + ", " + words.Plural(s.Pods, "pod") + ", " + words.Plural(s.Steps, "step")
}

// SizeOf counts nodes and pods, those that steps create among them, and steps.
func SizeOf(t *timeline.Timeline) Size {
	s := Size{Nodes: len(t.Cluster.Nodes), Pods: len(t.Cluster.Pods), Steps: len(t.Steps)}
	for i := range t.Steps {
		switch t.Steps[i].Create.(type) {
		case *v1.Pod:
			s.Pods++
		case *v1.Node:
			s.Nodes++
		}
	}
	return s
}
