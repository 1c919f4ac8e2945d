// Package variant builds filter plugins that differ from the specification in one
// place: what a plugin reads is changed before it reads it, or what it says is
// changed after. The specification knows nothing of it.
//
// Releases, known bugs and wrong models for tests are all made of these pieces.
package variant

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// OfPlugin makes a plugin out of the documented one.
type OfPlugin func(filter.Plugin) filter.Plugin

// another is a plugin with another PreFilter.
type another struct {
	filter.Plugin
	preFilter func(s *filter.Snapshot) (filter.State, filter.Answer)
}

func (p another) PreFilter(s *filter.Snapshot) (filter.State, filter.Answer) { return p.preFilter(s) }

// Unmodelled implements filter.Partial.
func (p another) Unmodelled(s *filter.Snapshot, report filter.Report) {
	if p, partial := p.Plugin.(filter.Partial); partial {
		p.Unmodelled(s, report)
	}
}

// Misread makes a plugin that sees another cluster than there is: distort changes
// a copy of the snapshot. It may replace the objects that the copy points to, but
// must not change them, and must leave each node and pod at its index.
func Misread(distort func(*filter.Snapshot)) OfPlugin {
	return func(p filter.Plugin) filter.Plugin {
		return another{p, func(s *filter.Snapshot) (filter.State, filter.Answer) {
			seen := copyOf(s)
			distort(seen)
			st, a := p.PreFilter(seen)
			if st == nil {
				return nil, a
			}
			return ofOther(seen, st), a
		}}
	}
}

// MisreadPods makes a plugin that sees other pods: change works on a copy of each,
// whose slices and maps it has to copy itself before it changes them.
func MisreadPods(change func(*v1.Pod)) OfPlugin {
	return Misread(func(s *filter.Snapshot) {
		s.Preemptor.Pod = Changed(s.Preemptor.Pod, change)
		changePlaced(s, change)
		for i, p := range s.Pods {
			s.Pods[i] = Changed(p, change)
		}
	})
}

// MisreadPreemptor makes a plugin that sees another preemptor, as MisreadPods does.
func MisreadPreemptor(change func(*v1.Pod)) OfPlugin {
	return Misread(func(s *filter.Snapshot) { s.Preemptor.Pod = Changed(s.Preemptor.Pod, change) })
}

// MisreadPlaced makes a plugin that sees other pods on nodes, and nominated to them,
// as MisreadPods does.
func MisreadPlaced(change func(*v1.Pod)) OfPlugin {
	return Misread(func(s *filter.Snapshot) { changePlaced(s, change) })
}

func changePlaced(s *filter.Snapshot, change func(*v1.Pod)) {
	s.Placed(func(_ *filter.Node, p *filter.Pod) { p.Pod = Changed(p.Pod, change) })
}

// MisreadObjects makes a plugin that sees other objects of type T, of each of which
// change gets a deep copy.
func MisreadObjects[T runtime.Object](change func(T)) OfPlugin {
	return Misread(func(s *filter.Snapshot) {
		for i, o := range s.Objects {
			if t, is := o.(T); is {
				changed := t.DeepCopyObject().(T)
				change(changed)
				s.Objects[i] = changed
			}
		}
	})
}

// MisreadNodes makes a plugin that sees other nodes, of each of which change gets a
// deep copy.
func MisreadNodes(change func(*v1.Node)) OfPlugin {
	return Misread(func(s *filter.Snapshot) {
		for _, n := range s.Nodes {
			n.Node = n.Node.DeepCopy()
			change(n.Node)
		}
	})
}

// Rework makes a plugin whose State, and Answer, are changed after PreFilter.
func Rework(change func(s *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer)) OfPlugin {
	return func(p filter.Plugin) filter.Plugin {
		return another{p, func(s *filter.Snapshot) (filter.State, filter.Answer) {
			st, a := p.PreFilter(s)
			return change(s, st, a)
		}}
	}
}

// Alter makes a plugin whose State of type T is changed in place after PreFilter.
// Where its State is no T, nor one within is, nothing is changed.
func Alter[T filter.State](change func(st T)) OfPlugin {
	return AlterBoth(func(_ *filter.Snapshot, st T, _ *filter.Answer) { change(st) })
}

// AlterBoth is Alter for the State and the Answer.
func AlterBoth[T filter.State](change func(s *filter.Snapshot, st T, a *filter.Answer)) OfPlugin {
	return Rework(func(s *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if inner, ok := filter.As[T](st); ok {
			change(s, inner, &a)
		}
		return st, a
	})
}

// Around makes a plugin whose State has another around it, where the plugin's own,
// or one within, is a T.
func Around[T filter.State](wrap func(s *filter.Snapshot, st filter.State, inner T) filter.State) OfPlugin {
	return Rework(func(s *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if inner, ok := filter.As[T](st); ok {
			st = wrap(s, st, inner)
		}
		return st, a
	})
}

// ForgottenPort is what the port of a pod is called of which a scheduler does not know that it is in use: no port of the API has such a
// name. It is known again once the pod has gone and come back.
const ForgottenPort = "forgotten by the scheduler"

// Rejudge makes a plugin whose verdicts are changed: change gets what the plugin
// says of a node, nil if it passes.
func Rejudge[T filter.State](change func(inner T, n *filter.Node, v filter.View, verdict *filter.Verdict) *filter.Verdict) OfPlugin {
	return Around(func(_ *filter.Snapshot, st filter.State, inner T) filter.State {
		return Judge{State: st, Verdict: func(n *filter.Node, v filter.View) *filter.Verdict { return change(inner, n, v, st.Fits(n, v)) }}
	})
}

// WithoutPreFilter makes a plugin that lets every pod pass until nodes are looked at.
func WithoutPreFilter() OfPlugin {
	return Rework(func(_ *filter.Snapshot, st filter.State, _ filter.Answer) (filter.State, filter.Answer) {
		return st, filter.Answer{}
	})
}

// Judge is a State with another Fits, and another Alike if Same is not nil.
type Judge struct {
	filter.State
	Verdict func(n *filter.Node, v filter.View) *filter.Verdict
	Same    func(a, b *filter.Pod) bool
}

// Fits implements filter.State.
func (j Judge) Fits(n *filter.Node, v filter.View) *filter.Verdict { return j.Verdict(n, v) }

// Alike implements filter.State.
func (j Judge) Alike(a, b *filter.Pod) bool {
	if j.Same != nil {
		return j.Same(a, b)
	}
	return j.State.Alike(a, b)
}

// Inner implements filter.Wrapper.
func (j Judge) Inner() filter.State { return j.State }

// ofOther is a State of another cluster: it is asked about the nodes and pods there
// that have the same indices.
func ofOther(seen *filter.Snapshot, st filter.State) Judge {
	pods := make([]*filter.Pod, seen.Size())
	pods[0] = seen.Preemptor
	seen.Placed(func(_ *filter.Node, p *filter.Pod) { pods[p.Index] = p })
	for _, p := range seen.Homeless {
		pods[p.Index] = p
	}
	fits := func(n *filter.Node, v filter.View) *filter.Verdict {
		there := filter.View{Pods: make([]*filter.Pod, len(v.Pods)), Moves: slices.Clone(v.Moves)}
		for i, p := range v.Pods {
			there.Pods[i] = pods[p.Index]
		}
		for i, move := range there.Moves {
			// A pod that moved away may have been of another snapshot.
			if at := move.Pod.Index; at < len(pods) && pods[at].Key == move.Pod.Key {
				there.Moves[i].Pod = pods[at]
			}
		}
		return st.Fits(seen.Nodes[n.Index], there)
	}
	return Judge{st, fits, func(a, b *filter.Pod) bool { return st.Alike(pods[a.Index], pods[b.Index]) }}
}

// copyOf copies all but the API objects.
func copyOf(s *filter.Snapshot) *filter.Snapshot {
	out := *s
	out.Preemptor = copies([]*filter.Pod{s.Preemptor})[0]
	out.Pods, out.Objects = slices.Clone(s.Pods), slices.Clone(s.Objects)
	out.Nodes = make([]*filter.Node, len(s.Nodes))
	for i, n := range s.Nodes {
		seen := *n
		seen.Pods, seen.Nominated = copies(n.Pods), copies(n.Nominated)
		out.Nodes[i] = &seen
	}
	return &out
}

func copies(pods []*filter.Pod) []*filter.Pod {
	out := make([]*filter.Pod, len(pods))
	for i, p := range pods {
		seen := *p
		out[i] = &seen
	}
	return out
}

// Where makes a plugin that is changed just for the snapshots that it concerns: it
// saves the work where the change means nothing.
func Where(concerns func(*filter.Snapshot) bool, change OfPlugin) OfPlugin {
	return func(p filter.Plugin) filter.Plugin {
		changed := change(p)
		return another{p, func(s *filter.Snapshot) (filter.State, filter.Answer) {
			if concerns(s) {
				return changed.PreFilter(s)
			}
			return p.PreFilter(s)
		}}
	}
}

// On are plugins with the one of that name changed.
func On(plugins []filter.Plugin, name string, change OfPlugin) []filter.Plugin {
	at := slices.IndexFunc(plugins, func(p filter.Plugin) bool { return p.Name() == name })
	if at < 0 {
		return plugins
	}
	out := slices.Clone(plugins)
	out[at] = change(out[at])
	return out
}

// Without are plugins without the one of that name.
func Without(plugins []filter.Plugin, name string) []filter.Plugin {
	return slices.DeleteFunc(slices.Clone(plugins), func(p filter.Plugin) bool { return p.Name() == name })
}

// Pods are copies of pods, each changed: change must copy the slices and maps that
// it changes.
func Pods(pods []*filter.Pod, change func(*v1.Pod)) []*filter.Pod {
	out := copies(pods)
	for _, p := range out {
		p.Pod = Changed(p.Pod, change)
	}
	return out
}

// Changed is a changed copy of what p points to.
func Changed[T any](p *T, change func(*T)) *T {
	out := *p
	change(&out)
	return &out
}

// Each is a copy of list with each element changed.
func Each[T any](list []T, change func(*T)) []T {
	out := slices.Clone(list)
	for i := range out {
		change(&out[i])
	}
	return out
}
