package releases

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// decode is the other side's reading of a request.
func decode(t *testing.T, c *model.Cluster) wire.Request {
	t.Helper()
	data, err := encode(c, "v1.31.0")
	require.NoError(t, err)
	require.NotContains(t, string(data), "\n", "a request is a line")
	var r wire.Request
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&r))
	return r
}

func TestEncode(t *testing.T) {
	percent, number, violations := int32(5), int32(7), int64(3)
	r := decode(t, &model.Cluster{
		Nodes:                []*v1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, {ObjectMeta: metav1.ObjectMeta{Name: "n2"}}},
		Pods:                 []*v1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "p1"}}},
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{{ObjectMeta: metav1.ObjectMeta{Name: "b1"}}},
		PriorityClasses:      []*schedulingv1.PriorityClass{{Value: 1}},
		Extra:                []runtime.Object{&v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}},
		Preemptor:            &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p2"}},
		Settings: model.Settings{
			MinCandidateNodesPercentage: &percent, MinCandidateNodesAbsolute: &number,
			SecondProfile: &model.Profile{SchedulerName: "other", MinCandidateNodesPercentage: &number, MinCandidateNodesAbsolute: &percent},
			Parallelism:   &number, PercentageOfNodesToScore: &percent, DryRunOffset: &number,
			FeatureGates: map[string]bool{"SchedulerAsyncPreemption": false},
			Extenders: []model.Extender{{
				Name: "e", ManagedResources: []string{"example.com/gpu"}, Ignorable: true, NodeCacheCapable: true,
				Filter: &model.ExtenderFilter{Fails: true, Rejects: []string{"n1"}, Excludes: []string{"n2"}, Omits: []string{"n3"}},
				Preempt: &model.ExtenderPreempt{Fails: model.PreemptError, Nothing: true, Drops: []string{"n1"},
					Changes: []model.VictimChange{{Node: "n2", Reverses: true, Keeps: &percent, Violations: &violations}}},
			}},
		},
	})
	require.Len(t, r.Nodes, 2)
	require.Contains(t, string(r.Nodes[0]), `"name":"n1"`)
	require.Contains(t, string(r.Nodes[1]), `"name":"n2"`)
	require.Len(t, r.Pods, 1)
	require.Contains(t, string(r.Pods[0]), `"name":"p1"`)
	require.Len(t, r.Budgets, 1)
	require.Contains(t, string(r.Budgets[0]), `"name":"b1"`)
	require.Contains(t, string(r.Preemptor), `"name":"p2"`)
	require.Len(t, r.Extra, 1)
	require.Equal(t, "v1", r.Extra[0].APIVersion)
	require.Equal(t, "PersistentVolumeClaim", r.Extra[0].Kind)
	require.Contains(t, string(r.Extra[0].Object), `"name":"c1"`)
	require.Equal(t, model.Settings{
		MinCandidateNodesPercentage: &percent, MinCandidateNodesAbsolute: &number,
		SecondProfile: &model.Profile{SchedulerName: "other", MinCandidateNodesPercentage: &number, MinCandidateNodesAbsolute: &percent},
		Parallelism:   &number, PercentageOfNodesToScore: &percent, DryRunOffset: &number,
		FeatureGates: map[string]bool{"SchedulerAsyncPreemption": false},
		Extenders: []model.Extender{{
			Name: "e", ManagedResources: []string{"example.com/gpu"}, Ignorable: true, NodeCacheCapable: true,
			Filter: &model.ExtenderFilter{Fails: true, Rejects: []string{"n1"}, Excludes: []string{"n2"}, Omits: []string{"n3"}},
			Preempt: &model.ExtenderPreempt{Fails: "Error", Nothing: true, Drops: []string{"n1"},
				Changes: []model.VictimChange{{Node: "n2", Reverses: true, Keeps: &percent, Violations: &violations}}},
		}},
	}, r.Settings)

	_, err := encode(&model.Cluster{Extra: []runtime.Object{&runtime.Unknown{}}}, "v1.31.0")
	require.ErrorContains(t, err, "extra object")
}

// Nothing that a generated cluster holds gets lost or changes on the way.
func TestEncodeLosesNothing(t *testing.T) {
	for seed := range uint64(300) {
		c := generators.FromSeed(seed)
		r := decode(t, c)
		require.Len(t, r.Nodes, len(c.Nodes))
		for i, data := range r.Nodes {
			var got v1.Node
			require.NoError(t, json.Unmarshal(data, &got))
			require.NotContains(t, string(data), "nodeInfo", "there is nothing in it")
			want, err := json.Marshal(c.Nodes[i])
			require.NoError(t, err)
			again, err := json.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(again))
		}
		require.Len(t, r.Pods, len(c.Pods))
		for i, want := range append([]*v1.Pod{c.Preemptor}, c.Pods...) {
			data := r.Preemptor
			if i > 0 {
				data = r.Pods[i-1]
			}
			var got v1.Pod
			require.NoError(t, json.Unmarshal(data, &got))
			again, err := json.Marshal(want)
			require.NoError(t, err)
			require.JSONEq(t, string(again), string(data))
			require.Equal(t, want.Name, got.Name)
			require.True(t, want.Status.StartTime.Equal(got.Status.StartTime), "start times are of whole seconds")
		}
		for i, o := range r.Extra {
			require.NotEmpty(t, o.APIVersion+o.Kind, c.Extra[i])
		}
	}
}

// The policy that pods have by default is kept from releases that have none.
func TestEncodeDefaultPolicy(t *testing.T) {
	lower, never := v1.PreemptLowerPriority, v1.PreemptNever
	c := &model.Cluster{
		Preemptor: &v1.Pod{Spec: v1.PodSpec{PreemptionPolicy: &lower}},
		Pods:      []*v1.Pod{{Spec: v1.PodSpec{PreemptionPolicy: &never}}, {Spec: v1.PodSpec{PreemptionPolicy: &lower}}},
	}
	for release, want := range map[string]int{"v1.19.16": 2, "v1.16.15": 0} {
		data, err := encode(c, release)
		require.NoError(t, err)
		require.Equal(t, want, bytes.Count(data, []byte(`"preemptionPolicy":"PreemptLowerPriority"`)), release)
		require.Equal(t, 1, bytes.Count(data, []byte(`"preemptionPolicy":"Never"`)), release)
	}
}

// To 1.36 pod groups are those of v1alpha2, which names some fields otherwise, and GenericWorkload is one gate of three.
func TestEncodeAlphaGroups(t *testing.T) {
	whole := mk.Group("g", 7, mk.AsAWhole, func(g *schedulingv1beta1.PodGroup) {
		g.Spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{WorkloadName: "w", TemplateName: "t"}
		g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}
		g.Labels = map[string]string{"a": "b"}
	})
	singly := mk.Group("h", 0, func(g *schedulingv1beta1.PodGroup) {
		g.Spec.Priority = nil
		g.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
	})
	gates := map[string]bool{model.GateWorkload: true}
	c := mk.Cluster(mk.Pod("p", 9), whole, singly, model.Settings{FeatureGates: gates})
	read := func(release string) (r wire.Request) {
		data, err := encode(c, release)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &r))
		require.Len(t, r.Extra, 2)
		return r
	}
	alpha := read("v1.36.3")
	require.Equal(t, map[string]bool{model.GateWorkload: true, "GangScheduling": true, "WorkloadAwarePreemption": true}, alpha.Settings.FeatureGates)
	require.Equal(t, map[string]bool{model.GateWorkload: true}, gates, "the cluster stays as it is")
	require.Equal(t, "scheduling.k8s.io/v1alpha2", alpha.Extra[0].APIVersion)
	require.JSONEq(t, `{"metadata":{"name":"g","namespace":"default","labels":{"a":"b"}},"spec":{"schedulingPolicy":{"gang":{"minCount":2}},"disruptionMode":"PodGroup","priority":7,
		"podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"t"}}}}`, string(alpha.Extra[0].Object))
	require.JSONEq(t, `{"metadata":{"name":"h","namespace":"default"},"spec":{"schedulingPolicy":{},"disruptionMode":"Pod"}}`, string(alpha.Extra[1].Object))

	beta := read("v1.37.0")
	require.Equal(t, gates, beta.Settings.FeatureGates)
	require.Equal(t, "scheduling.k8s.io/v1beta1", beta.Extra[0].APIVersion)

	singly.Spec.ParentCompositePodGroupName = new("c")
	_, err := encode(c, "v1.36.3")
	require.EqualError(t, err, "v1.36.3 does not know PodGroup default/h: spec.parentCompositePodGroupName")
}

// What a driver does not put into force is refused, and not left out.
func TestRefusedSettings(t *testing.T) {
	one, two := int32(1), int32(2)
	s := model.Settings{
		SecondProfile: &model.Profile{SchedulerName: "other"}, Parallelism: &two, PercentageOfNodesToScore: &two,
		DryRunOffset: &two, Extenders: make([]model.Extender, 1),
	}
	require.Empty(t, refusedSettings("v1.25.16", &s))
	require.Equal(t, "scheduler: extenders: the driver of v1.22.17 does not call extenders; "+
		"scheduler: profiles[1]: the driver of v1.22.17 has one profile; "+
		"scheduler: parallelism: the driver of v1.22.17 looks at one node at a time; "+
		"scheduler: percentageOfNodesToScore: the driver of v1.22.17 leaves it at its default", refusedSettings("v1.22.17", &s))
	require.Empty(t, refusedSettings("v1.22.17", &model.Settings{
		MinCandidateNodesPercentage: &two, MinCandidateNodesAbsolute: &two, Parallelism: &one, DryRunOffset: &one,
		FeatureGates: map[string]bool{"SchedulerAsyncPreemption": false},
	}))

	require.Equal(t, "DefaultPreemptionArgs", refusedSettings("v1.19.16", &model.Settings{MinCandidateNodesAbsolute: &two}))

	old := newFake(t, "v1.31.0")
	old.release = "v1.22.17"
	_, err := old.Observe(t.Context(), &model.Cluster{Preemptor: &v1.Pod{}, Settings: model.Settings{Extenders: make([]model.Extender, 1)}})
	require.EqualError(t, err, "v1.22.17 does not know scheduler: extenders: the driver of v1.22.17 does not call extenders")
}
