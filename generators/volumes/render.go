package volumes

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// Objects makes all objects that storage is made of, in the order in which they need
// each other. The pods of the nodes have been given their volumes by Mount.
func (s *Storage) Objects(nodes []Node, pods [][]Pod) []runtime.Object {
	own := s.objects // of ephemeral volumes
	s.objects = storageObjects{}
	for i := range s.pvcs {
		s.addClaim(metav1.NamespaceDefault, i, &s.pvcs[i])
	}
	for i := range s.otherPVCs {
		s.addClaim(s.OtherNamespace, i, &s.otherPVCs[i])
	}
	for i := range s.spare {
		v := s.renderVolume(numbered("spare", i), &s.spare[i])
		v.Status.Phase = phases[s.spare[i].phase]
		if taker := s.spare[i].taker - 1; taker >= 0 {
			v.Spec.ClaimRef = claimRef(metav1.NamespaceDefault, numbered("claim", taker), "")
			if s.Chance(50) {
				v.Spec.ClaimRef.UID = types.UID(v.Spec.ClaimRef.Namespace + "/" + v.Spec.ClaimRef.Name)
			}
		} else if v.Status.Phase == v1.VolumeReleased {
			v.Spec.ClaimRef = claimRef(metav1.NamespaceDefault, "gone", "gone")
		}
		s.objects.volumes = append(s.objects.volumes, v)
	}
	var all []runtime.Object
	for _, class := range classNames[1 : len(classNames)-1] {
		all = append(all, storageClass(class))
	}
	for _, v := range append(s.objects.volumes, own.volumes...) {
		all = append(all, v)
	}
	for _, c := range append(s.objects.claims, own.claims...) {
		all = append(all, c)
	}
	if s.driver {
		all = append(all, s.csiDriver()...)
	}
	for i := range nodes {
		if !nodes[i].missing {
			all = append(all, renderCSINode(s.NodeName(i), &nodes[i]))
		}
	}
	if s.attachments {
		all = append(all, s.volumeAttachments(pods)...)
	}
	return all
}

// addClaim makes a claim and the volume that it is bound to.
func (s *Storage) addClaim(namespace string, i int, plan *claim) {
	if plan.state == missingClaim {
		return
	}
	c := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: numbered("claim", i), UID: types.UID(namespace + "/" + numbered("claim", i))}}
	c.Spec = claimSpec(plan)
	c.Status.Phase = v1.ClaimPending
	if plan.beta && plan.class > 0 {
		c.Annotations = map[string]string{v1.BetaStorageClassAnnotation: classNames[plan.class]}
		c.Spec.StorageClassName = nil
	}
	if plan.selected > 0 {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, selectedNode, s.NodeName(plan.selected-1))
	}
	s.objects.claims = append(s.objects.claims, c)
	if plan.state == unboundClaim {
		return
	}
	c.Spec.VolumeName = numbered("volume-"+namespace, i)
	if plan.state != preboundClaim {
		c.Status.Phase = v1.ClaimBound
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, bindCompleted, "yes")
	}
	switch plan.state {
	case lostClaim:
		c.Status.Phase = v1.ClaimLost
	case deletedClaim:
		c.DeletionTimestamp, c.Finalizers = new(metav1.NewTime(s.Deleted)), []string{"kubernetes.io/pvc-protection"}
	}
	if plan.state != lostClaim && plan.state != volumelessClaim {
		s.objects.volumes = append(s.objects.volumes, boundTo(s.renderVolume(c.Spec.VolumeName, &plan.volume), c))
	}
}

const (
	bindCompleted = "pv.kubernetes.io/bind-completed"
	selectedNode  = "volume.kubernetes.io/selected-node"
)

func claimSpec(plan *claim) v1.PersistentVolumeClaimSpec {
	mode := v1.PersistentVolumeFilesystem
	if plan.block {
		mode = v1.PersistentVolumeBlock
	}
	spec := v1.PersistentVolumeClaimSpec{
		AccessModes:      []v1.PersistentVolumeAccessMode{accessModes[plan.mode]},
		Resources:        v1.VolumeResourceRequirements{Requests: gibibytes(plan.size)},
		StorageClassName: &classNames[plan.class],
		VolumeMode:       &mode,
	}
	if plan.selects {
		spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "ssd"}}
	}
	return spec
}

func gibibytes(n int) v1.ResourceList {
	return v1.ResourceList{v1.ResourceStorage: *apiresource.NewQuantity(int64(n)<<30, apiresource.BinarySI)}
}

func boundTo(v *v1.PersistentVolume, c *v1.PersistentVolumeClaim) *v1.PersistentVolume {
	v.Spec.ClaimRef, v.Status.Phase = claimRef(c.Namespace, c.Name, c.UID), v1.VolumeBound
	return v
}

func claimRef(namespace, name string, uid types.UID) *v1.ObjectReference {
	return &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: namespace, Name: name, UID: uid}
}

func (s *Storage) renderVolume(name string, plan *persistentVolume) *v1.PersistentVolume {
	v := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	if labels := volumeLabels[plan.labels]; len(labels) > 0 {
		v.Labels = maps.Clone(labels)
	}
	if plan.ssd {
		metav1.SetMetaDataLabel(&v.ObjectMeta, "disk", "ssd")
	}
	v.Spec = v1.PersistentVolumeSpec{
		AccessModes:                   []v1.PersistentVolumeAccessMode{accessModes[plan.mode]},
		Capacity:                      gibibytes(plan.size),
		PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
		StorageClassName:              classNames[plan.class],
		VolumeMode:                    new(v1.PersistentVolumeFilesystem),
	}
	affinity := [2]string{v1.LabelHostname, s.NodeName(plan.affinity - len(affinities))}
	if plan.affinity < len(affinities) {
		affinity = affinities[plan.affinity]
	}
	handle := numbered("volume", plan.handle)
	switch plan.source {
	case csiVolume:
		v.Spec.CSI = &v1.CSIPersistentVolumeSource{Driver: drivers[plan.driver], VolumeHandle: handle}
	case localVolume:
		v.Spec.Local = &v1.LocalVolumeSource{Path: "/mnt/" + handle}
		if affinity[0] == "" {
			affinity = [2]string{v1.LabelHostname, s.NodeName(0)}
		}
	case awsVolume:
		v.Spec.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: numbered("disk", plan.handle%2)}
	case gceVolume:
		v.Spec.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: numbered("disk", plan.handle%2)}
	}
	if affinity[0] != "" {
		v.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{
			{Key: affinity[0], Operator: v1.NodeSelectorOpIn, Values: []string{affinity[1]}}}}}}}
	}
	return v
}

// ephemeralClaim adds the claim of an ephemeral volume of the pod, with its
// volume, and returns what the pod's template says.
func (s *Storage) ephemeralClaim(p *v1.Pod, name string, how int) v1.PersistentVolumeClaimSpec {
	plan := claim{size: 1, class: 1}
	spec := claimSpec(&plan)
	if how == notCreated {
		return spec
	}
	c := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name + "-" + name, UID: types.UID(p.Namespace + "/" + p.Name + "-" + name)}}
	if how != notOwned {
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true), BlockOwnerDeletion: new(true)}}
	}
	c.Spec, c.Status.Phase = claimSpec(&plan), v1.ClaimPending
	if how != ownedAndWaiting {
		c.Spec.VolumeName, c.Status.Phase = "volume-of-"+p.Namespace+"-"+p.Name+"-"+name, v1.ClaimBound
		c.Annotations = map[string]string{bindCompleted: "yes"}
		v := s.renderVolume(c.Spec.VolumeName, &persistentVolume{size: 1, class: 1})
		v.Spec.CSI.VolumeHandle = v.Name
		s.objects.volumes = append(s.objects.volumes, boundTo(v, c))
	}
	s.objects.claims = append(s.objects.claims, c)
	return spec
}

func storageClass(name string) *storagev1.StorageClass {
	reclaim, mode := v1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: drivers[0], ReclaimPolicy: &reclaim, VolumeBindingMode: &mode}
	switch name {
	case "local":
		class.Provisioner = "kubernetes.io/no-provisioner"
	case "zonal":
		class.AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: "zone", Values: []string{"a"}}}}}
	case "immediate":
		mode = storagev1.VolumeBindingImmediate
	}
	return class
}

// csiDriver makes the CSIDriver, and says how large a volume it can still make,
// and for which nodes.
func (s *Storage) csiDriver() []runtime.Object {
	all := []runtime.Object{&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: drivers[0]}, Spec: storagev1.CSIDriverSpec{
		AttachRequired: new(true), PodInfoOnMount: new(false), StorageCapacity: new(s.Chance(75)), RequiresRepublish: new(false), SELinuxMount: new(false),
		FSGroupPolicy:                 new(storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy),
		VolumeLifecycleModes:          []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent},
		PreventPodSchedulingIfMissing: new(s.prevents),
	}}}
	for i := range draw.Weighted(s.Source, 10, 30, 35, 25) {
		c := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: numbered("capacity", i)},
			StorageClassName: draw.Pick(s.Source, "wait", "zonal", "wait")}
		switch draw.Weighted(s.Source, 40, 30, 25, 5) {
		case 0:
			c.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{"zone": draw.Pick(s.Source, "a", "b")}}
		case 1:
			c.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelHostname: s.NodeName(s.Intn(4))}}
		case 2:
			c.NodeTopology = &metav1.LabelSelector{} // all nodes
		}
		amount := gibibytes(s.Intn(4))[v1.ResourceStorage]
		// A driver may tell only how large one volume can be.
		whole, maximum := 90, 40
		if s.Provisions && i == 0 {
			c.StorageClassName, c.NodeTopology, amount = "wait", &metav1.LabelSelector{}, gibibytes(3)[v1.ResourceStorage]
			whole, maximum = 70, 90
		}
		if s.Chance(whole) {
			c.Capacity = &amount
			maximum = 15
		}
		if s.Chance(maximum) {
			c.MaximumVolumeSize = new(gibibytes(s.Intn(4))[v1.ResourceStorage])
		}
		all = append(all, c)
	}
	return all
}

func renderCSINode(name string, plan *Node) *storagev1.CSINode {
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for i, limit := range plan.drivers {
		if limit < 0 {
			continue
		}
		d := storagev1.CSINodeDriver{Name: drivers[i], NodeID: name}
		if count := int32(limit) - 1; count >= 0 {
			d.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
		} else if i > 0 {
			d.Allocatable = &storagev1.VolumeNodeResources{} // which is no limit, either
		}
		n.Spec.Drivers = append(n.Spec.Drivers, d)
	}
	return n
}

// volumeAttachments attaches most volumes of pods to their nodes, and some that
// no pod has any more.
func (s *Storage) volumeAttachments(pods [][]Pod) []runtime.Object {
	var all []runtime.Object
	for i := range pods {
		for _, v := range s.objects.volumes {
			if v.Spec.CSI == nil || v.Spec.ClaimRef == nil {
				continue
			}
			chance := 5
			if s.mounts(pods[i], v.Spec.ClaimRef) {
				chance = 70
			}
			if !s.Chance(chance) {
				continue
			}
			all = append(all, &storagev1.VolumeAttachment{
				ObjectMeta: metav1.ObjectMeta{Name: "csi-" + v.Name + "-" + s.NodeName(i)},
				Spec:       storagev1.VolumeAttachmentSpec{Attacher: v.Spec.CSI.Driver, NodeName: s.NodeName(i), Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new(v.Name)}},
				Status:     storagev1.VolumeAttachmentStatus{Attached: true},
			})
		}
		if s.Chance(8) { // its volume is gone
			all = append(all, &storagev1.VolumeAttachment{
				ObjectMeta: metav1.ObjectMeta{Name: "csi-gone-" + s.NodeName(i)},
				Spec:       storagev1.VolumeAttachmentSpec{Attacher: drivers[0], NodeName: s.NodeName(i), Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("volume-gone")}},
				Status:     storagev1.VolumeAttachmentStatus{Attached: true},
			})
		}
	}
	return all
}

// mounts tells whether one of the pods mounts the claim.
func (s *Storage) mounts(pods []Pod, ref *v1.ObjectReference) bool {
	return slices.ContainsFunc(pods, func(p Pod) bool {
		return p.Other == (ref.Namespace == s.OtherNamespace) && slices.ContainsFunc(p.Volumes, func(v Volume) bool {
			return v.source == byClaimName && numbered("claim", v.index) == ref.Name
		})
	})
}

// LabelZone adds the labels of a node that tell its zone, if it is in one.
func (n *Node) LabelZone(labels map[string]string, zone string) {
	if zone == "" {
		return
	}
	switch n.zones {
	case 1:
		labels[v1.LabelTopologyZone] = zone
	case 2:
		labels[v1.LabelFailureDomainBetaZone] = zone
		labels[v1.LabelFailureDomainBetaRegion] = "r"
	case 3:
		labels[v1.LabelTopologyZone], labels[v1.LabelTopologyRegion] = zone, "r"
	}
}

// Mount makes the volumes of a planned pod, and the claims of the ephemeral ones.
func (s *Storage) Mount(p *v1.Pod, plan []Volume) {
	for i, planned := range plan {
		v := v1.Volume{Name: volumeNames[i]}
		disk := numbered("disk", planned.index)
		switch planned.source {
		case byClaimName:
			v.PersistentVolumeClaim = &v1.PersistentVolumeClaimVolumeSource{ClaimName: numbered("claim", planned.index)}
		case ephemeral:
			v.Ephemeral = &v1.EphemeralVolumeSource{VolumeClaimTemplate: &v1.PersistentVolumeClaimTemplate{
				Spec: s.ephemeralClaim(p, v.Name, planned.index)}}
		case gceDisk:
			v.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: disk, ReadOnly: planned.readOnly}
		case awsDisk:
			v.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: disk, ReadOnly: planned.readOnly}
		case iscsiDisk:
			v.ISCSI = &v1.ISCSIVolumeSource{TargetPortal: "10.0.0.1:3260", IQN: "iqn.2001-04.com.example:" + disk,
				ISCSIInterface: "default", ReadOnly: planned.readOnly}
		case rbdDisk:
			// The last monitor is shared: images are the same if they have one in common.
			v.RBD = &v1.RBDVolumeSource{CephMonitors: monitors[i%len(monitors)], RBDImage: disk, RBDPool: "rbd",
				RadosUser: "admin", Keyring: "/etc/ceph/keyring", ReadOnly: planned.readOnly}
			switch planned.elsewhere {
			case 1:
				v.RBD.RBDPool = "other"
			case 2:
				v.RBD.CephMonitors = []string{"10.0.0.9:6789"}
			}
		case azureDisk:
			v.AzureDisk = &v1.AzureDiskVolumeSource{DiskName: disk, Kind: new(v1.AzureManagedDisk), CachingMode: new(v1.AzureDataDiskCachingReadWrite),
				FSType: new("ext4"), ReadOnly: new(planned.readOnly), DataDiskURI: "/subscriptions/1/resourceGroups/2/providers/Microsoft.Compute/disks/" + disk}
		case cinderDisk:
			v.Cinder = &v1.CinderVolumeSource{VolumeID: disk, ReadOnly: planned.readOnly}
		case emptyDir:
			v.EmptyDir = &v1.EmptyDirVolumeSource{}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
}

var (
	volumeNames = []string{"data", "scratch", "logs", "more"}
	monitors    = [][]string{{"10.0.0.1:6789", "10.0.0.3:6789"}, {"10.0.0.2:6789", "10.0.0.3:6789"}, {"10.0.0.2:6789"}}
)
