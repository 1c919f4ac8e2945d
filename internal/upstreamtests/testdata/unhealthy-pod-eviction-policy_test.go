package preemption

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func TestFilterVictimsWithPDBViolation_UnhealthyPodEvictionPolicy(t *testing.T) {
	tests := []struct {
		name          string
		policy        policy.UnhealthyPodEvictionPolicyType
		ready         v1.ConditionStatus
		wantViolating int
	}{
		{
			name:          "healthy pod, AlwaysAllow",
			policy:        policy.AlwaysAllow,
			ready:         v1.ConditionTrue,
			wantViolating: 1,
		},
		{
			name:          "unhealthy pod, AlwaysAllow",
			policy:        policy.AlwaysAllow,
			ready:         v1.ConditionFalse,
			wantViolating: 0,
		},
		{
			name:          "unhealthy pod of an unhealthy application, IfHealthyBudget",
			policy:        policy.IfHealthyBudget,
			ready:         v1.ConditionFalse,
			wantViolating: 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pod, err := framework.NewPodInfo(st.MakePod().Namespace(v1.NamespaceDefault).Name("p").Label("app", "foo").Phase(v1.PodRunning).
				Conditions([]v1.PodCondition{{Type: v1.PodReady, Status: tt.ready}}).Obj())
			if err != nil {
				t.Fatal(err)
			}
			pdb := &policy.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Namespace: v1.NamespaceDefault, Name: "foo"},
				Spec: policy.PodDisruptionBudgetSpec{
					Selector:                   &metav1.LabelSelector{MatchLabels: map[string]string{"app": "foo"}},
					UnhealthyPodEvictionPolicy: &tt.policy,
				},
				Status: policy.PodDisruptionBudgetStatus{DisruptionsAllowed: 0, CurrentHealthy: 1, DesiredHealthy: 2, ExpectedPods: 2},
			}
			violating, _ := FilterVictimsWithPDBViolation([]*victim{{pods: []fwk.PodInfo{pod}, keyType: fwk.PodKeyType}}, []*policy.PodDisruptionBudget{pdb})
			if len(violating) != tt.wantViolating {
				t.Errorf("got %d violating victims, want %d", len(violating), tt.wantViolating)
			}
		})
	}
}
