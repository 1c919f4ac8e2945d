package contract

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Kept is that what is kept for a pod cannot be had by another one meanwhile.
func Kept(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-kept",
		Promise: "What was reserved for a pod is not there for others while the scheduler waits for the bind to succeed: where a node has volumes or devices for one of two pods, with a claim each, the second does not pass once the first has them.",
		Source:  "docs: concepts/scheduling-eviction/scheduling-framework, \"Reserve\"; doc comment of SchedulerVolumeBinder.AssumePodVolumes (volumebinding/binder.go:173@v1.37.1)",
		Lies:    []string{"Reserve keeps nothing"},
	}, plugins, keeping, kept)
}

// finders are the plugins that find something for claims.
var finders = []string{"VolumeBinding", "DynamicResources"}

// maxKept bounds on how many nodes a place is kept, and how many volumes are left alone.
const maxKept = 3

func kept(x *interview) error {
	two := rivalsOf(x.Cluster)
	if two == nil {
		return nil
	}
	plugins := slices.DeleteFunc(slices.Clone(x.plugins), func(p string) bool { return !slices.Contains(finders, p) })
	for _, changes := range two.changes {
		told := append(script{{Op: calls.Set, Object: two.claim}}, changes...)
		s := slices.Clone(told)
		for _, plugin := range plugins {
			for _, pod := range []*calls.Object{nil, two.rival, two.both} {
				s.add(calls.Call{Op: calls.Says, Plugin: plugin, Object: pod})
			}
		}
		got, err := x.ask(append(s, calls.Call{Op: calls.Restore}))
		if err != nil {
			return err
		}
		for i, plugin := range plugins {
			if err := x.keptBy(plugin, two, told, got[len(told)+3*i:][:3]); err != nil {
				return err
			}
		}
	}
	return nil
}

// keptBy asks a plugin about nodes that it passes for each of two pods, and not for one that needs what both need. It says so of the
// preemptor, the rival and both after the changes that were told.
func (x *interview) keptBy(plugin string, two *rivals, told script, says []calls.Answer) error {
	if says[0].Verdict.Code != calls.Success {
		return nil
	}
	type one struct {
		node            string
		reserved, rival int
	}
	s := slices.Clone(told)
	var all []one
	for _, n := range x.Cluster.Nodes {
		if len(all) == maxKept || !says[0].Nodes[n.Name].Passes() || !says[1].Nodes[n.Name].Passes() || !says[2].Nodes[n.Name].IsRejection() {
			continue
		}
		base := s.add(calls.Call{Op: calls.PreFilter, Plugin: plugin})
		s.add(calls.Call{Op: calls.Filter, State: base})
		reserved := s.add(calls.Call{Op: calls.Reserve, State: base, Node: n.Name})
		all = append(all, one{n.Name, reserved, s.add(calls.Call{Op: calls.Says, Plugin: plugin, Object: two.rival})})
		s.add(calls.Call{Op: calls.Unreserve, State: base, Node: n.Name})
	}
	if len(all) == 0 {
		return nil
	}
	got, err := x.ask(append(s, calls.Call{Op: calls.Restore}))
	if err != nil {
		return err
	}
	for _, o := range all {
		if got[o.reserved].Verdict.Code != calls.Success {
			continue
		}
		x.Tally(plugin, AskedKept, 1)
		if got[o.rival].Nodes[o.node].Passes() {
			x.found(plugin, "another pod passes after Reserve", fmt.Sprintf("reserved a place on %s, and passes that node for another pod with a claim like that of the first, %s. It rejects the node for a pod with both claims: %s%s",
				o.node, two.claim, says[2].Nodes[o.node], afterwards(told)))
		}
	}
	return nil
}

// afterwards tells what objects are gone besides.
func afterwards(told script) (text string) {
	for _, c := range told {
		if c.Op == calls.Delete {
			text += ", without " + c.Object.String()
		}
	}
	return text
}

// rivals are another pod like the preemptor, with a claim of its own, and a pod that has the claims of both. They are asked about after each
// of the changes, of which the first is none.
type rivals struct {
	claim, rival, both *calls.Object
	changes            [][]calls.Call
}

// rivalsOf are those of a preemptor with just one claim that waits for a volume or for devices; else nil. With more of them, which of them
// gets what may leave too little for the others.
func rivalsOf(c *model.Cluster) *rivals {
	if c.Preemptor.Spec.SchedulingGroup != nil { // it may share claims with its group
		return nil
	}
	p := &pair{Cluster: c, rival: c.Preemptor.DeepCopy(), both: c.Preemptor.DeepCopy(), changes: [][]calls.Call{nil}}
	p.rival.Name += suffix
	p.both.Name += "-both"
	for _, pod := range []*v1.Pod{p.rival, p.both} {
		pod.UID, pod.Status = types.UID(model.Key(pod)), v1.PodStatus{}
	}
	if !p.mount() || !p.claim() || len(p.waiting) != 1 || p.waiting[0] == nil {
		return nil
	}
	return &rivals{p.waiting[0], objectOf(p.rival), objectOf(p.both), p.changes}
}

// suffix ends the names of the rival and of what it has.
const suffix = "-rival"

// pair are the rivals while they are made.
type pair struct {
	*model.Cluster
	rival, both *v1.Pod
	waiting     []*calls.Object // claims of the rival
	changes     [][]calls.Call
}

// renamed is the metadata of a claim like another one, as it is created.
func renamed(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name + suffix, Labels: m.Labels}
}

// find is the object of a type and a name in the preemptor's namespace, or the zero value.
func find[T metav1.Object](c *model.Cluster, name string) (found T) {
	for _, o := range c.Extra {
		if o, is := o.(T); is && o.GetNamespace() == c.Preemptor.Namespace && o.GetName() == name {
			found = o
		}
	}
	return found
}

// mount gives both pods their volumes. It is false if a claim is missing.
func (p *pair) mount() bool {
	mounts := func(claim string) v1.VolumeSource {
		return v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
	}
	for i, v := range p.Preemptor.Spec.Volumes {
		var name string
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = p.Preemptor.Name + "-" + v.Name
		default:
			continue
		}
		claim := find[*v1.PersistentVolumeClaim](p.Cluster, name)
		if claim == nil {
			return false
		}
		p.rival.Spec.Volumes[i].VolumeSource, p.both.Spec.Volumes[i].VolumeSource = mounts(name), mounts(name)
		if claim.Spec.VolumeName != "" {
			continue
		}
		p.rival.Spec.Volumes[i].VolumeSource = mounts(name + suffix)
		p.both.Spec.Volumes = append(p.both.Spec.Volumes, v1.Volume{Name: v.Name + suffix, VolumeSource: mounts(name + suffix)})
		p.waiting = append(p.waiting, objectOf(with(claim, func(c *v1.PersistentVolumeClaim) { c.ObjectMeta = renamed(c.ObjectMeta) })))
		if claim.Spec.StorageClassName != nil {
			p.changes = append(p.changes, leftAlone(p.Cluster, *claim.Spec.StorageClassName)...)
		}
	}
	return true
}

// claim gives both pods their claims of devices. It is false if one is missing, or is for administrators.
func (p *pair) claim() bool {
	called := func(entry, name string) v1.PodResourceClaim {
		return v1.PodResourceClaim{Name: entry, ResourceClaimName: &name}
	}
	for i := range p.Preemptor.Spec.ResourceClaims {
		entry := &p.Preemptor.Spec.ResourceClaims[i]
		name, why := device.ClaimName(p.Preemptor, entry)
		claim := find[*resourcev1.ResourceClaim](p.Cluster, name)
		if why != "" || claim == nil || hasAdmin(claim) {
			return false
		}
		p.rival.Spec.ResourceClaims[i], p.both.Spec.ResourceClaims[i] = called(entry.Name, name), called(entry.Name, name)
		if claim.Status.Allocation != nil {
			continue
		}
		p.rival.Spec.ResourceClaims[i] = called(entry.Name, name+suffix)
		p.both.Spec.ResourceClaims = append(p.both.Spec.ResourceClaims, called(entry.Name+suffix, name+suffix))
		p.waiting = append(p.waiting, objectOf(asCreated(with(claim, func(c *resourcev1.ResourceClaim) { c.ObjectMeta = renamed(c.ObjectMeta) }))))
	}
	return true
}

// leftAlone are changes that leave one of the volumes that a claim could get.
func leftAlone(c *model.Cluster, class string) (all [][]calls.Call) {
	var free []*v1.PersistentVolume
	for _, o := range c.Extra {
		if pv, is := o.(*v1.PersistentVolume); is && pv.Spec.ClaimRef == nil && pv.Spec.StorageClassName == class {
			free = append(free, pv)
		}
	}
	if len(free) < 2 {
		return nil
	}
	for _, left := range free[:min(len(free), maxKept)] {
		var gone []calls.Call
		for _, pv := range free {
			if pv != left {
				gone = append(gone, calls.Call{Op: calls.Delete, Object: objectOf(pv)})
			}
		}
		all = append(all, gone)
	}
	return all
}

// hasAdmin tells whether a claim has requests for administrators. These take nothing from other claims, and yet, by the finding
// admin-access-consumes, from other requests of the same pod.
func hasAdmin(claim *resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool {
		return r.Exactly != nil && r.Exactly.AdminAccess != nil && *r.Exactly.AdminAccess
	})
}
