package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

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
