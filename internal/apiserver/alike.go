package apiserver

import (
	"crypto/sha256"
	"regexp"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/core/validation"
)

// alike remembers valid pods, so that of the many pods of a workload one is validated.
// It compares all fields but those that differ from pod to pod and that upstream either
// does not look at, or validates by themselves, which alike has it do. A pod that is in
// doubt is never known. Each worker has one; what they remember they share.
type alike struct {
	valid *validPods
	text  []byte
}

// validPods are the keys of pods that are valid. The zero value knows none.
type validPods struct {
	lock sync.RWMutex
	keys map[[sha256.Size]byte]bool
}

// maxAlike is how many pods are remembered.
const maxAlike = 1 << 16

func (v *validPods) has(key [sha256.Size]byte) bool {
	v.lock.RLock()
	defer v.lock.RUnlock()
	return v.keys[key]
}

func (v *validPods) add(key [sha256.Size]byte) {
	v.lock.Lock()
	defer v.lock.Unlock()
	if v.keys == nil {
		v.keys = map[[sha256.Size]byte]bool{}
	}
	if len(v.keys) < maxAlike {
		v.keys[key] = true
	}
}

// key is what a pod has in common with others that are valid if it is; false if that
// cannot be told. The pod has its defaults.
func (a *alike) key(pod *v1.Pod) (key [sha256.Size]byte, ok bool) {
	if a == nil || pod.Spec.Resources != nil || // the API server writes to it as it validates
		len(validation.ValidatePodName(pod.Name, false)) > 0 {
		return key, false
	}
	p := *pod
	m := &p.ObjectMeta
	m.Name, m.UID, m.ResourceVersion, m.CreationTimestamp = "", "", "", metav1.Time{}
	if p.Spec.NodeName != "" {
		if len(validation.ValidateNodeName(p.Spec.NodeName, false)) > 0 {
			return key, false
		}
		p.Spec.NodeName = "node"
	}
	s := &p.Status
	s.StartTime = nil
	if len(s.PodIPs) == 1 && s.PodIP == s.PodIPs[0].IP && isIP(s.PodIP) {
		s.PodIP, s.PodIPs = "", []v1.PodIP{{}}
	}
	if len(s.HostIPs) == 1 && s.HostIP == s.HostIPs[0].IP && isIP(s.HostIP) {
		s.HostIP, s.HostIPs = "", []v1.HostIP{{}}
	}
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		c := &s.Conditions[i]
		c.LastProbeTime, c.LastTransitionTime = metav1.Time{}, metav1.Time{}
	}
	s.InitContainerStatuses, s.ContainerStatuses = withoutInstance(s.InitContainerStatuses), withoutInstance(s.ContainerStatuses)
	if !withoutToken(&p.Spec, len(s.VolumeHealth) > 0) {
		return key, false
	}

	// The encoding is the same for the same pod: it sorts maps.
	size := p.Size()
	a.text = slices.Grow(a.text[:0], size)[:size]
	if _, err := p.MarshalToSizedBuffer(a.text); err != nil {
		return key, false
	}
	return sha256.Sum256(a.text), true
}

func isIP(ip string) bool {
	return len(validation.IsValidIPForLegacyField(field.NewPath("ip"), ip, nil)) == 0
}

// withoutInstance leaves out which container it is that runs.
func withoutInstance(statuses []v1.ContainerStatus) []v1.ContainerStatus {
	statuses = slices.Clone(statuses)
	for i := range statuses {
		s := &statuses[i]
		s.ContainerID = ""
		if s.State.Running != nil {
			s.State.Running = &v1.ContainerStateRunning{}
		}
	}
	return statuses
}

// token is the volume that the admission of service accounts gives each pod, with a name
// of its own; anyToken stands for that name.
var token = regexp.MustCompile(`^kube-api-access-[a-z0-9]{5}$`)

const anyToken = "kube-api-access-*****"

// withoutToken puts another name in the place of the token's, in a copy. It tells whether
// the pod is otherwise the same: it has one token at most, and knows nothing of that name,
// nor does anything else name the volume. Nor has it volumes that are named after the pod.
func withoutToken(spec *v1.PodSpec, named bool) bool {
	name := ""
	for _, v := range spec.Volumes {
		switch {
		case v.Ephemeral != nil, v.Name == anyToken, name != "" && token.MatchString(v.Name):
			return false
		case token.MatchString(v.Name):
			name = v.Name
		}
	}
	rename := func(containers []v1.Container) ([]v1.Container, bool) {
		containers = slices.Clone(containers)
		for i := range containers {
			c := &containers[i]
			if slices.ContainsFunc(c.VolumeMounts, func(m v1.VolumeMount) bool { return m.Name == anyToken }) ||
				slices.ContainsFunc(c.VolumeDevices, func(d v1.VolumeDevice) bool { return d.Name == name || d.Name == anyToken }) {
				return nil, false
			}
			c.VolumeMounts = slices.Clone(c.VolumeMounts)
			for j := range c.VolumeMounts {
				if c.VolumeMounts[j].Name == name {
					c.VolumeMounts[j].Name = anyToken
				}
			}
			for _, e := range c.Env {
				if e.ValueFrom != nil && e.ValueFrom.FileKeyRef != nil { // names a volume, too
					return nil, false
				}
			}
		}
		return containers, true
	}
	if name == "" {
		return true
	}
	if named || len(spec.EphemeralContainers) > 0 {
		return false
	}
	spec.Volumes = slices.Clone(spec.Volumes)
	spec.Volumes[slices.IndexFunc(spec.Volumes, func(v v1.Volume) bool { return v.Name == name })].Name = anyToken
	var fine, too bool
	spec.InitContainers, fine = rename(spec.InitContainers)
	spec.Containers, too = rename(spec.Containers)
	return fine && too
}
