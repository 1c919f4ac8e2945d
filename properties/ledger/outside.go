package ledger

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/outside"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// outsideFindings are those about plugins that are not Kubernetes' own and that are modelled. Each has a quirk of package outside for
// its ID, and a witness in its testdata.
var outsideFindings = []Entry{
	{
		ID:          string(outside.DeletedClassFailsDryRun),
		Plugin:      outside.PreemptionToleration,
		Title:       "Nobody can preempt on the node of a pod whose priority class was deleted",
		Class:       Defect,
		Promise:     "If you delete a PriorityClass, existing Pods that use the name of the deleted PriorityClass remain unchanged.",
		Source:      "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Notes about PodPriority and existing clusters\"",
		Happens:     "The dry run on a node ends in an error if a pod of lower priority there names a class that does not exist, whichever pods would have to go.",
		Where:       "preemption_toleration.go:139 and 225",
		Consequence: "A pod of high priority stays pending, until the last pod of the class has ended.",
		Properties:  []string{"no-internal-error"},
	},
	{
		ID:          string(outside.TolerationWrapsAround),
		Plugin:      outside.PreemptionToleration,
		Title:       "A toleration of more than 292 years is over at once",
		Class:       Defect,
		Promise:     "If it's set to a positive value, the duration will be honored.",
		Source:      "KEP-205, \"Preemption Toleration API\", TolerationSeconds, an int64; doc comment of Policy (preemption_toleration_policy.go:44)",
		Happens:     "The seconds are multiplied to nanoseconds in 64 bits, which wraps around from 9,223,372,037 seconds on: the end is often in the past.",
		Where:       "preemption_toleration.go:178",
		Consequence: "A pod whose class is to be spared practically for ever is preempted by any pod of higher priority.",
	},
}

// OfPlugin are the findings that are known of a modelled plugin, which is not Kubernetes' own.
func OfPlugin(name string) []Entry {
	return slices.DeleteFunc(slices.Clone(outsideFindings), func(e Entry) bool { return e.Plugin != name })
}

// QuirksOfPlugin are the quirks of OfPlugin.
func QuirksOfPlugin(name string) (quirks []release.Quirk) {
	for _, e := range OfPlugin(name) {
		quirks = append(quirks, e.Quirk)
	}
	return quirks
}

// BreakingByPlugin are the ids of the findings that are known of a modelled plugin and that break a property.
func BreakingByPlugin(name, property string) (ids []string) {
	for _, e := range OfPlugin(name) {
		if slices.Contains(e.Properties, property) {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func init() {
	for i := range outsideFindings {
		e := &outsideFindings[i]
		e.Upstream, e.Witness, e.Quirk = "unreported", "finding-"+e.ID, release.Quirk(e.ID)
	}
}
