package generators_test

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
)

// A seed names the same cluster on every machine.
func ExampleFromSeed() {
	c := generators.FromSeed(7)
	fmt.Println(len(c.Nodes), "nodes,", len(c.Pods), "pods; the preemptor is", model.Key(c.Preemptor))
	// Output: 2 nodes, 2 pods; the preemptor is default/preemptor
}

// In a test, draw clusters within rapid.Check: Cluster().Draw(t, "cluster"). One that
// fails is shrunk.
func ExampleCluster() {
	c := generators.Cluster().Example(1)
	fmt.Println("the preemptor is bound:", c.Preemptor.Spec.NodeName != "")
	// Output: the preemptor is bound: false
}
