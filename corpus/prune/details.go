package prune

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/component-helpers/storage/volume"
)

// keptAnnotations are those that decisions depend on. Of the others, not even the keys are
// kept.
var keptAnnotations = []string{
	v1.BetaStorageClassAnnotation,
	volume.AnnSelectedNode,
	volume.AnnBindCompleted,
	volume.AnnBoundByController,
	v1.MigratedPluginsAnnotationKey,
	resourcev1.ExtendedResourceClaimAnnotation,
	resourcev1.PodResourceClaimAnnotation,
	v1.MirrorPodAnnotationKey, // whose pods no eviction removes
}

func annotations(m map[string]string) map[string]string {
	maps.DeleteFunc(m, func(key, _ string) bool { return !slices.Contains(keptAnnotations, key) })
	if len(m) == 0 {
		return nil
	}
	return m
}

// pod leaves out what of the lists of a pod no decision depends on.
func pod(p *v1.Pod) {
	s := &p.Spec
	mounted := map[string]bool{}
	for _, list := range [][]v1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			c := &list[i]
			// That a pod needs mount options decides where it may go (KEP-5328).
			c.VolumeMounts = nonEmpty(slices.DeleteFunc(c.VolumeMounts, func(m v1.VolumeMount) bool { return len(m.BindMountOptions) == 0 }))
			for j := range c.VolumeMounts {
				mounted[c.VolumeMounts[j].Name] = true
				c.VolumeMounts[j].MountPath = fixedPath(j)
			}
			c.Ports = nonEmpty(slices.DeleteFunc(c.Ports, func(p v1.ContainerPort) bool { return p.HostPort == 0 }))
			dropLimits(&c.Resources)
			if s.NodeName != "" { // images rank nodes for pods that wait
				c.Image = ""
			}
		}
	}
	for i := range s.Volumes {
		if s.NodeName != "" {
			s.Volumes[i].Image = nil
		}
	}
	s.Volumes = nonEmpty(slices.DeleteFunc(s.Volumes, func(v v1.Volume) bool { return !hasSource(&v.VolumeSource) && !mounted[v.Name] }))
	for i := range s.Volumes {
		if v := &s.Volumes[i].VolumeSource; !hasSource(v) {
			*v = v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}
		} else {
			v.EmptyDir = nil
			if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
				v.Ephemeral.VolumeClaimTemplate.Annotations = annotations(v.Ephemeral.VolumeClaimTemplate.Annotations)
			}
		}
	}
	st := &p.Status
	st.Conditions = nonEmpty(slices.DeleteFunc(st.Conditions, func(c v1.PodCondition) bool { return !slices.Contains(conditions.Words, string(c.Type)) }))
	resized := false
	for i := range st.Conditions {
		c := &st.Conditions[i]
		if !slices.Contains(reasons.Words, c.Reason) {
			c.Reason = ""
		}
		if scheduler, _ := SchedulerOf(c.Message); c.Type != v1.DisruptionTarget || scheduler == "" {
			c.Message = ""
		}
		resized = resized || c.Type == v1.PodResizePending || c.Type == v1.PodResizeInProgress
	}
	if !resized {
		// Without a resize a status that tells nothing counts like none (KEP-1287).
		silent := func(s v1.ContainerStatus) bool { return s.Resources == nil && s.AllocatedResources == nil }
		st.ContainerStatuses = nonEmpty(slices.DeleteFunc(st.ContainerStatuses, silent))
		st.InitContainerStatuses = nonEmpty(slices.DeleteFunc(st.InitContainerStatuses, silent))
	}
}

// preempted is the message of the condition DisruptionTarget. A victim that is marked like
// that is not marked again (executor.go:131@v1.37.1).
var preempted = regexp.MustCompile(`^(.+)(: preempting to accommodate a higher priority (?:pod|podgroup|compositepodgroup))$`)

// SchedulerOf is the name of the scheduler in the message of the condition DisruptionTarget, and what
// follows it; "" if the message is another.
func SchedulerOf(message string) (scheduler, rest string) {
	if match := preempted.FindStringSubmatch(message); match != nil {
		return match[1], match[2]
	}
	return "", ""
}

// dropLimits leaves out the limits that no decision depends on. Of resources that cannot be
// overcommitted the API server wants one.
func dropLimits(r *v1.ResourceRequirements) {
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage} {
		if _, requested := r.Requests[name]; requested {
			delete(r.Limits, name)
		}
	}
	if len(r.Limits) == 0 {
		r.Limits = nil
	}
}

// hasSource tells whether the volume of a pod is of a kind that decisions depend on.
func hasSource(s *v1.VolumeSource) bool {
	return s.PersistentVolumeClaim != nil || s.Ephemeral != nil || s.CSI != nil || s.GCEPersistentDisk != nil || s.AWSElasticBlockStore != nil ||
		s.Image != nil || s.AzureDisk != nil || s.Cinder != nil || s.PortworxVolume != nil || s.ISCSI != nil || s.RBD != nil
}

// source gives a volume of a kind of which nothing is kept another source, as it has to have
// one.
func source(pv *v1.PersistentVolume) {
	s := &pv.Spec.PersistentVolumeSource
	if *s == (v1.PersistentVolumeSource{}) {
		s.HostPath = &v1.HostPathVolumeSource{}
	}
	if s.HostPath != nil {
		s.HostPath.Path = fixedPath(0)
	}
	if s.Local != nil {
		s.Local.Path = fixedPath(0)
	}
}

// fixedPath stands for a path that has to be there.
func fixedPath(i int) string { return "/pruned" + strings.Repeat("+", i) }

func nonEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}
