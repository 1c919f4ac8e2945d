package generators

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// drawVolumes draws the volumes of a bound or nominated pod.
func (g *generator) drawVolumes() []volume {
	switch g.bottleneck {
	case byVolumeLimit:
		if g.Chance(15) {
			return nil
		}
		volumes := []volume{{index: g.Intn(len(g.pvcs))}}
		if g.Chance(25) {
			volumes = append(volumes, volume{index: g.Intn(len(g.pvcs))})
		}
		if g.Chance(18) {
			volumes = append(volumes, g.someEphemeral())
		}
		return distinct(volumes)
	case byDisk:
		if g.Chance(45) {
			return []volume{{source: g.disk, readOnly: g.Chance(25)}}
		}
		if g.Chance(75) {
			return nil
		}
	case byClaim:
		if g.Chance(80) {
			return nil
		}
	}
	if !g.Chance(40) {
		return nil
	}
	return []volume{g.someVolume()}
}

// someVolume is mostly that of a claim.
func (g *generator) someVolume() volume {
	switch draw.Weighted(g.Source, 70, 12, 15, 3) {
	case 0:
		return volume{index: g.Intn(len(g.pvcs))}
	case 1:
		return g.someEphemeral()
	case 2:
		disk := g.disk
		if g.Chance(30) {
			disk = gceDisk + kindOfVolume(g.Intn(int(emptyDir-gceDisk)))
		}
		return volume{source: disk, index: g.Intn(2), readOnly: g.Chance(30)}
	default:
		return volume{source: emptyDir}
	}
}

func (g *generator) someEphemeral() volume {
	return volume{source: ephemeral, index: draw.Weighted(g.Source, 58, 24, 10, 5, 3)}
}

// preemptorVolumes draws what the preemptor wants to mount.
func (g *generator) preemptorVolumes() []volume {
	if g.provisions {
		return []volume{{}}
	}
	var volumes []volume
	switch g.bottleneck {
	case byClaim:
		volumes = []volume{{}}
	case byVolumeLimit:
		volumes = []volume{{}}
		if g.Chance(30) {
			volumes = append(volumes, volume{index: g.Intn(len(g.pvcs))})
		}
	case byVolume:
		for range 1 + draw.Weighted(g.Source, 60, 40) {
			volumes = append(volumes, volume{index: g.Intn(len(g.pvcs))})
		}
	case byDisk:
		volumes = []volume{{source: g.disk, readOnly: g.Chance(25)}}
	default:
		if !g.Chance(50) {
			return nil
		}
		volumes = []volume{g.someVolume()}
		if g.Chance(30) {
			volumes = append(volumes, g.someVolume())
		}
	}
	if g.Chance(12) {
		volumes = append(volumes, g.someVolume())
	}
	if g.Chance(2) { // the same claim under two names
		volumes = append(volumes, volumes[0])
		return volumes
	}
	return distinct(volumes)
}

// distinct drops volumes that come twice.
func distinct(volumes []volume) []volume {
	var once []volume
	for _, v := range volumes {
		if !slices.Contains(once, v) {
			once = append(once, v)
		}
	}
	return once
}

// useClaim makes a pod, or rarely two, use the claim that the preemptor wants for
// itself.
func (g *generator) useClaim() {
	second := 12
	if g.namespaces {
		second = 45
	}
	for n := range 1 + draw.Weighted(g.Source, 100-second, second) {
		var users []*pod
		for i := range g.nodes {
			for j := range g.nodes[i].pods {
				users = append(users, &g.nodes[i].pods[j])
			}
		}
		if len(users) == 0 {
			return
		}
		user := users[g.Intn(min(len(users), draw.MaxIntn))]
		switch {
		case n > 0 && g.namespaces && g.Chance(60): // with a claim of the same name
			user.otherSpace = true
		case g.Chance(70):
			user.otherSpace = false
		}
		user.volumes = distinct(append(slices.Clip(user.volumes), volume{}))
	}
}

// attached counts the volumes of a driver that the pods of a node have attached.
func (g *generator) attached(n *node, driver int) int {
	var volumes []int
	for i := range n.pods {
		for _, v := range n.pods[i].volumes {
			if v.source != byClaimName {
				continue
			}
			c := g.claim(n.pods[i].otherSpace, v.index)
			if c.state == boundClaim && c.volume.source == csiVolume && c.volume.driver == driver && !slices.Contains(volumes, c.volume.handle) {
				volumes = append(volumes, c.volume.handle)
			}
		}
	}
	return len(volumes)
}
