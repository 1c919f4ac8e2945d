package unnoticed

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// FirstOfItsKind tells whether the last cycle of a pod ended as the pod has to be with others
// like itself, and the last of these on a node, or on its way there, has gone, with its node or without, or is
// not like it any more, since that cycle began. The last of these may be that of which the scheduler knows, as others are on nodes without
// the labels that the pod asks for (unlabelled-nodes-hide-first).
func (l *Life) FirstOfItsKind(pod string) bool {
	placed, nodes := map[string]*v1.Pod{}, map[string]*v1.Node{}
	assumed := map[string]bool{} // those of them that are on their way
	for _, s := range l.Trace.Startups {
		for _, o := range s.Objects {
			switch o := o.(type) {
			case *v1.Node:
				nodes[o.Name] = o
			case *v1.Pod:
				if o.Spec.NodeName != "" {
					placed[o.Namespace+"/"+o.Name] = o
				}
			}
		}
	}
	var waits *v1.Pod
	hides := !l.Timeline.Cluster.Settings.FeatureGates["InterPodAffinityHostnameFastPath"]
	peers := func() (all, known int) {
		for _, p := range placed {
			n := nodes[p.Spec.NodeName]
			if n == nil || !filter.GoesWith(waits, p) {
				continue
			}
			all++
			if !hides || slices.ContainsFunc(filter.RequiredAffinity(waits), func(t v1.PodAffinityTerm) bool { return metav1.HasLabel(n.ObjectMeta, t.TopologyKey) }) {
				known++
			}
		}
		return all, known
	}
	rejected, left, knownLeft := false, false, false
	for i := range l.Trace.Entries[:l.End] {
		before, knownBefore := 0, 0
		if waits != nil {
			before, knownBefore = peers()
		}
		e := &l.Trace.Entries[i]
		is, _ := e.Is.(*v1.Pod)
		switch {
		case e.What == timeline.TakenOver:
			for p := range assumed {
				delete(placed, p)
			}
			clear(assumed)
		case e.What == timeline.Popped && e.Pod() == pod:
			waits = is
			rejected, left, knownLeft = false, false, false
			continue
		case e.What == timeline.Unfit && e.Pod() == pod:
			rejected = strings.Contains(e.Text, filter.NoPeers)
		case e.What == timeline.Fits && is != nil && placed[e.Pod()] == nil:
			there := *is
			there.Spec.NodeName = e.Node
			placed[e.Pod()], assumed[e.Pod()] = &there, true
		case e.What == timeline.Requeued && assumed[e.Pod()]: // its binding has failed
			delete(placed, e.Pod())
			delete(assumed, e.Pod())
		case e.What == timeline.Handled:
			if was, ok := e.Was.(*v1.Node); ok {
				delete(nodes, was.Name)
			}
			if is, ok := e.Is.(*v1.Node); ok {
				nodes[is.Name] = is
			}
			if is != nil && is.Spec.NodeName == "" && is.DeletionTimestamp == nil && assumed[e.Pod()] {
				break // it counts as it was assumed
			}
			delete(placed, e.Pod())
			delete(assumed, e.Pod())
			if is != nil && is.Spec.NodeName != "" {
				placed[e.Pod()] = is
			}
		}
		if waits != nil {
			all, known := peers()
			left, knownLeft = all == 0 && (left || before > 0), known == 0 && (knownLeft || knownBefore > 0)
		}
	}
	return rejected && (left || knownLeft) && filter.GoesWith(waits, waits)
}

// PeerMetByGate tells whether the last cycle of a pod ended as the pod has to be with others like itself, and the scheduler was
// told since that such a one is on a node, or that one there is like it now. The hint of the plugin that rejected the pod
// says that this helps (interpodaffinity/plugin.go:207@v1.37.1); the pod was gated, and so nobody asked it.
func (l *Life) PeerMetByGate(name string) (met bool) {
	var waits *v1.Pod
	rejected := false
	goesWith := func(p *v1.Pod) bool { return p != nil && p.Spec.NodeName != "" && filter.GoesWith(waits, p) }
	for i := range l.Trace.Entries[:l.End] {
		e := &l.Trace.Entries[i]
		is, _ := e.Is.(*v1.Pod)
		switch was, _ := e.Was.(*v1.Pod); {
		case e.What == timeline.TakenOver:
			waits, rejected, met = nil, false, false
		case e.What == timeline.Popped && e.Pod() == name:
			waits, rejected, met = is, false, false
		case waits == nil:
		case e.What == timeline.Unfit && e.Pod() == name:
			rejected = strings.Contains(e.Text, filter.NoPeers)
		case e.What == timeline.Handled && goesWith(is) && !goesWith(was):
			met = met || rejected && slices.ContainsFunc(e.Left, func(left timeline.Left) bool { return left.Pod == name && left.Gated })
		}
	}
	return met
}

// NodeForShunned tells whether pods on nodes shunned a pod that has no such terms of its own when it was last
// tried, and it can be helped now only by nodes that were added, or whose labels have changed, since then.
func (l *Life) NodeForShunned(pod string, preempts bool) bool {
	var waits *v1.Pod
	rejected, nodes := false, map[string]*v1.Node{} // as they were then; nil if they were not
	for i := range l.Trace.Entries[:l.End] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			waits, rejected = nil, false
			clear(nodes)
		case e.What == timeline.Popped && e.Pod() == pod:
			waits, _ = e.Is.(*v1.Pod)
			rejected = false
			clear(nodes)
		case e.What == timeline.Unfit && e.Pod() == pod:
			rejected = strings.Contains(e.Text, "didn't satisfy existing pods anti-affinity rules")
		case e.What == timeline.Handled && waits != nil:
			was, _ := e.Was.(*v1.Node)
			is, _ := e.Is.(*v1.Node)
			if is == nil || was != nil && maps.Equal(was.Labels, is.Labels) {
				break
			}
			if _, known := nodes[is.Name]; !known {
				nodes[is.Name] = was
			}
		}
	}
	return rejected && len(nodes) > 0 && len(filter.RequiredAffinity(waits))+len(filter.RequiredAntiAffinity(waits)) == 0 &&
		l.helpless(pod, preempts, func(c *model.Cluster) {
			c.Nodes = slices.Clone(c.Nodes)
			c.Nodes = slices.DeleteFunc(c.Nodes, func(n *v1.Node) bool {
				was, changed := nodes[n.Name]
				return changed && was == nil
			})
			for i, n := range c.Nodes {
				if was := nodes[n.Name]; was != nil {
					c.Nodes[i] = n.DeepCopy()
					c.Nodes[i].Labels = was.Labels
				}
			}
		})
}
