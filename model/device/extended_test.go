package device_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

const gpu = "example.com/gpu"

// byName is the name by which devices of a class can be asked for as a resource.
func byName(class string) string { return resourcev1.ResourceDeviceClassPrefix + class }

// extendedClass is a class for the devices of a driver, with a name of a resource, created some
// hours later than others.
func extendedClass(name, driver, resource string, hours int) *resourcev1.DeviceClass {
	c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(int64(hours)*3600, 0)}}
	c.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", driver)}}}
	if resource != "" {
		c.Spec.ExtendedResourceName = &resource
	}
	return c
}

// devicesOf are so many devices of a driver on node n.
func devicesOf(driver string, count int) *resourcev1.ResourceSlice {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: driver}}
	s.Spec = resourcev1.ResourceSliceSpec{Driver: driver, NodeName: new("n"), Pool: resourcev1.ResourcePool{Name: "n", ResourceSliceCount: 1}}
	for i := range count {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprint(i)})
	}
	return s
}

// has is a node that has some of a resource itself, beside CPU.
func has(amounts ...string) *v1.Node {
	return mk.Node("n", "2", func(n *v1.Node) {
		for name, q := range mk.Resources(amounts...) {
			n.Status.Allocatable[name] = q
		}
	})
}

func TestExtendedResources(t *testing.T) {
	containers := func(containers ...v1.Container) *v1.Pod {
		return mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.Containers = containers })
	}
	after := func(main v1.Container, inits ...v1.Container) *v1.Pod {
		p := containers(main)
		p.Spec.InitContainers = inits
		return p
	}
	c := mk.Container
	class := extendedClass("gpus", "a", gpu, 0)
	const lacks, short = "DynamicResources (unresolvable)", "NodeResourcesFit (unresolvable)"
	for _, tt := range []struct {
		name  string
		p     *v1.Pod
		n     *v1.Node
		extra []runtime.Object
		want  string // the verdict, "" if it fits
	}{
		{"a device", containers(c(gpu, "1")), has(), []runtime.Object{class, devicesOf("a", 1)}, ""},
		{"no device", containers(c(gpu, "1")), has(), []runtime.Object{class}, lacks},
		{"a device too few", containers(c(gpu, "2")), has(), []runtime.Object{class, devicesOf("a", 1)}, lacks},
		{"no class", containers(c(gpu, "1")), has(), []runtime.Object{devicesOf("a", 1)}, short},
		{"none is asked for", containers(c(gpu, "0")), has(), []runtime.Object{class}, ""},
		{"a device of another driver", containers(c(gpu, "1")), has(), []runtime.Object{class, devicesOf("b", 1)}, lacks},
		{"the node has some itself", containers(c(gpu, "1")), has(gpu, "1"), []runtime.Object{class}, ""},
		{"the node has too few itself, and devices", containers(c(gpu, "2")), has(gpu, "1"), []runtime.Object{class, devicesOf("a", 2)}, short},
		{"the node has none left to give itself, and devices", containers(c(gpu, "1")), has(gpu, "0"), []runtime.Object{class, devicesOf("a", 1)}, ""},
		{"two containers", containers(c(gpu, "1"), c(gpu, "1")), has(), []runtime.Object{class, devicesOf("a", 2)}, ""},
		{"two containers, and one device", containers(c(gpu, "1"), c(gpu, "1")), has(), []runtime.Object{class, devicesOf("a", 1)}, lacks},
		{"beside another resource that the node has", containers(c(gpu, "1", "example.com/fpga", "1")), has("example.com/fpga", "1"), []runtime.Object{class, devicesOf("a", 1)}, ""},
		{"after another resource that the node has, and no device", containers(c("example.com/fpga", "1"), c(gpu, "1")), has("example.com/fpga", "1"), []runtime.Object{class}, lacks},
		{"after CPU, and no device", containers(c("cpu", "1"), c(gpu, "1")), has(), []runtime.Object{class}, lacks},
		{"beside another resource that there is not", containers(c(gpu, "1", "example.com/fpga", "1")), has(), []runtime.Object{class, devicesOf("a", 1)}, short},

		{"by the name of the class", containers(c(byName("plain"), "1")), has(), []runtime.Object{extendedClass("plain", "a", "", 0), devicesOf("a", 1)}, ""},
		{"by the name of a class that has another name, too", containers(c(byName("gpus"), "1")), has(), []runtime.Object{class, devicesOf("a", 1)}, ""},
		{"by both names", containers(c(gpu, "1", byName("gpus"), "1")), has(), []runtime.Object{class, devicesOf("a", 2)}, ""},
		{"by both names, and one device", containers(c(gpu, "1", byName("gpus"), "1")), has(), []runtime.Object{class, devicesOf("a", 1)}, lacks},
		{"by the name of a class that is missing", containers(c(byName("gone"), "1")), has(), []runtime.Object{class, devicesOf("a", 1)}, short},

		{"the later class", containers(c(gpu, "1")), has(), []runtime.Object{class, extendedClass("later", "b", gpu, 1), devicesOf("b", 1)}, ""},
		{"the later class, which comes first", containers(c(gpu, "1")), has(), []runtime.Object{extendedClass("later", "b", gpu, 1), class, devicesOf("b", 1)}, ""},
		{"not the earlier class", containers(c(gpu, "1")), has(), []runtime.Object{class, extendedClass("later", "b", gpu, 1), devicesOf("a", 1)}, lacks},
		{"the class that sorts first", containers(c(gpu, "1")), has(), []runtime.Object{class, extendedClass("first", "b", gpu, 0), devicesOf("b", 1)}, ""},
		{"not the class that sorts last", containers(c(gpu, "1")), has(), []runtime.Object{class, extendedClass("last", "b", gpu, 0), devicesOf("b", 1)}, lacks},
		{"the earlier class by its own name", containers(c(byName("gpus"), "1")), has(), []runtime.Object{class, extendedClass("later", "b", gpu, 1), devicesOf("a", 1)}, ""},

		{"an init container has the device before", after(c(gpu, "1"), c(gpu, "1")), has(), []runtime.Object{class, devicesOf("a", 1)}, ""},
		{"an init container needs one more", after(c(gpu, "1"), c(gpu, "2")), has(), []runtime.Object{class, devicesOf("a", 1)}, lacks},
		{"two init containers, one after the other", after(c(), c(gpu, "2"), c(gpu, "1")), has(), []runtime.Object{class, devicesOf("a", 2)}, ""},
		{"a sidecar keeps its device", after(c(gpu, "1"), mk.Sidecar(gpu, "1")), has(), []runtime.Object{class, devicesOf("a", 1)}, lacks},
		{"an init container before a sidecar", after(c(), c(gpu, "1"), mk.Sidecar(gpu, "1")), has(), []runtime.Object{class, devicesOf("a", 1)}, ""},
		{"an init container after a sidecar", after(c(), mk.Sidecar(gpu, "1"), c(gpu, "1")), has(), []runtime.Object{class, devicesOf("a", 1)}, lacks},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cluster := mk.Cluster(tt.p, tt.n)
			cluster.Extra = tt.extra
			d, err := answers.Decide(cluster, answers.Documented())
			assert.NoError(t, err)
			got := ""
			if v := d.Verdicts["n"]; v != nil {
				got = v.String()
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// Asked alone, the plugin also says what NodeResourcesFit says before it otherwise.
func TestUnbackedBesideBacked(t *testing.T) {
	p := mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.Containers = []v1.Container{mk.Container(gpu, "1", "example.com/fpga", "1")} })
	for want, n := range map[bool]*v1.Node{true: has("example.com/fpga", "0"), false: has()} {
		c := mk.Cluster(p, n)
		c.Extra = []runtime.Object{extendedClass("gpus", "a", gpu, 0), devicesOf("a", 1)}
		st, _ := device.DynamicResources{}.PreFilter(model.NewSnapshot(c))
		assert.Equal(t, want, st.(*device.State).Verdicts[0] == nil)
	}
	c := mk.Cluster(p, has())
	c.Extra = []runtime.Object{devicesOf("a", 1)}
	st, _ := device.DynamicResources{}.PreFilter(model.NewSnapshot(c))
	assert.Nil(t, st, "no devices back any of them")
}

func TestServedTo(t *testing.T) {
	p := mk.Pod("p", 9, func(p *v1.Pod) {
		p.Spec.InitContainers = []v1.Container{mk.Container(gpu, "3")}
		p.Spec.Containers = []v1.Container{mk.Container(gpu, "1"), mk.Container(byName("gpus"), "2")}
	})
	objects := []runtime.Object{extendedClass("gpus", "a", gpu, 0)}
	assert.Equal(t, []device.Served{{byName("gpus"), "gpus", 2}, {gpu, "gpus", 3}}, device.ServedTo(objects, p))
	asks, devices := device.FromDevices(objects, p, has(gpu, "1"))
	assert.Equal(t, map[string]int64{"gpus": 2}, devices)
	assert.Equal(t, []device.Ask{{"c", byName("gpus"), "gpus", 2}}, asks)
}

// madeFor is a claim that an earlier cycle has made for p.
func madeFor(name string) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", CreationTimestamp: metav1.NewTime(time.Now()),
		Annotations: map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}, OwnerReferences: []metav1.OwnerReference{{UID: "default/p", Controller: new(true)}}}}
}

// Each claim of an earlier cycle is told.
func TestClaimsMadeBefore(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.Containers = []v1.Container{mk.Container(gpu, "1")} }), has())
	c.Extra = []runtime.Object{extendedClass("gpus", "a", gpu, 0), madeFor("one"), madeFor("other")}
	var objects []string
	device.UnmodelledResources(model.NewSnapshot(c), func(object, _, _ string) { objects = append(objects, object) })
	assert.Equal(t, []string{"ResourceClaim default/one", "ResourceClaim default/other"}, objects)
}

func TestExtendedResourcesUnmodelled(t *testing.T) {
	made := madeFor("made")
	selects := extendedClass("gpus", "a", gpu, 0)
	selects.Spec.Selectors[0].CEL.Expression = "true"
	for _, tt := range []struct {
		name, field string
		amount      string
		change      func(p *v1.Pod)
		class       *resourcev1.DeviceClass
		extra       []runtime.Object
	}{
		{"devices", "", "1", nil, nil, nil},
		{"parts of devices", "spec.containers", "500m", nil, nil, nil},
		{"more devices than a claim holds", "spec.containers", "33", nil, nil, nil},
		{"more devices than 64 bits can count", "spec.containers", "15E", nil, nil, nil},
		{"devices whose number is 0 in 64 bits", "spec.containers", "18446744073709551616", nil, nil, nil},
		{"as many as no number holds", "spec.containers", "9E", nil, nil, nil},
		{"more devices of two containers than a claim holds", "spec.containers", "20", func(p *v1.Pod) { p.Spec.Containers = append(p.Spec.Containers, mk.Container(gpu, "20")) }, nil, nil},
		{"devices for no container", "spec.overhead", "1", func(p *v1.Pod) { p.Spec.Overhead = mk.Resources(gpu, "1") }, nil, nil},
		{"a class that selects otherwise", "spec.selectors", "1", nil, selects, nil},
		{"a claim that was made before", "metadata.annotations", "1", nil, nil, []runtime.Object{made}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mk.Cluster(mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.Containers = []v1.Container{mk.Container(gpu, tt.amount)} }), has())
			if tt.change != nil {
				tt.change(c.Preemptor)
			}
			if tt.class == nil {
				tt.class = extendedClass("gpus", "a", gpu, 0)
			}
			c.Extra = append([]runtime.Object{tt.class}, tt.extra...)
			u := unmodelled.In(c, model.NewSnapshot(c))
			if tt.field == "" {
				assert.Empty(t, u)
			} else if assert.Len(t, u, 1) {
				assert.Equal(t, tt.field, u[0].Field)
			}
		})
	}
}

// Of two resources that devices back, a node may have either one itself.
func TestOneOfTwoFromDevices(t *testing.T) {
	class := extendedClass("gpus", "a", gpu, 0)
	p := mk.Pod("p", 9, func(p *v1.Pod) {
		p.Spec.Containers = []v1.Container{mk.Container(gpu, "1", byName("gpus"), "1"), mk.Container(gpu, "1", byName("gpus"), "1")}
	})
	for _, tt := range []struct {
		itself  string
		devices int
		asks    []string
	}{
		{gpu, 2, []string{byName("gpus"), byName("gpus")}},
		{byName("gpus"), 2, []string{gpu, gpu}},
		{"cpu", 4, []string{gpu, gpu, byName("gpus"), byName("gpus")}},
	} {
		t.Run(tt.itself, func(t *testing.T) {
			n := has(tt.itself, "5")
			for count := range 5 {
				enough, known := device.Enough([]runtime.Object{class, devicesOf("a", count)}, nil, n, func(*device.Reading) {}, p)
				require.True(t, known)
				require.Equal(t, count >= tt.devices, enough, count)
			}
			asks, devices := device.FromDevices([]runtime.Object{class}, p, n)
			require.Equal(t, map[string]int64{"gpus": int64(tt.devices)}, devices)
			var names []string
			for _, a := range asks {
				names = append(names, a.Resource)
			}
			require.ElementsMatch(t, tt.asks, names)
		})
	}
}

// No device is used by who asks for none, and all that a claim can hold are modelled.
func TestNoneAndAllFromDevices(t *testing.T) {
	class := extendedClass("gpus", "a", gpu, 0)
	asking := func(amounts ...string) *v1.Pod {
		return mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.Containers = []v1.Container{mk.Container(amounts...)} })
	}
	require.False(t, device.Backs([]runtime.Object{class}, asking(gpu, "0")))
	require.True(t, device.Backs([]runtime.Object{class}, asking(gpu, "1")))
	claims, _, _, _, _ := claiming()
	require.False(t, device.Uses([]runtime.Object{class}, asking(gpu, "0")))
	require.True(t, device.Uses([]runtime.Object{class}, asking(gpu, "1")))
	require.True(t, device.Uses([]runtime.Object{class}, claims))
	require.Empty(t, fieldsOf(mk.Cluster(asking(gpu, "32"), has(), class)))
	for _, p := range []*v1.Pod{asking(gpu, "1", byName("gpus"), "500m"), asking(gpu, "500m", byName("gpus"), "1")} {
		require.Equal(t, []string{"spec.containers"}, fieldsOf(mk.Cluster(p, has(), class)))
	}
}

// The claim that is made for resources is none of those that a pod has, and comes behind them: what one of them administers is free for it,
// unless it is withheld from later claims.
func TestResourceBesideAdministration(t *testing.T) {
	p, n, claim, slice, class := claiming()
	class.Spec.ExtendedResourceName = new(gpu)
	claim.Spec.Devices.Requests[0].Exactly.AdminAccess = new(true)
	p.Spec.Containers = []v1.Container{mk.Container(gpu, "1")}
	for _, withheld := range []bool{false, true} {
		enough, known := device.Enough([]runtime.Object{claim, slice, class}, nil, n, func(r *device.Reading) {
			if withheld {
				r.Withholds = func(admin, other int) bool { return admin <= other }
			}
		}, p)
		require.True(t, known)
		require.Equal(t, !withheld, enough)
	}
}

// Two pods that ask for a resource need a device each.
func TestResourceOfTwoPods(t *testing.T) {
	asks := func(p *v1.Pod) { p.Spec.Containers = []v1.Container{mk.Container(gpu, "1")} }
	for count := range 3 {
		objects := []runtime.Object{extendedClass("gpus", "a", gpu, 0), devicesOf("a", count)}
		enough, known := device.Enough(objects, nil, has(), func(*device.Reading) {}, mk.Pod("p", 9, asks), mk.Pod("q", 9, asks))
		require.True(t, known)
		require.Equal(t, count == 2, enough, count)
	}
}
