package corpus

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// notGiven lists what the preemptor of a dump depends on and the dump says nothing
// about: a kind of which it holds no object at all was probably not asked for, and
// what refers to it cannot be told from what refers to nothing. Each names the
// resource to add to "kubectl get", or why the cluster did not tell.
func notGiven(c *model.Cluster, given Given) []model.UnmodelledField {
	held := map[reflect.Type]bool{}
	claims := map[string]*v1.PersistentVolumeClaim{}
	for _, o := range c.Extra {
		held[reflect.TypeOf(o)] = true
		if claim, ok := o.(*v1.PersistentVolumeClaim); ok {
			claims[model.Key(claim)] = claim
		}
	}
	var missing []model.UnmodelledField
	needs := func(kind any, resource, object, field string) {
		if t := reflect.TypeOf(kind); !held[t] {
			held[t] = true // once is enough
			why, asked := given[resource]
			switch {
			case asked && why == "":
				return
			case asked:
				why = fmt.Sprintf("the %s are not known: %s", resource, why)
			default:
				why = "the dump holds no " + resource
			}
			missing = append(missing, model.UnmodelledField{Object: object, Field: field, Why: why})
		}
	}

	given.withheld(c, func(resource, field, why string) {
		missing = append(missing, model.UnmodelledField{Object: "Cluster", Field: field, Why: fmt.Sprintf("the %s are not known: %s", resource, why)})
	})
	for _, p := range c.Preemptors() {
		needsOf(p, claims, needs)
		if slices.ContainsFunc(filter.Requested(p), func(a filter.Amount) bool {
			return strings.HasPrefix(string(a.Name), resourcev1.ResourceDeviceClassPrefix)
		}) {
			needs(&resourcev1.DeviceClass{}, "deviceclasses", "Pod "+model.Key(p), "spec.containers")
		}
		if device.Backs(c.Extra, p) {
			needs(&resourcev1.ResourceSlice{}, "resourceslices", "Pod "+model.Key(p), "spec.containers")
		}
		if group := p.Spec.SchedulingGroup; group != nil && group.PodGroupName != nil {
			needs(&schedulingv1beta1.PodGroup{}, "podgroups", "Pod "+model.Key(p), "spec.schedulingGroup")
			its, _ := c.Group(model.PodGroupKey(p.Namespace, *group.PodGroupName)).(*schedulingv1beta1.PodGroup)
			if its != nil && its.Spec.ParentCompositePodGroupName != nil {
				needs(&schedulingv1alpha3.CompositePodGroup{}, "compositepodgroups", "PodGroup "+model.Key(its), "spec.parentCompositePodGroupName")
			}
		}
	}
	return missing
}

// withheld reports the kinds that a cluster was asked for and did not tell, and on which a decision
// depends whoever the preemptor is.
func (g Given) withheld(c *model.Cluster, missing func(resource, field, why string)) {
	if why := g["poddisruptionbudgets"]; why != "" {
		missing("poddisruptionbudgets", "poddisruptionbudgets", why)
	}
	if why := g["namespaces"]; why != "" && (slices.ContainsFunc(c.Pods, selectsNamespaces) || slices.ContainsFunc(c.Preemptors(), selectsNamespaces)) {
		missing("namespaces", "spec.affinity", why)
	}
	if why := g["podgroups"]; why != "" && slices.ContainsFunc(c.Pods, func(p *v1.Pod) bool { return p.Spec.SchedulingGroup != nil }) {
		missing("podgroups", "spec.schedulingGroup", why)
	}
	if slices.ContainsFunc(c.Preemptors(), hasClaims) {
		for _, resource := range []string{"csidrivers", "csistoragecapacities", "volumeattachments"} {
			if why := g[resource]; why != "" {
				missing(resource, "spec.volumes", why)
			}
		}
	}
}

// hasClaims tells whether a pod has volumes that are claimed.
func hasClaims(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v v1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}

// selectsNamespaces tells whether a term of a pod's affinity means the pods of namespaces by their
// labels. The empty selector means all namespaces, whatever they are.
func selectsNamespaces(p *v1.Pod) bool {
	var terms []v1.PodAffinityTerm
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		terms = append(terms, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		terms = append(terms, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
	}
	return slices.ContainsFunc(terms, func(t v1.PodAffinityTerm) bool {
		s := t.NamespaceSelector
		return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0
	})
}

// needsOf reports what one pod depends on.
func needsOf(p *v1.Pod, claims map[string]*v1.PersistentVolumeClaim, needs func(kind any, resource, object, field string)) {
	preemptor := "Pod " + model.Key(p)
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		field, name := fmt.Sprintf("spec.volumes[%d].persistentVolumeClaim", i), ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			field, name = fmt.Sprintf("spec.volumes[%d].ephemeral", i), p.Name+"-"+v.Name
		default:
			continue
		}
		needs(&v1.PersistentVolumeClaim{}, "persistentvolumeclaims", preemptor, field)
		claim := claims[p.Namespace+"/"+name]
		if claim == nil {
			continue
		}
		object := "PersistentVolumeClaim " + model.Key(claim)
		if claim.Spec.VolumeName != "" {
			needs(&v1.PersistentVolume{}, "persistentvolumes", object, "spec.volumeName")
		} else {
			needs(&storagev1.StorageClass{}, "storageclasses", object, "spec.storageClassName")
		}
		// Every kubelet makes one, so there are as many as nodes.
		needs(&storagev1.CSINode{}, "csinodes", object, "spec.volumeName")
	}
	for i := range p.Spec.ResourceClaims {
		field := fmt.Sprintf("spec.resourceClaims[%d]", i)
		needs(&resourcev1.ResourceClaim{}, "resourceclaims", preemptor, field)
		needs(&resourcev1.DeviceClass{}, "deviceclasses", preemptor, field)
		needs(&resourcev1.ResourceSlice{}, "resourceslices", preemptor, field)
	}
}
