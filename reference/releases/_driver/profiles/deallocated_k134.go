//go:build k1.34

package main

import (
	resourcev1 "k8s.io/api/resource/v1"
	clienttesting "k8s.io/client-go/testing"
)

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
