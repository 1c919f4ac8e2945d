package release

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// anyUnpicked tells whether there is such a class.
func anyUnpicked(s *filter.Snapshot) bool { return len(unpicked(s.Objects)) > 0 }

// withoutUnpicked: nodes have to have the resource that is named after a class which is
// unpicked, as if there were no such class.
func withoutUnpicked(s *filter.Snapshot) {
	of := unpicked(s.Objects)
	s.Objects = slices.DeleteFunc(s.Objects, func(o runtime.Object) bool {
		class, ok := o.(*resourcev1.DeviceClass)
		return ok && slices.Contains(of, class.Name)
	})
}

// unpickedMisnamed: the resource that is named after such a class is that of no class. Claims
// still find the class.
func unpickedMisnamed(s *filter.Snapshot) {
	for _, name := range unpicked(s.Objects) {
		name := v1.ResourceName(resourcev1.ResourceDeviceClassPrefix + name)
		misname := func(c *v1.Container) {
			if q, asks := c.Resources.Requests[name]; asks {
				c.Resources.Requests = c.Resources.Requests.DeepCopy()
				delete(c.Resources.Requests, name)
				c.Resources.Requests[name+"-of-no-class"] = q
			}
		}
		s.Preemptor.Pod = variant.Changed(s.Preemptor.Pod, func(p *v1.Pod) {
			p.Spec.Containers, p.Spec.InitContainers = variant.Each(p.Spec.Containers, misname), variant.Each(p.Spec.InitContainers, misname)
		})
	}
}

// unpicked are the names of the classes that came when there was one already that had the
// same extended resource name, and was preferred (dynamic-resource-allocation
// deviceclass/extendedresourcecache/extendedresourcecache.go:157@v0.37.1,
// updateResourceName2class).
func unpicked(objects []runtime.Object) (names []string) {
	picked := map[string]*resourcev1.DeviceClass{}
	for _, o := range objects {
		class, ok := o.(*resourcev1.DeviceClass)
		if !ok || class.Spec.ExtendedResourceName == nil {
			continue
		}
		name := *class.Spec.ExtendedResourceName
		if is := picked[name]; is == nil || filter.Preferred(class, is) {
			picked[name] = class
		} else {
			names = append(names, class.Name)
		}
	}
	return names
}
