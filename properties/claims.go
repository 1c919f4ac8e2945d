package properties

import (
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

// foreignClaim tells whether foreign-ephemeral-claim is granted, and accounts for
// an error.
func (s *Subject) foreignClaim() bool {
	if !s.grants("foreign-ephemeral-claim") {
		return false
	}
	d, err := model.Decide(s.Cluster, model.Documented().With(model.ForeignEphemeralClaim))
	return err == nil && (d.Error != "" || slices.ContainsFunc(s.Cluster.Nodes, func(n *v1.Node) bool {
		_, failed := d.Listed(n.Name)
		return failed != nil && failed.Error != ""
	}))
}
