package reference_test

import (
	"context"
	"fmt"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// A pool of two schedulers says what becomes of a case, stage by stage.
func Example() {
	stream, err := corpus.Load("../corpus/cases/basic-preemption.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	var schedulers reference.System = reference.NewPool(inprocess.New(), inprocess.New())
	defer schedulers.Close()
	o, err := schedulers.Observe(context.Background(), stream.Cases[0].Cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("potential nodes:", o.PotentialNodes)
	for _, node := range o.Candidates {
		fmt.Println("candidate", node+":", o.DryRuns[node])
	}
	fmt.Println("nominated:", o.Pick.Node, "deleted:", o.Actuation.Deleted)
	// Output:
	// potential nodes: [node1]
	// candidate node1: victims [default/victim-pod], 0 violations
	// nominated: node1 deleted: [default/victim-pod]
}
