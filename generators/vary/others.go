package vary

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resource "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// refit changes one thing about a node, or gives it a part of another node. Either may be nil.
func (v *varied) refit(n, from *v1.Node) {
	if n == nil || from == nil {
		return
	}
	from = from.DeepCopy()
	switch draw.Weighted(v.Source, 40, 30, 15, 8, 7) {
	case 0:
		name, now := v.amount(n.Status.Allocatable)
		if name == "" {
			return
		}
		other := v.another(now, from.Status.Allocatable[name])
		n.Status.Allocatable[name] = other
		if n.Status.Capacity != nil {
			n.Status.Capacity[name] = other
		}
	case 1:
		v.relabel(&n.ObjectMeta, &from.ObjectMeta)
	case 2:
		n.Spec.Taints = from.Spec.Taints
	case 3:
		n.Spec.Unschedulable = !n.Spec.Unschedulable
	default:
		n.Status.DeclaredFeatures = from.Status.DeclaredFeatures
	}
}

// copyNode adds a node that is like another one, with what drivers tell about it and with its pods.
func (v *varied) copyNode(n *v1.Node) {
	if n == nil {
		return
	}
	n = n.DeepCopy()
	old := n.Name
	anew(n, v.named(old))
	if host, labelled := n.Labels[v1.LabelHostname]; labelled && host == old {
		n.Labels[v1.LabelHostname] = n.Name
	}
	v.Nodes = slices.Insert(v.Nodes, v.Intn(len(v.Nodes)+1), n)
	for _, o := range slices.Clip(v.Extra) {
		switch o := o.(type) {
		case *storagev1.CSINode:
			if o.Name == old {
				o = o.DeepCopy()
				o.Name = n.Name
				v.Extra = append(v.Extra, o)
			}
		case *resource.ResourceSlice:
			if o.Spec.NodeName != nil && *o.Spec.NodeName == old {
				o = o.DeepCopy()
				o.Name, o.Spec.NodeName, o.Spec.Pool.Name = n.Name+"-"+o.Name, &n.Name, n.Name+"-"+o.Spec.Pool.Name
				v.Extra = append(v.Extra, o)
			}
		}
	}
	for _, p := range slices.Clip(v.Pods) {
		if p.Spec.NodeName == old && !tied(p) && v.Chance(80) {
			p = p.DeepCopy()
			anew(p, v.named(p.Name))
			p.Spec.NodeName = n.Name
			v.Pods = append(v.Pods, p)
		}
	}
}

// dropNode leaves out a node and the pods on it.
func (v *varied) dropNode() {
	if n := one(v, v.Nodes); n != nil {
		v.Nodes = without(v.Nodes, n)
		v.Pods = slices.DeleteFunc(v.Pods, func(p *v1.Pod) bool { return p.Spec.NodeName == n.Name })
	}
}

// dropOther leaves out an object that is no node and no pod, and no group of pods.
func (v *varied) dropOther() {
	o := one(v, v.Extra)
	switch o.(type) {
	case *schedulingv1beta1.PodGroup, *schedulingv1alpha3.CompositePodGroup, nil:
		return
	}
	v.Extra = slices.DeleteFunc(v.Extra, func(other runtime.Object) bool { return other == o })
}

// respend changes how many disruptions a budget allows, or leaves it out.
func (v *varied) respend() {
	b := one(v, v.PodDisruptionBudgets)
	switch {
	case b == nil:
	case v.Chance(25):
		v.PodDisruptionBudgets = without(v.PodDisruptionBudgets, b)
	default:
		b.Status.DisruptionsAllowed = max(0, b.Status.DisruptionsAllowed+draw.Pick(v.Source, int32(1), -1))
	}
}
