package vary

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// amend changes one thing about a pod, or gives it a part of another pod. Either may be nil.
func (v *varied) amend(p, from *v1.Pod) {
	if p == nil || from == nil {
		return
	}
	from = from.DeepCopy() // what is admitted is written to
	switch draw.Weighted(v.Source, 22, 22, 10, 6, 8, 6, 8, 6, 4, 4, 4) {
	case 0:
		v.reprioritise(p, from)
	case 1:
		v.resize(p, from)
	case 2:
		v.relabel(&p.ObjectMeta, &from.ObjectMeta)
	case 3:
		p.Status.StartTime = from.Status.StartTime
	case 4:
		p.Spec.Affinity = v.mixed(p.Spec.Affinity, from.Spec.Affinity)
	case 5:
		p.Spec.TopologySpreadConstraints = from.Spec.TopologySpreadConstraints
	case 6:
		p.Spec.Tolerations = from.Spec.Tolerations
	case 7:
		p.Spec.NodeSelector = from.Spec.NodeSelector
	case 8:
		p.Spec.Containers[0].Ports = from.Spec.Containers[0].Ports
	case 9:
		p.Spec.PreemptionPolicy = from.Spec.PreemptionPolicy
	default:
		v.mount(p, from)
	}
}

// reprioritise gives a pod the priority of another one, or one beside it, if neither a class nor a group says which it has.
func (v *varied) reprioritise(p, from *v1.Pod) {
	if p.Spec.PriorityClassName != "" || p.Spec.SchedulingGroup != nil || from.Spec.Priority == nil {
		return
	}
	p.Spec.Priority = new(*from.Spec.Priority + draw.Pick(v.Source, int32(0), 1, -1))
}

// resize changes how much a container requests, and its limit with it; or it requests something else, too, be it none of it.
func (v *varied) resize(p, from *v1.Pod) {
	c, other := v.container(p), from.Spec.Containers[v.Intn(len(from.Spec.Containers))].Resources
	name, now := v.amount(c.Resources.Requests)
	if name == "" {
		return
	}
	if v.Chance(15) && v.requestMore(&c.Resources, other) {
		return
	}
	changed := v.another(now, other.Requests[name])
	c.Resources.Requests[name] = changed
	if limit, limited := c.Resources.Limits[name]; limited && (limit.Cmp(now) == 0 || limit.Cmp(changed) < 0) {
		c.Resources.Limits[name] = changed
	}
}

// container is one of the containers of a pod, or of its init containers.
func (v *varied) container(p *v1.Pod) *v1.Container {
	at, n := v.Intn(len(p.Spec.Containers)+len(p.Spec.InitContainers)), len(p.Spec.Containers)
	if at < n {
		return &p.Spec.Containers[at]
	}
	return &p.Spec.InitContainers[at-n]
}

// requestMore adds a request for a resource that others ask for, if there is none yet.
func (v *varied) requestMore(of *v1.ResourceRequirements, others v1.ResourceRequirements) bool {
	name, much := v.amount(others.Requests)
	if _, already := of.Requests[name]; already || name == "" {
		return false
	}
	of.Requests[name] = v.another(much, apiresource.Quantity{})
	if _, limited := others.Limits[name]; limited { // of some resources just what is requested has to be the limit
		if of.Limits == nil {
			of.Limits = v1.ResourceList{}
		}
		of.Limits[name] = of.Requests[name]
	}
	return true
}

// amount is one of the amounts of a list, by the order of their names.
func (v *varied) amount(list v1.ResourceList) (v1.ResourceName, apiresource.Quantity) {
	name := one(v, slices.Sorted(maps.Keys(list)))
	return name, list[name]
}

// another is an amount near to one, that of somebody else, the smallest that there is, or none.
func (v *varied) another(now, others apiresource.Quantity) apiresource.Quantity {
	changed := now.DeepCopy()
	step := *apiresource.NewQuantity(1, now.Format)
	if now.MilliValue()%1000 != 0 {
		step = *apiresource.NewMilliQuantity(1, now.Format)
	}
	switch draw.Weighted(v.Source, 38, 14, 14, 14, 6, 14) {
	case 0:
		return others
	case 1:
		changed.Add(step)
	case 2:
		changed.Sub(step)
	case 3:
		changed.Add(now)
	case 4:
		return draw.Pick(v.Source, apiresource.Quantity{}, step)
	default:
		changed = *apiresource.NewQuantity(now.Value()/2, now.Format)
	}
	if changed.Sign() < 0 {
		return now
	}
	return changed
}

// relabel gives an object the value of a label that another one has, or takes one away.
func (v *varied) relabel(o, from *metav1.ObjectMeta) {
	if key := one(v, sorted(from.Labels)); key != "" && v.Chance(70) {
		metav1.SetMetaDataLabel(o, key, from.Labels[key])
		return
	}
	delete(o.Labels, one(v, sorted(o.Labels)))
	if len(o.Labels) == 0 {
		o.Labels = nil
	}
}

// sorted are the keys of labels, or the names of fields, in order.
func sorted[T any](labels map[string]T) []string {
	return slices.Sorted(maps.Keys(labels))
}

// mixed is an affinity of which one part is that of another.
func (v *varied) mixed(a, from *v1.Affinity) *v1.Affinity {
	if a == nil || from == nil {
		return from
	}
	switch v.Intn(3) {
	case 0:
		a.NodeAffinity = from.NodeAffinity
	case 1:
		a.PodAffinity = from.PodAffinity
	default:
		a.PodAntiAffinity = from.PodAntiAffinity
	}
	return a
}

// mount gives a pod a volume of another one of its namespace, by a name of its own.
func (v *varied) mount(p, from *v1.Pod) {
	if v.live || len(from.Spec.Volumes) == 0 || p.Namespace != from.Namespace {
		return
	}
	volume := one(v, from.Spec.Volumes)
	if volume.Ephemeral == nil { // whose claim has the name of its pod
		volume.Name = "another"
		p.Spec.Volumes = append(p.Spec.Volumes, volume)
	}
}

// tied tells whether other objects say that they are this pod's own.
func tied(p *v1.Pod) bool {
	return len(p.Spec.ResourceClaims) > 0 || p.Status.ExtendedResourceClaimStatus != nil ||
		slices.ContainsFunc(p.Spec.Volumes, func(m v1.Volume) bool { return m.Ephemeral != nil })
}

// copyPod adds a pod that is like another one.
func (v *varied) copyPod(p *v1.Pod) {
	if p == nil || tied(p) {
		return
	}
	p = p.DeepCopy()
	anew(p, v.named(p.Name))
	if node := one(v, v.Nodes); node != nil && p.Spec.NodeName != "" && v.Chance(40) {
		p.Spec.NodeName = node.Name
	}
	v.Pods = slices.Insert(v.Pods, v.Intn(len(v.Pods)+1), p)
}

// movePod has a pod run on another node.
func (v *varied) movePod(p *v1.Pod, to *v1.Node) {
	if p == nil || to == nil || tied(p) {
		return
	}
	if p.Spec.NodeName != "" {
		p.Spec.NodeName = to.Name
	} else {
		p.Status.NominatedNodeName = to.Name
	}
}

func (v *varied) dropPod() {
	v.Pods = without(v.Pods, one(v, v.Pods))
}
