package model

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// The annotations that say how far a claim has come, and the provisioner that
// makes no volumes (docs: reference/labels-annotations-taints;
// storage/volume/pv_helpers.go:39@v0.37.1).
const (
	annBindCompleted = "pv.kubernetes.io/bind-completed"
	annSelectedNode  = "volume.kubernetes.io/selected-node"
	noProvisioner    = "kubernetes.io/no-provisioner"
)

// bindingRules is what binding looks at.
type bindingRules struct {
	lost, deleting, owner    bool // such claims are no good
	immediate                bool // claims that do not wait for a pod have to be bound
	affinity                 bool // of volumes
	selectedNode             bool
	selector, modes, phase   bool
	volumeMode, size, chosen bool
	topology, capacity       bool // where volumes can be provisioned
	selectedWaits            bool // also claims for which a node was selected wait for the pod
	rejects                  bool // claims that are missing or deleted: else the cycle ends in an error
	early                    bool // whether claims are bound is judged before any node is looked at
	lostVolume               bool // a node cannot have a volume that is no more: else it is an error

	// Quirks: see Quirk.
	noNodeFields     bool
	classByFieldOnly bool
}

func documentedBinding() bindingRules {
	return bindingRules{lost: true, deleting: true, owner: true, immediate: true, affinity: true, selectedNode: true,
		selectedWaits: true, rejects: true, early: true, lostVolume: true, selector: true, modes: true, phase: true, volumeMode: true, size: true, chosen: true, topology: true, capacity: true}
}

// volumeBindingPreFilter: every claim has to exist and to stay, that of an
// ephemeral volume has to be the pod's own, and one whose class does not wait for
// a pod, or that names its volume already, has to be bound
// (docs: concepts/storage/persistent-volumes, "Binding"; storage-classes,
// "Volume binding mode"; volume_binding.go:351@v1.37.1, PreFilter).
func volumeBindingPreFilter(q *question) *preFilterAnswer {
	if q.storage == nil {
		return nil
	}
	rules := &q.rules.binding
	reject := func(reason string) *preFilterAnswer { return &preFilterAnswer{rejection: unresolvable(reason)} }
	for _, w := range q.storage.wanted {
		switch {
		case !rules.rejects && (w.claim == nil || w.claim.DeletionTimestamp != nil):
			return &preFilterAnswer{err: "persistentvolumeclaim \"" + w.key + "\" not found, or being deleted"}
		case w.claim == nil:
			return reject("persistentvolumeclaim \"" + w.key + "\" not found")
		case w.claim.Status.Phase == v1.ClaimLost && rules.lost:
			return reject("persistentvolumeclaim \"" + w.key + "\" has lost its volume")
		case w.claim.DeletionTimestamp != nil && rules.deleting:
			return reject("persistentvolumeclaim \"" + w.key + "\" is being deleted")
		case !w.owned && rules.owner:
			return reject("persistentvolumeclaim \"" + w.key + "\" was not made for the pod")
		}
	}
	for _, w := range q.storage.wanted {
		if rules.immediate && rules.early && !bound(w.claim) && !q.storage.waits(w.claim) {
			return reject("pod has unbound immediate PersistentVolumeClaims")
		}
	}
	if names := q.hostNames(); names != nil && q.rules.hostNamesAreNodeNames {
		return &preFilterAnswer{nodes: names}
	}
	return nil
}

// hostNames are the names of the hosts on which the preemptor's volumes are, by
// their node affinity; nil if it requires none, or a volume is missing.
func (q *question) hostNames() map[string]bool {
	var all map[string]bool
	for _, w := range q.storage.wanted {
		if w.claim == nil || !bound(w.claim) {
			continue
		}
		pv := q.storage.volumes[w.claim.Spec.VolumeName]
		if pv == nil {
			return nil
		}
		if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
			continue
		}
		names := map[string]bool{}
		for _, term := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
			var inTerm []string
			for _, r := range term.MatchExpressions {
				switch {
				case r.Key != v1.LabelHostname || r.Operator != v1.NodeSelectorOpIn:
				case inTerm == nil:
					inTerm = slices.Clone(r.Values)
				default:
					inTerm = slices.DeleteFunc(inTerm, func(name string) bool { return !slices.Contains(r.Values, name) })
				}
			}
			for _, name := range inTerm {
				names[name] = true
			}
		}
		switch {
		case len(names) == 0:
		case all == nil:
			all = names
		default:
			maps.DeleteFunc(all, func(name string, _ bool) bool { return !names[name] })
		}
	}
	return all
}

// bound: both sides of the binding are written.
func bound(claim *v1.PersistentVolumeClaim) bool {
	_, completed := claim.Annotations[annBindCompleted]
	return claim.Spec.VolumeName != "" && completed
}

// waits tells whether the scheduler is to bind the claim.
func (s *storage) waits(claim *v1.PersistentVolumeClaim) bool {
	class := s.classes[classOf(claim)]
	if _, selected := claim.Annotations[annSelectedNode]; selected && !s.selectedWaits {
		return false
	}
	return claim.Spec.VolumeName == "" && class != nil && class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

func volumeBindingFails(q *question, n *node, _ view) *Verdict {
	if q.storage == nil || n.storage.binding == nil {
		return nil
	}
	failed := *n.storage.binding
	return &failed
}

// bindingVerdict: volumes that are bound have to be reachable from the node, and
// for each claim that waits for a pod there has to be a volume, or it can be
// provisioned there (volume_binding.go:403@v1.37.1, doc comment of Filter). Pods
// play no part in it.
func (q *question) bindingVerdict(n *node) *Verdict {
	s, rules := q.storage, &q.rules.binding
	var find, provision []podClaim
	if !rules.early && slices.ContainsFunc(s.wanted, func(w podClaim) bool { return w.claim != nil && !bound(w.claim) && !s.waits(w.claim) }) {
		return &Verdict{Error: "pod has unbound immediate PersistentVolumeClaims"}
	}
	for _, w := range s.wanted {
		switch {
		case w.claim == nil:
		case bound(w.claim):
			pv := s.volumes[w.claim.Spec.VolumeName]
			if pv == nil && !rules.lostVolume {
				return &Verdict{Error: "persistentvolume \"" + w.claim.Spec.VolumeName + "\" not found"}
			}
			if pv == nil {
				return unresolvable("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
			}
			if rules.affinity && !q.reaches(n, pv) {
				return unresolvable("node(s) didn't match PersistentVolume's node affinity")
			}
		case s.waits(w.claim):
			// A node was selected for it before, and the volume may be on its way there.
			if selected, ok := w.claim.Annotations[annSelectedNode]; !ok || !rules.selectedNode {
				find = append(find, w)
			} else if selected != n.Name {
				return unresolvable("node(s) didn't find available persistent volumes to bind")
			} else {
				provision = append(provision, w)
			}
		}
	}
	// The smallest claim first, each takes the smallest volume it can.
	slices.SortStableFunc(find, func(a, b podClaim) int {
		x, y := a.claim.Spec.Resources.Requests[v1.ResourceStorage], b.claim.Spec.Resources.Requests[v1.ResourceStorage]
		return x.Cmp(y)
	})
	works, fails := q.match(n, find, nil, provision)
	if works && fails && s.undecided == "" {
		s.undecided = find[0].key
	}
	if !works {
		return unresolvable("node(s) didn't find available persistent volumes to bind")
	}
	return nil
}

// match gives each claim a volume that is there, and tells whether the others can
// be provisioned: it may work or fail, where volumes are equally good.
func (q *question) match(n *node, find []podClaim, taken []string, provision []podClaim) (works, fails bool) {
	if len(find) == 0 {
		for _, w := range provision {
			if !q.provisions(n, w.claim) {
				return false, true
			}
		}
		return true, false
	}
	volumes := q.matches(n, find[0].claim, taken)
	if len(volumes) == 0 {
		return q.match(n, find[1:], taken, append(slices.Clip(provision), find[0]))
	}
	for _, pv := range volumes {
		w, f := q.match(n, find[1:], append(slices.Clip(taken), pv), provision)
		works, fails = works || w, fails || f
	}
	return works, fails
}

// matches are the volumes that a claim can take on n: the one that names the
// claim, else of those that fit it the smallest ones
// (storage/volume/pv_helpers.go:186@v0.37.1, FindMatchingVolume; docs:
// concepts/storage/persistent-volumes, "Binding").
func (q *question) matches(n *node, claim *v1.PersistentVolumeClaim, taken []string) []string {
	rules := &q.rules.binding
	var best []*v1.PersistentVolume
	selector := labels.Everything()
	if claim.Spec.Selector != nil && rules.selector {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(claim.Spec.Selector); err != nil {
			selector = labels.Nothing()
		}
	}
	wants := claim.Spec.Resources.Requests[v1.ResourceStorage]
	size := func(pv *v1.PersistentVolume) int {
		has := pv.Spec.Capacity[v1.ResourceStorage]
		return has.Cmp(wants)
	}
	var reserved []string
	unreachable := false
	for _, pv := range q.storage.volumes {
		mine := reservedFor(pv, claim)
		switch {
		case slices.Contains(taken, pv.Name) && rules.chosen,
			pv.Spec.ClaimRef != nil && !mine,
			classOfVolume(pv) != classOf(claim),
			rules.classByFieldOnly && classOf(claim) != value(claim.Spec.StorageClassName),
			size(pv) < 0 && rules.size,
			volumeMode(pv.Spec.VolumeMode) != volumeMode(claim.Spec.VolumeMode) && rules.volumeMode,
			value(claim.Spec.VolumeAttributesClassName) != value(pv.Spec.VolumeAttributesClassName),
			pv.DeletionTimestamp != nil:
			continue
		}
		reachable := !rules.affinity || q.reaches(n, pv)
		if mine {
			reserved = append(reserved, pv.Name)
			unreachable = unreachable || !reachable
			continue
		}
		if pv.Status.Phase != v1.VolumeAvailable && rules.phase || !selector.Matches(labels.Set(pv.Labels)) || !reachable ||
			rules.modes && slices.ContainsFunc(claim.Spec.AccessModes, func(m v1.PersistentVolumeAccessMode) bool { return !slices.Contains(pv.Spec.AccessModes, m) }) {
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
			q.storage.undecided = Key(claim)
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

// provisions tells whether a volume for the claim can be made where n reaches it:
// its class has a provisioner, allows the node's topology (docs: storage-classes,
// "Allowed topologies"), and there is room, if the driver tells (KEP-1472).
func (q *question) provisions(n *node, claim *v1.PersistentVolumeClaim) bool {
	class := q.storage.classes[classOf(claim)]
	if class == nil || class.Provisioner == "" || class.Provisioner == noProvisioner {
		return false
	}
	allowed := func(t v1.TopologySelectorTerm) bool {
		return len(t.MatchLabelExpressions) > 0 && !slices.ContainsFunc(t.MatchLabelExpressions, func(e v1.TopologySelectorLabelRequirement) bool {
			at, has := n.Labels[e.Key]
			return !has || !slices.Contains(e.Values, at)
		})
	}
	if q.rules.binding.topology && len(class.AllowedTopologies) > 0 && !slices.ContainsFunc(class.AllowedTopologies, allowed) {
		return false
	}
	driver := q.storage.drivers[class.Provisioner]
	wants, sized := claim.Spec.Resources.Requests[v1.ResourceStorage]
	if !q.rules.binding.capacity || !sized || driver == nil || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return true
	}
	return slices.ContainsFunc(q.storage.capacities, func(c *storagev1.CSIStorageCapacity) bool {
		room := c.MaximumVolumeSize
		if room == nil {
			room = c.Capacity
		}
		if c.StorageClassName != class.Name || room == nil || room.Value() < wants.Value() || c.NodeTopology == nil {
			return false
		}
		nodes, err := metav1.LabelSelectorAsSelector(c.NodeTopology)
		return err == nil && nodes.Matches(labels.Set(n.Labels))
	})
}

// reaches tells whether a volume's node affinity allows the node.
func (q *question) reaches(n *node, pv *v1.PersistentVolume) bool {
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return true
	}
	return slices.ContainsFunc(pv.Spec.NodeAffinity.Required.NodeSelectorTerms, func(t v1.NodeSelectorTerm) bool {
		if q.rules.binding.noNodeFields && len(t.MatchFields) > 0 {
			if t.MatchFields = nil; len(t.MatchExpressions) == 0 {
				return true
			}
		}
		return termMatches(&t, n.Node)
	})
}

// reservedFor tells whether a volume names the claim.
func reservedFor(pv *v1.PersistentVolume, claim *v1.PersistentVolumeClaim) bool {
	ref := pv.Spec.ClaimRef
	return ref != nil && ref.Name == claim.Name && ref.Namespace == claim.Namespace && (ref.UID == "" || ref.UID == claim.UID)
}

func volumeMode(mode *v1.PersistentVolumeMode) v1.PersistentVolumeMode {
	if mode == nil {
		return v1.PersistentVolumeFilesystem
	}
	return *mode
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
