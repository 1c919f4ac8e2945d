package volume

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// NodeVolumeLimits: a CSI driver says how many volumes it can attach to a node,
// where a volume counts once however many pods use it (CSINode,
// spec.drivers[].allocatable.count, storage/v1/types.go:661@v0.37.1; docs:
// concepts/storage/storage-limits). Volumes count that pods mount, and those
// attached though no pod mounts them: but what only removed pods mounted is
// detached.
type NodeVolumeLimits struct{}

// Name implements filter.Plugin.
func (NodeVolumeLimits) Name() string { return "NodeVolumeLimits" }

// PreFilter implements filter.Plugin.
func (NodeVolumeLimits) PreFilter(s *filter.Snapshot) (filter.State, filter.Answer) {
	if !Mounts(s.Preemptor.Pod) {
		return nil, filter.Answer{}
	}
	st := &LimitsState{Index: NewIndex(s.Objects), Missing: make(filter.Verdicts, len(s.Nodes))}
	claims := st.Index.ClaimsOf(s.Preemptor.Pod)
	st.Unusable = unusable(claims)
	st.Wanted = CSIVolumes(s.Preemptor.Pod, claims)
	if st.Unusable == nil && len(st.Wanted) == 0 {
		return nil, filter.Answer{}
	}
	for i, n := range s.Nodes {
		st.Missing[i] = st.Index.Missing(st.Wanted, n.Name)
	}
	st.place(s)
	return st, filter.Answer{}
}

// unusable is the Verdict on every node if a claim is none that the pod can use.
// VolumeBinding has rejected such pods before.
func unusable(claims []Claim) *filter.Verdict {
	for _, c := range claims {
		if c.PVC == nil {
			return filter.Unresolvable(c.named("not found"))
		}
		if !c.Owned {
			return &filter.Verdict{Error: "PVC " + c.Key + " was not created for pod"}
		}
	}
	return nil
}

// LimitsState is the State of NodeVolumeLimits.
type LimitsState struct {
	Index *Index
	// Unusable is the Verdict on every node, if it is not nil.
	Unusable *filter.Verdict
	// Missing is the Verdict on the nodes that lack a driver, by Node.Index.
	Missing filter.Verdicts
	// Wanted are the preemptor's volumes.
	Wanted []CSIVolume
	// Mounted are a pod's volumes of the drivers of Wanted, by Pod.Index.
	Mounted [][]CSIVolume
	// Attached are the volumes that are attached to a node though no pod bound to it
	// mounts them, by Node.Index.
	Attached [][]CSIVolume
	// Limits are those of the drivers of Wanted, by Node.Index.
	Limits [][]Limit
	// kinds are the same for pods of a node that can stand in for each other, by
	// Pod.Index.
	kinds []string
}

// Limit is how many volumes of a driver can be attached to a node.
type Limit struct {
	Driver string
	Count  int
}

// place finds the volumes of pods and nodes.
func (st *LimitsState) place(s *filter.Snapshot) {
	size := s.Size()
	st.Mounted, st.kinds = make([][]CSIVolume, size), make([]string, size)
	st.Attached, st.Limits = make([][]CSIVolume, len(s.Nodes)), make([][]Limit, len(s.Nodes))
	wanted := func(driver string) bool {
		return slices.ContainsFunc(st.Wanted, func(w CSIVolume) bool { return w.Driver == driver })
	}
	for i, n := range s.Nodes {
		users := map[CSIVolume]int{}
		for _, pods := range [][]*filter.Pod{n.Pods, n.Nominated} {
			for _, p := range pods {
				if len(p.Spec.Volumes) == 0 {
					continue
				}
				for _, v := range CSIVolumes(p.Pod, st.Index.ClaimsOf(p.Pod)) {
					if wanted(v.Driver) {
						st.Mounted[p.Index] = append(st.Mounted[p.Index], v)
						users[v]++
					}
				}
			}
		}
		attached := st.Index.AttachedTo(n.Name)
		for _, v := range attached {
			if !slices.ContainsFunc(n.Pods, func(p *filter.Pod) bool { return slices.Contains(st.Mounted[p.Index], v) }) {
				st.Attached[i] = append(st.Attached[i], v)
			}
		}
		for _, p := range n.Pods {
			st.kinds[p.Index] = st.kind(p, users, attached)
		}
		if csiNode := st.Index.CSINodes[n.Name]; csiNode != nil {
			for _, l := range limitsOf(csiNode) {
				if wanted(l.Driver) {
					st.Limits[i] = append(st.Limits[i], l)
				}
			}
		}
	}
}

// kind tells a pod apart from others of its node: volumes that only this pod uses
// count like any others of their driver.
func (st *LimitsState) kind(p *filter.Pod, users map[CSIVolume]int, attached []CSIVolume) string {
	var volumes []string
	for _, v := range st.Mounted[p.Index] {
		is := v.Driver
		if users[v] > 1 || slices.Contains(st.Wanted, v) {
			is += "/" + v.Handle
			if v.Pending {
				is += " pending"
			}
		}
		if slices.Contains(attached, v) {
			is += " attached"
		}
		volumes = append(volumes, is)
	}
	slices.Sort(volumes)
	return strings.Join(volumes, ",")
}

// Fits implements filter.State.
func (st *LimitsState) Fits(n *filter.Node, v filter.View) *filter.Verdict {
	if st.Unusable != nil {
		same := *st.Unusable
		return &same
	}
	if missing := st.Missing.Fits(n, v); missing != nil {
		return missing
	}
	if len(st.Limits[n.Index]) == 0 {
		return nil
	}
	most := len(st.Wanted) + len(st.Attached[n.Index])
	for _, p := range v.Pods {
		most += len(st.Mounted[p.Index])
	}
	for _, l := range st.Limits[n.Index] {
		if most <= l.Count {
			continue
		}
		inUse, more := st.InUse(n, v, l.Driver), 0
		for _, w := range st.Wanted {
			if w.Driver == l.Driver && !inUse[w] {
				more++
			}
		}
		if more > 0 && len(inUse)+more > l.Count {
			return TooManyVolumes()
		}
	}
	return nil
}

// TooManyVolumes is the Verdict on a node that can take no more volumes.
func TooManyVolumes() *filter.Verdict { return filter.Resolvable("node(s) exceed max volume count") }

// InUse are the volumes of a driver that take up room on n if it holds just the
// pods of v.
func (st *LimitsState) InUse(n *filter.Node, v filter.View, driver string) map[CSIVolume]bool {
	inUse := map[CSIVolume]bool{}
	add := func(volumes []CSIVolume) {
		for _, volume := range volumes {
			if volume.Driver == driver {
				inUse[volume] = true
			}
		}
	}
	add(st.Attached[n.Index])
	for _, p := range v.Pods {
		add(st.Mounted[p.Index])
	}
	return inUse
}

// Alike implements filter.State.
func (st *LimitsState) Alike(a, b *filter.Pod) bool { return st.kinds[a.Index] == st.kinds[b.Index] }

// CSIVolume is a volume of a CSI driver.
type CSIVolume struct {
	Driver, Handle string
	// Pending: it is still to be provisioned, for the claim that Handle names.
	Pending bool
}

// CSIVolumes are the CSI volumes of a pod with those claims, each once; those that
// were migrated to a CSI driver are. One that is still to be provisioned counts for
// the provisioner of its class (nodevolumelimits/csi.go:560@v1.37.1,
// getCSIDriverInfoFromSC).
func CSIVolumes(p *v1.Pod, claims []Claim) []CSIVolume {
	var volumes []CSIVolume
	add := func(v CSIVolume) {
		if v.Driver != "" && v.Handle != "" && !slices.Contains(volumes, v) {
			volumes = append(volumes, v)
		}
	}
	for _, c := range claims {
		switch {
		case c.PVC == nil || !c.Owned:
		case c.PV == nil:
			if c.Class != nil {
				add(CSIVolume{cmp.Or(migratedDrivers[c.Class.Provisioner], c.Class.Provisioner), c.Key, true})
			}
		case c.PV.Spec.CSI != nil:
			add(CSIVolume{Driver: c.PV.Spec.CSI.Driver, Handle: c.PV.Spec.CSI.VolumeHandle})
		default:
			add(migrated(&c.PV.Spec.PersistentVolumeSource, c.PV.Labels))
		}
	}
	for i := range p.Spec.Volumes {
		add(migrated(inline(&p.Spec.Volumes[i]), nil))
	}
	return volumes
}

// AttachedTo are the CSI volumes that are attached to a node, whoever mounts them; those that were migrated to a CSI driver are.
func (x *Index) AttachedTo(node string) []CSIVolume {
	var volumes []CSIVolume
	for _, a := range x.Attachments[node] {
		name := a.Spec.Source.PersistentVolumeName
		if name == nil || a.Spec.Attacher == "" || x.Volumes[*name] == nil {
			continue
		}
		pv := x.Volumes[*name]
		if pv.Spec.CSI != nil {
			volumes = append(volumes, CSIVolume{Driver: a.Spec.Attacher, Handle: pv.Spec.CSI.VolumeHandle})
		} else if v := migrated(&pv.Spec.PersistentVolumeSource, pv.Labels); v.Handle != "" && v.Driver == a.Spec.Attacher {
			volumes = append(volumes, v)
		}
	}
	return volumes
}

// limitsOf are the limits that drivers state for a node.
func limitsOf(n *storagev1.CSINode) []Limit {
	var limits []Limit
	for i := range n.Spec.Drivers {
		if d := &n.Spec.Drivers[i]; d.Allocatable != nil && d.Allocatable.Count != nil {
			limits = append(limits, Limit{d.Name, int(*d.Allocatable.Count)})
		}
	}
	return limits
}

// Missing is the Verdict on a node that lacks the driver of one of some volumes; nil if there is none. A driver may ask that no pod
// comes to a node that lacks it (CSIDriver, spec.preventPodSchedulingIfMissing), where no pod is in its way.
func (x *Index) Missing(volumes []CSIVolume, node string) *filter.Verdict {
	for _, v := range volumes {
		d, n := x.Drivers[v.Driver], x.CSINodes[node]
		if d == nil || !ptr.Deref(d.Spec.PreventPodSchedulingIfMissing, false) {
			continue
		}
		if n == nil || !slices.ContainsFunc(n.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == v.Driver }) {
			return filter.Unresolvable(v.Driver + " CSI driver is not installed on the node")
		}
	}
	return nil
}
