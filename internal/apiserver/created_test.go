package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/corpus"
)

// TestHugeRequestsAreAdmitted: whoever may create a pod may create the one of the case,
// as it is and as strictly as it is validated when it is created.
func TestHugeRequestsAreAdmitted(t *testing.T) {
	stream, err := corpus.Load("../../corpus/cases/a-huge-request-is-placed-where-it-has-no-choice.yaml")
	require.NoError(t, err)
	pod := stream.Cases[0].Cluster.Preemptor
	require.Empty(t, created(t, pod))
	for _, amount := range []string{"9223372036854775807", "10P", "10E", "18446744073709551617", "1e30"} {
		pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(amount), v1.ResourceMemory: resource.MustParse(amount)}
		require.Empty(t, created(t, pod), amount)
	}
	pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse("-1")}
	require.NotEmpty(t, created(t, pod))
}

// created are the errors of a pod that is created now.
func created(t *testing.T, pod *v1.Pod) []error {
	t.Helper()
	var in core.Pod
	require.NoError(t, legacyscheme.Scheme.Convert(pod, &in, nil))
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&in.Spec, nil, &in.ObjectMeta, nil)
	opts.ResourceIsPod = true
	var errs []error
	for _, err := range validation.ValidatePodCreate(&in, opts) {
		errs = append(errs, err)
	}
	return errs
}
