package aftermath

import (
	"fmt"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
)

// WaitingClaimsGetVolumes: once there is a node for a pod, each of its claims that waited for it is written to get its volume there, before
// the pod is bound. How long it waits then is not seen.
var WaitingClaimsGetVolumes = properties.Property{
	Name: "waiting-claims-get-volumes",
	Promise: "WaitForFirstConsumer delays the binding and provisioning of a PersistentVolume until a Pod using the claim is created; volumes are selected or provisioned conforming to its scheduling constraints. " +
		"BindPodVolumes initiates the volume binding by making the API call to prebind the PV to its matching PVC, and triggers the volume provisioning by making the API call to set related annotations on the PVC. " +
		"selected-node is added to a PVC that is triggered to be dynamically provisioned, with the name of the selected node. A PVC to PV binding is a one-to-one mapping.",
	Source: "docs: concepts/storage/storage-classes, \"Volume binding mode\"; concepts/storage/persistent-volumes, \"Binding\"; reference/labels-annotations-taints, volume.kubernetes.io/selected-node; " +
		"doc comment of SchedulerVolumeBinder (volumebinding/binder.go:127@v1.37.1)",
	Lies: []string{"a claim gets no volume", "a claim gets a volume that is too large", "a claim gets two volumes", "a claim is to be provisioned, though there is a volume",
		"a claim is to be provisioned on another node", "a claim is not to be provisioned", "a volume goes to another claim", "the pod is bound before its volumes"},
	Applies: func(s *properties.Subject) bool {
		// Which plugin is first to have others wait is not promised, and a configuration may leave VolumeBinding out.
		return len(s.Unmodelled) == 0 && s.Observation.Aftermath != nil && s.Observation.ScheduledTo != "" && waits(s) && !device.Uses(s.Cluster.Extra, s.Cluster.Preemptor) &&
			len(s.Cluster.Settings.Configuration) == 0
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		w := &written{s: s, volumes: map[string]string{}, provisioned: map[string]bool{}}
		for _, c := range s.Observation.Aftermath.Calls {
			if c.Failed == "" {
				w.take(&c)
			}
		}
		w.suffices()
		return w.findings, nil
	},
}

// waits tells whether a claim of the preemptor is not bound yet.
func waits(s *properties.Subject) bool {
	return slices.ContainsFunc(s.Claims(s.Cluster.Preemptor), func(c volume.Claim) bool { return c.Waits() })
}

// mayWait tells whether the preemptor may be kept from being bound until it has its volumes: a claim waits for it, or a configuration leaves
// it open what becomes of its volumes.
func mayWait(s *properties.Subject) bool {
	return waits(s) || len(s.Cluster.Preemptor.Spec.Volumes) > 0 && len(s.Cluster.Settings.Configuration) > 0
}

// othersFit tells whether other volumes are taken to fit for the claims that wait, by known findings that are assumed.
func othersFit(s *properties.Subject) bool {
	classes := map[string]bool{}
	huge := false
	for _, c := range s.Claims(s.Cluster.Preemptor) {
		if c.Waits() {
			size := c.PVC.Spec.Resources.Requests[v1.ResourceStorage]
			classes[c.Class.Name], huge = true, huge || size.CmpInt64(math.MaxInt64) > 0
		}
	}
	byField := func(o runtime.Object) bool {
		pv, ok := o.(*v1.PersistentVolume)
		return ok && classes[pv.Spec.StorageClassName] && pv.Spec.NodeAffinity != nil && pv.Spec.NodeAffinity.Required != nil &&
			slices.ContainsFunc(pv.Spec.NodeAffinity.Required.NodeSelectorTerms, func(t v1.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 })
	}
	vast := func(o runtime.Object) bool {
		left, ok := o.(*storagev1.CSIStorageCapacity)
		return ok && classes[left.StorageClassName] && (left.Capacity != nil && left.Capacity.CmpInt64(math.MaxInt64) > 0 || left.MaximumVolumeSize != nil && left.MaximumVolumeSize.CmpInt64(math.MaxInt64) > 0)
	}
	return s.Assumes("volume-node-fields") && slices.ContainsFunc(s.Cluster.Extra, byField) ||
		s.Assumes("storage-sizes-wrap-around") && (huge || slices.ContainsFunc(s.Cluster.Extra, vast))
}

// written is what is written for the claims of a pod.
type written struct {
	findings
	s           *properties.Subject
	volumes     map[string]string // by claim
	provisioned map[string]bool   // the claims
}

// listedTwice tells whether a claim is taken for several, by a known finding that is assumed.
func (w *written) listedTwice(key string) bool {
	return w.s.Assumes("claim-takes-two-volumes") &&
		slices.ContainsFunc(w.s.Claims(w.s.Cluster.Preemptor), func(c volume.Claim) bool { return c.Key == key && c.Waits() && c.Volumes > 1 })
}

// take takes a call that reached the API server.
func (w *written) take(c *model.Call) {
	to := w.s.Observation.ScheduledTo
	waiting := func(key string) bool {
		return slices.ContainsFunc(w.s.Claims(w.s.Cluster.Preemptor), func(c volume.Claim) bool { return c.Key == key && c.Waits() })
	}
	switch c.Resource {
	case "persistentvolumes":
		if !waiting(c.BoundTo) || c.Verb != "update" {
			w.add(c.Object, fmt.Sprintf("%s of volume %s for %q, which is no claim of the pod that waits", c.Verb, c.Object, c.BoundTo))
			return
		}
		if before := w.volumes[c.BoundTo]; before != "" && !w.listedTwice(c.BoundTo) {
			w.add(c.BoundTo, fmt.Sprintf("the claim gets two volumes: %s and %s", before, c.Object))
		}
		w.volumes[c.BoundTo] = c.Object
	case "persistentvolumeclaims":
		if !waiting(c.Object) || c.Verb != "update" || c.SelectedNode != to {
			w.add(c.Object, fmt.Sprintf("%s of claim %s, to be provisioned on %q: the pod goes to %s", c.Verb, c.Object, c.SelectedNode, to))
		}
		if w.provisioned[c.Object] && !w.listedTwice(c.Object) {
			w.add(c.Object, "the claim is written twice")
		}
		w.provisioned[c.Object] = true
	default:
		if c.Verb == "bind" {
			w.add(c.Object, "the pod is bound before its claims are")
		}
	}
}

// suffices: each claim gets a volume, or is to be provisioned, as the volumes that there are allow.
func (w *written) suffices() {
	to := w.s.Observation.ScheduledTo
	for _, c := range w.s.Claims(w.s.Cluster.Preemptor) {
		if !c.Waits() {
			continue
		}
		_, selected := c.PVC.Annotations[volume.AnnSelectedNode]
		switch got := w.volumes[c.Key]; {
		case selected && got != "":
			w.add(c.Key, fmt.Sprintf("the claim is on its way to be provisioned, and gets %s", got))
		case got != "" && w.provisioned[c.Key] && !w.listedTwice(c.Key):
			w.add(c.Key, fmt.Sprintf("the claim gets %s, and is to be provisioned", got))
		case got == "" && !w.provisioned[c.Key] && !selected:
			w.add(c.Key, fmt.Sprintf("the pod goes to %s, and its claim neither gets a volume nor is to be provisioned there", to))
		}
	}
	if othersFit(w.s) || slices.ContainsFunc(w.s.Claims(w.s.Cluster.Preemptor), func(c volume.Claim) bool { return w.listedTwice(c.Key) }) {
		return
	}
	at := slices.IndexFunc(w.s.Cluster.Nodes, func(n *v1.Node) bool { return n.Name == to })
	if at < 0 || !volume.NewIndex(w.s.Cluster.Extra).Gives(w.s.Cluster.Preemptor, w.s.Cluster.Nodes[at], w.volumes) {
		w.add("volumes", fmt.Sprintf("on %s the claims cannot get these volumes, and no smaller ones: %v", to, w.volumes))
	}
}
