package record

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

// Gates are feature gates and whether they are on, as "A=true,B=false", by name: "" is none.
type Gates string

// Ungrouped is for schedulers that know no pod groups: no cluster has any.
const Ungrouped Gates = model.GateWorkload + "=false"

// OfTimelines are the gates with which timelines are drawn that a release goes through: only the linked one goes
// through timelines with pod groups. The zero value is that one.
func (g Gates) OfTimelines(r release.Release) Gates {
	if r != release.Linked && r != (release.Release{}) {
		return Ungrouped
	}
	return g
}

// groupsInTimelines tells whether timelines of the campaign may have pod groups.
func (c *Config) groupsInTimelines() bool {
	gates := c.FeatureGates
	if r, err := release.Parse(c.Reference); err == nil { // else it is built from its own sources
		gates = gates.OfTimelines(r)
	}
	on, pinned := gates.Map()[model.GateWorkload]
	return on || !pinned
}

// needs are the gates without which another cannot be on (features/kube_features.go@v1.37.1).
var needs = map[string][]string{
	model.GateTopology:         {model.GateWorkload},
	"PodGroupPreemptionPolicy": {model.GateWorkload},
	device.GateGroupClaims:     {model.GateWorkload},
	model.GateComposite:        {model.GateWorkload, model.GateTopology},
}

// ParseGates reads Gates. It is an error if one is not known, or is on without another that it needs.
// Of what is not said, what is needed is on, and what lacks what it needs is off.
func ParseGates(text string) (Gates, error) {
	if text == "" {
		return "", nil
	}
	gates := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		on, err := strconv.ParseBool(value)
		if err != nil {
			return "", fmt.Errorf("%q is not NAME=true or NAME=false", part)
		}
		if known := unmodelled.Gates(); !slices.Contains(known, name) {
			return "", fmt.Errorf("%q is none of the feature gates that are modelled: %s", name, strings.Join(known, ", "))
		}
		gates[name] = on
	}
	said := maps.Clone(gates)
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		for _, needed := range needs[name] {
			switch on, is := said[needed]; {
			case said[name] && is && !on:
				return "", fmt.Errorf("%s=true needs %s=true", name, needed)
			case said[name]:
				gates[needed] = true
			case is && !on:
				gates[name] = false
			}
		}
	}
	return gatesOf(gates), nil
}

func gatesOf(gates map[string]bool) Gates {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		parts = append(parts, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	return Gates(strings.Join(parts, ","))
}

// Map are the gates by name; nil if there are none.
func (g Gates) Map() map[string]bool {
	if g == "" {
		return nil
	}
	gates := map[string]bool{}
	for part := range strings.SplitSeq(string(g), ",") {
		name, value, _ := strings.Cut(part, "=")
		gates[name] = value == "true"
	}
	return gates
}

// Flag is the flag that pins these gates, with a space before it; "" if there are none.
func (g Gates) Flag() string {
	if g == "" {
		return ""
	}
	return " --feature-gates " + string(g)
}
