package volumerestrictions

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestRemovePod_ClaimWithSeveralReferences(t *testing.T) {
	withClaims := func(name, node string, claims ...string) *v1.Pod {
		p := st.MakePod().Name(name).Namespace("default").UID(name).Node(node)
		for _, claim := range claims {
			p.PVC(claim)
		}
		return p.Obj()
	}
	tests := []struct {
		name      string
		preemptor *v1.Pod
		removed   *v1.Pod
		others    []*v1.Pod
		want      bool // whether the preemptor fits once the pod is removed
	}{
		{
			name:      "the only user",
			preemptor: withClaims("p", "", "data"),
			removed:   withClaims("removed", "node1", "data"),
			want:      true,
		},
		{
			name:      "the only user, which mounts the claim twice",
			preemptor: withClaims("p", "", "data"),
			removed:   withClaims("removed", "node1", "data", "data"),
			want:      true,
		},
		{
			name:      "another claim of the preemptor is still in use",
			preemptor: withClaims("p", "", "data", "logs"),
			removed:   withClaims("removed", "node1", "data"),
			others:    []*v1.Pod{withClaims("other", "node2", "logs")},
			want:      false,
		},
		{
			name:      "one of two users",
			preemptor: withClaims("p", "", "data"),
			removed:   withClaims("removed", "node1", "data"),
			others:    []*v1.Pod{withClaims("other", "node2", "data")},
			want:      false,
		},
		{
			name:      "another claim of the preemptor is still in use, and the pod mounted its own twice",
			preemptor: withClaims("p", "", "data", "logs"),
			removed:   withClaims("removed", "node1", "data", "data"),
			others:    []*v1.Pod{withClaims("other", "node2", "logs")},
			want:      false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ctx := ktesting.NewTestContext(t)
			nodes := []*v1.Node{st.MakeNode().Name("node1").Obj(), st.MakeNode().Name("node2").Obj()}
			var claims []*v1.PersistentVolumeClaim
			for _, name := range []string{"data", "logs"} {
				claims = append(claims, st.MakePersistentVolumeClaim().Name(name).Namespace("default").
					AccessModes([]v1.PersistentVolumeAccessMode{v1.ReadWriteOncePod}).Obj())
			}
			p := newPluginWithListers(ctx, t, append(tt.others, tt.removed), nodes, claims).(*VolumeRestrictions)

			cs := framework.NewCycleState()
			if _, s := p.PreFilter(ctx, cs, tt.preemptor, nil); !s.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", s)
			}
			nodeInfo := framework.NewNodeInfo(tt.removed)
			nodeInfo.SetNode(nodes[0])
			if s := p.Filter(ctx, cs, tt.preemptor, nodeInfo); s.Code() != fwk.Unschedulable {
				t.Errorf("unexpected Filter status before the pod is removed: %v", s)
			}
			podInfo, err := framework.NewPodInfo(tt.removed)
			if err != nil {
				t.Fatal(err)
			}
			if s := p.RemovePod(ctx, cs, tt.preemptor, podInfo, nodeInfo); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if got := p.Filter(ctx, cs, tt.preemptor, nodeInfo).IsSuccess(); got != tt.want {
				t.Errorf("the preemptor fits: got %t, want %t", got, tt.want)
			}
		})
	}
}
