package volumerestrictions

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestRemovePod_ClaimOfOtherNamespace(t *testing.T) {
	withClaim := func(name, namespace, claim, node string) *v1.Pod {
		return st.MakePod().Name(name).Namespace(namespace).UID(name).PVC(claim).Node(node).Obj()
	}
	tests := []struct {
		name    string
		removed *v1.Pod
		want    bool // whether the preemptor fits once the pod is removed
	}{
		{
			name:    "pod that uses the claim",
			removed: withClaim("removed", "default", "data", "node1"),
			want:    true,
		},
		{
			name:    "pod of another namespace with another claim",
			removed: withClaim("removed", "other", "logs", "node1"),
			want:    false,
		},
		{
			name:    "pod of another namespace with a claim of the same name",
			removed: withClaim("removed", "other", "data", "node1"),
			want:    false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			pods := []*v1.Pod{tt.removed}
			if !tt.want {
				pods = append(pods, withClaim("user", "default", "data", "node2"))
			}
			nodes := []*v1.Node{st.MakeNode().Name("node1").Obj(), st.MakeNode().Name("node2").Obj()}
			var claims []*v1.PersistentVolumeClaim
			for _, namespace := range []string{"default", "other"} {
				claims = append(claims, st.MakePersistentVolumeClaim().Name("data").Namespace(namespace).
					AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}).Obj())
			}
			p := newPluginWithListers(ctx, t, pods, nodes, claims).(*VolumeRestrictions)
			preemptor := withClaim("p", "default", "data", "")

			cs := framework.NewCycleState()
			if _, s := p.PreFilter(ctx, cs, preemptor, nil); !s.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", s)
			}
			nodeInfo := framework.NewNodeInfo(tt.removed)
			nodeInfo.SetNode(nodes[0])
			if s := p.Filter(ctx, cs, preemptor, nodeInfo); s.Code() != fwk.Unschedulable {
				t.Errorf("unexpected Filter status before the pod is removed: %v", s)
			}
			podInfo, err := framework.NewPodInfo(tt.removed)
			if err != nil {
				t.Fatal(err)
			}
			if s := p.RemovePod(ctx, cs, preemptor, podInfo, nodeInfo); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if got := p.Filter(ctx, cs, preemptor, nodeInfo).IsSuccess(); got != tt.want {
				t.Errorf("the preemptor fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
