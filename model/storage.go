package model

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// storage is what the scheduler knows of volumes, and what the preemptor wants
// of them. It is nil for a preemptor whose volumes can be mounted anywhere.
type storage struct {
	claims      map[string]*v1.PersistentVolumeClaim // by Key
	volumes     map[string]*v1.PersistentVolume
	classes     map[string]*storagev1.StorageClass
	csiNodes    map[string]*storagev1.CSINode
	drivers     map[string]*storagev1.CSIDriver
	capacities  []*storagev1.CSIStorageCapacity
	attachments map[string][]*storagev1.VolumeAttachment // by node

	wanted []podClaim  // the claims behind the preemptor's volumes, one for each
	once   []string    // those that no other pod may use: the keys, sorted
	csi    []csiVolume // the volumes that count for the limits of CSI drivers
	// undecided says for which claim a volume is picked at random, where it makes
	// a difference.
	undecided string
	// selectedWaits is that of bindingRules.
	selectedWaits bool
}

// podClaim is the claim behind a volume of a pod.
type podClaim struct {
	key       string
	ephemeral bool                      // it was made for the pod
	claim     *v1.PersistentVolumeClaim // nil if there is none
	owned     bool                      // the pod owns it
}

// storageNode is what the volume filters make of a node, whatever pods it holds.
type storageNode struct {
	binding  *Verdict
	attached []csiVolume
}

// storagePod is what of a pod's volumes matters to the preemptor's.
type storagePod struct {
	// once are the claims that only one pod may use, once per volume; of the
	// preemptor's namespace, and under the same names in others.
	once, elsewhere []string
	disk            bool // a disk that cannot be shared with the preemptor
	csi             []csiVolume
	// broken: one of its ephemeral volumes has somebody else's claim.
	broken bool
	// kind is the same for pods of a node that can stand in for each other.
	kind string
}

// MountsVolumes tells whether a pod has volumes that filters look at: then they
// also look at claims, volumes, and those of other pods.
func MountsVolumes(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v v1.Volume) bool { return filteredVolume(&v) != "" })
}

// placeForStorage works out what the preemptor's volumes ask of nodes and pods.
func (q *question) placeForStorage() {
	if !MountsVolumes(q.preemptor.Pod) {
		return
	}
	s := indexStorage(q.cluster)
	q.storage, s.selectedWaits = s, q.rules.binding.selectedWaits
	s.wanted = s.claimsOf(q.preemptor.Pod)
	for _, w := range s.wanted {
		if !w.ephemeral && w.claim != nil && slices.Contains(w.claim.Spec.AccessModes, v1.ReadWriteOncePod) && !slices.Contains(s.once, w.key) {
			s.once = append(s.once, w.key)
		}
	}
	slices.Sort(s.once)
	s.csi = s.csiVolumesOf(q.preemptor.Pod, q.counted(s.wanted))
	for _, n := range q.nodes {
		n.storage.attached = s.attachedTo(n.Name)
		n.storage.binding = q.bindingVerdict(n)
		for _, p := range n.pods {
			p.storage = q.storageOf(p)
		}
		for _, p := range n.nominated {
			p.storage = q.storageOf(p)
		}
		for _, p := range n.pods {
			p.storage.kind = q.storageKind(n, p)
		}
	}
}

func indexStorage(c *Cluster) *storage {
	s := &storage{
		claims:      map[string]*v1.PersistentVolumeClaim{},
		volumes:     map[string]*v1.PersistentVolume{},
		classes:     map[string]*storagev1.StorageClass{},
		csiNodes:    map[string]*storagev1.CSINode{},
		drivers:     map[string]*storagev1.CSIDriver{},
		attachments: map[string][]*storagev1.VolumeAttachment{},
	}
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *v1.PersistentVolumeClaim:
			s.claims[Key(o)] = o
		case *v1.PersistentVolume:
			s.volumes[o.Name] = o
		case *storagev1.StorageClass:
			s.classes[o.Name] = o
		case *storagev1.CSINode:
			s.csiNodes[o.Name] = o
		case *storagev1.CSIDriver:
			s.drivers[o.Name] = o
		case *storagev1.CSIStorageCapacity:
			s.capacities = append(s.capacities, o)
		case *storagev1.VolumeAttachment:
			s.attachments[o.Spec.NodeName] = append(s.attachments[o.Spec.NodeName], o)
		}
	}
	return s
}

// claimsOf are the claims behind a pod's volumes: those it names, and those made
// for its ephemeral volumes, which are named after pod and volume and belong to
// the pod (KEP-1698; docs: concepts/storage/ephemeral-volumes).
func (s *storage) claimsOf(p *v1.Pod) []podClaim {
	var claims []podClaim
	for i := range p.Spec.Volumes {
		switch v := &p.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			key := p.Namespace + "/" + v.PersistentVolumeClaim.ClaimName
			claims = append(claims, podClaim{key: key, claim: s.claims[key], owned: true})
		case v.Ephemeral != nil:
			key := p.Namespace + "/" + p.Name + "-" + v.Name
			claim := s.claims[key]
			claims = append(claims, podClaim{key: key, ephemeral: true, claim: claim, owned: claim != nil && controls(p, claim)})
		}
	}
	return claims
}

// classOf is the class that a claim asks for: the annotation from before there
// was a field takes precedence (API reference, PersistentVolumeClaimSpec;
// storage/volume/helpers.go:43@v0.37.1).
func classOf(claim *v1.PersistentVolumeClaim) string {
	if class, ok := claim.Annotations[v1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if claim.Spec.StorageClassName == nil {
		return ""
	}
	return *claim.Spec.StorageClassName
}

func classOfVolume(pv *v1.PersistentVolume) string {
	if class, ok := pv.Annotations[v1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return pv.Spec.StorageClassName
}

// storageOf works out what of p's volumes matters.
func (q *question) storageOf(p *pod) storagePod {
	var out storagePod
	claims := q.storage.claimsOf(p.Pod)
	for _, c := range claims {
		_, name, _ := strings.Cut(c.key, "/")
		switch key := q.preemptor.Namespace + "/" + name; {
		case c.ephemeral || !slices.Contains(q.storage.once, key):
		case p.Namespace == q.preemptor.Namespace:
			out.once = append(out.once, key)
		default:
			out.elsewhere = append(out.elsewhere, key)
		}
		out.broken = out.broken || c.ephemeral && c.claim != nil && !c.owned
	}
	out.disk = sharesDisk(q.preemptor.Pod, p.Pod)
	for _, v := range q.storage.csiVolumesOf(p.Pod, q.counted(claims)) {
		if slices.ContainsFunc(q.storage.csi, func(w csiVolume) bool { return w.driver == v.driver }) {
			out.csi = append(out.csi, v)
		}
	}
	return out
}

// counted are the claims whose volumes count for limits: all, but for a quirk.
func (q *question) counted(claims []podClaim) []podClaim {
	if !q.rules.limits.noEphemeral {
		return claims
	}
	return slices.DeleteFunc(slices.Clone(claims), func(c podClaim) bool { return c.ephemeral })
}

// storageKind tells a pod of n apart from others, as far as its volumes matter:
// volumes that only this pod uses count like any others of their driver.
func (q *question) storageKind(n *node, p *pod) string {
	s := &p.storage
	if len(s.once)+len(s.elsewhere)+len(s.csi) == 0 && !s.disk && !s.broken {
		return ""
	}
	kind := fmt.Sprint(s.once, s.elsewhere, s.disk, s.broken)
	var volumes []string
	for _, v := range s.csi {
		shared := slices.Contains(q.storage.csi, v)
		for _, list := range [][]*pod{n.pods, n.nominated} {
			shared = shared || slices.ContainsFunc(list, func(other *pod) bool { return other != p && slices.Contains(other.storage.csi, v) })
		}
		is := v.driver
		if shared {
			is += "/" + v.handle
		}
		if slices.Contains(n.storage.attached, v) {
			is += " attached"
		}
		volumes = append(volumes, is)
	}
	slices.Sort(volumes)
	return kind + strings.Join(volumes, ",")
}
