package volume_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
)

func ofSize(c *v1.PersistentVolumeClaim, q string) *v1.PersistentVolumeClaim {
	c = c.DeepCopy()
	c.Spec.Resources.Requests[v1.ResourceStorage] = resource.MustParse(q)
	return c
}

// Sizes beyond 64 bits wrap around where a volume is to be made, and not where one is there. Those on
// which all readings agree are not concerned.
func TestSizesWrapAround(t *testing.T) {
	yes := true
	for name, test := range map[string]struct{ size, left, documented, wrapped string }{
		"claim":              {"10E", "1Gi", never, passes},
		"claim of 20 digits": {"10000000000000000001", "1Gi", never, passes},
		"storage":            {"1Gi", "10E", passes, never},
		"both, alike":        {"10E", "10E", passes, passes},
		"capped by a suffix": {"1Gi", "10Ei", passes, passes},
		"within":             {"9E", "8E", never, never},
	} {
		t.Run(name, func(t *testing.T) {
			left := resource.MustParse(test.left)
			claim := ofSize(mk.Claim("c", mk.Unbound("makes")), test.size)
			p := mk.Pod("p", 9, mk.Mounts("c"))
			toMake := []any{mk.Node("n", "9"), claim, mk.Class("makes", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer),
				&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: mk.Driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}},
				&storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "left"}, StorageClassName: "makes", Capacity: &left, NodeTopology: &metav1.LabelSelector{}}}
			quirk := release.With(answers.Documented(), release.SizesWrapAround)
			assert.Equal(t, test.documented, outcomeOn(t, "VolumeBinding", p, answers.Documented(), model.FilterRun{Change: model.Untouched}, toMake...))
			assert.Equal(t, test.wrapped, outcomeOn(t, "VolumeBinding", p, quirk, model.FilterRun{Change: model.Untouched}, toMake...))
			there := mk.Volume("v", mk.OfClass("makes"), func(pv *v1.PersistentVolume) { pv.Spec.Capacity[v1.ResourceStorage] = left })
			found := append(toMake[:3:3], there, mk.Class("makes", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer))
			assert.Equal(t, test.documented, outcomeOn(t, "VolumeBinding", p, quirk, model.FilterRun{Change: model.Untouched}, found...))
		})
	}
}

// It is open whether a size is too large that differs by less than a byte, or beyond what Quantity is said to hold.
func TestOpenSizes(t *testing.T) {
	for _, test := range []struct {
		size, has string
		open      bool
	}{
		{"11E", "10E", true},
		{"10E", "10E", false},
		{"10E", "9E", false},
		{"1Gi", "1073741823500m", true},
		{"1073741824500m", "1073741824200m", true},
		{"1073741824500m", "1Gi", false},
	} {
		c := mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "9"))
		c.Extra = []runtime.Object{mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer),
			ofSize(mk.Claim("c", mk.Unbound("local")), test.size), mk.Volume("v", mk.OfClass("local"), func(pv *v1.PersistentVolume) {
				pv.Spec.Capacity[v1.ResourceStorage] = resource.MustParse(test.has)
			})}
		for i := range 20 { // of which it is plain that they are too small
			c.Extra = append(c.Extra, mk.Volume(fmt.Sprintf("small %d", i), func(pv *v1.PersistentVolume) { pv.Spec.Capacity[v1.ResourceStorage] = resource.MustParse("1") }))
		}
		makes := c.DeepCopy()
		makes.Extra = []runtime.Object{mk.Class("local", "driver", storagev1.VolumeBindingWaitForFirstConsumer), c.Extra[1],
			&storagev1.CSIStorageCapacity{StorageClassName: "local", Capacity: gibibytes("0")}, &storagev1.CSIStorageCapacity{StorageClassName: "local", Capacity: new(resource.MustParse(test.has))}}
		for _, c := range []*model.Cluster{c, makes} {
			_, err := answers.Decide(c, answers.Documented())
			if test.open {
				assert.ErrorContains(t, err, "less than a byte", "%+v", test)
			} else {
				assert.NoError(t, err, "%+v", test)
			}
		}
	}
}
