package bounded_test

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/generators/bounded"
)

// Every small cluster comes once; those that differ only in names are one class.
func ExampleClasses() {
	bounds := bounded.Bounds(1)
	classes, clusters := bounded.Count(bounds...)
	fmt.Println(bounds[0])
	fmt.Println(classes, "classes,", clusters, "clusters")
	for class := range bounded.Classes(bounds...) {
		c := class.Cluster()
		fmt.Println("the first has", len(c.Nodes), "nodes and", len(c.Pods), "pods")
		break
	}
	// Output:
	// ≤ 2 nodes, ≤ 3 pods, 2 priorities, sizes 1–2, lack 1–2, 1 start times
	// 2220 classes, 8706 clusters
	// the first has 1 nodes and 0 pods
}
