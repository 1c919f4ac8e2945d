package minimize

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// selectedNode is the annotation of a claim with the node that its volume is made
// for (component-helpers/storage/volume/pv_helpers.go:51@v0.37.1).
const selectedNode = "volume.kubernetes.io/selected-node"

// storageNames gives claims, volumes, storage classes, attachments and capacities
// plain names, and volumes plain handles. The claims of ephemeral volumes are
// called after their pods, and what is referred to and not there stays so.
func storageNames(c *model.Cluster, byName bool) *model.Cluster {
	to := map[runtime.Object]string{}
	missing := missing(c)
	rename := func(prefix string, is func(o runtime.Object) bool) {
		var list []metav1.Object
		for _, o := range c.Extra {
			if is(o) {
				list = append(list, o.(metav1.Object))
			}
		}
		names := plain(list, byName, except(missing, numbered(prefix)))
		for _, o := range list {
			to[o.(runtime.Object)] = names[model.Key(o)]
		}
	}
	ephemeral := ephemeralClaims(c)
	rename("claim", func(o runtime.Object) bool {
		p, ok := o.(*v1.PersistentVolumeClaim)
		return ok && ephemeral[model.Key(p)] == nil
	})
	rename("volume", is[*v1.PersistentVolume])
	rename("class", is[*storagev1.StorageClass])
	rename("attachment", is[*storagev1.VolumeAttachment])
	rename("capacity", is[*storagev1.CSIStorageCapacity])
	if len(to) == 0 {
		return nil
	}
	all := objects(c)
	var handles []string
	return follow(c, edit(c, func(i int, o runtime.Object) bool {
		name := to[all[i]]
		if name != "" {
			o.(metav1.Object).SetName(name)
		}
		v, ok := o.(*v1.PersistentVolume)
		if !ok || v.Spec.CSI == nil {
			return name != ""
		}
		if !slices.Contains(handles, v.Spec.CSI.VolumeHandle) {
			handles = append(handles, v.Spec.CSI.VolumeHandle)
		}
		v.Spec.CSI.VolumeHandle = numbered("handle")(slices.Index(handles, v.Spec.CSI.VolumeHandle))
		return true
	}))
}

// missing are the names of claims, volumes and classes that are referred to and
// not there.
func missing(c *model.Cluster) map[string]bool {
	names := map[string]bool{}
	for _, p := range pods(c) {
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				names[v.PersistentVolumeClaim.ClaimName] = true
			}
			if v.Ephemeral != nil {
				names[p.Name+"-"+v.Name] = true
			}
		}
	}
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *v1.PersistentVolumeClaim:
			names[o.Spec.VolumeName] = true
			names[*cmp.Or(o.Spec.StorageClassName, new(string))] = true
			names[o.Annotations[v1.BetaStorageClassAnnotation]] = true
		case *v1.PersistentVolume:
			names[o.Spec.StorageClassName] = true
			if o.Spec.ClaimRef != nil {
				names[o.Spec.ClaimRef.Name] = true
			}
		case *storagev1.VolumeAttachment:
			names[*cmp.Or(o.Spec.Source.PersistentVolumeName, new(string))] = true
		case *storagev1.CSIStorageCapacity:
			names[o.StorageClassName] = true
		}
	}
	for _, o := range c.Extra {
		if meta, ok := o.(metav1.Object); ok {
			delete(names, meta.GetName())
		}
	}
	return names
}

// except numbers names past those that are taken.
func except(taken map[string]bool, name func(i int) string) func(i int) string {
	past := 0
	return func(i int) string {
		for taken[name(i+past)] {
			past++
		}
		return name(i + past)
	}
}

func is[T any](o runtime.Object) bool { _, ok := o.(T); return ok }

// ephemeralClaims are the pods that have an ephemeral volume, by the keys of the
// claims made for it (component-helpers/storage/ephemeral/ephemeral.go:36@v0.37.1).
func ephemeralClaims(c *model.Cluster) map[string]*v1.Pod {
	claims := map[string]*v1.Pod{}
	for _, p := range pods(c) {
		for i := range p.Spec.Volumes {
			if v := &p.Spec.Volumes[i]; v.Ephemeral != nil {
				claims[model.Key(p)+"-"+v.Name] = p
			}
		}
	}
	return claims
}

// follow makes what refers to pods, claims, volumes and classes in c refer to the
// same ones in next, which differs in the names and namespaces of objects alone.
func follow(c, next *model.Cluster) *model.Cluster {
	if next == nil || len(c.Extra) == 0 {
		return next
	}
	old, new := objects(c), objects(next)
	podTo := map[types.UID]*v1.Pod{}
	for i, o := range old {
		if p, ok := o.(*v1.Pod); ok {
			podTo[uid(p)] = new[i].(*v1.Pod)
		}
	}
	ephemeral := ephemeralClaims(c)
	claims, volumes, classes := map[string]*v1.PersistentVolumeClaim{}, map[string]string{}, map[string]string{}
	for i, o := range old {
		switch o := o.(type) {
		case *v1.PersistentVolumeClaim:
			to := *new[i].(*v1.PersistentVolumeClaim)
			if p := ephemeral[model.Key(o)]; p != nil {
				to.Name = podTo[uid(p)].Name + o.Name[len(p.Name):]
			}
			claims[model.Key(o)] = &to
		case *v1.PersistentVolume:
			volumes[o.Name] = new[i].(*v1.PersistentVolume).Name
		case *storagev1.StorageClass:
			classes[o.Name] = new[i].(*storagev1.StorageClass).Name
		}
	}
	of := func(to map[string]string, name *string) {
		if name != nil {
			*name = cmp.Or(to[*name], *name)
		}
	}
	return edit(next, func(i int, o runtime.Object) bool {
		switch o := o.(type) {
		case *v1.Pod:
			for j := range o.Spec.Volumes {
				v := &o.Spec.Volumes[j]
				if v.PersistentVolumeClaim != nil {
					if to := claims[old[i].(*v1.Pod).Namespace+"/"+v.PersistentVolumeClaim.ClaimName]; to != nil {
						v.PersistentVolumeClaim.ClaimName = to.Name
					}
				}
				if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
					of(classes, v.Ephemeral.VolumeClaimTemplate.Spec.StorageClassName)
				}
			}
			return len(o.Spec.Volumes) > 0
		case *v1.PersistentVolumeClaim:
			o.Name = claims[model.Key(old[i].(*v1.PersistentVolumeClaim))].Name
			for j := range o.OwnerReferences {
				if to := podTo[o.OwnerReferences[j].UID]; to != nil {
					o.OwnerReferences[j].Name, o.OwnerReferences[j].UID = to.Name, uid(to)
				}
			}
			of(volumes, &o.Spec.VolumeName)
			of(classes, o.Spec.StorageClassName)
			if class, set := o.Annotations[v1.BetaStorageClassAnnotation]; set {
				o.Annotations[v1.BetaStorageClassAnnotation] = cmp.Or(classes[class], class)
			}
		case *v1.PersistentVolume:
			if ref := old[i].(*v1.PersistentVolume).Spec.ClaimRef; ref != nil {
				if to := claims[ref.Namespace+"/"+ref.Name]; to != nil {
					o.Spec.ClaimRef.Namespace, o.Spec.ClaimRef.Name = to.Namespace, to.Name
				}
			}
			of(classes, &o.Spec.StorageClassName)
		case *storagev1.VolumeAttachment:
			of(volumes, o.Spec.Source.PersistentVolumeName)
		case *storagev1.CSIStorageCapacity:
			of(classes, &o.StorageClassName)
		default:
			return false
		}
		return true
	})
}

// uid is what the scheduler knows a pod by: its UID, or its name.
func uid(p *v1.Pod) types.UID { return cmp.Or(p.UID, types.UID(model.Key(p))) }

// inNamespace renames the namespace of an object, or of the claim that a volume is
// for, and tells whether there is one.
func inNamespace(o runtime.Object, rename func(string) string) bool {
	if v, ok := o.(*v1.PersistentVolume); ok && v.Spec.ClaimRef != nil {
		v.Spec.ClaimRef.Namespace = rename(v.Spec.ClaimRef.Namespace)
		return true
	}
	meta, ok := o.(metav1.Object)
	if !ok || meta.GetNamespace() == "" {
		return false
	}
	meta.SetNamespace(rename(meta.GetNamespace()))
	if pod, ok := o.(*v1.Pod); ok {
		for _, term := range properties.PodTerms(pod) {
			for i := range term.Namespaces {
				term.Namespaces[i] = rename(term.Namespaces[i])
			}
		}
	}
	return true
}

// terms renames the labels that node affinity looks at.
func (r relabel) terms(terms []v1.NodeSelectorTerm) {
	for _, term := range terms {
		for i := range term.MatchExpressions {
			e := &term.MatchExpressions[i]
			r.values(&e.Key, string(e.Operator), e.Values)
		}
	}
}

// storageNodes renames the labels of nodes in what says which nodes can reach
// storage, and tells whether o does.
func storageNodes(o runtime.Object, r relabel) bool {
	switch o := o.(type) {
	case *v1.PersistentVolume:
		if o.Spec.NodeAffinity == nil || o.Spec.NodeAffinity.Required == nil {
			return false
		}
		r.terms(o.Spec.NodeAffinity.Required.NodeSelectorTerms)
	case *storagev1.StorageClass:
		for _, term := range o.AllowedTopologies {
			for i := range term.MatchLabelExpressions {
				e := &term.MatchLabelExpressions[i]
				r.values(&e.Key, "", e.Values)
			}
		}
		return len(o.AllowedTopologies) > 0
	case *storagev1.CSIStorageCapacity:
		r.selector(o.NodeTopology)
	default:
		return false
	}
	return true
}

// wellKnown tells whether a label of nodes means something by its name.
func wellKnown(key string) bool {
	return slices.Contains([]string{v1.LabelHostname, v1.LabelTopologyZone, v1.LabelTopologyRegion,
		v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion}, key)
}
