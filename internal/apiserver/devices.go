package apiserver

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/resource/validation"

	"github.com/preemptcheck/preemptcheck/model"
)

// devices admits what dynamic resource allocation is made of, and tells whether
// the object is such.
func (a *admitter) devices(object runtime.Object) bool {
	switch o := object.(type) {
	case *resourcev1.ResourceClaim:
		setNamespace(&o.ObjectMeta)
		var in resource.ResourceClaim
		if name := "ResourceClaim " + model.Key(o); a.convert(name, o, &in) {
			a.fail(name, validation.ValidateResourceClaim(&in)...)
			// As an update that sets all of the status, before the claim was deleted.
			in.ResourceVersion, in.DeletionTimestamp = "1", nil
			old := in
			old.Status = resource.ResourceClaimStatus{}
			a.fail(name, validation.ValidateResourceClaimStatusUpdate(&in, &old)...)
		}
	case *resourcev1.ResourceSlice:
		var in resource.ResourceSlice
		if name := "ResourceSlice " + o.Name; a.convert(name, o, &in) {
			a.fail(name, validation.ValidateResourceSlice(&in)...)
		}
	case *resourcev1.DeviceClass:
		var in resource.DeviceClass
		if name := "DeviceClass " + o.Name; a.convert(name, o, &in) {
			a.fail(name, validation.ValidateDeviceClass(&in)...)
		}
	default:
		return false
	}
	return true
}
