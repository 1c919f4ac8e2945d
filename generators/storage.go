package generators

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

func (g *generator) drawStorage() {
	count := 2 + g.Intn(4)
	if g.bottleneck == byVolumeLimit {
		count = 5 + g.Intn(4)
	}
	g.inTree = g.Chance(15)
	g.attachments = g.Chance(20)
	g.provisions = g.bottleneck < byPodCount && g.Chance(12)
	g.driver = g.provisions || g.Chance(50)
	g.prevents = g.driver && g.Chance(75)
	g.static = g.bottleneck == byVolume && g.Chance(40)
	g.disk = draw.Pick(g.Source, gceDisk, awsDisk, iscsiDisk, rbdDisk)
	g.pvcs = g.drawClaims(count, 0)
	if g.provisions {
		g.pvcs[0] = claim{state: unboundClaim, class: waitClass, size: 1, beta: g.Chance(20)}
	}
	if g.namespaces {
		g.otherPVCs = g.drawClaims(count, maxClaims)
	}
	spare := draw.Weighted(g.Source, 40, 25, 20, 15)
	if g.static {
		spare = 1 + draw.Weighted(g.Source, 40, 40, 20)
	}
	for range spare {
		v := g.drawPersistentVolume(2*maxClaims + len(g.spare))
		v.class, v.size = 1+g.Intn(3), 1+len(g.spare) // no two alike: the scheduler would choose by chance
		v.phase = draw.Weighted(g.Source, 85, 10, 5)
		if g.static {
			v.class, v.phase = localClass, draw.Weighted(g.Source, 70, 15, 15)
		}
		if g.Chance(60) {
			v.source, v.affinity = localVolume, g.Intn(len(affinities)+5)
		}
		g.spare = append(g.spare, v)
	}
	if i := slices.IndexFunc(g.pvcs, func(c claim) bool { return c.state == unboundClaim }); i >= 0 && len(g.spare) > 0 && g.Chance(25) {
		g.spare[0].taker, g.spare[0].class = 1+i, g.pvcs[i].class
	}
}

// drawClaims draws the claims of a namespace, whose volumes are numbered from
// first.
func (g *generator) drawClaims(count, first int) []claim {
	claims := make([]claim, count)
	for i := range claims {
		c := claim{mode: draw.Weighted(g.Source, 55, 25, 12, 8), size: 1 + g.Intn(3)}
		c.volume = g.drawPersistentVolume(first + i)
		if g.bottleneck == byClaim && i == 0 && g.Chance(96) {
			c.mode = 1 // for one pod alone
		}
		if g.bottleneck == byClaim && i == 0 || g.bottleneck == byVolumeLimit {
			c.state = claimState(draw.Weighted(g.Source, 88, 7, 1, 1, 1, 1, 1))
		} else if g.static {
			c.state = claimState(draw.Weighted(g.Source, 27, 68, 1, 1, 1, 1, 1))
		} else if g.bottleneck == byVolume {
			c.state = claimState(draw.Weighted(g.Source, 58, 34, 3, 1, 1, 1, 2))
		} else {
			c.state = claimState(draw.Weighted(g.Source, 64, 24, 6, 1, 1, 2, 2))
		}
		if c.state == unboundClaim {
			c.class = 1 + draw.Weighted(g.Source, 41, 28, 17, 9, 2, 3)
			if c.class == len(classNames) {
				c.class = 0
			}
			if g.Chance(15) {
				c.selected = 1 + g.Intn(4)
			}
			c.selects, c.block, c.beta = g.Chance(10), g.Chance(4), g.Chance(5)
			if g.static {
				c.class, c.size, c.selected, c.selects = localClass, 1+draw.Weighted(g.Source, 70, 20, 10), 0, g.Chance(40)
			}
		} else if g.Chance(60) {
			c.class = 1 + g.Intn(len(classNames)-1)
		}
		c.volume.class, c.volume.mode, c.volume.size = c.class, c.mode, c.size
		claims[i] = c
	}
	return claims
}

// drawPersistentVolume draws a volume that is mostly good for any node.
func (g *generator) drawPersistentVolume(handle int) persistentVolume {
	v := persistentVolume{handle: handle, size: 1 + g.Intn(3), mode: draw.Weighted(g.Source, 80, 10, 10)}
	if g.Chance(15) {
		v.driver = 1
	}
	if g.Chance(3) { // two volumes of one name are one volume to the driver
		v.handle = g.Intn(3)
	}
	affinity, labels := 22, 22
	if g.bottleneck == byVolume {
		affinity, labels = 18, 70
	}
	if g.Chance(affinity) {
		v.affinity = g.Intn(len(affinities) + 3)
	}
	if g.Chance(labels) {
		v.labels = 1 + g.Intn(len(volumeLabels)-1)
	}
	if g.Chance(8) {
		v.source, v.affinity = localVolume, len(affinities)+g.Intn(4)
	}
	if g.inTree && g.Chance(50) {
		v.source = draw.Pick(g.Source, awsVolume, gceVolume)
		if v.labels == 0 && g.Chance(50) {
			v.labels = 1
		}
	}
	v.ssd = g.Chance(50)
	return v
}

// claim is the claim of a namespace and number.
func (g *generator) claim(other bool, i int) claim {
	switch {
	case !other:
		return g.pvcs[i]
	case i < len(g.otherPVCs):
		return g.otherPVCs[i]
	}
	return claim{state: missingClaim}
}

// reachVolumes lets the node that was left for the preemptor attach what it lacked
// the driver for, and most volumes of a single node be of that one.
func (g *generator) reachVolumes(n *node) {
	n.csi.missing = false
	for d := range n.csi.drivers {
		n.csi.drivers[d] = max(n.csi.drivers[d], 0)
	}
	if n.zone == 2 && g.Chance(70) { // most volumes that are in a zone are in the first
		n.zone = 1
	}
	for i := range g.pvcs {
		c := &g.pvcs[i]
		if c.volume.affinity >= len(affinities) && g.Chance(65) {
			c.volume.affinity = len(affinities) + g.home
		}
		if c.selected > 0 && g.Chance(65) {
			c.selected = 1 + g.home
		}
	}
}

func (g *generator) drawCSINode(n *node) {
	n.csi.zones = draw.Weighted(g.Source, 40, 38, 8, 14)
	if g.bottleneck == byVolume {
		n.csi.zones = 1 + draw.Weighted(g.Source, 60, 15, 25)
	}
	if n.csi.missing = g.Chance(10); n.csi.missing && (g.bottleneck != byVolumeLimit || g.Chance(60)) {
		return
	}
	n.csi.missing = false
	for d := range n.csi.drivers {
		limit := csiLimit(1 + g.attached(n, d))
		switch {
		case d == 0 && g.bottleneck == byVolumeLimit:
			limit += draw.Pick[csiLimit](g.Source, 0, 0, 0, 1, 0, 0, -1)
			limit = max(limit, 1)
		case g.Chance(60):
			limit = 0
		default:
			limit += csiLimit(g.Intn(3))
		}
		if g.Chance(7) || g.prevents && g.Chance(40) {
			limit = -1
		}
		n.csi.drivers[d] = limit
	}
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
