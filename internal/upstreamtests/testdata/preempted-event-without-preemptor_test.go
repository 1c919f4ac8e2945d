package preemption

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/reference"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// The event of a victim is related to what Obj returns.
func TestExecutorPreemptor_ObjCanBeReferenced(t *testing.T) {
	tests := []struct {
		name      string
		preemptor ExecutorPreemptor
		wantKind  string
	}{
		{
			name:      "pod",
			preemptor: &podExecutorPreemptor{Pod: st.MakePod().Namespace(v1.NamespaceDefault).Name("p").UID("p").Obj()},
			wantKind:  "Pod",
		},
		{
			name: "pod group",
			preemptor: &podGroupExecutorPreemptor{pg: &schedulingv1beta1.PodGroup{
				ObjectMeta: metav1.ObjectMeta{Namespace: v1.NamespaceDefault, Name: "p", UID: "p"},
			}},
			wantKind: "PodGroup",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ref, err := reference.GetReference(scheme.Scheme, tt.preemptor.Obj())
			if err != nil {
				t.Fatalf("no event can be related to the preemptor: %v", err)
			}
			if ref.Kind != tt.wantKind || ref.Namespace != v1.NamespaceDefault || ref.Name != "p" {
				t.Errorf("got a reference to %s %s/%s, want %s default/p", ref.Kind, ref.Namespace, ref.Name, tt.wantKind)
			}
		})
	}
}
