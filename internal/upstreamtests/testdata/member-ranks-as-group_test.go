package preemption

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestNewPodVictim_RanksAsPod(t *testing.T) {
	older := metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	younger := metav1.NewTime(older.Add(time.Hour))
	tests := []struct {
		name      string
		member    *v1.Pod
		podGroups map[string]*schedulingv1beta1.PodGroup
	}{
		{
			name:   "no group",
			member: st.MakePod().Namespace(v1.NamespaceDefault).Name("member").UID("member").StartTime(younger).Obj(),
		},
		{
			name:   "the group is in mode Single",
			member: st.MakePod().Namespace(v1.NamespaceDefault).Name("member").UID("member").PodGroupName("pg").StartTime(younger).Obj(),
			podGroups: map[string]*schedulingv1beta1.PodGroup{
				"pg": st.MakePodGroup().Namespace(v1.NamespaceDefault).Name("pg").DisruptionModeSingle().Priority(0).Obj(),
			},
		},
		{
			name:   "the group is missing",
			member: st.MakePod().Namespace(v1.NamespaceDefault).Name("member").UID("member").PodGroupName("pg").StartTime(younger).Obj(),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			victimOf := func(pod *v1.Pod) Victim {
				podInfo, err := framework.NewPodInfo(pod)
				if err != nil {
					t.Fatal(err)
				}
				return NewPodVictim(podInfo, &mockPodGroupLister{podGroups: tt.podGroups}, nil)
			}
			pod := st.MakePod().Namespace(v1.NamespaceDefault).Name("pod").UID("pod").StartTime(older).Obj()
			if got := MoreImportantVictim(victimOf(tt.member), victimOf(pod)); got {
				t.Errorf("the younger pod is more important than the older one: got %v, want false", got)
			}
		})
	}
}
