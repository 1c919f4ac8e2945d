package invariant

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
)

// couldRun tells whether the preemptor fits on a node once the pods gone are gone, and
// no known finding that is assumed explains why they were not spared:
//
//   - sharer-reprieved-later: the preemptor fits only because pods stay that mount its
//     volumes. Each of them is tried by itself, and may be given back too late for that,
//     or never, if it takes another one of them.
//   - reprieved-pods-shunned: pods that stay may count for all terms of the
//     preemptor's anti-affinity.
func couldRun(s *properties.Subject, node string, gone map[string]bool) (bool, error) {
	fits, err := s.FitsByModel(node, gone)
	if err != nil || !fits {
		return false, err
	}
	if s.Assumes(string(release.ReprievedPodsShunned)) && hasSeveralAntiAffinityTerms(s.Cluster.Preemptor) {
		return false, nil
	}
	if !s.Assumes("sharer-reprieved-later") {
		return true, nil
	}
	volumes := mounted(s, s.Cluster.Preemptor)
	var sharers []string
	for _, p := range s.Preemptable(node) {
		sharer := slices.ContainsFunc(mounted(s, p), func(v string) bool { return slices.Contains(volumes, v) })
		if sharer && !gone[model.Key(p)] {
			sharers = append(sharers, model.Key(p))
		}
	}
	for late := 1; late < 1<<min(len(sharers), maxSubsets); late++ {
		without := maps.Clone(gone)
		for i, key := range sharers {
			if late&(1<<i) != 0 {
				without[key] = true
			}
		}
		if fits, err = s.FitsByModel(node, without); err != nil || !fits {
			return false, err
		}
	}
	return true, nil
}

// mounted are the volumes that a pod mounts, as their driver calls them; and the
// claims that have none yet.
func mounted(s *properties.Subject, p *v1.Pod) []string {
	names := s.PersistentVolumes(p)
	for i, name := range names {
		for _, o := range s.Cluster.Extra {
			if pv, ok := o.(*v1.PersistentVolume); ok && pv.Name == name && pv.Spec.CSI != nil {
				names[i] = pv.Spec.CSI.Driver + "/" + pv.Spec.CSI.VolumeHandle
			}
		}
	}
	for i := range p.Spec.Volumes {
		if c := p.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			names = append(names, p.Namespace+"/"+c.ClaimName)
		}
	}
	return names
}

// hasSeveralAntiAffinityTerms tells whether a pod has more than one required term of
// anti-affinity.
func hasSeveralAntiAffinityTerms(p *v1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 1
}
