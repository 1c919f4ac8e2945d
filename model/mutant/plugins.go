package mutant

import (
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// Short names of what is misread.
type (
	pvc   = *v1.PersistentVolumeClaim
	pv    = *v1.PersistentVolume
	claim = *resourcev1.ResourceClaim
)

// ofPlugins drop each filter plugin, take what it cannot resolve for resolvable and
// the other way round, and break its rules.
func ofPlugins() []breaks {
	var all []breaks
	for _, p := range model.DefaultPlugins() {
		if p.Name() == "NodeName" {
			continue // a pod that waits names no node
		}
		all = append(all,
			breaks{"filter dropped: " + p.Name(), func(r *answers.Rules) { r.Plugins = variant.Without(r.Plugins, p.Name()) }},
			breaks{"filter with the other resolvability: " + p.Name(), onPlugin(p.Name(), otherResolvability)})
	}
	return slices.Concat(all, ofRules)
}

func onPlugin(name string, change variant.OfPlugin) func(*answers.Rules) {
	return func(r *answers.Rules) { r.Plugins = variant.On(r.Plugins, name, change) }
}

func otherResolvability(p filter.Plugin) filter.Plugin {
	flipped := func(failed *filter.Verdict) *filter.Verdict {
		if failed == nil {
			return nil
		}
		return variant.Changed(failed, func(v *filter.Verdict) { v.Unresolvable = !v.Unresolvable })
	}
	judged := variant.Rejudge(func(_ filter.State, _ *filter.Node, _ filter.View, failed *filter.Verdict) *filter.Verdict {
		return flipped(failed)
	})
	answered := variant.Rework(func(_ *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		a.Rejection = flipped(a.Rejection)
		return st, a
	})
	return answered(judged(p))
}

// ofRules break a rule of one plugin.
var ofRules = []breaks{
	{"affinity: nobody is the first", onPlugin("InterPodAffinity", variant.Alter(func(st *filter.InterPodAffinityState) {
		st.SelectsItself = false
	}))},
	{"affinity: the first comes again", onPlugin("InterPodAffinity", variant.Alter(func(st *filter.InterPodAffinityState) {
		for i := range st.Relations {
			st.Relations[i].Member = false
		}
		st.Count()
	}))},
	{"affinity: a stranger is the first", onPlugin("InterPodAffinity", variant.Alter(func(st *filter.InterPodAffinityState) {
		st.SelectsItself = true
	}))},

	{"spread: the preemptor does not count itself", onPlugin("PodTopologySpread", misreadConstraints(func(p *v1.Pod, c *v1.TopologySpreadConstraint) {
		if filter.SpreadSelector(c, p.Labels).Matches(labels.Set(p.Labels)) {
			c.MaxSkew++ // one pod more may be where it goes
		}
	}))},
	{"spread: pods of all namespaces count", onPlugin("PodTopologySpread", variant.Misread(func(s *filter.Snapshot) {
		s.Placed(func(_ *filter.Node, p *filter.Pod) {
			p.Pod = variant.Changed(p.Pod, func(p *v1.Pod) { p.Namespace = s.Preemptor.Namespace })
		})
	}))},
	{"spread: terminating pods count", onPlugin("PodTopologySpread", variant.MisreadPlaced(func(p *v1.Pod) { p.DeletionTimestamp = nil }))},
	{"spread: a node without one of the keys counts for the others", onPlugin("PodTopologySpread", eachKeyAlone)},
	{"spread: domains are not compared to the emptiest", onPlugin("PodTopologySpread", misreadConstraints(func(_ *v1.Pod, c *v1.TopologySpreadConstraint) {
		all := int32(math.MaxInt32)
		c.MinDomains = &all // as if there were too few
	}))},

	{"declared features: init containers ignored", onPlugin("NodeDeclaredFeatures", variant.MisreadPreemptor(func(p *v1.Pod) { p.Spec.InitContainers = nil }))},

	{"claims: users on other nodes ignored", onPlugin("VolumeRestrictions", variant.Rejudge(usersElsewhereIgnored))},
	{"disks: read-only GCE disks are not shared", onPlugin("VolumeRestrictions", misreadVolumes(func(v *v1.Volume) {
		if v.GCEPersistentDisk != nil {
			v.GCEPersistentDisk = variant.Changed(v.GCEPersistentDisk, func(d *v1.GCEPersistentDiskVolumeSource) { d.ReadOnly = false })
		}
	}))},
	{"disks: AWS volumes ignored", onPlugin("VolumeRestrictions", misreadVolumes(func(v *v1.Volume) { v.AWSElasticBlockStore = nil }))},
	{"disks: iSCSI ignored", onPlugin("VolumeRestrictions", misreadVolumes(func(v *v1.Volume) { v.ISCSI = nil }))},
	{"disks: RBD ignored", onPlugin("VolumeRestrictions", misreadVolumes(func(v *v1.Volume) { v.RBD = nil }))},

	{"limits: a shared volume counts for each pod", onPlugin("NodeVolumeLimits", variant.Rejudge(sharedVolumesCountEach))},
	{"limits: attached volumes do not count", asBefore("volumes that are attached, though no pod there mounts them, count for the limit")},
	{"limits: volumes to be provisioned do not count", onPlugin("NodeVolumeLimits", variant.Alter(func(st *volume.LimitsState) {
		st.Wanted = slices.DeleteFunc(st.Wanted, func(w volume.CSIVolume) bool { return w.Pending })
	}))},
	{"limits: a missing driver does not matter", onPlugin("NodeVolumeLimits", variant.MisreadObjects(func(d *storagev1.CSIDriver) { d.Spec.PreventPodSchedulingIfMissing = nil }))},

	{"binding: lost claims are good", onPlugin("VolumeBinding", variant.MisreadObjects(func(c pvc) { c.Status.Phase = v1.ClaimBound }))},
	{"binding: claims being deleted are good", onPlugin("VolumeBinding", variant.MisreadObjects(func(c pvc) { c.DeletionTimestamp = nil }))},
	{"binding: ephemeral claims of others are good", onPlugin("VolumeBinding", variant.Misread(func(s *filter.Snapshot) {
		controller := true
		owners := []metav1.OwnerReference{{UID: filter.PodUID(s.Preemptor.Pod), Controller: &controller}}
		for i, o := range s.Objects {
			if c, ok := o.(pvc); ok {
				s.Objects[i] = variant.Changed(c, func(c pvc) { c.OwnerReferences = owners })
			}
		}
	}))},
	{"binding: immediate claims need not be bound", onPlugin("VolumeBinding", variant.AlterBoth(func(_ *filter.Snapshot, st *volume.BindingState, a *filter.Answer) {
		if !slices.ContainsFunc(st.Claims, func(c volume.Claim) bool { return c.Unusable() != "" }) {
			a.Rejection = nil
		}
	}))},
	{"binding: node affinity of volumes ignored", onPlugin("VolumeBinding", variant.MisreadObjects(func(v pv) { v.Spec.NodeAffinity = nil }))},
	{"binding: the selected node ignored", onPlugin("VolumeBinding", variant.MisreadObjects(func(c pvc) { delete(c.Annotations, volume.AnnSelectedNode) }))},
	{"binding: selectors of claims ignored", onPlugin("VolumeBinding", variant.MisreadObjects(func(c pvc) { c.Spec.Selector = nil }))},
	{"binding: access modes ignored", onPlugin("VolumeBinding", variant.MisreadObjects(func(c pvc) { c.Spec.AccessModes = nil }))},
	{"binding: volumes in use are taken", onPlugin("VolumeBinding", variant.MisreadObjects(func(v pv) { v.Status.Phase = v1.VolumeAvailable }))},
	{"binding: volume mode ignored", onPlugin("VolumeBinding", func(p filter.Plugin) filter.Plugin {
		p = variant.MisreadObjects(func(c pvc) { c.Spec.VolumeMode = nil })(p)
		return variant.MisreadObjects(func(v pv) { v.Spec.VolumeMode = nil })(p)
	})},
	{"binding: capacity of volumes ignored", onPlugin("VolumeBinding", variant.MisreadObjects(func(v pv) {
		has := v.Spec.Capacity[v1.ResourceStorage]
		has.Add(resource.MustParse("1Ei"))
		v.Spec.Capacity = v1.ResourceList{v1.ResourceStorage: has}
	}))},
	{"binding: a claim beyond 64 bits is of no size", onPlugin("VolumeBinding", variant.MisreadObjects(func(c pvc) {
		if wants := c.Spec.Resources.Requests[v1.ResourceStorage]; wants.CmpInt64(math.MaxInt64) > 0 {
			c.Spec.Resources.Requests[v1.ResourceStorage] = resource.Quantity{}
		}
	}))},
	{"binding: storage beyond 64 bits is none", onPlugin("VolumeBinding", variant.MisreadObjects(func(left *storagev1.CSIStorageCapacity) {
		for _, q := range []*resource.Quantity{left.Capacity, left.MaximumVolumeSize} {
			if q != nil && q.CmpInt64(math.MaxInt64) >= 0 {
				*q = resource.Quantity{}
			}
		}
	}))},
	{"binding: fractions of a byte do not count", onPlugin("VolumeBinding", variant.MisreadObjects(func(c pvc) {
		wants := c.Spec.Resources.Requests[v1.ResourceStorage]
		if over := wants.MilliValue() % 1000; over > 0 {
			c.Spec.Resources.Requests[v1.ResourceStorage] = *resource.NewMilliQuantity(wants.MilliValue()-over, wants.Format)
		}
	}))},
	{"binding: one volume for two claims", onPlugin("VolumeBinding", variant.Misread(func(s *filter.Snapshot) {
		for _, o := range s.Objects { // each that is promised to nobody is seen twice
			if v, ok := o.(pv); ok && v.Spec.ClaimRef == nil {
				s.Objects = append(s.Objects, variant.Changed(v, func(v pv) { v.Name += " again" }))
			}
		}
	}))},
	{"binding: allowed topologies ignored", onPlugin("VolumeBinding", variant.MisreadObjects(func(c *storagev1.StorageClass) { c.AllowedTopologies = nil }))},
	{"binding: storage capacity ignored", onPlugin("VolumeBinding", variant.MisreadObjects(func(d *storagev1.CSIDriver) { d.Spec.StorageCapacity = nil }))},
	{"zones: old labels are not renamed", asBefore("a node need not have the zone labels that have been renamed")},

	{"claims: one that is being deleted will do", onPlugin("DynamicResources", variant.MisreadObjects(func(c claim) { c.DeletionTimestamp = nil }))},
	{"claims: another pod's will do", onPlugin("DynamicResources", variant.MisreadPreemptor(func(p *v1.Pod) {
		p.Spec.ResourceClaims = variant.Each(p.Spec.ResourceClaims, func(c *v1.PodResourceClaim) {
			if name, _ := device.ClaimName(p, c); name != "" {
				c.ResourceClaimName = &name // each is seen to be named by the pod itself
			}
		})
	}))},
	{"claims: none is shared", onPlugin("DynamicResources", variant.AlterBoth(func(s *filter.Snapshot, st *device.State, a *filter.Answer) {
		own := func(c resourcev1.ResourceClaimConsumerReference) bool { return c.UID == filter.PodUID(s.Preemptor.Pod) }
		for _, c := range st.Allocated {
			if by := c.Status.ReservedFor; len(by) > 0 && !slices.ContainsFunc(by, own) {
				*a = filter.Rejected("resourceclaim in use")
			}
		}
	}))},
	{"claims: device classes need not exist", onPlugin("DynamicResources", variant.AlterBoth(func(_ *filter.Snapshot, _ *device.State, a *filter.Answer) {
		if a.Rejection != nil && strings.HasPrefix(a.Rejection.Reasons[0], "device class ") {
			a.Rejection = nil
		}
	}))},
	{"claims: an allocation is good for all nodes", onPlugin("DynamicResources", misreadAllocations(func(a *resourcev1.AllocationResult) { a.NodeSelector = nil }))},
	{"claims: devices of other claims are free", onPlugin("DynamicResources", misreadAllocations(func(a *resourcev1.AllocationResult) { a.Devices.Results = nil }))},
	{"claims: tainted devices are as good as others", onPlugin("DynamicResources", variant.MisreadObjects(func(s *resourcev1.ResourceSlice) {
		for i := range s.Spec.Devices {
			s.Spec.Devices[i].Taints = nil
		}
	}))},
	{"claims: rules taint nothing", onPlugin("DynamicResources", variant.MisreadObjects(func(r *resourcev1.DeviceTaintRule) { r.Spec.DeviceSelector = nil }))},
	{"claims: no taint of a device is tolerated", onPlugin("DynamicResources", misreadRequests(func(r *resourcev1.DeviceRequest) {
		if r.Exactly != nil {
			r.Exactly.Tolerations = nil
		}
	}))},
	{"claims: no taint of an allocated device is tolerated", onPlugin("DynamicResources", misreadAllocations(func(a *resourcev1.AllocationResult) {
		for i := range a.Devices.Results {
			a.Devices.Results[i].Tolerations = nil
		}
	}))},
	{"claims: what is administered is taken from all claims", onPlugin("DynamicResources", variant.AlterBoth(func(s *filter.Snapshot, st *device.State, _ *filter.Answer) {
		if len(st.Open) > 0 {
			st.Read(s, func(r *device.Reading) { r.Withholds = func(int, int) bool { return true } })
		}
	}))},
	{"claims: just the first of a prioritized list will do", onPlugin("DynamicResources", misreadRequests(func(r *resourcev1.DeviceRequest) {
		r.FirstAvailable = r.FirstAvailable[:min(len(r.FirstAvailable), 1)]
	}))},
	{"claims: administration takes free devices", onPlugin("DynamicResources", misreadRequests(func(r *resourcev1.DeviceRequest) {
		if r.Exactly != nil {
			r.Exactly.AdminAccess = nil
		}
	}))},
	{"claims: none is deallocated", onPlugin("DynamicResources", variant.Alter(func(st *device.State) { clear(st.Idle) }))},
}

func misreadConstraints(change func(*v1.Pod, *v1.TopologySpreadConstraint)) variant.OfPlugin {
	return variant.MisreadPreemptor(func(p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = variant.Each(p.Spec.TopologySpreadConstraints, func(c *v1.TopologySpreadConstraint) { change(p, c) })
	})
}

func misreadVolumes(change func(*v1.Volume)) variant.OfPlugin {
	return variant.MisreadPods(func(p *v1.Pod) { p.Spec.Volumes = variant.Each(p.Spec.Volumes, change) })
}

func misreadRequests(change func(*resourcev1.DeviceRequest)) variant.OfPlugin {
	return variant.MisreadObjects(func(c claim) {
		for i := range c.Spec.Devices.Requests {
			change(&c.Spec.Devices.Requests[i])
		}
	})
}

func misreadAllocations(change func(*resourcev1.AllocationResult)) variant.OfPlugin {
	return variant.MisreadObjects(func(c claim) {
		if c.Status.Allocation != nil {
			change(c.Status.Allocation)
		}
	})
}

// eachKeyAlone judges each constraint as if it were the only one.
func eachKeyAlone(p filter.Plugin) filter.Plugin {
	return variant.Rework(func(s *filter.Snapshot, _ filter.State, a filter.Answer) (filter.State, filter.Answer) {
		var all []filter.State
		for _, c := range s.Preemptor.Spec.TopologySpreadConstraints {
			alone := variant.MisreadPreemptor(func(p *v1.Pod) { p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{c} })
			if st, _ := alone(p).PreFilter(s); st != nil {
				all = append(all, st)
			}
		}
		return variant.Judge{
			Verdict: func(n *filter.Node, v filter.View) *filter.Verdict {
				for _, st := range all {
					if failed := st.Fits(n, v); failed != nil {
						return failed
					}
				}
				return nil
			},
			Same: func(a, b *filter.Pod) bool {
				return !slices.ContainsFunc(all, func(st filter.State) bool { return !st.Alike(a, b) })
			},
		}, a
	})(p)
}

func usersElsewhereIgnored(st *volume.RestrictionsState, _ *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
	if slices.ContainsFunc(v.Pods, func(p *filter.Pod) bool { return st.Disk[p.Index] || len(st.Uses[p.Index]) > 0 }) {
		return failed
	}
	return nil
}

func sharedVolumesCountEach(st *volume.LimitsState, n *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
	if failed != nil {
		return failed
	}
	for _, l := range st.Limits[n.Index] {
		inUse := st.InUse(n, v, l.Driver)
		more, mounts, mounted := 0, 0, map[volume.CSIVolume]bool{}
		for _, w := range st.Wanted {
			if w.Driver == l.Driver && !inUse[w] {
				more++
			}
		}
		for _, p := range v.Pods {
			for _, w := range st.Mounted[p.Index] {
				if w.Driver == l.Driver {
					mounts++
					mounted[w] = true
				}
			}
		}
		if more > 0 && len(inUse)-len(mounted)+mounts+more > l.Count {
			return volume.TooManyVolumes()
		}
	}
	return nil
}
