package volume

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Where nobody makes volumes, none can be made: without a class, or one without a provisioner.
func TestProvisions(t *testing.T) {
	for _, tt := range []struct {
		class *storagev1.StorageClass
		want  bool
	}{
		{nil, false},
		{&storagev1.StorageClass{}, false},
		{&storagev1.StorageClass{Provisioner: noProvisioner}, false},
		{&storagev1.StorageClass{Provisioner: "disk.example.com"}, true},
	} {
		b := &binder{Index: &Index{}}
		require.Equal(t, tt.want, b.provisions(&v1.Node{}, &Claim{PVC: &v1.PersistentVolumeClaim{}, Class: tt.class}), "%+v", tt.class)
	}
}
