package vary

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// What decoys are called, the port of a node that is the first pod's, labels that each node has, or none, and the priority of
// system-cluster-critical.
const (
	decoy      = "decoy"
	firstPort  = 20_000
	important  = 2_000_000_000
	everywhere = "example.com/everywhere"
	nowhere    = "example.com/nowhere"
)

// Decoyed is base with something that should make no difference in front of what most lists of its objects hold: a container that needs
// nothing, an empty directory, a term that selects nobody, an expression that always holds, a budget that protects no pod, a pod without
// requests that never has to go. A scheduler that takes only the first of several misses the rest. It shares nothing with base.
func Decoyed(base *model.Cluster) *model.Cluster {
	c := base.DeepCopy()
	addDecoys(c, nil, nil)
	if !slices.ContainsFunc(c.Pods, meetsOthers) && (c.Preemptor == nil || !meetsOthers(c.Preemptor)) { // it might be selected
		decoysOnNodes(c)
	}
	return c
}

// addDecoys adds decoys to a cluster, and to pods and nodes that come later, but no pods.
func addDecoys(c *model.Cluster, later []*v1.Pod, nodes []*v1.Node) {
	pods := slices.Concat(c.Pods, later)
	if c.Preemptor != nil {
		pods = append(pods, c.Preemptor)
	}
	for i, p := range pods {
		decoysOfPod(p, int32(firstPort+i))
		decoysAmongVolumes(c, p)
		decoysAmongClaims(c, p)
	}
	for _, n := range append(slices.Clip(c.Nodes), nodes...) {
		metav1.SetMetaDataLabel(&n.ObjectMeta, everywhere, "yes")
		n.Spec.Taints = before(n.Spec.Taints, v1.Taint{Key: decoy, Effect: v1.TaintEffectPreferNoSchedule})
	}
	for _, o := range c.Extra {
		decoysOf(o)
	}
	decoysOfDevices(c)
	if len(c.PodDisruptionBudgets) > 0 {
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: c.PodDisruptionBudgets[0].Namespace, Name: decoy}}
		budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{nowhere: "yes"}}
		c.PodDisruptionBudgets = slices.Insert(c.PodDisruptionBudgets, 0, budget)
	}
}

// before is a list with an element in front, if it holds any.
func before[T any](list []T, element T) []T {
	if len(list) == 0 {
		return list
	}
	return slices.Insert(list, 0, element)
}

// decoysOfPod has a pod have, among others, a port of its node that nobody else has.
func decoysOfPod(p *v1.Pod, port int32) {
	spec := &p.Spec
	own := []v1.ContainerPort{{ContainerPort: 1}, {ContainerPort: port, HostPort: port, Protocol: v1.ProtocolUDP}}
	for i := range spec.Containers {
		if c := &spec.Containers[i]; len(c.Ports) > 0 {
			c.Ports = append(own, c.Ports...)
			own = own[:1:1] // of a node's port there is one
		}
	}
	spec.Containers = before(spec.Containers, v1.Container{Name: decoy})
	spec.InitContainers = before(spec.InitContainers, v1.Container{Name: decoy + "-init"})
	spec.Tolerations = before(spec.Tolerations, v1.Toleration{Key: nowhere, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule})
	p.Status.Conditions = before(p.Status.Conditions, v1.PodCondition{Type: "example.com/decoy", Status: v1.ConditionTrue})
	if len(spec.TopologySpreadConstraints) > 0 {
		one := *spec.TopologySpreadConstraints[0].DeepCopy()
		one.TopologyKey, one.MaxSkew, one.MinDomains, one.NodeAffinityPolicy, one.NodeTaintsPolicy = everywhere, 1000, nil, nil, nil
		spec.TopologySpreadConstraints = before(spec.TopologySpreadConstraints, one)
	}
	a := spec.Affinity
	if a == nil {
		return
	}
	if a.NodeAffinity != nil {
		decoysOfNodeSelector(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if anti := a.PodAntiAffinity; anti != nil && len(anti.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		terms := &anti.RequiredDuringSchedulingIgnoredDuringExecution
		*terms = before(*terms, v1.PodAffinityTerm{
			TopologyKey: (*terms)[0].TopologyKey, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{nowhere: "yes"}}})
	}
}

// decoysAmongVolumes has a pod that mounts something mount an empty directory before it, and a disk that no other pod mounts; and, if it mounts
// claims, one that is bound to a volume that is everywhere. If it runs, one of its claims is gone.
func decoysAmongVolumes(c *model.Cluster, p *v1.Pod) {
	if len(p.Spec.Volumes) == 0 {
		return
	}
	first := []v1.Volume{
		{Name: decoy, VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}},
		{Name: decoy + "-disk", VolumeSource: v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{
			TargetPortal: "10.0.0.1:3260", IQN: "iqn.2024-01.com.example:" + p.Namespace + "-" + p.Name, ReadOnly: true}}},
	}
	claim := func(name, of string) v1.Volume {
		return v1.Volume{Name: name, VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: of}}}
	}
	if slices.ContainsFunc(p.Spec.Volumes, func(v v1.Volume) bool { return v.PersistentVolumeClaim != nil }) {
		if p.Spec.NodeName != "" {
			first = append(first, claim(decoy+"-gone", decoy+"-gone"))
		}
		first = append(first, claim(decoy+"-claim", decoy))
		spec := v1.PersistentVolumeClaimSpec{
			AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteMany}, VolumeName: decoy + "-" + p.Namespace,
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: apiresource.MustParse("1")}},
		}
		add(c, &v1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: decoy, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}}, Spec: spec,
			Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimBound}})
		add(c, &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: spec.VolumeName}, Spec: v1.PersistentVolumeSpec{
			Capacity: spec.Resources.Requests, AccessModes: spec.AccessModes, ClaimRef: &v1.ObjectReference{Namespace: p.Namespace, Name: decoy},
			PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: "decoy.example.com", VolumeHandle: spec.VolumeName}},
		}, Status: v1.PersistentVolumeStatus{Phase: v1.VolumeBound}})
	}
	p.Spec.Volumes = append(first, p.Spec.Volumes...)
}

// decoysAmongClaims has a pod that claims devices have a claim before theirs that has got all that it asks for, which is no device.
func decoysAmongClaims(c *model.Cluster, p *v1.Pod) {
	if len(p.Spec.ResourceClaims) == 0 {
		return
	}
	p.Spec.ResourceClaims = before(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: decoy, ResourceClaimName: new(decoy)})
	add(c, &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: decoy},
		Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}}})
}

// add adds an object, unless there is one of its kind and name.
func add(c *model.Cluster, o runtime.Object) {
	if !slices.ContainsFunc(c.Extra, func(other runtime.Object) bool { return same(o, other) }) {
		c.Extra = append(c.Extra, o)
	}
}

// decoysOfNodeSelector puts an expression that holds of each node in front of those of each term, and a term that holds of none in front of
// the terms. Where terms are about names, the latter would have more nodes be looked at.
func decoysOfNodeSelector(s *v1.NodeSelector) {
	if s == nil {
		return
	}
	named := false
	for i := range s.NodeSelectorTerms {
		t := &s.NodeSelectorTerms[i]
		named = named || len(t.MatchFields) > 0
		t.MatchExpressions = before(t.MatchExpressions, v1.NodeSelectorRequirement{Key: nowhere, Operator: v1.NodeSelectorOpDoesNotExist})
	}
	if !named {
		s.NodeSelectorTerms = before(s.NodeSelectorTerms, v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: nowhere, Operator: v1.NodeSelectorOpExists}}})
	}
}

func decoysOf(o runtime.Object) {
	switch o := o.(type) {
	case *storagev1.CSINode:
		o.Spec.Drivers = before(o.Spec.Drivers, storagev1.CSINodeDriver{Name: "decoy.example.com", NodeID: decoy})
	case *v1.PersistentVolume:
		if o.Spec.NodeAffinity != nil {
			decoysOfNodeSelector(o.Spec.NodeAffinity.Required)
		}
	case *storagev1.StorageClass:
		for i := range o.AllowedTopologies {
			t := &o.AllowedTopologies[i]
			t.MatchLabelExpressions = before(t.MatchLabelExpressions, v1.TopologySelectorLabelRequirement{Key: everywhere, Values: []string{"yes"}})
		}
		o.AllowedTopologies = before(o.AllowedTopologies, v1.TopologySelectorTerm{
			MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: nowhere, Values: []string{"yes"}}}})
	}
}

// meetsOthers tells whether a pod has terms of affinity about namespaces that they select by labels.
func meetsOthers(p *v1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(filter.RequiredAffinity(p), filter.RequiredAntiAffinity(p)), func(t v1.PodAffinityTerm) bool { return t.NamespaceSelector != nil })
}

// decoysOnNodes has a pod that never has to go be the first on each node that has some.
func decoysOnNodes(c *model.Cluster) {
	var first []*v1.Pod
	for _, n := range c.Nodes {
		at := slices.IndexFunc(c.Pods, func(p *v1.Pod) bool { return p.Spec.NodeName == n.Name })
		allowed, told := n.Status.Allocatable[v1.ResourcePods]
		if at < 0 || !told {
			continue
		}
		allowed.Add(apiresource.MustParse("1"))
		n.Status.Allocatable[v1.ResourcePods] = allowed
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: decoy, Name: decoy + "-" + n.Name}}
		p.Spec = v1.PodSpec{NodeName: n.Name, Priority: new(int32(important)), Containers: []v1.Container{{Name: decoy}}}
		p.Status = v1.PodStatus{Phase: v1.PodRunning, StartTime: c.Pods[at].Status.StartTime}
		first = append(first, p)
	}
	c.Pods = append(first, c.Pods...)
}
