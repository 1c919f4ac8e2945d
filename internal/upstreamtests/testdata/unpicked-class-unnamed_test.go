package dynamicresources

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache"
	"k8s.io/kubernetes/test/utils/ktesting"
)

func TestDeviceClassResolver_ClassesWithOneName(t *testing.T) {
	shared, created := "example.com/gpu", time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	class := func(name string, created time.Time) *resourceapi.DeviceClass {
		return &resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(created)},
			Spec: resourceapi.DeviceClassSpec{ExtendedResourceName: &shared}}
	}
	tests := []struct {
		name          string
		first, second *resourceapi.DeviceClass
		want          string // the class for the name that both have
	}{
		{
			name:   "the class that comes second is newer",
			first:  class("a", created),
			second: class("b", created.Add(time.Hour)),
			want:   "b",
		},
		{
			name:   "the class that comes second is older",
			first:  class("a", created.Add(time.Hour)),
			second: class("b", created),
			want:   "a",
		},
		{
			name:   "the class that comes second sorts first",
			first:  class("b", created),
			second: class("a", created),
			want:   "a",
		},
		{
			name:   "the class that comes second sorts last",
			first:  class("a", created),
			second: class("b", created),
			want:   "a",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resolver := extendedresourcecache.NewExtendedResourceCache(ktesting.Init(t).Logger())
			resolver.OnAdd(tt.first, true)
			resolver.OnAdd(tt.second, true)
			if got := resolver.GetDeviceClass(v1.ResourceName(shared)); got == nil || got.Name != tt.want {
				t.Errorf("the class for the name that both have: got %v, want %s", got, tt.want)
			}
			for _, class := range []*resourceapi.DeviceClass{tt.first, tt.second} {
				got := resolver.GetDeviceClass(v1.ResourceName(resourceapi.ResourceDeviceClassPrefix + class.Name))
				if got == nil {
					t.Errorf("the class for its own name: got none, want %s", class.Name)
				} else if got != class {
					t.Errorf("the class for its own name: got %s, want %s", got.Name, class.Name)
				}
			}
		})
	}
}
