package storage

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// AttachedVolumeCountedTwice returns the verdict on a node of whose limit each volume that the preemptor wants, and that no pod there
// uses, takes one, also if it is attached already.
func AttachedVolumeCountedTwice(limits *volume.LimitsState, n *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
	attached := func(w volume.CSIVolume) bool { return slices.Contains(limits.Attached[n.Index], w) }
	if failed != nil || !slices.ContainsFunc(limits.Wanted, attached) {
		return failed
	}
	for _, l := range limits.Limits[n.Index] {
		more := 0
		for _, w := range limits.Wanted {
			if w.Driver == l.Driver && !slices.ContainsFunc(v.Pods, func(p *filter.Pod) bool { return slices.Contains(limits.Mounted[p.Index], w) }) {
				more++
			}
		}
		if more > 0 && len(limits.InUse(n, v, l.Driver))+more > l.Count {
			return volume.TooManyVolumes()
		}
	}
	return nil
}

// MigratedDriverNotMissed passes over the volumes of plugins that CSI drivers have taken over from, as it looks for drivers that a node
// without a CSINode lacks.
func MigratedDriverNotMissed(s *filter.Snapshot, st *volume.LimitsState, _ *filter.Answer) {
	claims := slices.DeleteFunc(st.Index.ClaimsOf(s.Preemptor.Pod), func(c volume.Claim) bool {
		if c.PV != nil {
			return c.PV.Spec.CSI == nil
		}
		return c.Class != nil && volume.TakenOver(c.Class.Provisioner)
	})
	wanted := volume.CSIVolumes(&v1.Pod{}, claims)
	for i, n := range s.Nodes {
		if st.Index.CSINodes[n.Name] == nil {
			st.Missing[i] = st.Index.Missing(wanted, n.Name)
		}
	}
}

// MigratedAttachmentUncounted returns a plugin that does not see attachments of volumes of plugins that CSI drivers have taken over from.
func MigratedAttachmentUncounted(p filter.Plugin) filter.Plugin {
	unseen := func(objects []runtime.Object) func(o runtime.Object) bool {
		migrated := map[string]bool{}
		for _, o := range objects {
			if pv, is := o.(*v1.PersistentVolume); is && pv.Spec.CSI == nil {
				migrated[pv.Name] = true
			}
		}
		return func(o runtime.Object) bool {
			a, is := o.(*storagev1.VolumeAttachment)
			return is && a.Spec.Source.PersistentVolumeName != nil && migrated[*a.Spec.Source.PersistentVolumeName]
		}
	}
	return variant.Where(func(s *filter.Snapshot) bool { return slices.ContainsFunc(s.Objects, unseen(s.Objects)) },
		variant.Misread(func(s *filter.Snapshot) { s.Objects = slices.DeleteFunc(s.Objects, unseen(s.Objects)) }))(p)
}

// CountOnEachNode is since which releases the volumes of a plugin of Kubernetes itself count for the CSI driver that has taken over from it, on
// each node; before, they do on those that say that they have migrated the plugin, if its feature gate is on
// (nodevolumelimits/utils.go@v1.22.17 to @v1.36.3, isCSIMigrationOn).
var CountOnEachNode = map[string]string{
	"kubernetes.io/cinder":          ">=1.24.0",
	"kubernetes.io/aws-ebs":         ">=1.27.0",
	"kubernetes.io/azure-disk":      ">=1.27.0",
	"kubernetes.io/gce-pd":          ">=1.28.0",
	"kubernetes.io/portworx-volume": ">=1.36.0",
}

// NotTakenOver makes a plugin that sees no volumes of these plugins of Kubernetes itself, nor classes that provision such.
func NotTakenOver(plugins ...string) variant.OfPlugin {
	volumes := variant.MisreadObjects(func(pv *v1.PersistentVolume) {
		if slices.Contains(plugins, volume.PluginOf(&pv.Spec.PersistentVolumeSource)) {
			pv.Spec.PersistentVolumeSource = v1.PersistentVolumeSource{}
		}
	})
	classes := variant.MisreadObjects(func(c *storagev1.StorageClass) {
		if slices.Contains(plugins, c.Provisioner) {
			c.Provisioner = ""
		}
	})
	pods := variant.MisreadPods(func(p *v1.Pod) {
		p.Spec.Volumes = variant.Each(p.Spec.Volumes, func(v *v1.Volume) {
			if slices.Contains(plugins, volume.InlinePluginOf(v)) {
				v.VolumeSource = v1.VolumeSource{}
			}
		})
	})
	return func(p filter.Plugin) filter.Plugin { return pods(classes(volumes(p))) }
}

// ForeignEphemeralClaim returns a State by which volumes cannot be counted beside a pod whose ephemeral volume has a claim that
// is not its own.
func ForeignEphemeralClaim(s *filter.Snapshot, st filter.State, limits *volume.LimitsState) filter.State {
	foreign := make([]string, s.Size()) // the key of such a claim, by Pod.Index
	s.Placed(func(_ *filter.Node, p *filter.Pod) {
		for _, c := range limits.Index.ClaimsOf(p.Pod) {
			if c.PVC != nil && !c.Owned && foreign[p.Index] == "" {
				foreign[p.Index] = c.Key
			}
		}
	})
	limited := func(n *filter.Node) bool { // volumes are counted there
		csi := limits.Index.CSINodes[n.Name]
		return csi != nil && slices.ContainsFunc(csi.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Allocatable != nil && d.Allocatable.Count != nil })
	}
	fits := func(n *filter.Node, v filter.View) *filter.Verdict {
		if limits.Unusable != nil || len(limits.Wanted) == 0 || limits.Missing[n.Index] != nil || !limited(n) {
			return st.Fits(n, v)
		}
		var claims []string
		for _, p := range v.Pods {
			if key := foreign[p.Index]; key != "" {
				claims = append(claims, key)
			}
		}
		switch len(claims) {
		case 0:
			return st.Fits(n, v)
		case 1:
			return &filter.Verdict{Error: "PVC " + claims[0] + " was not created for pod"}
		}
		return &filter.Verdict{Error: "(pod is not owner)"} // whose comes first, if the node's pods are in any order
	}
	return variant.Judge{State: st, Verdict: fits, Same: func(a, b *filter.Pod) bool { return foreign[a.Index] == foreign[b.Index] && st.Alike(a, b) }}
}

// EphemeralVolumesUncounted returns a plugin that counts volumes but those of ephemeral claims.
func EphemeralVolumesUncounted(p filter.Plugin) filter.Plugin {
	without := variant.MisreadPods(func(p *v1.Pod) {
		p.Spec.Volumes = slices.DeleteFunc(slices.Clone(p.Spec.Volumes), func(v v1.Volume) bool { return v.Ephemeral != nil })
	})(p)
	return variant.Around(func(s *filter.Snapshot, st filter.State, limits *volume.LimitsState) filter.State {
		if limits.Unusable != nil {
			return st // which ephemeral volumes may bring about, too
		}
		bare, _ := without.PreFilter(s)
		counted, ok := filter.As[*volume.LimitsState](bare)
		if !ok {
			return nil
		}
		*limits = *counted
		return st
	})(p)
}
