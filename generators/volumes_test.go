package generators_test

import (
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
)

// TestEveryKindOfStorageOccurs looks for everything that storage promises to be.
func TestEveryKindOfStorageOccurs(t *testing.T) {
	mounts := func(is func(v1.Volume) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool { return slices.ContainsFunc(c.Preemptor.Spec.Volumes, is) }
	}
	// wants looks at the claims of the preemptor.
	wants := func(is func(c *model.Cluster, claim *v1.PersistentVolumeClaim) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool {
			claims := claimsOf(c, c.Preemptor)
			return slices.ContainsFunc(claims, func(p *v1.PersistentVolumeClaim) bool { return p != nil && is(c, p) })
		}
	}
	claim := func(is func(*v1.PersistentVolumeClaim) bool) func(*model.Cluster) bool {
		return wants(func(_ *model.Cluster, p *v1.PersistentVolumeClaim) bool { return is(p) })
	}
	unbound := func(mode storagev1.VolumeBindingMode, provisioner string) func(*model.Cluster) bool {
		return wants(func(c *model.Cluster, p *v1.PersistentVolumeClaim) bool {
			return p.Spec.VolumeName == "" && p.Spec.StorageClassName != nil && anyExtra(c, func(class *storagev1.StorageClass) bool {
				return class.Name == *p.Spec.StorageClassName && *class.VolumeBindingMode == mode && class.Provisioner == provisioner
			})
		})
	}
	bound := func(is func(*v1.PersistentVolume) bool) func(*model.Cluster) bool {
		return wants(func(c *model.Cluster, p *v1.PersistentVolumeClaim) bool {
			return anyExtra(c, func(v *v1.PersistentVolume) bool { return v.Name == p.Spec.VolumeName && is(v) })
		})
	}
	// shared counts the other pods of a kind that use a claim of the preemptor which
	// is for one pod alone.
	shared := func(is func(c *model.Cluster, users []*v1.Pod) bool) func(*model.Cluster) bool {
		return wants(func(c *model.Cluster, p *v1.PersistentVolumeClaim) bool {
			if !slices.Contains(p.Spec.AccessModes, v1.ReadWriteOncePod) {
				return false
			}
			var users []*v1.Pod
			for _, pod := range c.Pods {
				if slices.ContainsFunc(pod.Spec.Volumes, func(v v1.Volume) bool {
					return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == p.Name
				}) {
					users = append(users, pod)
				}
			}
			return is(c, users)
		})
	}
	// nominated looks at the claims, with their volumes, of pods that are nominated and that the
	// preemptor has to yield to.
	nominated := func(is func(*v1.PersistentVolumeClaim, *v1.PersistentVolume) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool {
			return slices.ContainsFunc(c.Pods, func(p *v1.Pod) bool {
				return p.Status.NominatedNodeName != "" && model.Priority(p) >= model.Priority(c.Preemptor) &&
					slices.ContainsFunc(claimsOf(c, p), func(claim *v1.PersistentVolumeClaim) bool {
						var volume *v1.PersistentVolume
						anyExtra(c, func(v *v1.PersistentVolume) bool {
							if claim != nil && v.Name == claim.Spec.VolumeName {
								volume = v
							}
							return false
						})
						return claim != nil && is(claim, volume)
					})
			})
		}
	}
	csiNode := func(is func(*storagev1.CSINode) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool { return anyExtra(c, is) }
	}

	kinds := map[string]kind{
		"storage": {900, func(c *model.Cluster) bool { return len(c.Extra) > 0 }},
		"no claim": {20, func(c *model.Cluster) bool {
			for i, claim := range claimsOf(c, c.Preemptor) {
				if claim == nil && c.Preemptor.Spec.Volumes[i].PersistentVolumeClaim != nil {
					return true
				}
			}
			return false
		}},
		"lost":     {10, claim(func(p *v1.PersistentVolumeClaim) bool { return p.Status.Phase == v1.ClaimLost })},
		"deleted":  {8, claim(func(p *v1.PersistentVolumeClaim) bool { return p.DeletionTimestamp != nil })},
		"prebound": {8, claim(func(p *v1.PersistentVolumeClaim) bool { return p.Spec.VolumeName != "" && len(p.Annotations) == 0 })},
		"beta":     {2, claim(func(p *v1.PersistentVolumeClaim) bool { return p.Annotations[v1.BetaStorageClassAnnotation] != "" })},
		"selected": {10, claim(func(p *v1.PersistentVolumeClaim) bool {
			return p.Annotations["volume.kubernetes.io/selected-node"] != ""
		})},
		"selector":  {5, claim(func(p *v1.PersistentVolumeClaim) bool { return p.Spec.Selector != nil })},
		"immediate": {10, unbound(storagev1.VolumeBindingImmediate, "disk.example.com")},
		"wait":      {30, unbound(storagev1.VolumeBindingWaitForFirstConsumer, "disk.example.com")},
		"local":     {15, unbound(storagev1.VolumeBindingWaitForFirstConsumer, "kubernetes.io/no-provisioner")},
		"volume of nothing": {10, wants(func(c *model.Cluster, p *v1.PersistentVolumeClaim) bool {
			return p.Status.Phase == v1.ClaimBound && !anyExtra(c, func(v *v1.PersistentVolume) bool { return v.Name == p.Spec.VolumeName })
		})},
		"affinity":      {60, bound(func(v *v1.PersistentVolume) bool { return v.Spec.NodeAffinity != nil })},
		"zone":          {40, bound(func(v *v1.PersistentVolume) bool { return v.Labels[v1.LabelTopologyZone] != "" })},
		"beta zone":     {5, bound(func(v *v1.PersistentVolume) bool { return v.Labels[v1.LabelFailureDomainBetaZone] != "" })},
		"local volume":  {20, bound(func(v *v1.PersistentVolume) bool { return v.Spec.Local != nil })},
		"AWS volume":    {8, bound(func(v *v1.PersistentVolume) bool { return v.Spec.AWSElasticBlockStore != nil })},
		"ephemeral":     {40, mounts(func(v v1.Volume) bool { return v.Ephemeral != nil })},
		"GCE":           {30, mounts(func(v v1.Volume) bool { return v.GCEPersistentDisk != nil })},
		"AWS":           {30, mounts(func(v v1.Volume) bool { return v.AWSElasticBlockStore != nil })},
		"iSCSI":         {30, mounts(func(v v1.Volume) bool { return v.ISCSI != nil })},
		"RBD":           {30, mounts(func(v v1.Volume) bool { return v.RBD != nil })},
		"read-only GCE": {8, mounts(func(v v1.Volume) bool { return v.GCEPersistentDisk != nil && v.GCEPersistentDisk.ReadOnly })},
		"one user": {80, shared(func(c *model.Cluster, users []*v1.Pod) bool {
			return len(users) == 1 && users[0].Namespace == c.Preemptor.Namespace && users[0].Spec.NodeName != ""
		})},
		"two users": {10, shared(func(_ *model.Cluster, users []*v1.Pod) bool {
			return len(users) == 2 && users[0].Namespace == users[1].Namespace
		})},
		"user of a namesake": {5, shared(func(_ *model.Cluster, users []*v1.Pod) bool {
			return len(users) == 2 && users[0].Namespace != users[1].Namespace
		})},
		"nominated user": {2, shared(func(_ *model.Cluster, users []*v1.Pod) bool {
			return slices.ContainsFunc(users, func(p *v1.Pod) bool { return p.Status.NominatedNodeName != "" })
		})},
		"nominated local volume": {8, nominated(func(_ *v1.PersistentVolumeClaim, pv *v1.PersistentVolume) bool {
			return pv != nil && pv.Spec.Local != nil
		})},
		"nominated volume of few nodes": {30, nominated(func(_ *v1.PersistentVolumeClaim, pv *v1.PersistentVolume) bool {
			return pv != nil && pv.Spec.NodeAffinity != nil
		})},
		"nominated claim without a volume": {30, nominated(func(c *v1.PersistentVolumeClaim, _ *v1.PersistentVolume) bool { return c.Spec.VolumeName == "" })},
		"claim of 256 users": {5, func(c *model.Cluster) bool {
			return anyExtra(c, func(claim *resourcev1.ResourceClaim) bool {
				return len(claim.Status.ReservedFor) == resourcev1.ResourceClaimReservedForMaxSize
			})
		}},
		"migrated": {40, csiNode(func(n *storagev1.CSINode) bool {
			return slices.ContainsFunc(n.Spec.Drivers, func(d storagev1.CSINodeDriver) bool {
				return d.Allocatable != nil && slices.Contains([]string{"ebs.csi.aws.com", "cinder.csi.openstack.org", "pd.csi.storage.gke.io"}, d.Name)
			})
		})},
		"OpenStack volume": {20, bound(func(v *v1.PersistentVolume) bool { return v.Spec.Cinder != nil })},
		"OpenStack":        {8, mounts(func(v v1.Volume) bool { return v.Cinder != nil })},
		"migrated, attached": {2, func(c *model.Cluster) bool {
			inTree := map[string]bool{}
			anyExtra(c, func(v *v1.PersistentVolume) bool { inTree[v.Name] = v.Spec.CSI == nil; return false })
			return anyExtra(c, func(a *storagev1.VolumeAttachment) bool { return inTree[*a.Spec.Source.PersistentVolumeName] })
		}},
		"limit": {500, csiNode(func(n *storagev1.CSINode) bool {
			return slices.ContainsFunc(n.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Allocatable != nil && d.Allocatable.Count != nil })
		})},
		"no count": {200, csiNode(func(n *storagev1.CSINode) bool {
			return slices.ContainsFunc(n.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Allocatable != nil && d.Allocatable.Count == nil })
		})},
		"no driver":             {200, csiNode(func(n *storagev1.CSINode) bool { return len(n.Spec.Drivers) < 2 })},
		"no CSINode":            {100, func(c *model.Cluster) bool { return hasStorage(c) && count[*storagev1.CSINode](c) < len(c.Nodes) }},
		"attachments":           {100, func(c *model.Cluster) bool { return count[*storagev1.VolumeAttachment](c) > 0 }},
		"capacities":            {200, func(c *model.Cluster) bool { return count[*storagev1.CSIStorageCapacity](c) > 0 }},
		"claim beyond 64 bits":  {12, claim(func(p *v1.PersistentVolumeClaim) bool { return huge(p.Spec.Resources.Requests.Storage()) })},
		"volume beyond 64 bits": {12, withExtra(func(v *v1.PersistentVolume) bool { return huge(v.Spec.Capacity.Storage()) })},
		"capacity beyond 64 bits": {12, withExtra(func(left *storagev1.CSIStorageCapacity) bool {
			return left.MaximumVolumeSize == nil && left.Capacity != nil && huge(left.Capacity)
		})},
		"largest volume beyond 64 bits": {4, withExtra(func(left *storagev1.CSIStorageCapacity) bool {
			return left.MaximumVolumeSize != nil && huge(left.MaximumVolumeSize)
		})},
		"fraction of a byte": {10, claim(func(p *v1.PersistentVolumeClaim) bool {
			return p.Spec.Resources.Requests.Storage().MilliValue()%1000 > 0
		})},
		"waits beyond 64 bits": {1, wants(func(c *model.Cluster, p *v1.PersistentVolumeClaim) bool {
			return p.Spec.VolumeName == "" && anyExtra(c, func(left *storagev1.CSIStorageCapacity) bool {
				return p.Spec.StorageClassName != nil && left.StorageClassName == *p.Spec.StorageClassName &&
					(huge(p.Spec.Resources.Requests.Storage()) || left.Capacity != nil && huge(left.Capacity) || left.MaximumVolumeSize != nil && huge(left.MaximumVolumeSize))
			})
		})},
		"missing driver prevents": {100, func(c *model.Cluster) bool {
			return anyExtra(c, func(d *storagev1.CSIDriver) bool { return *d.Spec.PreventPodSchedulingIfMissing })
		}},
	}
	maps.Copy(kinds, extendedKinds())
	requireKinds(t, kinds, rangesAfter(t, "## Storage"), 25)
	for name, at := range kinds {
		t.Run(name, func(t *testing.T) {
			found := 0
			for _, c := range someClusters() {
				if at.has(c) {
					found++
				}
			}
			t.Log(found)
			require.GreaterOrEqual(t, found*10000/len(someClusters()), at.per10000)
		})
	}
}

// Claims, volumes and pods refer to one another.
func TestStorageIsConsistent(t *testing.T) {
	for seed, c := range someClusters() {
		for _, p := range append(slices.Clip(c.Pods), c.Preemptor) {
			for i, claim := range claimsOf(c, p) {
				if claim == nil || p.Spec.Volumes[i].Ephemeral == nil {
					continue
				}
				require.Equal(t, p.Namespace, claim.Namespace)
				if owner := metav1.GetControllerOf(claim); owner != nil {
					require.Equal(t, p.UID, owner.UID, "seed %d", seed)
				}
			}
		}
		bound := map[v1.ObjectReference]bool{}
		for _, o := range c.Extra {
			switch o := o.(type) {
			case *v1.PersistentVolume:
				if o.Spec.ClaimRef == nil {
					continue
				}
				ref := v1.ObjectReference{Namespace: o.Spec.ClaimRef.Namespace, Name: o.Spec.ClaimRef.Name}
				require.False(t, bound[ref] && ref.Name != "gone", "seed %d: two volumes of %v", seed, ref)
				bound[ref] = true
			case *v1.PersistentVolumeClaim:
				if o.Spec.VolumeName == "" {
					require.Equal(t, v1.ClaimPending, o.Status.Phase, "seed %d", seed)
				}
			}
		}
	}
}

// someClusters are as many clusters as show that nothing is missing.
var someClusters = sync.OnceValue(func() []*model.Cluster {
	clusters := make([]*model.Cluster, 20_000)
	for seed := range clusters {
		clusters[seed] = generators.FromSeed(uint64(seed))
	}
	return clusters
})

// huge tells whether 64 bits cannot count a size, or a quantity was capped to what they can.
func huge(q *resource.Quantity) bool { return q.CmpInt64(math.MaxInt64) >= 0 }

func hasStorage(c *model.Cluster) bool { return count[*storagev1.StorageClass](c) > 0 }

// claimsOf are the claims of a pod's volumes: nil for a volume without one.
func claimsOf(c *model.Cluster, p *v1.Pod) []*v1.PersistentVolumeClaim {
	claims := make([]*v1.PersistentVolumeClaim, len(p.Spec.Volumes))
	for i, v := range p.Spec.Volumes {
		name := p.Name + "-" + v.Name
		if v.PersistentVolumeClaim != nil {
			name = v.PersistentVolumeClaim.ClaimName
		}
		anyExtra(c, func(claim *v1.PersistentVolumeClaim) bool {
			if claim.Namespace == p.Namespace && claim.Name == name {
				claims[i] = claim
			}
			return false
		})
	}
	return claims
}

// anyExtra tells whether something is so of an object of a kind.
func anyExtra[T any](c *model.Cluster, is func(T) bool) bool {
	for _, o := range c.Extra {
		if o, ok := o.(T); ok && is(o) {
			return true
		}
	}
	return false
}

func count[T any](c *model.Cluster) (n int) {
	anyExtra(c, func(T) bool { n++; return false })
	return n
}
