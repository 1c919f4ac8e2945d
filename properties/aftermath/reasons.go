package aftermath

import (
	"fmt"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
)

// notEnoughSpace is told of a node where a volume cannot be made: a kind of volume.NothingToBind.
const notEnoughSpace = "node(s) did not have enough free storage"

// ReasonsAreTold: a plugin that tells all reasons why it rejects a node leaves none out, and tells none that is not so. Of several claims
// that are bound, and that all fail, it is enough to tell of one.
var ReasonsAreTold = properties.Property{
	Name: "reasons-are-told",
	Promise: "It returns a list of insufficient resources, if empty, then the node has all the resources requested by the pod. " +
		"ConflictReasons contains all reasons that explain why volume binding is impossible for a node. " +
		"Storage capacity is looked at only where the driver of a volume that waits asks for it.",
	Source: "doc comments of Filter (noderesources/fit.go:653@v1.37.1) and of ConflictReasons (volumebinding/binder.go:55@v1.37.1); " +
		"docs: concepts/storage/storage-capacity, \"Scheduling\"",
	Lies: []string{"a resource is left out", "a resource is told that there is enough of", "a volume out of reach is left out", "a volume is told to be out of reach",
		"a claim that gets no volume is left out", "a claim is told to get no volume, where none waits", "storage is told to be short where no driver has it checked"},
	Needs: properties.NeedsModel,
	Applies: func(s *properties.Subject) bool {
		return s.Decision != nil && failed(s) && s.Observation.CycleError == ""
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		set := s.Decision
		if s.AssumesAny() {
			var err error
			if set, err = set.Under(s.Rules()); err != nil {
				return nil, err
			}
		}
		var f []properties.Finding
		waiting, sized := waits(s), checksCapacity(s.Cluster.Extra)
		for _, n := range s.Cluster.Nodes {
			got, rejected := s.Observation.Filters[n.Name]
			want := set.Verdicts[n.Name]
			if !rejected || want == nil || got.Plugin != want.Plugin || got.Unresolvable != want.Unresolvable {
				continue // the property differential says so
			}
			missing, wrong := compareReasons(want, &got, waiting, sized)
			for _, reason := range missing {
				f = append(f, properties.FoundOf(model.StageFilter, n.Name, reason, fmt.Sprintf("%s does not say %q, but %q", got.Plugin, reason, got.Reasons)))
			}
			for _, reason := range wrong {
				f = append(f, properties.FoundOf(model.StageFilter, n.Name, reason, fmt.Sprintf("%s says %q, which is not so: %q is", got.Plugin, reason, want.Reasons)))
			}
		}
		return f, nil
	},
}

// checksCapacity tells whether there is a driver that has it checked whether there is room for a volume before a node is picked.
func checksCapacity(objects []runtime.Object) bool {
	return slices.ContainsFunc(objects, func(o runtime.Object) bool {
		d, ok := o.(*storagev1.CSIDriver)
		return ok && ptr.Deref(d.Spec.StorageCapacity, false)
	})
}

// compareReasons tells which reasons are missing, and which are wrong, of those of plugins that promise to tell all. waits tells whether a
// claim waits for a volume, sized whether a driver has capacity checked.
func compareReasons(want, got *model.Verdict, waits, sized bool) (missing, wrong []string) {
	has := func(v *model.Verdict, anyOf ...string) bool {
		return slices.ContainsFunc(v.Reasons, func(r string) bool { return slices.Contains(anyOf, r) })
	}
	switch got.Plugin {
	case "NodeResourcesFit":
		for _, r := range want.Reasons {
			if !has(got, r) {
				missing = append(missing, r)
			}
		}
		for _, r := range got.Reasons {
			if !has(want, r) {
				wrong = append(wrong, r)
			}
		}
	case volume.VolumeBinding{}.Name():
		// Of claims that are bound, the first that fails is enough. Whether one that waits gets a volume may be left to chance.
		bound := []string{volume.NoVolume, volume.OutOfReach}
		if has(want, bound...) && !has(got, bound...) {
			missing = append(missing, want.Reasons[slices.IndexFunc(want.Reasons, func(r string) bool { return r != volume.NothingToBind })])
		}
		if has(want, volume.NothingToBind) && !has(got, volume.NothingToBind, notEnoughSpace) {
			missing = append(missing, volume.NothingToBind)
		}
		surely := bound
		if !waits {
			surely = append(surely, volume.NothingToBind)
		}
		if !waits || !sized {
			surely = append(surely, notEnoughSpace)
		}
		for _, r := range surely {
			if has(got, r) && !has(want, r) {
				wrong = append(wrong, r)
			}
		}
	}
	return missing, wrong
}
