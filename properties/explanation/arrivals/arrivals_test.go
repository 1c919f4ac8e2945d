package arrivals_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/internal/workload/expand"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/arrival"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
	"github.com/preemptcheck/preemptcheck/properties/explanation/arrivals"
)

var bounds = arrival.Bounds{Levels: 3, Cycles: 60}

// drawn is a generated cluster without its preemptor, of whose pods some have controllers, and three pods like its
// preemptor that come.
func drawn(seed uint64) (*model.Cluster, *arrival.Coming) {
	c := generators.FromSeed(seed)
	p := c.Preemptor
	if p == nil || len(p.Spec.Volumes)+len(p.Spec.ResourceClaims) > 0 || len(c.Settings.Extenders) > 0 || p.Spec.SchedulingGroup != nil {
		return nil, nil
	}
	c.Preemptor = nil
	yes := true
	for i, pod := range c.Pods {
		pod.OwnerReferences = nil
		if kind := []string{"", "ReplicaSet", "StatefulSet", "ReplicaSet"}[i%4]; kind != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: fmt.Sprintf("%s-%d", strings.ToLower(kind), i%3), UID: "owner", Controller: &yes}}
		}
	}
	w := &expand.Workload{Ref: workload.Ref{Kind: "ReplicaSet", Namespace: p.Namespace, Name: "comes"}}
	for i := range 3 {
		next := p.DeepCopy()
		next.Name, next.UID, next.Status = fmt.Sprintf("comes-%d", i+1), "", v1.PodStatus{Phase: v1.PodPending}
		next.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "comes", UID: "comes", Controller: &yes}}
		w.Pods = append(w.Pods, next)
	}
	return c, &arrival.Coming{Workloads: []*expand.Workload{w}}
}

// audit follows the cycles of a course anew, from the cluster before them and their answers alone, and says where
// what was asked is not what there is by then.
func audit(before *model.Cluster, course *arrival.Course) (wrong []string) {
	bound := map[string]string{}
	var were, are []*v1.Pod // bound pods before, and by now
	for _, p := range before.Pods {
		if p.Spec.NodeName != "" {
			bound[model.Key(p)] = p.Spec.NodeName
			were = append(were, p)
		}
	}
	are = slices.Clone(were)
	made := map[string]int{}
	for _, r := range course.Replacing {
		made[r.Replaces]++
	}
	for i, s := range course.Steps {
		got := map[string]string{}
		for _, p := range s.Cluster.Pods {
			if p.Spec.NodeName != "" {
				got[model.Key(p)] = p.Spec.NodeName
			}
		}
		if !maps.Equal(bound, got) {
			wrong = append(wrong, fmt.Sprintf("cycle %d: bound are %v, want %v", i, got, bound))
		}
		for j, b := range s.Cluster.PodDisruptionBudgets {
			if want := allows(before.PodDisruptionBudgets[j], were, are); b.Status.DisruptionsAllowed != want {
				wrong = append(wrong, fmt.Sprintf("cycle %d: budget %s allows %d, want %d", i, b.Name, b.Status.DisruptionsAllowed, want))
			}
		}
		for _, v := range s.Victims {
			at := slices.IndexFunc(are, func(p *v1.Pod) bool { return model.Key(p) == v })
			if at < 0 {
				wrong = append(wrong, fmt.Sprintf("cycle %d: %s is not there to be preempted", i, v))
				continue
			}
			if metav1.GetControllerOf(are[at]) != nil && are[at].DeletionTimestamp == nil && !workload.IsMirror(are[at]) {
				if made[v]--; made[v] < 0 {
					wrong = append(wrong, fmt.Sprintf("cycle %d: %s is not replaced", i, v))
				}
			}
			are = slices.Delete(are, at, at+1)
			delete(bound, v)
		}
		for _, p := range s.Pods {
			if node := s.Nodes[model.Key(p.Pod)]; node != "" {
				bound[model.Key(p.Pod)] = node
				running := p.DeepCopy()
				running.Spec.NodeName, running.Status.Conditions = node, nil
				are = append(are, running)
			}
		}
	}
	return wrong
}

// allows is what a budget allows, counted from all pods: those of the generators say only what is allowed at first.
func allows(b *policyv1.PodDisruptionBudget, were, are []*v1.Pod) int32 {
	selector, _ := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	count := func(pods []*v1.Pod) (n int32) {
		for _, p := range pods {
			ready := !slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodReady && c.Status != v1.ConditionTrue })
			if p.Namespace == b.Namespace && selector.Matches(labels.Set(p.Labels)) && p.DeletionTimestamp == nil && ready {
				n++
			}
		}
		return n
	}
	return max(b.Status.DisruptionsAllowed+count(are)-count(were), 0)
}

// TestEachCycleByItself: what was asked follows from the answers before; and each cluster, written as a case and
// checked by itself, allows the answer that was followed.
func TestEachCycleByItself(t *testing.T) {
	decide := explanation.Decides(checktest.Checker(t), nil)
	alone := checktest.Checker(t)
	preempted, cascades := 0, 0
	for seed := range uint64(testsize.Times(150)) {
		c, coming := drawn(seed)
		if c == nil {
			continue
		}
		course, err := arrival.Run(t.Context(), c, coming, decide, bounds)
		require.NoError(t, err, seed)
		require.Empty(t, audit(c, course), seed)
		for _, s := range course.Steps {
			if s.Unknown != "" {
				continue
			}
			if preempted += len(s.Victims); s.Pods[0].Level > 0 && len(s.Victims) > 0 {
				cascades++
			}
			var text bytes.Buffer
			asked := *s.Cluster
			require.NoError(t, (&corpus.Case{Name: "cycle", Cluster: &asked}).Write(&text))
			read, err := corpus.Read(&text, "case")
			require.NoError(t, err, seed)
			r, err := alone.Check(t.Context(), read.Cases[0].Cluster)
			require.NoError(t, err, seed)
			if s.Group != "" {
				require.NotNil(t, r.Group, seed)
				continue
			}
			require.NotNil(t, r.Decision, "seed %d: %v", seed, r.Unmodelled)
			requireAllowed(t, r.Decision, s, seed)
		}
		story, sum := arrivals.Tell(c, coming, course, bounds, "v1.37.1"), 0
		for _, g := range story.Going {
			sum += g.Pods
		}
		require.Equal(t, len(course.Victims), sum, seed)
	}
	require.Greater(t, preempted, 50)
	require.Positive(t, cascades)
}

func requireAllowed(t *testing.T, d *answers.Set, s *arrival.Step, seed uint64) {
	t.Helper()
	node := s.Nodes[model.Key(s.Pods[0].Pod)]
	choices := d.Choices()
	switch {
	case s.Error != "":
		require.True(t, len(d.Errors) > 0 || len(s.Cluster.Nodes) == 0, seed)
	case len(d.Fits) > 0:
		require.Contains(t, d.Fits, node, seed)
		require.Empty(t, s.Victims, seed)
		require.Equal(t, len(d.Fits), s.Ways, seed)
	case node == "":
		require.Empty(t, choices, seed)
	default:
		require.Len(t, choices, s.Ways, seed)
		require.True(t, slices.ContainsFunc(choices, func(c answers.Choice) bool {
			return c.Node == node && slices.Equal(slices.Sorted(slices.Values(c.Outcome.Victims)), slices.Sorted(slices.Values(s.Victims)))
		}), "seed %d: %s -%v is none of the allowed answers", seed, node, s.Victims)
	}
}

// TestLiesAreFoundOut: the audit finds an arrival in which what it should do to the cluster is not done.
func TestLiesAreFoundOut(t *testing.T) {
	decide := explanation.Decides(checktest.Checker(t), nil)
	lies := map[string]func(*model.Cluster, *arrival.Course){
		"victims stay": func(before *model.Cluster, c *arrival.Course) {
			gone := []*v1.Pod{}
			for _, s := range c.Steps {
				s.Cluster.Pods = append(slices.Clone(s.Cluster.Pods), gone...)
				for _, v := range s.Victims {
					for _, p := range before.Pods {
						if model.Key(p) == v {
							gone = append(gone, p)
						}
					}
				}
			}
		},
		"budgets keep what they allow": func(before *model.Cluster, c *arrival.Course) {
			for _, s := range c.Steps {
				s.Cluster.PodDisruptionBudgets = before.PodDisruptionBudgets
			}
		},
		"nobody is replaced": func(_ *model.Cluster, c *arrival.Course) { c.Replacing = nil },
		"pods that come are not bound": func(_ *model.Cluster, c *arrival.Course) {
			for _, s := range c.Steps {
				s.Cluster.Pods = slices.DeleteFunc(slices.Clone(s.Cluster.Pods), func(p *v1.Pod) bool { return strings.HasPrefix(p.Name, "comes") })
			}
		},
	}
	found := map[string]int{}
	for seed := range uint64(testsize.Times(60)) {
		c, coming := drawn(seed)
		if c == nil {
			continue
		}
		for name, lie := range lies {
			course, err := arrival.Run(t.Context(), c, coming, decide, bounds)
			require.NoError(t, err)
			lie(c, course)
			if len(audit(c, course)) > 0 {
				found[name]++
			}
		}
	}
	for name := range lies {
		require.Positive(t, found[name], name)
	}
}
