package nodeports

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestFits_AddressInAnotherSpelling(t *testing.T) {
	podOn := func(name, hostIP string) *v1.Pod {
		return st.MakePod().Name(name).UID(name).ContainerPort([]v1.ContainerPort{{HostIP: hostIP, HostPort: 80}}).Obj()
	}
	tests := []struct {
		name       string
		used, want string
		wantFit    bool
	}{
		{
			name:    "another address",
			used:    "fd00::1",
			want:    "fd00::2",
			wantFit: true,
		},
		{
			name:    "IPv6, without zeros",
			used:    "fd00::1",
			want:    "fd00:0:0:0:0:0:0:1",
			wantFit: false,
		},
		{
			name:    "IPv4, mapped",
			used:    "10.0.0.1",
			want:    "::ffff:10.0.0.1",
			wantFit: false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Fits(podOn("p", tt.want), framework.NewNodeInfo(podOn("existing", tt.used))); got != tt.wantFit {
				t.Errorf("the pod fits: got %v, want %v", got, tt.wantFit)
			}
		})
	}
}
