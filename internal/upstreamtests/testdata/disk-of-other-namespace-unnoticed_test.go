package volumerestrictions

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func Test_isSchedulableAfterAssignedPodDeleted_DiskOfOtherNamespace(t *testing.T) {
	iscsi := v1.VolumeSource{ISCSI: &v1.ISCSIVolumeSource{TargetPortal: "10.0.0.1", IQN: "iqn.2001-04.com.example:disk"}}
	rbd := v1.VolumeSource{RBD: &v1.RBDVolumeSource{CephMonitors: []string{"10.0.0.1"}, RBDPool: "pool", RBDImage: "disk"}}
	tests := []struct {
		name    string
		disk    v1.VolumeSource
		deleted string // the namespace of the pod that had the disk
	}{
		{
			name:    "iSCSI, a pod of the same namespace",
			disk:    iscsi,
			deleted: "default",
		},
		{
			name:    "RBD, a pod of the same namespace",
			disk:    rbd,
			deleted: "default",
		},
		{
			name:    "iSCSI, a pod of another namespace",
			disk:    iscsi,
			deleted: "other",
		},
		{
			name:    "RBD, a pod of another namespace",
			disk:    rbd,
			deleted: "other",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, ctx := ktesting.NewTestContext(t)
			volume := v1.Volume{Name: "data", VolumeSource: tt.disk}
			pod := st.MakePod().Name("p").Namespace("default").UID("p").Volume(volume).Obj()
			deleted := st.MakePod().Name("deleted").Namespace(tt.deleted).UID("deleted").Node("node1").Volume(volume).Obj()
			p := newPlugin(ctx, t).(*VolumeRestrictions)
			cs := framework.NewCycleState()
			if _, s := p.PreFilter(ctx, cs, pod, nil); !s.IsSuccess() {
				t.Fatalf("unexpected PreFilter status: %v", s)
			}
			if s := p.Filter(ctx, cs, pod, framework.NewNodeInfo(deleted)); !s.IsRejected() {
				t.Fatalf("Filter before the pod is deleted: got %v, want a rejection", s)
			}
			if s := p.Filter(ctx, cs, pod, framework.NewNodeInfo()); !s.IsSuccess() {
				t.Fatalf("Filter after the pod is deleted: got %v, want success", s)
			}
			got, err := p.isSchedulableAfterAssignedPodDeleted(logger, pod, deleted, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got != fwk.Queue {
				t.Errorf("the pod fits now, and the hint is %v, want Queue", got)
			}
		})
	}
}
