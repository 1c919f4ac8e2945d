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

func TestFilterVictimsWithPDBViolation_UnlabelledPod(t *testing.T) {
	withoutApp := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app", Operator: metav1.LabelSelectorOpDoesNotExist},
	}}
	tests := []struct {
		name string
		pod  *v1.Pod
	}{
		{
			name: "DoesNotExist matches a pod with another label",
			pod:  st.MakePod().Namespace(v1.NamespaceDefault).Name("p").Label("tier", "web").Obj(),
		},
		{
			name: "DoesNotExist matches a pod without labels",
			pod:  st.MakePod().Namespace(v1.NamespaceDefault).Name("p").Obj(),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pod, err := framework.NewPodInfo(tt.pod)
			if err != nil {
				t.Fatal(err)
			}
			pdb := &policy.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Namespace: v1.NamespaceDefault, Name: "without-app"},
				Spec:       policy.PodDisruptionBudgetSpec{Selector: withoutApp},
				Status:     policy.PodDisruptionBudgetStatus{DisruptionsAllowed: 0},
			}
			violating, _ := FilterVictimsWithPDBViolation([]*victim{{pods: []fwk.PodInfo{pod}, keyType: fwk.PodKeyType}}, []*policy.PodDisruptionBudget{pdb})
			if len(violating) != 1 {
				t.Errorf("got %d violating victims, want 1", len(violating))
			}
		})
	}
}
