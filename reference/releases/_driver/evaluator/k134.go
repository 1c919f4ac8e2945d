//go:build k1.34

package main

import (
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"
)

type (
	nodeInfo   = fwk.NodeInfo
	cycleState = fwk.CycleState
	status     = fwk.Status
	code       = fwk.Code
)

const unresolvable = fwk.UnschedulableAndUnresolvable

func asStatus(err error) *status { return fwk.AsStatus(err) }

var watchedToo = append([]runtime.Object{
	&storagev1.CSINode{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{},
	&resourcev1.ResourceClaim{}, &resourcev1.ResourceSlice{}, &resourcev1.DeviceClass{},
}, watchedLater...)

// deallocated names the claim that loses its allocation and all that it is reserved
// for, if that is what is written.
func deallocated(a clienttesting.Action) string {
	update, ok := a.(clienttesting.UpdateAction)
	if !ok || a.GetSubresource() != "status" {
		return ""
	}
	claim, ok := update.GetObject().(*resourcev1.ResourceClaim)
	if !ok || claim.Status.Allocation != nil || len(claim.Status.ReservedFor)+len(claim.Status.Devices) > 0 {
		return ""
	}
	return key(claim)
}
