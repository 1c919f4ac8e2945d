package arrivals_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/internal/workload/expand"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/arrival"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// live runs the pods that come, in the order in which they were tried, through the real scheduler with its queue, its
// API calls and kubelets. It returns where pods are in the end, by their names: "" of one that waits.
func live(t *testing.T, before *model.Cluster, course *arrival.Course) map[string]string {
	c := before.DeepCopy()
	tl := &timeline.Timeline{Cluster: c}
	for _, p := range c.Pods {
		if owner := metav1.GetControllerOf(p); owner != nil && owner.Kind == "ReplicaSet" {
			tl.Steps = append(tl.Steps, timeline.Step{Replace: &timeline.Replacement{Pod: model.Key(p)}})
		}
	}
	for _, p := range course.Arrived {
		created := p.Pod.DeepCopy()
		created.Spec.NodeName, created.Status, created.CreationTimestamp = "", v1.PodStatus{Phase: v1.PodPending}, metav1.Time{}
		tl.Steps = append(tl.Steps, timeline.Step{Create: created}, timeline.Step{Wait: 2 * time.Minute})
	}
	require.NoError(t, apiserver.Timeline(tl))
	trace, err := life.Run(t.Context(), tl)
	require.NoError(t, err)
	require.Nil(t, trace.Crash)
	at := map[string]string{}
	for _, p := range trace.Quiet.Pods {
		if p.Exists && !p.Terminating {
			at[p.Name] = p.Node
		}
	}
	return at
}

// TestAsInTimelines: a whole scheduler, to which the pods come two minutes apart, leaves the same pods where they are in
// the end, and on the same nodes, wherever one answer only is allowed.
func TestAsInTimelines(t *testing.T) {
	decide := explanation.Decides(checktest.Checker(t), nil)
	owned := func(p *v1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: p.Name, UID: "r", Controller: &yes}}
	}
	short := func(p *v1.Pod) { one := int64(1); p.Spec.TerminationGracePeriodSeconds = &one }
	pod := func(name string, priority int32, cpu, node string, change ...func(*v1.Pod)) *v1.Pod {
		return mk.Pod(name, priority, append(change, mk.CPU(cpu), mk.On(node), mk.Started(int(priority)), short)...)
	}
	on := func(node string) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{v1.LabelHostname: node} }
	}
	apart := func(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: "apart", Effect: v1.TaintEffectNoSchedule}} }
	bears := func(p *v1.Pod) { p.Spec.Tolerations = []v1.Toleration{{Key: "apart", Operator: v1.TolerationOpExists}} }
	for name, test := range map[string]struct {
		cluster []any
		comes   []*v1.Pod
		gone    int
	}{
		"bare pods go": {[]any{mk.Node("n1", "2"), pod("a", 0, "1", "n1"), pod("b", 1, "1", "n1")},
			[]*v1.Pod{mk.Pod("x", 10, mk.CPU("1")), mk.Pod("y", 9, mk.CPU("1")), mk.Pod("z", 8, mk.CPU("1"))}, 2},
		"a replacement fits elsewhere": {[]any{mk.Node("n1", "1"), mk.Node("n2", "2"), pod("a", 0, "1", "n1", owned), pod("b", 5, "1", "n2")},
			[]*v1.Pod{mk.Pod("x", 10, mk.CPU("1"), on("n1"))}, 1},
		"a replacement preempts in turn": {[]any{mk.Node("n1", "1"), mk.Node("n2", "1"), pod("a", 5, "1", "n1", owned), pod("b", 0, "1", "n2")},
			[]*v1.Pod{mk.Pod("x", 10, mk.CPU("1"), on("n1"))}, 2},
		"a cascade of three": {[]any{mk.Node("n1", "1"), mk.Node("n2", "2"), mk.Node("n3", "3", apart), pod("a", 7, "1", "n1", owned), pod("b", 5, "2", "n2", owned, bears), pod("c", 3, "3", "n3", bears)},
			[]*v1.Pod{mk.Pod("x", 10, mk.CPU("1"), on("n1"))}, 3},
		"what stays pending": {[]any{mk.Node("n1", "1"), pod("a", 5, "1", "n1")}, []*v1.Pod{mk.Pod("x", 5, mk.CPU("1"))}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := mk.Cluster(nil, test.cluster...)
			for _, n := range c.Nodes {
				n.Labels = map[string]string{v1.LabelHostname: n.Name}
			}
			all := &model.Cluster{Nodes: c.Nodes, Pods: slices.Concat(c.Pods, test.comes)}
			require.NoError(t, apiserver.Objects(all))
			course, err := arrival.Run(t.Context(), c, &arrival.Coming{Workloads: []*expand.Workload{{Ref: workload.Ref{Kind: "Pod", Name: "x"}, Pods: test.comes}}}, decide, bounds)
			require.NoError(t, err)
			require.Len(t, course.Victims, test.gone)
			for _, s := range course.Steps {
				require.LessOrEqual(t, s.Ways, 1, "one answer is allowed in each cycle of this test")
				require.Empty(t, s.Disagrees)
			}
			want := map[string]string{}
			for _, p := range course.After.Pods {
				want[plain(model.Key(p))] = p.Spec.NodeName
			}
			got := map[string]string{}
			for key, node := range live(t, c, course) {
				got[plain(key)] = node
			}
			require.Equal(t, want, got)
		})
	}
}

// plain is the name of a pod without what says that it is a replacement, which differs.
func plain(key string) string {
	if name, _, ok := strings.Cut(key, expand.Again); ok {
		return name
	}
	if name, ok := strings.CutSuffix(key, "-1"); ok {
		return name
	}
	return key
}

// TestCorpusAsInTimelines: in clusters of the corpus who is gone in the end is one of the answers that are allowed.
func TestCorpusAsInTimelines(t *testing.T) {
	decide := explanation.Decides(checktest.Checker(t), nil)
	s, err := corpus.Load("../../../corpus/cases")
	require.NoError(t, err)
	compared := 0
	for _, one := range s.Cases {
		c := one.Cluster
		e := one.Expected("v1.37.1")
		if c.Preemptor == nil || e == nil || e.Outcome != corpus.Preempted || len(one.Findings) > 0 || len(c.Extra) > 0 || len(c.Settings.Extenders) > 0 ||
			len(c.Settings.FeatureGates) > 0 || c.Preemptor.Status.NominatedNodeName != "" || slices.ContainsFunc(c.Pods, waitsOrEnds) {
			continue
		}
		before := *c
		before.Preemptor = nil
		before = *before.DeepCopy()
		for _, p := range before.Pods {
			p.OwnerReferences = nil
		}
		comes := c.Preemptor.DeepCopy()
		comes.Status = v1.PodStatus{Phase: v1.PodPending}
		course, err := arrival.Run(t.Context(), &before, &arrival.Coming{Workloads: []*expand.Workload{{Ref: workload.Of(comes), Pods: []*v1.Pod{comes}}}}, decide, bounds)
		require.NoError(t, err, one.Name)
		require.Len(t, course.Steps, 1, one.Name)
		at := live(t, &before, course)
		var gone []string
		for _, p := range before.Pods {
			if _, there := at[model.Key(p)]; !there {
				gone = append(gone, model.Key(p))
			}
		}
		slices.Sort(gone)
		allowed := false
		var all []string
		for _, n := range e.Nominations {
			victims := slices.Sorted(slices.Values(n.Victims))
			all = append(all, fmt.Sprint(n.Node, victims))
			allowed = allowed || slices.Equal(victims, gone) && at[model.Key(comes)] == n.Node
		}
		require.True(t, allowed, "%s: gone are %v, the pod is on %q; allowed are %v", one.Name, gone, at[model.Key(comes)], all)
		compared++
	}
	require.Greater(t, compared, 10)
	t.Logf("%d clusters", compared)
}

func waitsOrEnds(p *v1.Pod) bool { return p.Spec.NodeName == "" || p.DeletionTimestamp != nil }
