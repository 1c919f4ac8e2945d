package device

import (
	"regexp"
	"slices"

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
	slices  []*resourcev1.ResourceSlice // the newest of each pool
	pools   map[poolID]*pool
	rules   []*resourcev1.DeviceTaintRule
	taken   map[device]bool
	shares  map[device]share // of devices that are allocated in parts: what is consumed
	wanted  [][]wish         // one for each request: the ways in which it may be met
	claimed int              // how many claims want something
	// extended are the extended resources that devices back, of each pod that wants some.
	extended [][]extended
	// constraints are those of claims, by the place among those that want something.
	constraints map[int][]resourcev1.DeviceConstraint
	optional    bool // GateOptionalOperations is on
	// objects are all, and gates the feature gates.
	objects []runtime.Object
	gates   map[string]bool
	Reading
}

// GateOptionalOperations names the gate by which operations of a node may be left out for devices (KEP-5945).
const GateOptionalOperations = "DRAOptionalNodeOperations"

// share is what claims consume of a device.
type share map[resourcev1.QualifiedName]amount

// Reading is how documents are read. A scheduler, or a mutant, may read them otherwise.
type Reading struct {
	// Withholds tells whether the devices that one claim administers are kept from
	// ordinary requests of another, by the places of both among those that want something.
	Withholds func(admin, other int) bool
	// AdminPays: administration needs counters and capacity that are free, like others.
	AdminPays bool
	// NamesAreText: a capacity has just the name that is written.
	NamesAreText bool
	// StopsAtUnready: the conditions of allocated devices are looked at up to the first device that is not ready.
	StopsAtUnready bool
	// SharesAreAlike: of the shares that a claim has of a device, what is said first is taken for all.
	SharesAreAlike bool
	// SharesAreFree: a device that may no longer be shared is free while claims have shares.
	SharesAreFree bool
	// SkipsAreUnseen: with GateOptionalOperations off, devices are given for which operations of a node are left out.
	SkipsAreUnseen bool
}

// withinClaim: no device is in a claim twice, and what a claim administers is free for
// others: "normal usage is not impacted" (KEP-5018).
func withinClaim(admin, other int) bool { return admin == other }

func newDevices(objects []runtime.Object, gates map[string]bool) *devices {
	d := &devices{optional: gates[GateOptionalOperations], objects: objects, gates: gates, claims: map[string]*resourcev1.ResourceClaim{}, classes: map[string]*resourcev1.DeviceClass{}, taken: map[device]bool{}, Reading: Reading{Withholds: withinClaim},
		pools: map[poolID]*pool{}, shares: map[device]share{}, constraints: map[int][]resourcev1.DeviceConstraint{}}
	for _, o := range objects {
		switch o := o.(type) {
		case *resourcev1.ResourceClaim:
			d.claims[filter.Key(o)] = o
			d.take(o)
		case *resourcev1.DeviceClass:
			d.classes[o.Name] = o
		case *resourcev1.ResourceSlice:
			if d.poolOf(o) == nil {
				d.pools[poolID{o.Spec.Driver, o.Spec.Pool.Name}] = &pool{}
			}
			d.poolOf(o).add(o)
		case *resourcev1.DeviceTaintRule:
			d.rules = append(d.rules, o)
		}
	}
	for _, o := range objects {
		if s, ok := o.(*resourcev1.ResourceSlice); ok && slices.Contains(d.poolOf(s).slices, s) {
			d.slices = append(d.slices, s)
		}
	}
	for _, p := range d.pools {
		p.finish()
	}
	return d
}

func (d *devices) poolOf(s *resourcev1.ResourceSlice) *pool {
	return d.pools[poolID{s.Spec.Driver, s.Spec.Pool.Name}]
}

// take notes the devices allocated to a claim; those given for administration are
// not taken from others (KEP-5018). A device of which a claim has a share is taken in part:
// "the total allocated capacity is calculated by aggregating the consumedCapacity" of all
// claims. One that was allocated as a whole stays so, also if it may be shared since
// (KEP-5075, "Handles Device Updates").
func (d *devices) take(claim *resourcev1.ResourceClaim) {
	if claim.Status.Allocation == nil {
		return
	}
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		id := device{r.Driver, r.Pool, r.Device}
		switch {
		case r.AdminAccess != nil && *r.AdminAccess:
		case r.ShareID == nil:
			d.taken[id] = true
		default:
			if d.shares[id] == nil {
				d.shares[id] = share{}
			}
			for name := range r.ConsumedCapacity {
				value := r.ConsumedCapacity[name]
				d.shares[id][name] = d.shares[id][name].plus(milli(&value))
			}
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
	if constraints := claim.Spec.Devices.Constraints; len(constraints) > 0 {
		d.constraints[d.claimed] = constraints
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

// Enough tells whether a node has free devices for all claims of some pods that are not
// allocated, as read has the documents read; known is false if something is not modelled,
// or a claim is missing.
func Enough(objects []runtime.Object, gates map[string]bool, n *v1.Node, read func(*Reading), pods ...*v1.Pod) (enough, known bool) {
	known = true
	unmodelled := func(string, string) { known = false }
	d, counted := newDevices(objects, gates), map[*resourcev1.ResourceClaim]bool{}
	read(&d.Reading)
	for _, p := range pods {
		own, why := d.ownClaims(p)
		if why != "" {
			return false, false
		}
		if backed, _ := extendedOf(p, objects); len(backed) > 0 {
			d.extended = append(d.extended, backed)
			unmodelledExtended(p, backed, func(string, string, string) { known = false })
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
	if unmodelledDevices(objects, d, func(string, string, string) { known = false }); !known || d.tooMany([]*v1.Node{n}) != "" {
		return false, false
	}
	s := d.suffice(n)
	return s.enough, s.known()
}
