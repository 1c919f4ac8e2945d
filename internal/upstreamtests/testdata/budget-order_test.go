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

func TestFilterVictimsWithPDBViolation_OrderOfPDBs(t *testing.T) {
	pdb := func(label string, allowed int32) *policy.PodDisruptionBudget {
		return &policy.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: v1.NamespaceDefault, Name: label},
			Spec:       policy.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{label: "true"}}},
			Status:     policy.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
		}
	}
	tests := []struct {
		name string
		pods []*v1.Pod
	}{
		{
			name: "each pod in one budget",
			pods: []*v1.Pod{
				st.MakePod().Namespace(v1.NamespaceDefault).Name("p1").Label("exhausted", "true").Obj(),
				st.MakePod().Namespace(v1.NamespaceDefault).Name("p2").Label("one-left", "true").Obj(),
			},
		},
		{
			name: "a pod in both budgets",
			pods: []*v1.Pod{
				st.MakePod().Namespace(v1.NamespaceDefault).Name("p1").Label("exhausted", "true").Label("one-left", "true").Obj(),
				st.MakePod().Namespace(v1.NamespaceDefault).Name("p2").Label("one-left", "true").Obj(),
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var victims []*victim
			for _, p := range tt.pods {
				pod, err := framework.NewPodInfo(p)
				if err != nil {
					t.Fatal(err)
				}
				victims = append(victims, &victim{pods: []fwk.PodInfo{pod}, keyType: fwk.PodKeyType})
			}
			exhausted, oneLeft := pdb("exhausted", 0), pdb("one-left", 1)
			violating, _ := FilterVictimsWithPDBViolation(victims, []*policy.PodDisruptionBudget{exhausted, oneLeft})
			reversed, _ := FilterVictimsWithPDBViolation(victims, []*policy.PodDisruptionBudget{oneLeft, exhausted})
			if len(violating) != len(reversed) {
				t.Errorf("got %d violating victims, and %d with the budgets the other way round", len(violating), len(reversed))
			}
		})
	}
}
