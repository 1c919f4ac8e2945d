package exposure

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
)

func of(t *testing.T, c *model.Cluster, o Options) *Report {
	r, err := Of(t.Context(), c, nil, o)
	require.NoError(t, err)
	return r
}

func findingsOf(b Budget) (ids []string) {
	for _, f := range b.Findings {
		ids = append(ids, f.ID)
	}
	return ids
}

// TestFindingsOfBudgets: each is named in its situation, and of releases that have it.
func TestFindingsOfBudgets(t *testing.T) {
	always := policyv1.AlwaysAllow
	pod := func(change ...func(*v1.Pod)) *v1.Pod {
		return mk.Pod("a-0", 10, append([]func(*v1.Pod){mk.CPU("1"), ofDeployment("a"), mk.On("node-1")}, change...)...)
	}
	for id, c := range map[string]*model.Cluster{
		"":                                   mk.Cluster(nil, pod(), mk.Budget("a", 1, mk.ForApp("a"))),
		"empty-selector":                     mk.Cluster(nil, pod(), mk.Budget("a", 1, &metav1.LabelSelector{})),
		"unlabelled-pod":                     mk.Cluster(nil, pod(func(p *v1.Pod) { p.Labels = nil }), mk.Budget("a", 1, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "x", Operator: metav1.LabelSelectorOpDoesNotExist}}})),
		"budget-order":                       mk.Cluster(nil, pod(), mk.Budget("a", 1, mk.ForApp("a")), mk.Budget("b", 1, mk.ForApp("a"))),
		"terminating-victim-violates-budget": mk.Cluster(nil, pod(mk.Terminating), mk.Budget("a", 1, mk.ForApp("a"))),
		"pending-victim-violates-budget":     mk.Cluster(nil, pod(func(p *v1.Pod) { p.Status.Phase = v1.PodPending }), mk.Budget("a", 1, mk.ForApp("a"))),
		"unhealthy-pod-eviction-policy":      mk.Cluster(nil, pod(func(p *v1.Pod) { p.Status.Phase = v1.PodRunning }), mk.Budget("a", 1, mk.ForApp("a"))),
	} {
		c.Nodes = append(c.Nodes, mk.Node("node-1", "4"))
		if id == "unhealthy-pod-eviction-policy" {
			c.PodDisruptionBudgets[0].Spec.UnhealthyPodEvictionPolicy = &always
		}
		b := of(t, c, Options{}).Workloads[0].Budgets[0]
		if id == "" {
			require.Empty(t, b.Findings)
			require.Equal(t, Honoured, b.Verdict)
			continue
		}
		require.Equal(t, []string{id}, findingsOf(b))
		want := Honoured
		if b.Findings[0].Ignored {
			want = ByFinding
		}
		require.Equal(t, want, b.Verdict, id)
		if id == "budget-order" {
			old := of(t, c, Options{Release: release.Release{Minor: 31}})
			require.Empty(t, old.Workloads[0].Budgets[0].Findings)
			require.Equal(t, "v1.31.0", old.Release)
		}
	}
}

// TestNodeLossCascades: b's pod has nowhere to go but a's place, and a's pod then finds none.
func TestNodeLossCascades(t *testing.T) {
	c := mk.Cluster(nil, mk.Node("node-1", "2"), mk.Node("node-2", "2"),
		mk.Pod("a-0", 10, mk.CPU("2"), ofDeployment("a"), mk.On("node-1")),
		mk.Pod("b-0", 100, mk.CPU("2"), ofDeployment("b"), mk.On("node-2")))
	r := of(t, c, Options{})
	require.Equal(t, []NodeLoss{
		{Node: "node-1", Like: 2, Back: 1, Pending: 1},
		{Node: "node-2", Like: 2, Back: 1, Preempted: 1, Pending: 1},
	}, r.Losses.Tried)
	require.Equal(t, "deployment/default/a", r.Workloads[0].Name)
	require.Equal(t, Loss{Nodes: 2, Preempted: 1, Pending: 2, Worst: "node-2", WorstPreempted: 1, WorstPending: 1}, r.Workloads[0].Loss)
	require.Zero(t, r.Workloads[1].Loss)
}

// TestPriorityPlacesFirst: of the pods of a lost node, the one of higher priority takes the last room;
// what no controller makes anew does not come back.
func TestPriorityPlacesFirst(t *testing.T) {
	bare := mk.Pod("bare", 1000, mk.CPU("1"), mk.On("node-1"))
	agent := mk.Pod("agent", 1000, mk.CPU("1"), ofDeployment("agent"), mk.On("node-1"))
	agent.OwnerReferences[0].Kind = "DaemonSet"
	c := mk.Cluster(nil, mk.Node("node-1", "4"), mk.Node("node-2", "1"), bare, agent,
		mk.Pod("a-0", 10, mk.CPU("1"), ofDeployment("a"), mk.On("node-1")),
		mk.Pod("b-0", 100, mk.CPU("1"), ofDeployment("b"), mk.On("node-1")))
	r := of(t, c, Options{MaxLosses: 1})
	require.Equal(t, []NodeLoss{{Node: "node-1", Like: 1, Back: 2, Placed: 1, Pending: 1}}, r.Losses.Tried)
	require.Equal(t, "deployment/default/a", r.Workloads[0].Name)
	require.Equal(t, 1, r.Workloads[0].Loss.Pending)
	require.Equal(t, []string{"1 kind of nodes not tried to be lost, the rarest"}, r.Notes)
}

// TestPendingPods: those that are alike are decided once, and their answer counts for all.
func TestPendingPods(t *testing.T) {
	c := mk.Cluster(nil, mk.Node("node-1", "2"), mk.Pod("a-0", 10, mk.CPU("1"), ofDeployment("a"), mk.On("node-1")),
		mk.Pod("a-1", 10, mk.CPU("1"), ofDeployment("a"), mk.On("node-1")))
	c.PriorityClasses = []*schedulingv1.PriorityClass{class("high", 100, v1.PreemptLowerPriority)}
	var pending []*model.Cluster
	for _, name := range []string{"w-0", "w-1"} {
		q := *c
		q.Preemptor = mk.Pod(name, 100, mk.CPU("2"), ofDeployment("w"))
		pending = append(pending, &q)
	}
	r, err := Of(t.Context(), c, pending, Options{})
	require.NoError(t, err)
	require.Equal(t, Pending{Pods: 2, Decided: 2, Preempt: 2, Kinds: 1}, r.Pending)
	require.Equal(t, []Taker{{Pod: "default/w-0", Alike: 1, Workload: "deployment/default/w", AtOnce: 2, Node: "node-1", Expected: 2, Certain: true}}, r.Workloads[0].Now)
}

// TestSpreadByDefault: of the nodes that are left, one has a pod of the Service, and the other no room.
func TestSpreadByDefault(t *testing.T) {
	const spread = `{"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultConstraints": [{"maxSkew": 1, "topologyKey": "name", "whenUnsatisfiable": "DoNotSchedule"}]}}]}]}`
	service := func(kind v1.ServiceType) *v1.Service {
		return &v1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: v1.ServiceSpec{Type: kind, Selector: map[string]string{"app": "a"}}}
	}
	node := func(name string) *v1.Node {
		return mk.Node(name, "2", func(n *v1.Node) { n.Labels = map[string]string{"name": name} })
	}
	for name, tt := range map[string]struct {
		configuration string
		kind          v1.ServiceType
		loss          NodeLoss
	}{
		"none":               {"", v1.ServiceTypeClusterIP, NodeLoss{Placed: 1}},
		"for the Service":    {spread, v1.ServiceTypeClusterIP, NodeLoss{Pending: 1}},
		"for a name outside": {spread, v1.ServiceTypeExternalName, NodeLoss{NotModelled: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			c := mk.Cluster(nil, node("node-1"), node("node-2"), node("node-3"),
				mk.Pod("a-0", 10, mk.CPU("1"), ofDeployment("a"), mk.On("node-1")),
				mk.Pod("a-1", 10, mk.CPU("1"), ofDeployment("a"), mk.On("node-2")),
				mk.Pod("b-0", 100, mk.CPU("2"), ofDeployment("b"), mk.On("node-3")))
			c.Extra = []runtime.Object{service(tt.kind)}
			c.Settings = model.Settings{Configuration: []byte(tt.configuration)}
			tt.loss.Node, tt.loss.Like, tt.loss.Back = "node-1", 3, 1
			r := of(t, c, Options{})
			i := slices.IndexFunc(r.Losses.Tried, func(l NodeLoss) bool { return l.Node == "node-1" })
			require.GreaterOrEqual(t, i, 0)
			require.Equal(t, tt.loss, r.Losses.Tried[i])
		})
	}
}
