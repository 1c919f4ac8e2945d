package filter_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// The scheduler keeps account of what it knows of Kubernetes itself, and of all that has the name of a domain.
func TestIsScheduled(t *testing.T) {
	for name, want := range map[v1.ResourceName]bool{
		"cpu": true, "memory": true, "ephemeral-storage": true, "hugepages-2Mi": true, "attachable-volumes-aws-ebs": true, "example.com/gpu": true, "kubernetes.io/batch-cpu": true,
		"requests.example.com/gpu": false, "pods": false, "storage": false, "batch-cpu": false,
	} {
		require.Equal(t, want, filter.IsScheduled(name), name)
	}
}

// All that a node has too little of is told. What is not accounted for, and what devices back where the node has nothing itself, is not.
func TestReasonsOfResources(t *testing.T) {
	const gpu, nic = "example.com/gpu", "example.com/nic"
	name := gpu
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &name}}
	type list = []string
	for _, tt := range []struct {
		name                  string
		wants, has            list
		reasons               list
		unresolvable, isEmpty bool
	}{
		{"enough", list{"cpu", "1", "memory", "1"}, list{"pods", "2", "cpu", "2", "memory", "2"}, nil, false, false},
		{"too little of two", list{"cpu", "1", "memory", "1"}, list{"pods", "2", "cpu", "1", "memory", "1"}, list{"Insufficient cpu", "Insufficient memory"}, false, false},
		{"never enough of one of two", list{"cpu", "1", "memory", "2"}, list{"pods", "2", "cpu", "1", "memory", "1"}, list{"Insufficient cpu", "Insufficient memory"}, true, false},
		{"too many pods", list{"cpu", "1"}, list{"pods", "1", "cpu", "1"}, list{"Too many pods", "Insufficient cpu"}, false, false},
		{"the first pod", list{"cpu", "1"}, list{"pods", "1", "cpu", "1"}, nil, false, true},
		{"no account is kept", list{"batch-cpu", "5"}, list{"pods", "2"}, nil, false, false},
		{"no account is kept of the first", list{"batch-cpu", "5", "memory", "1"}, list{"pods", "2", "memory", "1"}, list{"Insufficient memory"}, false, false},
		{"nothing of the first", list{"cpu", "0", "memory", "1"}, list{"pods", "2", "memory", "1"}, list{"Insufficient memory"}, false, false},
		{"backed by devices", list{gpu, "5"}, list{"pods", "2"}, nil, false, false},
		{"backed by devices elsewhere", list{gpu, "2"}, list{"pods", "2", gpu, "1"}, list{"Insufficient " + gpu}, true, false},
		{"backed by none", list{nic, "1"}, list{"pods", "2"}, list{"Insufficient " + nic}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asks := func(p *v1.Pod) { // in turn
				for pair := range slices.Chunk(tt.wants, 2) {
					p.Spec.Containers = append(p.Spec.Containers, mk.Container(pair...))
				}
			}
			n := mk.Node("n", "0", func(n *v1.Node) { n.Status.Allocatable = mk.Resources(tt.has...) })
			s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9, asks), n, class, mk.Pod("v", 0, mk.On("n"), func(p *v1.Pod) {
				p.Spec.Containers = []v1.Container{mk.Container("cpu", "1", "memory", "1")}
			})))
			st, _ := filter.NodeResourcesFit{}.PreFilter(s)
			v := s.Nodes[0].View()
			if tt.isEmpty {
				v = filter.View{}
			}
			failed := st.Fits(s.Nodes[0], v)
			if tt.reasons == nil {
				require.Nil(t, failed)
				return
			}
			require.ElementsMatch(t, tt.reasons, failed.Reasons)
			require.Equal(t, tt.unresolvable, failed.Unresolvable)
		})
	}
}
