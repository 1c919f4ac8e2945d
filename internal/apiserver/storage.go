package apiserver

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"

	"github.com/preemptcheck/preemptcheck/model"
)

// extra admits an object of Cluster.Extra. The kinds that storage is made of are
// validated; the others are defaulted only.
func (a *admitter) extra(object runtime.Object) {
	switch o := object.(type) {
	case *v1.PersistentVolumeClaim:
		a.claim(o)
	case *v1.PersistentVolume:
		a.volume(o)
	case *storagev1.StorageClass:
		var in storage.StorageClass
		if name := extraName(o); a.convert(name, o, &in) {
			a.fail(name, storagevalidation.ValidateStorageClass(&in)...)
		}
	case *storagev1.CSINode:
		var in storage.CSINode
		if name := extraName(o); a.convert(name, o, &in) {
			a.fail(name, storagevalidation.ValidateCSINode(&in)...)
		}
	case *storagev1.CSIDriver:
		var in storage.CSIDriver
		if name := extraName(o); a.convert(name, o, &in) {
			a.fail(name, storagevalidation.ValidateCSIDriver(&in)...)
		}
	case *storagev1.CSIStorageCapacity:
		setNamespace(&o.ObjectMeta)
		var in storage.CSIStorageCapacity
		if name := extraName(o); a.convert(name, o, &in) {
			a.fail(name, storagevalidation.ValidateCSIStorageCapacity(&in, storagevalidation.CSIStorageCapacityValidateOptions{})...)
		}
	case *storagev1.VolumeAttachment:
		var in storage.VolumeAttachment
		if name := extraName(o); a.convert(name, o, &in) {
			a.fail(name, storagevalidation.ValidateVolumeAttachment(&in)...)
		}
	default:
		legacyscheme.Scheme.Default(object)
	}
}

// claim validates metadata and spec of a claim, and the status as an update that
// changes nothing else.
func (a *admitter) claim(claim *v1.PersistentVolumeClaim) {
	setNamespace(&claim.ObjectMeta)
	var in core.PersistentVolumeClaim
	name := extraName(claim)
	if !a.convert(name, claim, &in) {
		return
	}
	opts := validation.ValidationOptionsForPersistentVolumeClaim(&in, &in)
	a.fail(name, validation.ValidatePersistentVolumeClaim(&in, opts)...)
	updated := in
	updated.ResourceVersion = "1" // an update must have one
	a.failStatus(name, validation.ValidatePersistentVolumeClaimStatusUpdate(&updated, &updated, opts))
}

func (a *admitter) volume(volume *v1.PersistentVolume) {
	var in core.PersistentVolume
	name := extraName(volume)
	if !a.convert(name, volume, &in) {
		return
	}
	a.fail(name, validation.ValidatePersistentVolume(&in, validation.ValidationOptionsForPersistentVolume(&in, &in))...)
}

// failStatus leaves out what the validation of metadata has said already.
func (a *admitter) failStatus(object string, errs field.ErrorList) {
	for _, err := range errs {
		if len(err.Field) >= len("status") && err.Field[:len("status")] == "status" {
			a.fail(object, err)
		}
	}
}

// extraName is the kind and the name of an object of Cluster.Extra, or "" of a
// kind that is not known.
func extraName(object runtime.Object) string {
	kinds, _, err := legacyscheme.Scheme.ObjectKinds(object)
	meta, ok := object.(interface {
		GetNamespace() string
		GetName() string
	})
	if err != nil || !ok {
		return ""
	}
	if meta.GetNamespace() == "" {
		return kinds[0].Kind + " " + meta.GetName()
	}
	return kinds[0].Kind + " " + model.Key(meta)
}
