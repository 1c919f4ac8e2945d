package volumes

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// Draw draws what pods can mount.
func Draw(source draw.Source, options Options) Storage {
	s := Storage{Source: source, Options: options}
	count := 2 + s.Intn(4)
	if s.Lack == Limit {
		count = 5 + s.Intn(4)
	}
	s.inTree = s.Chance(15)
	s.attachments = s.Chance(20)
	s.Provisions = s.Provision && s.Chance(12)
	s.driver = s.Provisions || s.Chance(50)
	s.prevents = s.driver && s.Chance(75)
	s.static = s.Lack == Reach && s.Chance(40)
	s.disk = draw.Pick(s.Source, gceDisk, awsDisk, iscsiDisk, rbdDisk)
	s.pvcs = s.drawClaims(count, 0)
	if s.Provisions {
		s.pvcs[0] = claim{state: unboundClaim, class: waitClass, size: 1, beta: s.Chance(20)}
	}
	if s.InOther {
		s.otherPVCs = s.drawClaims(count, maxClaims)
	}
	spare := draw.Weighted(s.Source, 40, 25, 20, 15)
	if s.static {
		spare = 1 + draw.Weighted(s.Source, 40, 40, 20)
	}
	for range spare {
		v := s.drawPersistentVolume(2*maxClaims + len(s.spare))
		v.class, v.size = 1+s.Intn(3), 1+len(s.spare) // no two alike: the scheduler would choose by chance
		v.phase = draw.Weighted(s.Source, 85, 10, 5)
		if s.static {
			v.class, v.phase = localClass, draw.Weighted(s.Source, 70, 15, 15)
		}
		if s.Chance(60) {
			v.source, v.affinity = localVolume, s.Intn(len(affinities)+5)
		}
		s.spare = append(s.spare, v)
	}
	if i := slices.IndexFunc(s.pvcs, func(c claim) bool { return c.state == unboundClaim }); i >= 0 && len(s.spare) > 0 && s.Chance(25) {
		s.spare[0].taker, s.spare[0].class = 1+i, s.pvcs[i].class
	}
	return s
}

// drawClaims draws the claims of a namespace, whose volumes are numbered from
// first.
func (s *Storage) drawClaims(count, first int) []claim {
	claims := make([]claim, count)
	for i := range claims {
		c := claim{mode: draw.Weighted(s.Source, 55, 25, 12, 8), size: 1 + s.Intn(3)}
		c.volume = s.drawPersistentVolume(first + i)
		if s.Lack == Claim && i == 0 && s.Chance(96) {
			c.mode = 1 // for one pod alone
		}
		if s.Lack == Claim && i == 0 || s.Lack == Limit {
			c.state = claimState(draw.Weighted(s.Source, 88, 7, 1, 1, 1, 1, 1))
		} else if s.static {
			c.state = claimState(draw.Weighted(s.Source, 27, 68, 1, 1, 1, 1, 1))
		} else if s.Lack == Reach {
			c.state = claimState(draw.Weighted(s.Source, 58, 34, 3, 1, 1, 1, 2))
		} else {
			c.state = claimState(draw.Weighted(s.Source, 64, 24, 6, 1, 1, 2, 2))
		}
		if c.state == unboundClaim {
			c.class = 1 + draw.Weighted(s.Source, 41, 28, 17, 9, 2, 3)
			if c.class == len(classNames) {
				c.class = 0
			}
			if s.Chance(15) {
				c.selected = 1 + s.Intn(4)
			}
			c.selects, c.block, c.beta = s.Chance(10), s.Chance(4), s.Chance(5)
			if s.static {
				c.class, c.size, c.selected, c.selects = localClass, 1+draw.Weighted(s.Source, 70, 20, 10), 0, s.Chance(40)
				c.block = c.block || s.Chance(8)
			}
		} else if s.Chance(60) {
			c.class = 1 + s.Intn(len(classNames)-1)
		}
		c.volume.class, c.volume.mode, c.volume.size = c.class, c.mode, c.size
		claims[i] = c
	}
	return claims
}

// drawPersistentVolume draws a volume that is mostly good for any node.
func (s *Storage) drawPersistentVolume(handle int) persistentVolume {
	v := persistentVolume{handle: handle, size: 1 + s.Intn(3), mode: draw.Weighted(s.Source, 80, 10, 10)}
	if s.Chance(15) {
		v.driver = 1
	}
	if s.Chance(3) { // two volumes of one name are one volume to the driver
		v.handle = s.Intn(3)
	}
	affinity, labels := 22, 26
	if s.Lack == Reach {
		affinity, labels = 18, 70
	}
	if s.Chance(affinity) {
		v.affinity = s.Intn(len(affinities) + 3)
	}
	if s.Chance(labels) {
		v.labels = 1 + s.Intn(len(volumeLabels)-1)
	}
	if s.Chance(8) {
		v.source, v.affinity = localVolume, len(affinities)+s.Intn(4)
	}
	if s.inTree && s.Chance(50) {
		v.source = draw.Pick(s.Source, awsVolume, gceVolume)
		if v.labels == 0 && s.Chance(50) {
			v.labels = 1
		}
	}
	v.ssd = s.Chance(50)
	return v
}

// claim is the claim of a namespace and number.
func (s *Storage) claim(other bool, i int) claim {
	switch {
	case !other:
		return s.pvcs[i]
	case i < len(s.otherPVCs):
		return s.otherPVCs[i]
	}
	return claim{state: missingClaim}
}

// BringTo lets a node attach what it lacked the driver for, and most volumes of a single
// node be of that one, whose number it is.
func (s *Storage) BringTo(n *Node, number int) {
	n.missing = false
	for d := range n.drivers {
		n.drivers[d] = max(n.drivers[d], 0)
	}
	for i := range s.pvcs {
		c := &s.pvcs[i]
		if c.volume.affinity >= len(affinities) && s.Chance(65) {
			c.volume.affinity = len(affinities) + number
		}
		if c.selected > 0 && s.Chance(65) {
			c.selected = 1 + number
		}
	}
}

// DrawNode draws the CSINode of a node with some pods.
func (s *Storage) DrawNode(pods []Pod) (n Node) {
	n.zones = draw.Weighted(s.Source, 40, 38, 8, 14)
	if s.Lack == Reach {
		n.zones = 1 + draw.Weighted(s.Source, 60, 15, 25)
	}
	if n.missing = s.Chance(10); n.missing && (s.Lack != Limit || s.Chance(60)) {
		return n
	}
	n.missing = false
	for d := range n.drivers {
		limit := csiLimit(1 + s.attached(pods, d))
		switch {
		case d == 0 && s.Lack == Limit:
			limit += draw.Pick[csiLimit](s.Source, 0, 0, 0, 1, 0, 0, -1)
			limit = max(limit, 1)
		case s.Chance(60):
			limit = 0
		default:
			limit += csiLimit(s.Intn(3))
		}
		if s.Chance(7) || s.prevents && s.Chance(40) {
			limit = -1
		}
		n.drivers[d] = limit
	}
	return n
}

var (
	accessModes = []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce, v1.ReadWriteOncePod, v1.ReadWriteMany, v1.ReadOnlyMany}
	phases      = []v1.PersistentVolumePhase{v1.VolumeAvailable, v1.VolumeReleased, v1.VolumePending}
	// classNames are the names of storage classes: "" is none, and the last does
	// not exist.
	classNames            = []string{"", "wait", "local", "zonal", "immediate", "lost"}
	waitClass, localClass = slices.Index(classNames, "wait"), slices.Index(classNames, "local")
	// drivers are those of the CSI volumes.
	drivers = [...]string{"disk.example.com", "file.example.com"}
	// affinities are the required labels of the nodes that can reach a volume.
	affinities = [][2]string{{}, {"zone", "a"}, {v1.LabelTopologyZone, "a"}, {"zone", "b"}, {v1.LabelFailureDomainBetaZone, "a"}}
	// volumeLabels are the zones of volumes.
	volumeLabels = []map[string]string{
		{},
		{v1.LabelTopologyZone: "a"},
		{v1.LabelTopologyZone: "a__b"},
		{v1.LabelFailureDomainBetaZone: "a"},
		{v1.LabelTopologyZone: "b", v1.LabelTopologyRegion: "r"},
		{v1.LabelTopologyRegion: "s"},
		{v1.LabelFailureDomainBetaRegion: "r"},
	}
)
