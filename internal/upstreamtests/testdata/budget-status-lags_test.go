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

func TestFilterVictimsWithPDBViolation_StatusOfEarlierGeneration(t *testing.T) {
	tests := []struct {
		name               string
		observedGeneration int64
		wantViolating      int
	}{
		{
			name:               "status of this generation",
			observedGeneration: 2,
			wantViolating:      0,
		},
		{
			name:               "status of the generation before",
			observedGeneration: 1,
			wantViolating:      1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pod, err := framework.NewPodInfo(st.MakePod().Namespace(v1.NamespaceDefault).Name("p").Label("app", "foo").Phase(v1.PodRunning).Obj())
			if err != nil {
				t.Fatal(err)
			}
			pdb := &policy.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Namespace: v1.NamespaceDefault, Name: "foo", Generation: 2},
				Spec:       policy.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "foo"}}},
				Status:     policy.PodDisruptionBudgetStatus{ObservedGeneration: tt.observedGeneration, DisruptionsAllowed: 1},
			}
			violating, _ := FilterVictimsWithPDBViolation([]*victim{{pods: []fwk.PodInfo{pod}, keyType: fwk.PodKeyType}}, []*policy.PodDisruptionBudget{pdb})
			if len(violating) != tt.wantViolating {
				t.Errorf("got %d violating victims, want %d", len(violating), tt.wantViolating)
			}
		})
	}
}
