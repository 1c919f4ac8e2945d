package interpodaffinity

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	plugintesting "k8s.io/kubernetes/pkg/scheduler/framework/plugins/testing"
	schedruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func Test_isSchedulableAfterAssignedPodChange_NamespaceSelector(t *testing.T) {
	// The labels of subteam1.team1 are nsLabelT1.
	other := func(app string) *v1.Pod {
		return st.MakePod().Name("other").Namespace("subteam1.team1").UID("other").Node("node1").Label("app", app).Obj()
	}
	term := v1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, TopologyKey: "zone"}
	named, everywhere, selected := term, term, term
	named.Namespaces = []string{"subteam1.team1"}
	everywhere.NamespaceSelector = &metav1.LabelSelector{}
	selected.NamespaceSelector = &metav1.LabelSelector{MatchLabels: nsLabelT1}
	affinity := func(terms ...v1.PodAffinityTerm) *v1.Affinity {
		return &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
	antiAffinity := func(terms ...v1.PodAffinityTerm) *v1.Affinity {
		return &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
	tests := []struct {
		name           string
		affinity       *v1.Affinity
		oldPod, newPod *v1.Pod // of the node
	}{
		{
			name:     "affinity to a namespace, a pod comes",
			affinity: affinity(named),
			newPod:   other("a"),
		},
		{
			name:     "affinity to all namespaces, a pod comes",
			affinity: affinity(everywhere),
			newPod:   other("a"),
		},
		{
			name:     "affinity to a selected namespace, a pod comes",
			affinity: affinity(selected),
			newPod:   other("a"),
		},
		{
			name:     "affinity to a selected namespace, a pod is relabelled",
			affinity: affinity(selected),
			oldPod:   other("b"),
			newPod:   other("a"),
		},
		{
			name:     "anti-affinity to a namespace, a pod goes",
			affinity: antiAffinity(named),
			oldPod:   other("a"),
		},
		{
			name:     "anti-affinity to a selected namespace, a pod goes",
			affinity: antiAffinity(selected),
			oldPod:   other("a"),
		},
		{
			name:     "anti-affinity to a selected namespace, a pod is relabelled",
			affinity: antiAffinity(selected),
			oldPod:   other("a"),
			newPod:   other("b"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			pod := st.MakePod().Name("p").Namespace("subteam1.team2").UID("p").Obj()
			pod.Spec.Affinity = tt.affinity
			node := st.MakeNode().Name("node1").Label("zone", "zone1").Obj()
			var p *InterPodAffinity
			fits := func(onNode *v1.Pod) bool {
				var pods []*v1.Pod
				if onNode != nil {
					pods = append(pods, onNode)
				}
				snapshot := cache.NewSnapshot(pods, []*v1.Node{node})
				nodes, err := snapshot.NodeInfos().List()
				if err != nil {
					t.Fatal(err)
				}
				p = plugintesting.SetupPluginWithInformers(ctx, t, schedruntime.FactoryAdapter(feature.Features{}, New), &config.InterPodAffinityArgs{}, snapshot, namespaces).(*InterPodAffinity)
				cs := framework.NewCycleState()
				if _, s := p.PreFilter(ctx, cs, pod, nodes); !s.IsSuccess() {
					t.Fatalf("unexpected PreFilter status: %v", s)
				}
				return p.Filter(ctx, cs, pod, nodes[0]).IsSuccess()
			}
			if fits(tt.oldPod) || !fits(tt.newPod) {
				t.Fatal("the change does not make the pod fit")
			}
			var oldObj, newObj interface{}
			if tt.oldPod != nil {
				oldObj = tt.oldPod
			}
			if tt.newPod != nil {
				newObj = tt.newPod
			}
			got, err := p.isSchedulableAfterAssignedPodChange(logger, pod, oldObj, newObj)
			if err != nil {
				t.Fatal(err)
			}
			if got != fwk.Queue {
				t.Errorf("the pod fits now, and the hint is %v, want Queue", got)
			}
		})
	}
}
