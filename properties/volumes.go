package properties

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

// attachmentsWithout are the objects of a cluster once pods of a node are gone:
// the volumes that just they mounted there have been detached.
func (s *Subject) attachmentsWithout(node string, gone map[string]bool) []runtime.Object {
	left, detached := map[string]bool{}, map[string]bool{}
	for _, p := range s.index().onNode[node] {
		for _, name := range s.volumesOf(p) {
			if gone[model.Key(p)] {
				detached[name] = true
			} else {
				left[name] = true
			}
		}
	}
	if len(detached) == 0 {
		return s.Cluster.Extra
	}
	return slices.DeleteFunc(slices.Clone(s.Cluster.Extra), func(o runtime.Object) bool {
		a, ok := o.(*storagev1.VolumeAttachment)
		if !ok || a.Spec.NodeName != node || a.Spec.Source.PersistentVolumeName == nil {
			return false
		}
		name := *a.Spec.Source.PersistentVolumeName
		return detached[name] && !left[name]
	})
}

// volumesOf names the persistent volumes that a pod mounts.
func (s *Subject) volumesOf(p *v1.Pod) []string {
	var names []string
	for i := range p.Spec.Volumes {
		v, name := &p.Spec.Volumes[i], ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = p.Name + "-" + v.Name
		default:
			continue
		}
		for _, o := range s.Cluster.Extra {
			if claim, ok := o.(*v1.PersistentVolumeClaim); ok && claim.Namespace == p.Namespace && claim.Name == name && claim.Spec.VolumeName != "" {
				names = append(names, claim.Spec.VolumeName)
			}
		}
	}
	return names
}

// couldRun is fitsByModel, except for what sharer-reprieved-later explains, if that
// is granted: the preemptor fits just because pods that are no victims stay, which
// mount its volumes and may be tried too late for that. Were they gone, it would not.
// With reprieved-pods-shunned granted, pods that stay may count for all terms of the
// preemptor's anti-affinity.
func (s *Subject) couldRun(node string, victims []string, gone map[string]bool) (bool, error) {
	fits, err := s.fitsByModel(node, gone)
	if err != nil || !fits {
		return false, err
	}
	if s.grants(string(model.ReprievedPodsShunned)) && severalShunned(s.Cluster.Preemptor) {
		return false, nil
	}
	if !s.grants("sharer-reprieved-later") {
		return true, nil
	}
	volumes := s.mounted(s.Cluster.Preemptor)
	var sharers []string
	for _, p := range s.preemptable(node) {
		sharer := slices.ContainsFunc(s.mounted(p), func(v string) bool { return slices.Contains(volumes, v) })
		if sharer && !slices.Contains(victims, model.Key(p)) {
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
		if fits, err = s.fitsByModel(node, without); err != nil || !fits {
			return false, err
		}
	}
	return true, nil
}

// mounted are the volumes that a pod mounts, as their driver calls them; and the
// claims that have none yet.
func (s *Subject) mounted(p *v1.Pod) []string {
	names := s.volumesOf(p)
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
