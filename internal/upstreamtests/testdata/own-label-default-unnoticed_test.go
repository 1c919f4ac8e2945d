package podtopologyspread

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	plugintesting "k8s.io/kubernetes/pkg/scheduler/framework/plugins/testing"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func Test_isSchedulableAfterTargetPodChange_DefaultConstraints(t *testing.T) {
	// A pod of the app runs on node1, and one of another app on node2. The pod is for node1.
	const key = "kubernetes.io/hostname"
	pod := func(app string, own ...v1.TopologySpreadConstraint) *v1.Pod {
		p := st.MakePod().Name("p").UID("p").Obj()
		p.Labels = map[string]string{}
		if app != "" {
			p.Labels["app"] = app
		}
		p.Spec.TopologySpreadConstraints = own
		return p
	}
	constraint := v1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: v1.DoNotSchedule}
	own := constraint
	own.LabelSelector = st.MakeLabelSelector().In("app", []string{"a"}).Obj()
	tests := []struct {
		name           string
		oldPod, newPod *v1.Pod
	}{
		{name: "the label goes, and the constraint is the pod's own", oldPod: pod("a", own), newPod: pod("", own)},
		{name: "the label goes", oldPod: pod("a"), newPod: pod("")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			nodes := []*v1.Node{st.MakeNode().Name("node1").Label(key, "node1").Obj(), st.MakeNode().Name("node2").Label(key, "node2").Obj()}
			pods := []*v1.Pod{
				st.MakePod().Name("other1").UID("other1").Label("app", "a").Node("node1").Obj(),
				st.MakePod().Name("other2").UID("other2").Label("app", "b").Node("node2").Obj(),
			}
			snapshot := cache.NewSnapshot(pods, nodes)
			infos, err := snapshot.NodeInfos().List()
			if err != nil {
				t.Fatal(err)
			}
			service := &v1.Service{Spec: v1.ServiceSpec{Selector: map[string]string{"app": "a"}}}
			service.Name = "s"
			args := &config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting, DefaultConstraints: []v1.TopologySpreadConstraint{constraint}}
			p := plugintesting.SetupPluginWithInformers(ctx, t, frameworkruntime.FactoryAdapter(feature.Features{}, New), args, snapshot, []runtime.Object{service}).(*PodTopologySpread)
			fits := func(pod *v1.Pod) bool {
				info, err := snapshot.Get("node1")
				if err != nil {
					t.Fatal(err)
				}
				cs := framework.NewCycleState()
				_, s := p.PreFilter(ctx, cs, pod, infos)
				if s.IsSkip() {
					return true
				}
				if !s.IsSuccess() {
					t.Fatal(s.AsError())
				}
				return p.Filter(ctx, cs, pod, info).IsSuccess()
			}
			if fits(tt.oldPod) || !fits(tt.newPod) {
				t.Fatal("the change does not make the pod fit on node1")
			}
			// The queue holds the pod as it is now when it asks.
			got, err := p.isSchedulableAfterTargetPodChange(logger, tt.newPod, tt.oldPod, tt.newPod)
			if err != nil {
				t.Fatal(err)
			}
			if got != fwk.Queue {
				t.Errorf("the pod fits now, and the hint is %v, want Queue", got)
			}
		})
	}
}
