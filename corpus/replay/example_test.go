package replay_test

import (
	"context"
	"fmt"
	"os"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
)

// A test of a scheduler has a System of its own: inprocess.New(), for example, for
// the kube-scheduler that is linked in.
func Example() {
	checker := &properties.Checker{System: modelsystem.New(release.Linked), Release: release.Linked, Properties: invariant.All()}
	var report replay.Report
	for _, name := range []string{"fewest-violations-decides", "finding-budget-order"} {
		stream, err := corpus.Load("../cases/" + name + ".yaml")
		if err != nil {
			fmt.Println(err)
			return
		}
		report.Add(replay.Judge(context.Background(), checker, stream.Cases[0]))
	}
	report.WriteText(os.Stdout)
	// Output:
	// NAME                        OUTCOME                DECIDED BY                       RESULT
	// fewest-violations-decides   preempts 1 on node-1   fewest budget violations         agrees
	// finding-budget-order        preempts 1 on node-1   lowest highest-priority victim   remark: budget-order (debatable)
	//
	// KNOWN FINDING              CASES
	// budget-order (debatable)   1
	//
	// 2 passed (1 with remarks), 0 failed
}
