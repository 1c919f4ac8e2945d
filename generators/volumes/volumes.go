package volumes

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// OfPod draws the volumes of a bound or nominated pod.
func (s *Storage) OfPod() []Volume {
	switch s.Lack {
	case Limit:
		if s.Chance(15) {
			return nil
		}
		volumes := []Volume{{index: s.Intn(len(s.pvcs))}}
		if s.Chance(25) {
			volumes = append(volumes, Volume{index: s.Intn(len(s.pvcs))})
		}
		if s.Chance(18) {
			volumes = append(volumes, s.someEphemeral())
		}
		return distinct(volumes)
	case Disk:
		if s.Chance(45) {
			return []Volume{s.ofDisk(s.disk, 0, 25)}
		}
		if s.Chance(75) {
			return nil
		}
	case Claim:
		if s.Chance(80) {
			return nil
		}
	}
	if !s.Chance(40) {
		return nil
	}
	return []Volume{s.someVolume()}
}

// someVolume is mostly that of a claim.
func (s *Storage) someVolume() Volume {
	switch draw.Weighted(s.Source, 70, 12, 15, 3) {
	case 0:
		return Volume{index: s.Intn(len(s.pvcs))}
	case 1:
		return s.someEphemeral()
	case 2:
		disk := s.disk
		if s.Chance(30) {
			disk = gceDisk + kindOfVolume(s.Intn(int(emptyDir-gceDisk)))
		}
		return s.ofDisk(disk, s.Intn(2), 30)
	default:
		return Volume{source: emptyDir}
	}
}

// ofDisk is a disk that the pod names itself, read-only with that chance in percent. Another disk may have the same name elsewhere.
func (s *Storage) ofDisk(disk kindOfVolume, index, readOnly int) Volume {
	v := Volume{source: disk, index: index, readOnly: s.Chance(readOnly)}
	if disk == rbdDisk {
		v.elsewhere = draw.Weighted(s.Source, 76, 12, 12)
	}
	return v
}

func (s *Storage) someEphemeral() Volume {
	return Volume{source: ephemeral, index: draw.Weighted(s.Source, 58, 24, 10, 5, 3)}
}

// OfPreemptor draws what the preemptor wants to mount.
func (s *Storage) OfPreemptor() []Volume {
	if s.Provisions {
		return []Volume{{}}
	}
	var volumes []Volume
	switch s.Lack {
	case Claim:
		volumes = []Volume{{}}
	case Limit:
		volumes = []Volume{{}}
		if s.Chance(30) {
			volumes = append(volumes, Volume{index: s.Intn(len(s.pvcs))})
		}
	case Reach:
		for range 1 + draw.Weighted(s.Source, 60, 40) {
			volumes = append(volumes, Volume{index: s.Intn(len(s.pvcs))})
		}
	case Disk:
		volumes = []Volume{s.ofDisk(s.disk, 0, 25)}
	default:
		if !s.Chance(50) {
			return nil
		}
		volumes = []Volume{s.someVolume()}
		if s.Chance(30) {
			volumes = append(volumes, s.someVolume())
		}
	}
	if s.Chance(12) {
		volumes = append(volumes, s.someVolume())
	}
	if s.Chance(2) { // the same claim under two names
		volumes = append(volumes, volumes[0])
		return volumes
	}
	return distinct(volumes)
}

// distinct drops volumes that come twice.
func distinct(volumes []Volume) []Volume {
	var once []Volume
	for _, v := range volumes {
		if !slices.Contains(once, v) {
			once = append(once, v)
		}
	}
	return once
}

// AddFirst adds the first claim of the pod's namespace to its volumes, the one that the preemptor
// wants for itself.
func AddFirst(volumes []Volume) []Volume { return distinct(append(slices.Clip(volumes), Volume{})) }

// attached counts the volumes of a driver that the pods of a node have attached.
func (s *Storage) attached(pods []Pod, driver int) int {
	var volumes []int
	for _, p := range pods {
		for _, v := range p.Volumes {
			if v.source != byClaimName {
				continue
			}
			c := s.claim(p.Other, v.index)
			if c.state == boundClaim && c.volume.source == csiVolume && c.volume.driver == driver && !slices.Contains(volumes, c.volume.handle) {
				volumes = append(volumes, c.volume.handle)
			}
		}
	}
	return len(volumes)
}
