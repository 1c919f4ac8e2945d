package volume

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// VolumeBinding: volumes that are bound have to be reachable from the node, and
// for each claim that waits for a pod there has to be a volume, or it can be
// provisioned there (volume_binding.go:403@v1.37.1, doc comment of Filter). The
// pods on the node play no part in it.
type VolumeBinding struct{}

// Name implements filter.Plugin.
func (VolumeBinding) Name() string { return "VolumeBinding" }

// PreFilter implements filter.Plugin. Every claim has to exist and to stay, that
// of an ephemeral volume has to be the pod's own, and one whose class does not
// wait for a pod, or that names its volume already, has to be bound
// (docs: concepts/storage/persistent-volumes, "Binding"; storage-classes,
// "Volume binding mode"; volume_binding.go:351@v1.37.1, PreFilter).
func (VolumeBinding) PreFilter(s *filter.Snapshot) (filter.State, filter.Answer) {
	if !Mounts(s.Preemptor.Pod) {
		return nil, filter.Answer{}
	}
	index := NewIndex(s.Objects)
	st := &BindingState{Claims: index.ClaimsOf(s.Preemptor.Pod), index: index, nodes: s.Nodes}
	if len(st.Claims) == 0 {
		return nil, filter.Answer{}
	}
	st.Verdicts = st.Judge(Holds)
	if why := st.rejected(); why != "" {
		return st, filter.Rejected(why)
	}
	return st, filter.Answer{}
}

// rejected says why the preemptor's claims keep it from all nodes; "" if they do not.
func (st *BindingState) rejected() string {
	for i := range st.Claims {
		if why := st.Claims[i].Unusable(); why != "" {
			return why
		}
	}
	if slices.ContainsFunc(st.Claims, func(c Claim) bool { return c.Immediate() }) {
		return "pod has unbound immediate PersistentVolumeClaims"
	}
	return ""
}

// BindingState is the State of VolumeBinding.
type BindingState struct {
	filter.Verdicts
	// Claims are those behind the preemptor's volumes.
	Claims []Claim
	// Drawn is the key of a claim for which one of several volumes is drawn by lots,
	// where it decides whether the preemptor fits on a node; "" if there is none.
	Drawn string
	index *Index
	nodes []*filter.Node
}

// Judge works out the verdict on each node, where holds tells whether a volume of a size can
// be made of the storage that is left.
func (st *BindingState) Judge(holds func(left, size resource.Quantity) bool) filter.Verdicts {
	b := &binder{st.index, st, holds}
	verdicts := make(filter.Verdicts, len(st.nodes))
	st.Drawn = ""
	for i, n := range st.nodes {
		verdicts[i] = b.verdict(n.Node)
	}
	if st.rejected() != "" { // whatever is drawn
		st.Drawn = ""
	}
	return verdicts
}

// binder works out which nodes have volumes for the preemptor's claims.
type binder struct {
	*Index
	*BindingState
	holds func(left, size resource.Quantity) bool
}

// verdict judges the preemptor on n.
func (b *binder) verdict(n *v1.Node) *filter.Verdict {
	find, provision, reasons := b.open(n)
	before := b.Drawn
	b.Drawn = ""
	works, fails := b.match(n, find, nil, provision)
	if works && fails && b.Drawn == "" {
		b.Drawn = find[0].Key
	}
	if len(reasons) > 0 { // n is rejected anyway, whatever is drawn
		if !works && b.Drawn == "" && !slices.Contains(reasons, NothingToBind) {
			reasons = append(reasons, NothingToBind)
		}
		b.Drawn = before
		return &filter.Verdict{Unresolvable: true, Reasons: reasons}
	}
	b.Drawn = cmp.Or(before, b.Drawn)
	if !works {
		return filter.Unresolvable(NothingToBind)
	}
	return nil
}

// open are the claims for which a volume has to be found on n, the smallest first, and those that are to be provisioned there
// anyway; and all reasons why claims that have their volume, or their node, keep the preemptor from n.
func (b *binder) open(n *v1.Node) (find, provision []Claim, reasons []string) {
	fails := func(reason string) {
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	for _, c := range b.BindingState.Claims {
		switch {
		case c.Bound():
			if c.PV == nil {
				fails(NoVolume)
			} else if !reaches(n, b.on(n, c.PV)) {
				fails(OutOfReach)
			}
		case c.Waits():
			// A node was selected for it before, and the volume may be on its way there.
			if selected, ok := c.PVC.Annotations[AnnSelectedNode]; !ok {
				find = append(find, c)
			} else if selected != n.Name {
				fails(NothingToBind)
			} else {
				provision = append(provision, c)
			}
		}
	}
	// The smallest claim first, each takes the smallest volume it can.
	slices.SortStableFunc(find, func(a, b Claim) int { return a.size().Cmp(*b.size()) })
	return find, provision, reasons
}

// Gives tells whether a pod that comes to a node may get these volumes for its claims, by the keys of both: each claim that waits gets
// the smallest that is left and that it can take, and none only where there is none, and it can be provisioned. Which of two claims
// of one size is first is not promised.
func (x *Index) Gives(p *v1.Pod, n *v1.Node, volumes map[string]string) bool {
	b := &binder{x, &BindingState{Claims: x.ClaimsOf(p)}, Holds}
	find, _, reasons := b.open(n)
	return len(reasons) == 0 && b.gives(n, find, nil, volumes)
}

func (b *binder) gives(n *v1.Node, find []Claim, taken []string, volumes map[string]string) bool {
	for i := range find {
		if find[i].size().Cmp(*find[0].size()) > 0 {
			return false
		}
		others := slices.Delete(slices.Clone(find), i, i+1)
		volume, gets := volumes[find[i].Key]
		candidates := b.matches(n, find[i].PVC, taken)
		switch {
		case gets && slices.Contains(candidates, volume):
			if b.gives(n, others, append(slices.Clip(taken), volume), volumes) {
				return true
			}
		case !gets && len(candidates) == 0 && b.provisions(n, &find[i]):
			if b.gives(n, others, taken, volumes) {
				return true
			}
		}
	}
	return len(find) == 0
}

// NoVolume is the reason of a node where a claim's volume is no more, OutOfReach that of one that cannot reach it, and NothingToBind
// that of one where a claim gets none.
const (
	NoVolume      = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
	OutOfReach    = "node(s) didn't match PersistentVolume's node affinity"
	NothingToBind = "node(s) didn't find available persistent volumes to bind"
)

// match gives each claim a volume that is there, and tells whether the others can
// be provisioned: it may work or fail, where volumes are equally good.
func (b *binder) match(n *v1.Node, find []Claim, taken []string, provision []Claim) (works, fails bool) {
	if len(find) == 0 {
		for i := range provision {
			if !b.provisions(n, &provision[i]) {
				return false, true
			}
		}
		return true, false
	}
	volumes := b.matches(n, find[0].PVC, taken)
	if len(volumes) == 0 {
		return b.match(n, find[1:], taken, append(slices.Clip(provision), find[0]))
	}
	for _, pv := range volumes {
		w, f := b.match(n, find[1:], append(slices.Clip(taken), pv), provision)
		works, fails = works || w, fails || f
	}
	return works, fails
}

// matches are the volumes that a claim can take on n: the one that names the
// claim, else of those that fit it the smallest ones
// (storage/volume/pv_helpers.go:186@v0.37.1, FindMatchingVolume; docs:
// concepts/storage/persistent-volumes, "Binding").
func (b *binder) matches(n *v1.Node, claim *v1.PersistentVolumeClaim, taken []string) []string {
	var best []*v1.PersistentVolume
	selector, err := metav1.LabelSelectorAsSelector(claim.Spec.Selector)
	if claim.Spec.Selector == nil {
		selector = labels.Everything()
	} else if err != nil {
		selector = labels.Nothing()
	}
	var reserved []string
	unreachable := false
	for _, pv := range b.Volumes {
		mine := reservedFor(pv, claim)
		if slices.Contains(taken, pv.Name) || pv.Spec.ClaimRef != nil && !mine || !suits(pv, claim) {
			continue
		}
		reachable := reaches(n, pv)
		if mine {
			reserved = append(reserved, pv.Name)
			unreachable = unreachable || !reachable
			continue
		}
		if pv.Status.Phase != v1.VolumeAvailable || !selector.Matches(labels.Set(pv.Labels)) || !reachable ||
			slices.ContainsFunc(claim.Spec.AccessModes, func(m v1.PersistentVolumeAccessMode) bool { return !slices.Contains(pv.Spec.AccessModes, m) }) {
			continue
		}
		if len(best) > 0 {
			has, least := pv.Spec.Capacity[v1.ResourceStorage], best[0].Spec.Capacity[v1.ResourceStorage]
			if c := has.Cmp(least); c > 0 {
				continue
			} else if c < 0 {
				best = best[:0]
			}
		}
		best = append(best, pv)
	}
	if len(reserved) > 0 {
		// It is this volume or none.
		if unreachable && len(reserved) > 1 {
			b.Drawn = filter.Key(claim)
		}
		if unreachable {
			return nil
		}
		return reserved
	}
	names := make([]string, len(best))
	for i, pv := range best {
		names[i] = pv.Name
	}
	slices.Sort(names)
	return names
}

// suits tells whether a volume is what the claim asks for, whoever is to have it.
func suits(pv *v1.PersistentVolume, claim *v1.PersistentVolumeClaim) bool {
	has, wants := pv.Spec.Capacity[v1.ResourceStorage], claim.Spec.Resources.Requests[v1.ResourceStorage]
	return annotatedClass(pv.Annotations, pv.Spec.StorageClassName) == classOf(claim) &&
		Holds(has, wants) &&
		ptr.Deref(pv.Spec.VolumeMode, v1.PersistentVolumeFilesystem) == ptr.Deref(claim.Spec.VolumeMode, v1.PersistentVolumeFilesystem) &&
		ptr.Deref(claim.Spec.VolumeAttributesClassName, "") == ptr.Deref(pv.Spec.VolumeAttributesClassName, "") &&
		pv.DeletionTimestamp == nil
}

// provisions tells whether a volume for the claim can be made where n reaches it:
// its class has a provisioner, allows the node's topology (docs: storage-classes,
// "Allowed topologies"), and there is room, if the driver tells (KEP-1472).
func (b *binder) provisions(n *v1.Node, c *Claim) bool {
	class := c.Class
	if !c.Provisioned() {
		return false
	}
	allowed := func(t v1.TopologySelectorTerm) bool {
		return len(t.MatchLabelExpressions) > 0 && !slices.ContainsFunc(t.MatchLabelExpressions, func(e v1.TopologySelectorLabelRequirement) bool {
			at, has := n.Labels[e.Key]
			return !has || !slices.Contains(e.Values, at)
		})
	}
	if len(class.AllowedTopologies) > 0 && !slices.ContainsFunc(class.AllowedTopologies, allowed) {
		return false
	}
	driver := b.Drivers[class.Provisioner]
	wants, sized := c.PVC.Spec.Resources.Requests[v1.ResourceStorage]
	if !sized || driver == nil || !ptr.Deref(driver.Spec.StorageCapacity, false) {
		return true
	}
	return slices.ContainsFunc(b.Capacities, func(c *storagev1.CSIStorageCapacity) bool {
		room := limitOf(c)
		if c.StorageClassName != class.Name || room == nil || !b.holds(*room, wants) || c.NodeTopology == nil {
			return false
		}
		nodes, err := metav1.LabelSelectorAsSelector(c.NodeTopology)
		return err == nil && nodes.Matches(labels.Set(n.Labels))
	})
}

// noProvisioner is the provisioner that makes no volumes (docs:
// concepts/storage/storage-classes, "Local").
const noProvisioner = "kubernetes.io/no-provisioner"

// reaches tells whether a volume's node affinity allows the node.
func reaches(n *v1.Node, pv *v1.PersistentVolume) bool {
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return true
	}
	return filter.AnyTermMatches(pv.Spec.NodeAffinity.Required.NodeSelectorTerms, n)
}

// reservedFor tells whether a volume names the claim.
func reservedFor(pv *v1.PersistentVolume, claim *v1.PersistentVolumeClaim) bool {
	ref := pv.Spec.ClaimRef
	return ref != nil && ref.Name == claim.Name && ref.Namespace == claim.Namespace && (ref.UID == "" || ref.UID == claim.UID)
}
