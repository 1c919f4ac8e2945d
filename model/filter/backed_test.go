package filter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Extended resources are those of a domain that is not Kubernetes' own, and those named after a device class.
func TestIsExtended(t *testing.T) {
	for name, want := range map[v1.ResourceName]bool{
		"example.com/gpu": true, "deviceclass.resource.kubernetes.io/gpu": true,
		"cpu": false, "hugepages-2Mi": false, "kubernetes.io/batch-cpu": false, "node.kubernetes.io/gpu": false, "requests.example.com/gpu": false,
	} {
		require.Equal(t, want, filter.IsExtended(name), name)
	}
}

// Of the classes that name a resource one serves it, the one created last, whatever is listed first.
func TestBacking(t *testing.T) {
	class := func(name string, minute int, resources ...string) *resourcev1.DeviceClass {
		c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Date(2024, 1, 1, 0, minute, 0, 0, time.UTC))}}
		for i := range resources {
			c.Spec.ExtendedResourceName = &resources[i]
		}
		return c
	}
	const gpu, implicit = "example.com/gpu", v1.ResourceName(resourcev1.ResourceDeviceClassPrefix + "b")
	for _, tt := range []struct {
		name     string
		resource v1.ResourceName
		a, b     runtime.Object
		want     string
	}{
		{"the only one", gpu, &v1.Namespace{}, class("b", 0, gpu), "b"},
		{"one that names none", gpu, class("a", 0), class("b", 0, gpu), "b"},
		{"one that names another", gpu, class("a", 0, "example.com/fpga"), class("b", 0, gpu), "b"},
		{"created later", gpu, class("a", 0, gpu), class("b", 1, gpu), "b"},
		{"created at the same time", gpu, class("a", 0, gpu), class("b", 0, gpu), "a"},
		{"none", gpu, &v1.Namespace{}, class("b", 0), ""},
		{"by its own name", implicit, class("a", 1, gpu), class("b", 0), "b"},
		{"by its own name, which it names, too", implicit, class("a", 1, gpu), class("b", 0, gpu), "b"},
		{"by the name of none", implicit + "b", class("a", 0, gpu), class("b", 0, gpu), ""},
	} {
		for _, objects := range [][]runtime.Object{{tt.a, tt.b}, {tt.b, tt.a}} {
			got := ""
			if is := filter.Backing(objects, tt.resource); is != nil {
				got = is.Name
			}
			require.Equal(t, tt.want, got, tt.name)
		}
	}
}

// A node has a resource itself if there is some of it.
func TestHasItself(t *testing.T) {
	n := mk.Node("n", "9", func(n *v1.Node) { n.Status.Allocatable = mk.Resources("example.com/gpu", "1", "example.com/fpga", "0") })
	require.True(t, filter.HasItself(n, "example.com/gpu"))
	require.False(t, filter.HasItself(n, "example.com/fpga"))
	require.False(t, filter.HasItself(n, "example.com/nic"))
}
