package generators_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// kind is a kind of clusters, of which at least so many have to be among 10,000.
type kind struct {
	per10000 int
	has      func(*model.Cluster) bool
}

// extendedKinds are the clusters in which devices back extended resources.
func extendedKinds() map[string]kind {
	// backed: for the preemptor.
	backed := func(is func(c *model.Cluster, served []device.Served) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool {
			served := device.ServedTo(c.Extra, c.Preemptor)
			return len(served) > 0 && is(c, served)
		}
	}
	byClass := func(s device.Served) bool {
		return strings.HasPrefix(s.Resource, resourcev1.ResourceDeviceClassPrefix)
	}
	// rivals are classes that have the name in common, told by how the other was created.
	rivals := func(is func(class, other *resourcev1.DeviceClass) bool) func(*model.Cluster) bool {
		return backed(func(c *model.Cluster, _ []device.Served) bool {
			return anyExtra(c, func(class *resourcev1.DeviceClass) bool {
				return anyExtra(c, func(other *resourcev1.DeviceClass) bool {
					return class != other && class.Spec.ExtendedResourceName != nil && other.Spec.ExtendedResourceName != nil &&
						*class.Spec.ExtendedResourceName == *other.Spec.ExtendedResourceName && is(class, other)
				})
			})
		})
	}
	asks := func(containers func(*v1.PodSpec) []v1.Container) func(*model.Cluster) bool {
		return backed(func(c *model.Cluster, served []device.Served) bool {
			return slices.ContainsFunc(containers(&c.Preemptor.Spec), func(c v1.Container) bool {
				q := c.Resources.Requests[v1.ResourceName(served[0].Resource)]
				return !q.IsZero()
			})
		})
	}
	init := func(sidecars bool) func(*v1.PodSpec) []v1.Container {
		return func(s *v1.PodSpec) []v1.Container {
			return slices.DeleteFunc(slices.Clone(s.InitContainers), func(c v1.Container) bool { return filter.IsSidecar(&c) != sidecars })
		}
	}
	special := func(of func(c *model.Cluster, owner string) bool) func(*model.Cluster) bool {
		return func(c *model.Cluster) bool {
			return anyExtra(c, func(claim *resourcev1.ResourceClaim) bool {
				return claim.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true" && of(c, metav1.GetControllerOf(claim).Name)
			})
		}
	}
	node := func(is func(n *v1.Node, name v1.ResourceName) bool) func(*model.Cluster) bool {
		return backed(func(c *model.Cluster, served []device.Served) bool {
			return slices.ContainsFunc(c.Nodes, func(n *v1.Node) bool { return is(n, v1.ResourceName(served[0].Resource)) })
		})
	}
	return map[string]kind{
		"devices for a resource":          {150, backed(func(*model.Cluster, []device.Served) bool { return true })},
		"resource by its own name":        {100, backed(func(_ *model.Cluster, s []device.Served) bool { return !slices.ContainsFunc(s, byClass) })},
		"resource by the name of a class": {40, backed(func(_ *model.Cluster, s []device.Served) bool { return slices.ContainsFunc(s, byClass) })},
		"both names in one pod":           {5, backed(func(_ *model.Cluster, s []device.Served) bool { return len(s) > 1 })},
		"claims beside resources":         {40, backed(func(c *model.Cluster, _ []device.Served) bool { return len(c.Preemptor.Spec.ResourceClaims) > 0 })},
		"later class of one name":         {15, rivals(func(a, b *resourcev1.DeviceClass) bool { return a.CreationTimestamp.Before(&b.CreationTimestamp) })},
		"classes of one name and time":    {5, rivals(func(a, b *resourcev1.DeviceClass) bool { return a.CreationTimestamp.Equal(&b.CreationTimestamp) })},
		"devices for sidecars":            {20, asks(init(true))},
		"devices for init containers":     {30, asks(init(false))},
		"devices for several containers":  {5, backed(func(c *model.Cluster, s []device.Served) bool { return severalAsk(c.Preemptor, s[0].Resource) })},
		"claim made for a resource":       {40, special(func(c *model.Cluster, owner string) bool { return owner != c.Preemptor.Name })},
		"claim of an earlier cycle":       {3, special(func(c *model.Cluster, owner string) bool { return owner == c.Preemptor.Name })},
		"device plugin beside devices":    {40, node(filter.HasItself)},
		"device plugin that has gone away": {5, node(func(n *v1.Node, name v1.ResourceName) bool {
			q, has := n.Status.Allocatable[name]
			return has && q.IsZero()
		})},
	}
}

func severalAsk(p *v1.Pod, resource string) bool {
	several := 0
	for i := range p.Spec.Containers {
		if q := p.Spec.Containers[i].Resources.Requests[v1.ResourceName(resource)]; !q.IsZero() {
			several++
		}
	}
	return several > 1
}

// A claim that was made for a pod's extended resources is the pod's, which names it, and has
// devices that nobody else has.
func TestSpecialClaimsAreConsistent(t *testing.T) {
	checked := 0
	for seed := range uint64(5000) {
		c := generators.FromSeed(seed)
		if !anyExtra(c, func(class *resourcev1.DeviceClass) bool { return class.Spec.ExtendedResourceName != nil }) {
			continue
		}
		taken := map[[3]string]bool{}
		anyExtra(c, func(claim *resourcev1.ResourceClaim) bool {
			if claim.Annotations[resourcev1.ExtendedResourceClaimAnnotation] != "true" || claim.Status.Allocation == nil {
				return false
			}
			checked++
			at := slices.IndexFunc(c.Pods, func(p *v1.Pod) bool { return filter.Controls(p, claim) })
			require.GreaterOrEqual(t, at, 0, "seed %d", seed)
			status := c.Pods[at].Status.ExtendedResourceClaimStatus
			require.Equal(t, claim.Name, status.ResourceClaimName, "seed %d", seed)
			require.Len(t, status.RequestMappings, len(claim.Spec.Devices.Requests), "seed %d", seed)
			for _, r := range claim.Status.Allocation.Devices.Results {
				id := [3]string{r.Driver, r.Pool, r.Device}
				require.False(t, taken[id], "seed %d: %v", seed, id)
				taken[id] = true
			}
			return false
		})
	}
	require.Greater(t, checked, 10)
}
