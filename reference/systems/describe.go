package systems

import (
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/features"

	"github.com/preemptcheck/preemptcheck/internal/harness"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

// gatesThatMatter are the feature gates of the linked release that change
// preemption, or the filters that it asks.
var gatesThatMatter = []featuregate.Feature{
	features.GenericWorkload,
	features.InPlacePodVerticalScalingSchedulerPreemption,
	features.NominatedNodeNameForExpectation,
	features.PodLevelResources,
	features.SchedulerAsyncAPICalls,
	features.SchedulerAsyncPreemption,
	features.TaintTolerationComparisonOperators,
}

// Description is what there is to tell about a scheduler.
type Description struct {
	Name string `json:"name"`
	How  string `json:"how"`
	// NotBuilt: it has to be built before it can be run.
	NotBuilt bool   `json:"notBuilt,omitempty"`
	Gates    []Gate `json:"featureGates,omitempty"`
}

// Gate is a feature gate that matters to preemption.
type Gate struct {
	Name    string `json:"name"`
	Default bool   `json:"default"`
	// Modelled: a case may set the gate.
	Modelled bool `json:"modelled"`
}

// All describes the schedulers of releases, the one linked in first.
func All() []Description {
	linked := Description{Name: inprocess.Version, How: "kube-scheduler, linked in and run in process"}
	if from := harness.BuiltFrom(); from.Dir != "" {
		linked.How = "kube-scheduler from " + from.Dir + " (" + from.Detail + "), linked in and run in process"
	}
	for _, gate := range gatesThatMatter {
		linked.Gates = append(linked.Gates, Gate{
			Name:     string(gate),
			Default:  utilfeature.DefaultFeatureGate.Enabled(gate),
			Modelled: unmodelled.MattersGate(string(gate)),
		})
	}
	all := []Description{linked}
	for _, release := range releases.All() {
		if release == inprocess.Version {
			continue // the one linked in is quicker
		}
		s := Description{Name: release, How: "kube-scheduler, run as a process"}
		if _, built := releases.Built(release); !built {
			s.NotBuilt = true
			s.How += "; not built yet: see --build"
		}
		all = append(all, s)
	}
	return all
}
