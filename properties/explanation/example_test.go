package explanation_test

import (
	"context"
	"fmt"
	"os"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
)

// A test of a scheduler has a System of its own: inprocess.New(), for example, for
// the kube-scheduler that is linked in.
func Example() {
	stream, err := corpus.Load("../../corpus/cases/fewest-violations-decides.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	checker := &properties.Checker{System: modelsystem.New(release.Linked)}
	result, err := checker.Check(context.Background(), stream.Cases[0].Cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	e := explanation.Of(result, 10)
	fmt.Println(e.Pod, "preempts", e.Choices[0].Victims, "on", e.Choices[0].Node, "by", e.Choices[0].DecidedBy)
	fmt.Println()
	e.WriteText(os.Stdout)
	// Output:
	// default/p preempts [default/unguarded] on node-1 by fewest budget violations
	//
	// Pod default/p, priority 1000
	//
	// Filter: of 2 nodes, it fits on none.
	//
	//   NODES   PLUGIN             REASON                                  WHICH            PREEMPTION
	//   2       NodeResourcesFit   Insufficient cpu; Insufficient memory   node-1, node-2   could help
	//
	// Eligible: it may preempt pods of lower priority.
	//
	// Dry run: of 2 potential nodes, preemption helps on 2.
	//
	//   NODE     VICTIM              PRIORITY   STARTED                VIOLATES BUDGET
	//   node-1   default/unguarded   100        2024-01-01T00:01:00Z
	//   node-2   default/guarded     0          2024-01-01T00:01:00Z   default/foo
	//
	// Candidates: 2, best first.
	//
	//   NODE     VIOLATIONS   HIGHEST PRIORITY   SUM OF PRIORITIES*   VICTIMS   HIGHEST STARTED
	//   node-1   0            100                2147483748           1         2024-01-01T00:01:00Z
	//   node-2   1            0                  2147483648           1         2024-01-01T00:01:00Z
	//   * each counted from the lowest possible priority, -2147483648
	//
	// Pick: node-1, by fewest budget violations.
	//
	//   default/unguarded is marked as DisruptionTarget and deleted
	//   default/p is nominated to node-1
	//
	// kube-scheduler v1.37.1 agrees: it nominates node-1 and preempts default/unguarded.
}
