package device

import (
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// failed tells whether a device that is allocated to a claim could not be made ready, or not in time, so that
// the claim is of no use until its allocation is cleared: "If any failure condition is set, the
// scheduler aborts the binding attempt and clears the allocation" (KEP-5007, "PreBind Process";
// resource/v1/types.go:514@v0.37.1, Device.BindingFailureConditions), and so it does "If the timeout elapses before all
// required conditions are true" (kube-scheduler/config/v1/types.go:446@v0.37.1, DynamicResourcesArgs.BindingTimeout).
func (d *devices) failed(claim *resourcev1.ResourceClaim) bool {
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		if slices.ContainsFunc(r.BindingFailureConditions, func(condition string) bool { return d.isTrue(claim, r, condition) }) {
			return true
		}
		if d.unready(claim, r) {
			if overdue(claim) {
				return true
			}
			if d.StopsAtUnready {
				return false
			}
		}
	}
	return false
}

// BindingTimeout is how long the devices of a claim may take to become ready (DynamicResourcesArgs.BindingTimeout).
const BindingTimeout = 10 * time.Minute

// boundary is how much longer a claim has to be waited for until it is sure that its time is over: a scheduler may have another clock.
const boundary = time.Hour

// overdue tells whether the devices of a claim should surely be ready by now. Without a timestamp "that time is unknown"
// (resource/v1/types.go:2167@v0.37.1, AllocationResult.AllocationTimestamp).
func overdue(claim *resourcev1.ResourceClaim) bool {
	allocated := claim.Status.Allocation.AllocationTimestamp
	return allocated != nil && time.Since(allocated.Time) > BindingTimeout+boundary
}

// unready tells whether a device that is allocated to a claim is not ready yet: "All
// BindingConditions must have status True to proceed with binding" (KEP-5007).
func (d *devices) unready(claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) bool {
	return slices.ContainsFunc(r.BindingConditions, func(condition string) bool { return !d.isTrue(claim, r, condition) })
}

// isTrue tells whether a condition of an allocated device is true: that of its own share, if it may be shared, as what is said of each
// share stands for itself ("uniquely identifies an individual allocation share of the device": AllocatedDeviceStatus.shareID,
// resource/v1/types.go:2582@v0.37.1).
func (d *devices) isTrue(claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult, condition string) bool {
	at := slices.IndexFunc(claim.Status.Devices, func(s resourcev1.AllocatedDeviceStatus) bool {
		return s.Driver == r.Driver && s.Pool == r.Pool && s.Device == r.Device && (d.SharesAreAlike || ptr.Deref(s.ShareID, "") == string(ptr.Deref(r.ShareID, "")))
	})
	return at >= 0 && meta.IsStatusConditionPresentAndEqual(claim.Status.Devices[at].Conditions, condition, metav1.ConditionTrue)
}

// inTime tells whether the devices of a claim may surely still become ready: they were allocated at a time that is more than an hour ahead, so that
// no clock that is less than an hour off has the timeout behind it.
func inTime(claim *resourcev1.ResourceClaim) bool {
	allocated := claim.Status.Allocation.AllocationTimestamp
	return allocated != nil && time.Until(allocated.Time) > boundary
}

// unmodelledBinding is what is not covered of the conditions of a claim's allocated devices; "" if nothing is:
// that the time may be over for which the scheduler waits for devices to become ready.
func (d *devices) unmodelledBinding(claim *resourcev1.ResourceClaim) (at int, why string) {
	results := claim.Status.Allocation.Devices.Results
	for i := range results {
		r := &results[i]
		if len(r.BindingConditions) == 0 {
			continue
		}
		if d.unready(claim, r) && !inTime(claim) && !d.failed(claim) {
			return i, "devices that are not ready yet, for which is waited for a time that may be over"
		}
	}
	return 0, ""
}

// Conditional are the devices, as driver/pool/device, with conditions that have to be true before a pod that gets one is bound, or that is
// said to have had some when it was allocated: "All of these conditions must be set" (resource/v1/types.go:479@v0.37.1, Device.BindingConditions).
func Conditional(objects []runtime.Object) map[string]bool {
	names := map[string]bool{}
	for _, o := range objects {
		switch o := o.(type) {
		case *resourcev1.ResourceSlice:
			for i := range o.Spec.Devices {
				if d := &o.Spec.Devices[i]; len(d.BindingConditions) > 0 {
					names[o.Spec.Driver+"/"+o.Spec.Pool.Name+"/"+d.Name] = true
				}
			}
		case *resourcev1.ResourceClaim:
			for i := 0; o.Status.Allocation != nil && i < len(o.Status.Allocation.Devices.Results); i++ {
				if r := &o.Status.Allocation.Devices.Results[i]; len(r.BindingConditions) > 0 {
					names[r.Driver+"/"+r.Pool+"/"+r.Device] = true
				}
			}
		}
	}
	return names
}
