package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// An object is a pod's if the pod is its controller, by the UID; a pod without one goes by its name.
func TestControls(t *testing.T) {
	named := mk.Pod("p", 9)
	known := mk.Pod("p", 9, func(p *v1.Pod) { p.UID = "u" })
	require.Equal(t, types.UID("default/p"), filter.PodUID(named))
	require.Equal(t, types.UID("u"), filter.PodUID(known))
	of := func(uid types.UID, controls bool) *v1.PersistentVolumeClaim {
		return mk.Claim("c", func(c *v1.PersistentVolumeClaim) {
			c.OwnerReferences = []metav1.OwnerReference{{Kind: "Pod", Name: "p", UID: uid, Controller: &controls}}
		})
	}
	require.True(t, filter.Controls(known, of("u", true)))
	require.False(t, filter.Controls(known, of("u", false)))
	require.False(t, filter.Controls(known, of("default/p", true)))
	require.False(t, filter.Controls(known, mk.Claim("c")))
	require.True(t, filter.Controls(named, of("default/p", true)))
	require.False(t, filter.Controls(named, of("u", true)))
}
