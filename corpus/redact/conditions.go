package redact

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/preemptcheck/preemptcheck/corpus/prune"
)

// conditions are the CEL expressions by which devices are selected. What they say of names and
// values cannot be rewritten in general, but whether one holds of a device follows from
// that device alone: each device gets an attribute that says so, and the expression asks for that.
// Where an expression fails on a device, the attribute is missing, and asking for it fails.
type conditions struct {
	// holds tells of each expression of which devices it is true, and of which false.
	holds map[string]map[*resourcev1.Device]bool
}

// conditionDomain is the domain of the attributes that say whether a condition holds.
const conditionDomain = "redacted.example.com"

func newConditions() *conditions {
	return &conditions{holds: map[string]map[*resourcev1.Device]bool{}}
}

// ofDriver is the one expression that is rewritten. Most device classes have just that.
var ofDriver = regexp.MustCompile(`^\s*device\.driver\s*==\s*["']([a-z0-9.-]+)["']\s*$`)

// find evaluates all expressions on all devices. Then it leaves out the attributes that no
// constraint is about.
func (c *conditions) find(r *redaction, objects []runtime.Object) {
	for _, o := range objects {
		prune.Walk(o, func(t prune.Text, v reflect.Value) {
			switch {
			case t.Rule == prune.Expression && t.Kind == prune.Derived:
				r.fail(o, "derived attributes of devices cannot be redacted")
			case t.Rule == prune.Expression && !ofDriver.MatchString(v.String()):
				c.holds[v.String()] = map[*resourcev1.Device]bool{}
			}
		})
	}
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: true})
	for expression, holds := range c.holds {
		compiled := compiler.CompileCELExpression(expression, cel.Options{})
		if compiled.Error != nil {
			continue // it fails on each device
		}
		for _, o := range objects {
			s, is := o.(*resourcev1.ResourceSlice)
			if !is {
				continue
			}
			for i := range s.Spec.Devices {
				d := &s.Spec.Devices[i]
				matches, _, err := compiled.DeviceMatches(context.Background(), cel.Device{Driver: s.Spec.Driver, AllowMultipleAllocations: d.AllowMultipleAllocations,
					Attributes: d.Attributes, Capacity: d.Capacity})
				if err == nil {
					holds[d] = matches
				}
			}
		}
	}
	for _, o := range objects {
		s, is := o.(*resourcev1.ResourceSlice)
		if !is {
			continue
		}
		for i := range s.Spec.Devices {
			attributes := s.Spec.Devices[i].Attributes
			maps.DeleteFunc(attributes, func(name resourcev1.QualifiedName, _ resourcev1.DeviceAttribute) bool {
				full := string(name)
				if !strings.Contains(full, "/") {
					full = s.Spec.Driver + "/" + full
				}
				return !r.wanted[full]
			})
		}
	}
}

// replace is what takes the place of an expression.
func (c *conditions) replace(r *redaction, of string) string {
	if match := ofDriver.FindStringSubmatch(of); match != nil {
		return fmt.Sprintf("device.driver == %q", r.of(prune.Driver, match[1]))
	}
	to := r.of(expression, of)
	if r.given == nil || of == "" {
		return of
	}
	return fmt.Sprintf("device.attributes[%q].%s", conditionDomain, to)
}

// tell gives the devices the attributes that say which conditions hold.
func (c *conditions) tell(r *redaction, objects []runtime.Object) {
	for of, holds := range c.holds {
		name := resourcev1.QualifiedName(conditionDomain + "/" + r.of(expression, of))
		for d, is := range holds {
			if d.Attributes == nil {
				d.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
			}
			d.Attributes[name] = resourcev1.DeviceAttribute{BoolValue: &is}
		}
	}
	for _, o := range objects {
		if s, is := o.(*resourcev1.ResourceSlice); is && slices.ContainsFunc(s.Spec.Devices, func(d resourcev1.Device) bool {
			return len(d.Attributes)+len(d.Capacity) > resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice
		}) {
			r.fail(o, "more conditions on devices, beside their capacities, than a device can have attributes")
		}
	}
}
