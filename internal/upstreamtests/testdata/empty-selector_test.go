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

func TestFilterVictimsWithPDBViolation_EmptySelector(t *testing.T) {
	tests := []struct {
		name          string
		selector      *metav1.LabelSelector
		wantViolating int
	}{
		{
			name:          "a nil selector matches no pod",
			selector:      nil,
			wantViolating: 0,
		},
		{
			name:          "an empty selector matches every pod of the namespace",
			selector:      &metav1.LabelSelector{},
			wantViolating: 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pod, err := framework.NewPodInfo(st.MakePod().Namespace(v1.NamespaceDefault).Name("p").Label("app", "foo").Obj())
			if err != nil {
				t.Fatal(err)
			}
			pdb := &policy.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Namespace: v1.NamespaceDefault, Name: "all"},
				Spec:       policy.PodDisruptionBudgetSpec{Selector: tt.selector},
				Status:     policy.PodDisruptionBudgetStatus{DisruptionsAllowed: 0},
			}
			violating, _ := FilterVictimsWithPDBViolation([]*victim{{pods: []fwk.PodInfo{pod}, keyType: fwk.PodKeyType}}, []*policy.PodDisruptionBudget{pdb})
			if len(violating) != tt.wantViolating {
				t.Errorf("got %d violating victims, want %d", len(violating), tt.wantViolating)
			}
		})
	}
}
