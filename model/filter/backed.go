package filter

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Backing is the device class whose devices serve requests for an extended resource on
// nodes that do not have the resource themselves; nil if there is none. Every class can be
// named by the implicit name, "in addition to" the name in its spec (KEP-5004, "Implicit
// Extended Resource Name"), which several may have.
func Backing(objects []runtime.Object, name v1.ResourceName) (class *resourcev1.DeviceClass) {
	implicit, isImplicit := strings.CutPrefix(string(name), resourcev1.ResourceDeviceClassPrefix)
	for _, o := range objects {
		c, ok := o.(*resourcev1.DeviceClass)
		switch {
		case !ok:
		case isImplicit:
			if c.Name == implicit {
				return c
			}
		case c.Spec.ExtendedResourceName == nil || *c.Spec.ExtendedResourceName != string(name):
		case class == nil || Preferred(c, class):
			class = c
		}
	}
	return class
}

// Preferred tells whether one of two classes with the same extended resource name serves the
// requests: "the class created later is picked", and of two created at the same time the one
// whose name sorts first (resource/v1/types.go:2452@v0.37.1,
// DeviceClassSpec.ExtendedResourceName).
func Preferred(class, other *resourcev1.DeviceClass) bool {
	if class.CreationTimestamp.Equal(&other.CreationTimestamp) {
		return class.Name < other.Name
	}
	return other.CreationTimestamp.Before(&class.CreationTimestamp)
}

// IsExtended tells whether a resource may be backed by devices: it is an extended one, or
// named after a device class.
func IsExtended(name v1.ResourceName) bool {
	s := string(name)
	return strings.HasPrefix(s, resourcev1.ResourceDeviceClassPrefix) ||
		strings.Contains(s, "/") && !strings.Contains(s, v1.ResourceDefaultNamespacePrefix) && !strings.HasPrefix(s, v1.DefaultResourceRequestsPrefix)
}

// HasItself tells whether a node has some of an extended resource itself, from a device
// plugin. Then devices do not serve requests for it there: "it consumes the capacity from
// node's status.capacity"; a node cannot have both (KEP-5004, "Proposal").
func HasItself(n *v1.Node, name v1.ResourceName) bool {
	q := n.Status.Allocatable[name]
	return !q.IsZero()
}
