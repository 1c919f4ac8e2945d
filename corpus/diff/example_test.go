package diff_test

import (
	"context"
	"fmt"
	"os"

	"github.com/preemptcheck/preemptcheck/corpus/diff"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
)

// The schedulers of releases are releases.New("v1.34.4") and so on; here, models
// stand for them.
func Example() {
	var sides []releasediff.Side
	for _, name := range []string{"v1.34.4", "v1.35.4"} {
		version, _ := release.Parse(name)
		sides = append(sides, releasediff.Side{Release: version, System: modelsystem.New(version)})
	}
	report, err := diff.Run(context.Background(), sides, &diff.Options{
		Generate: func(seed, n uint64) *model.Cluster { return generators.Ungrouped(seed + n) },
		Clusters: 100, Workers: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	report.WriteText(os.Stdout)
	// Output:
	// From v1.34.4 to v1.35.4: of 100 clusters (generated, seed 0), 69 could be compared.
	// Decided differently: 1, for 1 reason.
	//
	// CLUSTERS   BECAUSE                                                WHAT IS DIFFERENT
	// 1          victims that terminate already are not deleted again   fewer pods deleted (1)
	//
	// 1. victims that terminate already are not deleted again
	//    before: they are
	//    source: preemption/executor.go:192@v1.36.3; kubernetes#131519
	//
	//    fewer pods deleted, on 1 cluster, for example
	//
	//      node       node-1     pods 1
	//      pod        default/a  on node-1; priority 0; terminating
	//      preemptor  default/p  priority 1
	//
	//      v1.34.4   preempts default/a on node-1, deletes default/a
	//      v1.35.4   preempts default/a on node-1, deletes nobody
	//
	// CLUSTERS   NOT COMPARED, AS NOT KNOWN
	// 7          v1.34.4: scheduler: featureGates.TaintTolerationComparisonOperators
	// 5          v1.34.4: Node: status.declaredFeatures
	// 4          v1.34.4: CSIDriver: spec.preventPodSchedulingIfMissing
	// 4          v1.34.4: Pod: spec.containers.restartPolicyRules
	// 3          v1.34.4: Node: amounts beyond 64 bits
	// 2          v1.34.4: DeviceClass: spec.extendedResourceName
	// 2          v1.34.4: scheduler: featureGates.InPlacePodVerticalScalingSchedulerPreemption
	// 1          v1.34.4: ResourceClaim: spec.devices.requests: tolerations
	// 1          v1.34.4: ResourceClaim: spec.devices.requests[1].exactly.allocationMode: all devices of a node
	// 1          v1.34.4: ResourceSlice: spec.devices: bindingConditions
	// … and 1 more reason
}
