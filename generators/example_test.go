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

// Every small cluster comes once; those that differ only in names are one class.
func ExampleExhaustive() {
	bounds := generators.Bounds(1)
	classes, clusters := generators.Count(bounds...)
	fmt.Println(bounds[0])
	fmt.Println(classes, "classes,", clusters, "clusters")
	for class := range generators.Exhaustive(bounds...) {
		c := class.Cluster()
		fmt.Println("the first has", len(c.Nodes), "nodes and", len(c.Pods), "pods")
		break
	}
	// Output:
	// ≤ 2 nodes, ≤ 3 pods, 2 priorities, sizes 1–2, lack 1–2, 1 start times
	// 2220 classes, 8706 clusters
	// the first has 1 nodes and 0 pods
}
