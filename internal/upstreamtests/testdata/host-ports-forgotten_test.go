package framework

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2/ktesting"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestNodeInfoRemovePod_SharedHostPort(t *testing.T) {
	podWithPort := func(name string, port int32) *v1.Pod {
		return st.MakePod().Name(name).UID(name).Node("node1").ContainerPort([]v1.ContainerPort{{HostPort: port}}).Obj()
	}
	tests := []struct {
		name string
		high *v1.Pod
		want bool // whether port 80 is still in use once the other pod is removed
	}{
		{
			name: "the pod that stays uses another port",
			high: podWithPort("high", 81),
			want: false,
		},
		{
			name: "the pod that stays uses the same port",
			high: podWithPort("high", 80),
			want: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logger, _ := ktesting.NewTestContext(t)
			low := podWithPort("low", 80)
			nodeInfo := NewNodeInfo(low, tt.high)
			if err := nodeInfo.RemovePod(logger, low); err != nil {
				t.Fatal(err)
			}
			if got := nodeInfo.UsedPorts.CheckConflict("", "TCP", 80); got != tt.want {
				t.Errorf("port 80 in use: got %v, want %v", got, tt.want)
			}
		})
	}
}
