package volume

import (
	"math"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Holds tells whether storage is enough for a volume of that size: "The scheduler compares the
// MaximumVolumeSize against the requested size of pending volumes to filter out unsuitable
// nodes." (doc comment of CSIStorageCapacity, api/storage/v1/types.go:769@v0.37.1).
func Holds(left, size resource.Quantity) bool { return left.Cmp(size) >= 0 }

// limitOf is the size of the largest volume that can be made; nil if nobody knows: "If MaximumVolumeSize is
// unset, it falls back to a comparison against the less precise Capacity. If that is also unset, the
// scheduler assumes that capacity is insufficient" (doc comment of CSIStorageCapacity).
func limitOf(c *storagev1.CSIStorageCapacity) *resource.Quantity {
	if c.MaximumVolumeSize != nil {
		return c.MaximumVolumeSize
	}
	return c.Capacity
}

// unmodelledSizes reports a claim that waits for a volume where it is open whether it is small enough.
func (x *Index) unmodelledSizes(c *Claim, report filter.Report) {
	wants := c.PVC.Spec.Resources.Requests[v1.ResourceStorage]
	against := func(has *resource.Quantity) {
		if has != nil && open(*has, wants) {
			report("PersistentVolumeClaim "+c.Key, "spec.resources.requests", "a size that differs from what there is by less than a byte, or beyond 2^63-1")
		}
	}
	for _, pv := range x.Volumes {
		has := pv.Spec.Capacity[v1.ResourceStorage]
		against(&has)
	}
	for _, left := range x.Capacities {
		against(limitOf(left))
	}
}

// open tells whether it depends on the reading which of two sizes is larger: exactly, or in whole
// bytes and capped at 2^63-1, as the doc comment of Quantity has it
// (apimachinery/pkg/api/resource/quantity.go:62@v0.37.1).
func open(left, size resource.Quantity) bool {
	return Holds(left, size) != (inBytes(left) >= inBytes(size))
}

func inBytes(q resource.Quantity) int64 {
	if q.CmpInt64(math.MaxInt64) >= 0 {
		return math.MaxInt64
	}
	return q.Value()
}
