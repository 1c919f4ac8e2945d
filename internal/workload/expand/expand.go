// Package expand says which pods the controllers of Kubernetes make of a workload, and what
// they put in the place of a pod that is gone. Names, which controllers draw, are made
// readable, and the same each time.
package expand

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/internal/workload"
)

// MaxPods is of how many pods a workload may be at most.
const MaxPods = 10_000

// Workload is what comes of one object of a manifest.
type Workload struct {
	Ref workload.Ref
	// Pods are in the order in which their controller makes them; none is bound.
	Pods []*v1.Pod
	// InTurn: a pod is made only once the one before it runs (StatefulSet, OrderedReady).
	InTurn bool
	// Claims are those that are made with the pods.
	Claims []*v1.PersistentVolumeClaim
	// Template is the path of the pods' template in the object: "spec.template", or "" for a Pod.
	Template string
	// Notes say what of the workload is not followed.
	Notes []string
}

// Of expands an object. Nodes are those on which a DaemonSet may run. The Workload is nil if the
// object makes no pods. Errors name the field of the object.
func Of(object runtime.Object, nodes []*v1.Node) (*Workload, *field.Error) {
	switch o := object.(type) {
	case *v1.Pod:
		return ofPod(o)
	case *appsv1.Deployment:
		return ofDeployment(o)
	case *appsv1.ReplicaSet:
		return ofReplicas("ReplicaSet", &o.ObjectMeta, o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template, "apps/v1")
	case *v1.ReplicationController:
		if o.Spec.Template == nil {
			return nil, field.Required(field.NewPath("spec", "template"), "")
		}
		return ofReplicas("ReplicationController", &o.ObjectMeta, o.Spec.Replicas, nil, o.Spec.Template, "v1")
	case *appsv1.StatefulSet:
		return ofStatefulSet(o)
	case *appsv1.DaemonSet:
		return ofDaemonSet(o, nodes)
	case *batchv1.Job:
		return ofJob(o)
	}
	return nil, nil
}

func ofPod(o *v1.Pod) (*Workload, *field.Error) {
	if o.Spec.NodeName != "" {
		return nil, field.Invalid(field.NewPath("spec", "nodeName"), o.Spec.NodeName, "is bound already: no scheduler places it")
	}
	p := o.DeepCopy()
	p.Status = v1.PodStatus{Phase: v1.PodPending}
	w := &Workload{Ref: workload.Of(p), Pods: []*v1.Pod{p}}
	w.addEphemeral(p)
	return w, nil
}

// maker makes the pods of a workload of a template.
type maker struct {
	*Workload
	template *v1.PodTemplateSpec
	owner    metav1.OwnerReference
}

// newMaker checks what all workloads have in common: how many pods there are, and that the selector
// matches the labels of the template (docs: concepts/workloads/controllers/deployment, "Selector").
func newMaker(kind, apiVersion string, meta *metav1.ObjectMeta, count *int32, countField string, selector *metav1.LabelSelector, template *v1.PodTemplateSpec) (*maker, int, *field.Error) {
	spec := field.NewPath("spec")
	n := int(ptr.Deref(count, 1))
	switch {
	case n < 0:
		return nil, 0, field.Invalid(spec.Child(countField), n, "must be greater than or equal to 0")
	case n > MaxPods:
		return nil, 0, field.Invalid(spec.Child(countField), n, fmt.Sprintf("is more than the %d pods that are followed", MaxPods))
	}
	switch {
	case selector == nil && kind != "Job" && kind != "ReplicationController":
		return nil, 0, field.Required(spec.Child("selector"), "")
	case selector != nil:
		s, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			return nil, 0, field.Invalid(spec.Child("selector"), metav1.FormatLabelSelector(selector), err.Error())
		}
		if !s.Matches(labels.Set(template.Labels)) {
			return nil, 0, field.Invalid(spec.Child("template", "metadata", "labels"), template.Labels, "`selector` does not match template `labels`")
		}
	}
	if len(template.Spec.Containers) == 0 {
		return nil, 0, field.Required(spec.Child("template", "spec", "containers"), "")
	}
	m := &maker{
		Workload: &Workload{Ref: workload.Ref{Kind: kind, Namespace: meta.Namespace, Name: meta.Name}, Template: "spec.template"},
		template: template,
		owner: metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: meta.Name, UID: uid(kind, meta.Namespace, meta.Name),
			Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)},
	}
	return m, n, nil
}

// pod makes one pod more.
func (m *maker) pod(name string, change ...func(*v1.Pod)) {
	p := &v1.Pod{ObjectMeta: *m.template.ObjectMeta.DeepCopy(), Spec: *m.template.Spec.DeepCopy(), Status: v1.PodStatus{Phase: v1.PodPending}}
	p.Name, p.Namespace, p.GenerateName = name, m.Ref.Namespace, ""
	p.OwnerReferences = []metav1.OwnerReference{m.owner}
	for _, c := range change {
		c(p)
	}
	m.addEphemeral(p)
	m.Pods = append(m.Pods, p)
}

func setLabel(p *v1.Pod, key, value string) {
	p.Labels = maps.Clone(p.Labels)
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[key] = value
}

// ofDeployment makes the pods of its one new ReplicaSet: a first rollout, not an update.
func ofDeployment(o *appsv1.Deployment) (*Workload, *field.Error) {
	m, n, err := newMaker("ReplicaSet", "apps/v1", &o.ObjectMeta, o.Spec.Replicas, "replicas", o.Spec.Selector, &o.Spec.Template)
	if err != nil {
		return nil, err
	}
	hash := hashOf(&o.Spec.Template)
	m.Ref.Kind = "Deployment"
	m.owner.Name += "-" + hash
	m.owner.UID = uid("ReplicaSet", o.Namespace, m.owner.Name)
	if o.Spec.Paused {
		m.Notes = append(m.Notes, "is paused: it makes no pods")
		n = 0
	}
	for i := range n {
		m.pod(fmt.Sprintf("%s-%d", m.owner.Name, i+1), func(p *v1.Pod) { setLabel(p, appsv1.DefaultDeploymentUniqueLabelKey, hash) })
	}
	return m.Workload, nil
}

func ofReplicas(kind string, meta *metav1.ObjectMeta, replicas *int32, selector *metav1.LabelSelector, template *v1.PodTemplateSpec, apiVersion string) (*Workload, *field.Error) {
	m, n, err := newMaker(kind, apiVersion, meta, replicas, "replicas", selector, template)
	if err != nil {
		return nil, err
	}
	for i := range n {
		m.pod(fmt.Sprintf("%s-%d", meta.Name, i+1))
	}
	return m.Workload, nil
}

// ofStatefulSet numbers the pods from ordinals.start on, and makes a claim of each template for each
// (docs: concepts/workloads/controllers/statefulset, "Pod Identity", "Pod Management Policies").
func ofStatefulSet(o *appsv1.StatefulSet) (*Workload, *field.Error) {
	m, n, err := newMaker("StatefulSet", "apps/v1", &o.ObjectMeta, o.Spec.Replicas, "replicas", o.Spec.Selector, &o.Spec.Template)
	if err != nil {
		return nil, err
	}
	start := int32(0)
	if o.Spec.Ordinals != nil {
		start = o.Spec.Ordinals.Start
	}
	if start < 0 {
		return nil, field.Invalid(field.NewPath("spec", "ordinals", "start"), start, "must be greater than or equal to 0")
	}
	switch o.Spec.PodManagementPolicy {
	case "", appsv1.OrderedReadyPodManagement:
		m.InTurn = true
	case appsv1.ParallelPodManagement:
	default:
		return nil, field.NotSupported(field.NewPath("spec", "podManagementPolicy"), o.Spec.PodManagementPolicy,
			[]appsv1.PodManagementPolicyType{appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement})
	}
	for i := range n {
		ordinal := int64(start) + int64(i)
		name := fmt.Sprintf("%s-%d", o.Name, ordinal)
		m.pod(name, func(p *v1.Pod) {
			setLabel(p, appsv1.StatefulSetPodNameLabel, name)
			setLabel(p, appsv1.PodIndexLabel, fmt.Sprint(ordinal))
			for j := range o.Spec.VolumeClaimTemplates {
				t := &o.Spec.VolumeClaimTemplates[j]
				m.claim(p, t.Name, &v1.PersistentVolumeClaim{ObjectMeta: t.ObjectMeta, Spec: t.Spec}, t.Name+"-"+name)
			}
		})
	}
	return m.Workload, nil
}

// claim has a pod mount a claim of its own, as the volume of a name.
func (m *maker) claim(p *v1.Pod, volume string, like *v1.PersistentVolumeClaim, name string) {
	c := like.DeepCopy()
	c.Name, c.Namespace = name, p.Namespace
	c.Status = v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending}
	m.Claims = append(m.Claims, c)
	p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v v1.Volume) bool { return v.Name == volume })
	p.Spec.Volumes = append(p.Spec.Volumes, v1.Volume{Name: volume, VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
}

// addEphemeral makes the claims of a pod's generic ephemeral volumes, which the pod owns (docs:
// concepts/storage/ephemeral-volumes, "PersistentVolumeClaim naming").
func (w *Workload) addEphemeral(p *v1.Pod) {
	for i := range p.Spec.Volumes {
		e := p.Spec.Volumes[i].Ephemeral
		if e == nil || e.VolumeClaimTemplate == nil {
			continue
		}
		if p.UID == "" {
			p.UID = uid("Pod", p.Namespace, p.Name)
		}
		w.Claims = append(w.Claims, &v1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{
				Name: p.Name + "-" + p.Spec.Volumes[i].Name, Namespace: p.Namespace,
				Labels: e.VolumeClaimTemplate.Labels, Annotations: e.VolumeClaimTemplate.Annotations,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: ptr.To(true)}},
			},
			Spec:   *e.VolumeClaimTemplate.Spec.DeepCopy(),
			Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending},
		})
	}
}

// ofJob makes the pods that run at first: as many as may at once (docs: concepts/workloads/controllers/job,
// "Parallel execution for Jobs", "Completion mode").
func ofJob(o *batchv1.Job) (*Workload, *field.Error) {
	m, n, err := newMaker("Job", "batch/v1", &o.ObjectMeta, o.Spec.Parallelism, "parallelism", nil, &o.Spec.Template)
	if err != nil {
		return nil, err
	}
	indexed := ptr.Deref(o.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
	completions := int(ptr.Deref(o.Spec.Completions, math.MaxInt32))
	switch {
	case completions < 0:
		return nil, field.Invalid(field.NewPath("spec", "completions"), completions, "must be greater than or equal to 0")
	case indexed && o.Spec.Completions == nil:
		return nil, field.Required(field.NewPath("spec", "completions"), "when completion mode is Indexed")
	case o.Spec.Completions == nil && o.Spec.Parallelism == nil:
		completions = 1
	}
	if p := m.template.Spec.RestartPolicy; p != v1.RestartPolicyNever && p != v1.RestartPolicyOnFailure {
		return nil, field.NotSupported(field.NewPath("spec", "template", "spec", "restartPolicy"), p, []v1.RestartPolicy{v1.RestartPolicyOnFailure, v1.RestartPolicyNever})
	}
	if more := completions - n; more > 0 && o.Spec.Completions != nil {
		m.Notes = append(m.Notes, fmt.Sprintf("%d more of its pods come as these complete: they are not followed", more))
	}
	n = min(n, completions)
	if ptr.Deref(o.Spec.Suspend, false) {
		m.Notes, n = []string{"is suspended: it makes no pods"}, 0
	}
	for i := range n {
		m.pod(fmt.Sprintf("%s-%d", o.Name, i), func(p *v1.Pod) {
			setLabel(p, batchv1.JobNameLabel, o.Name)
			if indexed {
				setLabel(p, batchv1.JobCompletionIndexAnnotation, fmt.Sprint(i))
				p.Annotations = maps.Clone(p.Annotations)
				if p.Annotations == nil {
					p.Annotations = map[string]string{}
				}
				p.Annotations[batchv1.JobCompletionIndexAnnotation] = fmt.Sprint(i)
			}
		})
	}
	return m.Workload, nil
}

// hashOf stands for the hash of a template: it differs from the one that a cluster works out.
func hashOf(t *v1.PodTemplateSpec) string {
	text, _ := json.Marshal(t) // a template can always be encoded
	h := fnv.New32a()
	h.Write(text)
	return fmt.Sprintf("%08x", h.Sum32())
}
