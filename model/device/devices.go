package device

import (
	"regexp"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// device names a device of the cluster.
type device struct{ driver, pool, name string }

// devices are those of the cluster, and what the preemptor wants of them.
type devices struct {
	claims  map[string]*resourcev1.ResourceClaim // by namespace/name
	classes map[string]*resourcev1.DeviceClass
	slices  []*resourcev1.ResourceSlice
	rules   []*resourcev1.DeviceTaintRule
	taken   map[device]bool
	wanted  [][]wish // one for each request: the ways in which it may be met
	claimed int      // how many claims want something
	// withholds tells whether the devices that one claim administers are kept from
	// ordinary requests of another, by the places of both among those that want something.
	withholds func(admin, other int) bool
}

// withinClaim: no device is in a claim twice, and what a claim administers is free for
// others: "normal usage is not impacted" (KEP-5018).
func withinClaim(admin, other int) bool { return admin == other }

func newDevices(objects []runtime.Object) *devices {
	d := &devices{claims: map[string]*resourcev1.ResourceClaim{}, classes: map[string]*resourcev1.DeviceClass{}, taken: map[device]bool{}, withholds: withinClaim}
	for _, o := range objects {
		switch o := o.(type) {
		case *resourcev1.ResourceClaim:
			d.claims[filter.Key(o)] = o
			d.take(o)
		case *resourcev1.DeviceClass:
			d.classes[o.Name] = o
		case *resourcev1.ResourceSlice:
			d.slices = append(d.slices, o)
		case *resourcev1.DeviceTaintRule:
			d.rules = append(d.rules, o)
		}
	}
	return d
}

// take notes the devices allocated to a claim; those given for administration are
// not taken from others (KEP-5018).
func (d *devices) take(claim *resourcev1.ResourceClaim) {
	if claim.Status.Allocation == nil {
		return
	}
	for i := range claim.Status.Allocation.Devices.Results {
		if r := &claim.Status.Allocation.Devices.Results[i]; r.AdminAccess == nil || !*r.AdminAccess {
			d.taken[device{r.Driver, r.Pool, r.Device}] = true
		}
	}
}

// want adds the devices that a claim asks for, and says which class is missing.
func (d *devices) want(claim *resourcev1.ResourceClaim) (missing string) {
	d.claimed++
	for i := range claim.Spec.Devices.Requests {
		var ways []wish
		for _, way := range waysOf(&claim.Spec.Devices.Requests[i]) {
			class := d.classes[way.class]
			if class == nil {
				missing = "device class " + way.class + " does not exist"
				continue
			}
			way.driver, _ = driverOf(class)
			way.claim = d.claimed
			ways = append(ways, way)
		}
		d.wanted = append(d.wanted, ways)
	}
	return missing
}

// driverOf is the driver that all of a class's devices are of, "" if they may be
// of any. known is false if the class says anything else of them.
func driverOf(class *resourcev1.DeviceClass) (driver string, known bool) {
	for _, s := range class.Spec.Selectors {
		match := []string(nil)
		if s.CEL != nil {
			match = ofDriver.FindStringSubmatch(s.CEL.Expression)
		}
		if match == nil || driver != "" && driver != match[1] {
			return "", false
		}
		driver = match[1]
	}
	return driver, true
}

// ofDriver is the one expression that is understood. Most classes have just that.
var ofDriver = regexp.MustCompile(`^\s*device\.driver\s*==\s*["']([a-z0-9.-]+)["']\s*$`)

// offers tells whether the devices of a slice can be used from a node.
func offers(s *resourcev1.ResourceSlice, n *v1.Node) bool {
	switch {
	case s.Spec.NodeName != nil && *s.Spec.NodeName != "":
		return *s.Spec.NodeName == n.Name
	case s.Spec.AllNodes != nil && *s.Spec.AllNodes:
		return true
	default:
		return s.Spec.NodeSelector != nil && selects(s.Spec.NodeSelector, n)
	}
}

// Enough tells whether a node has free devices for all claims of some pods that are not
// allocated; known is false if more than their number matters, or a claim is missing.
func Enough(objects []runtime.Object, n *v1.Node, pods ...*v1.Pod) (enough, known bool) {
	known = true
	unmodelled := func(string, string) { known = false }
	unmodelledDevices(objects, func(string, string, string) { known = false })
	d, counted := newDevices(objects), map[*resourcev1.ResourceClaim]bool{}
	for _, p := range pods {
		own, why := ownClaims(p, d.claims)
		if why != "" {
			return false, false
		}
		for _, claim := range own {
			if claim.Status.Allocation != nil || counted[claim] {
				continue
			}
			counted[claim] = true
			if unmodelledRequests(claim, d.classes, unmodelled); !known || d.want(claim) != "" {
				return false, false
			}
		}
	}
	if d.tooMany([]*v1.Node{n}) != "" {
		return false, false
	}
	return d.suffice(n), known
}
