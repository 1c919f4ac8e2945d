package vary_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators/vary"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// TestDecoyed: with decoys each case of the corpus is one that the API server takes, and each of a pod is decided alike.
func TestDecoyed(t *testing.T) {
	s, err := corpus.Load("../../corpus/cases")
	require.NoError(t, err)
	modelled := 0
	for _, c := range s.Cases {
		before := c.Cluster.DeepCopy()
		decoyed := vary.Decoyed(c.Cluster)
		require.Empty(t, cmp.Diff(before, c.Cluster), "it shares something")
		require.NotEmpty(t, cmp.Diff(before, decoyed), c.Name)
		require.NoError(t, apiserver.Admit(decoyed), c.Name)
		if c.Cluster.Preemptor != nil {
			require.Equal(t, decides(c.Cluster), decides(decoyed), c.Name)
			if decides(decoyed) != notModelled {
				modelled++
			}
		}
	}
	require.Greater(t, modelled, len(s.Cases)/2)
}

// TestDecoysShowWhoTakesTheFirst: for each list there is a case that is decided alike by whoever takes only the first of several, and
// otherwise once there are decoys in front.
func TestDecoysShowWhoTakesTheFirst(t *testing.T) {
	s, err := corpus.Load("../../corpus/cases")
	require.NoError(t, err)
	ofPods := func(cut func(*v1.Pod)) func(*model.Cluster) {
		return func(c *model.Cluster) {
			for _, p := range append(slices.Clip(c.Pods), c.Preemptor) {
				cut(p)
			}
		}
	}
	ofExtra := func(cut func(any)) func(*model.Cluster) {
		return func(c *model.Cluster) {
			for _, o := range c.Extra {
				cut(o)
			}
		}
	}
	for list, cut := range map[string]func(*model.Cluster){
		"containers":      ofPods(func(p *v1.Pod) { first(&p.Spec.Containers) }),
		"init containers": ofPods(func(p *v1.Pod) { first(&p.Spec.InitContainers) }),
		"host ports": ofPods(func(p *v1.Pod) {
			for i := range p.Spec.Containers {
				first(&p.Spec.Containers[i].Ports)
			}
		}),
		"volumes":            ofPods(func(p *v1.Pod) { first(&p.Spec.Volumes) }),
		"claims of devices":  ofPods(func(p *v1.Pod) { first(&p.Spec.ResourceClaims) }),
		"tolerations":        ofPods(func(p *v1.Pod) { first(&p.Spec.Tolerations) }),
		"conditions":         ofPods(func(p *v1.Pod) { first(&p.Status.Conditions) }),
		"spread constraints": ofPods(func(p *v1.Pod) { first(&p.Spec.TopologySpreadConstraints) }),
		"anti-affinity": ofPods(func(p *v1.Pod) {
			if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
				first(&a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
			}
		}),
		"terms of node affinity": ofPods(func(p *v1.Pod) { eachSelector(p, func(s *v1.NodeSelector) { first(&s.NodeSelectorTerms) }) }),
		"expressions of node affinity": ofPods(func(p *v1.Pod) {
			eachSelector(p, func(s *v1.NodeSelector) {
				for i := range s.NodeSelectorTerms {
					first(&s.NodeSelectorTerms[i].MatchExpressions)
				}
			})
		}),
		"taints": func(c *model.Cluster) {
			for _, n := range c.Nodes {
				first(&n.Spec.Taints)
			}
		},
		"budgets": func(c *model.Cluster) { first(&c.PodDisruptionBudgets) },
		"pods of a node": func(c *model.Cluster) {
			taken := map[string]bool{}
			c.Pods = slices.DeleteFunc(c.Pods, func(p *v1.Pod) bool {
				again := taken[p.Spec.NodeName]
				taken[p.Spec.NodeName] = p.Spec.NodeName != ""
				return again
			})
		},
		"drivers": ofExtra(func(o any) {
			if n, is := o.(*storagev1.CSINode); is {
				first(&n.Spec.Drivers)
			}
		}),
		"terms of volumes": ofExtra(func(o any) {
			if v, is := o.(*v1.PersistentVolume); is && v.Spec.NodeAffinity != nil {
				first(&v.Spec.NodeAffinity.Required.NodeSelectorTerms)
			}
		}),
		"terms of classes": ofExtra(func(o any) {
			if class, is := o.(*storagev1.StorageClass); is {
				first(&class.AllowedTopologies)
			}
		}),
		"slices of devices": func(c *model.Cluster) {
			taken := map[string]bool{}
			c.Extra = slices.DeleteFunc(c.Extra, func(o runtime.Object) bool {
				s, is := o.(*resourcev1.ResourceSlice)
				again := is && taken[s.Spec.Driver+"/"+s.Spec.Pool.Name]
				if is {
					taken[s.Spec.Driver+"/"+s.Spec.Pool.Name] = true
				}
				return again
			})
		},
		"devices": ofExtra(func(o any) {
			if s, is := o.(*resourcev1.ResourceSlice); is {
				first(&s.Spec.Devices)
			}
		}),
		"requests": ofExtra(func(o any) {
			if claim, is := o.(*resourcev1.ResourceClaim); is {
				first(&claim.Spec.Devices.Requests)
			}
		}),
		"entries of prioritized lists": ofExtra(func(o any) {
			if claim, is := o.(*resourcev1.ResourceClaim); is {
				for i := range claim.Spec.Devices.Requests {
					first(&claim.Spec.Devices.Requests[i].FirstAvailable)
				}
			}
		}),
		"expressions of classes": ofExtra(func(o any) {
			if class, is := o.(*storagev1.StorageClass); is {
				for i := range class.AllowedTopologies {
					first(&class.AllowedTopologies[i].MatchLabelExpressions)
				}
			}
		}),
	} {
		taking := func(c *model.Cluster) string {
			c = c.DeepCopy()
			cut(c)
			return decides(c)
		}
		shows := slices.ContainsFunc(s.Cases, func(c *corpus.Case) bool {
			if c.Cluster.Preemptor == nil || decides(c.Cluster) == notModelled || taking(c.Cluster) != decides(c.Cluster) {
				return false
			}
			decoyed := vary.Decoyed(c.Cluster)
			return taking(decoyed) != decides(decoyed)
		})
		assert.True(t, shows, list)
	}
}

// first cuts a list after its first element.
func first[T any](list *[]T) { *list = (*list)[:min(1, len(*list))] }

// eachSelector does something with the selector of nodes that a pod requires, if it has one.
func eachSelector(p *v1.Pod, do func(*v1.NodeSelector)) {
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		do(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
}

const notModelled = "not modelled"

// decides tells what the specification allows for a cluster.
func decides(c *model.Cluster) string {
	s, err := answers.Decide(c, answers.Documented())
	if err != nil {
		return notModelled
	}
	text := fmt.Sprint(s.Fits, s.Errors, s.PostFilterError)
	for _, c := range s.Choices() {
		text += fmt.Sprintf("; %s: %v, %d violations, %s", c.Node, c.Outcome.Victims, len(c.Outcome.Violates), c.DecidedBy)
	}
	return text
}
