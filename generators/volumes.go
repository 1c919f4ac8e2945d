package generators

import (
	"slices"
)

// drawVolumes draws the volumes of a bound or nominated pod.
func (g *generator) drawVolumes() []volume {
	switch g.bottleneck {
	case byVolumeLimit:
		if g.chance(15) {
			return nil
		}
		volumes := []volume{{index: g.intn(len(g.pvcs))}}
		if g.chance(25) {
			volumes = append(volumes, volume{index: g.intn(len(g.pvcs))})
		}
		if g.chance(18) {
			volumes = append(volumes, g.someEphemeral())
		}
		return distinct(volumes)
	case byDisk:
		if g.chance(45) {
			return []volume{{source: g.disk, readOnly: g.chance(25)}}
		}
		if g.chance(75) {
			return nil
		}
	case byClaim:
		if g.chance(80) {
			return nil
		}
	}
	if !g.chance(40) {
		return nil
	}
	return []volume{g.someVolume()}
}

// someVolume is mostly that of a claim.
func (g *generator) someVolume() volume {
	switch weighted(g.source, 70, 12, 15, 3) {
	case 0:
		return volume{index: g.intn(len(g.pvcs))}
	case 1:
		return g.someEphemeral()
	case 2:
		disk := g.disk
		if g.chance(30) {
			disk = gceDisk + kindOfVolume(g.intn(int(emptyDir-gceDisk)))
		}
		return volume{source: disk, index: g.intn(2), readOnly: g.chance(30)}
	default:
		return volume{source: emptyDir}
	}
}

func (g *generator) someEphemeral() volume {
	return volume{source: ephemeral, index: weighted(g.source, 58, 24, 10, 5, 3)}
}

// preemptorVolumes draws what the preemptor wants to mount.
func (g *generator) preemptorVolumes() []volume {
	var volumes []volume
	switch g.bottleneck {
	case byClaim:
		volumes = []volume{{}}
	case byVolumeLimit:
		volumes = []volume{{}}
		if g.chance(30) {
			volumes = append(volumes, volume{index: g.intn(len(g.pvcs))})
		}
	case byVolume:
		for range 1 + weighted(g.source, 60, 40) {
			volumes = append(volumes, volume{index: g.intn(len(g.pvcs))})
		}
	case byDisk:
		volumes = []volume{{source: g.disk, readOnly: g.chance(25)}}
	default:
		if !g.chance(50) {
			return nil
		}
		volumes = []volume{g.someVolume()}
		if g.chance(30) {
			volumes = append(volumes, g.someVolume())
		}
	}
	if g.chance(12) {
		volumes = append(volumes, g.someVolume())
	}
	if g.chance(2) { // the same claim under two names
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
	for n := range 1 + weighted(g.source, 100-second, second) {
		var users []*pod
		for i := range g.nodes {
			for j := range g.nodes[i].pods {
				users = append(users, &g.nodes[i].pods[j])
			}
		}
		if len(users) == 0 {
			return
		}
		user := users[g.intn(min(len(users), len(dice)-1))]
		switch {
		case n > 0 && g.namespaces && g.chance(60): // with a claim of the same name
			user.otherSpace = true
		case g.chance(70):
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
