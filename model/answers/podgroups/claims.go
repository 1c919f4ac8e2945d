package podgroups

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
)

// admitsDeallocations: as for a pod by itself, each member that finds no place has one claim lose its devices, of those that are in its way
// and that nobody uses ("mimics running PostFilter for each of the pods in pod group": dynamicresources.go:1249@v1.37.1). That one that found a
// place has, too, is left open. Nothing is lost by a claim that has no devices yet.
func (s *Set) admitsDeallocations(members []idle, got []string) *answers.Disagreement {
	got = slices.Compact(slices.DeleteFunc(slices.Clone(got), func(key string) bool { return podgroup.Allocated(s.Cluster.Extra, key) == nil }))
	var allowed []string
	for _, m := range members {
		allowed = append(allowed, m.claims...)
		if lost := slices.ContainsFunc(m.claims, func(key string) bool { return slices.Contains(got, key) }); !lost && !m.placed && len(m.claims) > 0 {
			return disagree(model.StageActuate, "", "deallocates", fmt.Sprintf("one of %v", m.claims), got)
		}
	}
	if len(got) > len(members) || slices.ContainsFunc(got, func(key string) bool { return !slices.Contains(allowed, key) }) {
		return disagree(model.StageActuate, "", "deallocates", fmt.Sprintf("of %v, one for each member", allowed), got)
	}
	return nil
}

// admitsAllocations: what members got is written to their claims, with the members, or their group, as users, before they are bound
// (dynamicresources.go:1653@v1.37.1, PreBind), and nothing else is. A member that was placed in vain may lose a claim that was reserved for
// it before; one that is bound may not.
func (s *Set) admitsAllocations(o *model.Observation, e end) *answers.Disagreement {
	users := map[string]map[string]bool{} // of claims, in the end: by UID, if anything is written about it
	user := func(claim, uid string, is bool) {
		if users[claim] == nil {
			users[claim] = map[string]bool{}
		}
		users[claim][uid] = is
	}
	for _, c := range o.Aftermath.Calls {
		if !strings.HasPrefix(c.Resource, "resourceclaims") || c.Failed != "" || slices.Contains(o.Actuation.Deallocated, c.Object) {
			continue
		}
		want, known := s.written(e.bound(), c.Object)
		switch {
		case c.Unreserved != "" && s.used(c.Object, c.Unreserved):
			user(c.Object, c.Unreserved, false)
			continue
		case known && len(want) == 0 || c.Unreserved != "":
			return disagree(model.StageActuate, "", "writes to claims", "none but those of members that are bound", c.String())
		case c.Resource == "resourceclaims":
			continue // a finalizer
		}
		if is := namesOf(c.Claim); known && !slices.ContainsFunc(want, func(names []string) bool { return slices.Equal(names, is) }) {
			return disagree(model.StageActuate, "", "writes to claims", fmt.Sprintf("%s: %v", c.Object, want[0]), is)
		}
		for _, uid := range c.Claim.ReservedFor {
			user(c.Object, uid, true)
		}
	}
	wanted := map[string][]string{} // UIDs, by claim
	for _, at := range e.bound() {
		for _, key := range device.Named(at.Pod) {
			user := s.User(s.Cycle, at, key)
			wanted[key] = append(wanted[key], string(user))
			is, told := users[key][string(user)]
			if is = is || !told && podgroup.Uses(s.Cluster.Extra, at.Pod, key); !is && s.Reserved(s.Cycle, at, key) {
				return disagree(model.StageActuate, at.Node, "reserves claims", fmt.Sprintf("%s for %s, as %s is bound", key, user, model.Key(at.Pod)), "it is not reserved for it")
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(users)) {
		for _, uid := range slices.Sorted(maps.Keys(users[key])) {
			if users[key][uid] && !slices.Contains(wanted[key], uid) && !podgroup.UsedBy(s.Cluster.Extra, types.UID(uid), key) {
				return disagree(model.StageActuate, "", "reserves claims", fmt.Sprintf("%s for %v", key, wanted[key]), "for "+uid)
			}
		}
	}
	return nil
}

// written are the devices that may be written to a claim for each of the members bound that name it; known is false if any may be.
func (s *Set) written(bound []podgroup.Placement, claim string) (all [][]string, known bool) {
	for i, at := range bound {
		if !slices.Contains(device.Named(at.Pod), claim) {
			continue
		}
		allocation, known := s.Written(s.Cycle, bound[:i], at, claim)
		if !known {
			return nil, false
		}
		var names []string
		if allocation != nil {
			for _, r := range allocation.Devices.Results {
				names = append(names, nameOf(r.Request, r.Driver, r.Pool, r.Device))
			}
		}
		all = append(all, names)
	}
	return all, true
}

// used tells whether a claim is reserved, since a cycle before, for the member of a UID.
func (s *Set) used(claim, uid string) bool {
	return slices.ContainsFunc(s.Members, func(m *v1.Pod) bool {
		return string(filter.PodUID(m)) == uid && podgroup.Uses(s.Cluster.Extra, m, claim)
	})
}

// namesOf are the devices that are written to a claim.
func namesOf(w *model.WrittenClaim) (names []string) {
	for _, d := range w.Devices {
		names = append(names, nameOf(d.Request, d.Driver, d.Pool, d.Name))
	}
	return names
}

func nameOf(request, driver, pool, device string) string {
	return fmt.Sprintf("%s: %s/%s/%s", request, driver, pool, device)
}
