package arrivals_test

import (
	"context"
	"fmt"
	"os"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/coming"
	"github.com/preemptcheck/preemptcheck/model/arrival"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
	"github.com/preemptcheck/preemptcheck/properties/explanation/arrivals"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// A manifest comes to the cluster of a dump.
func Example() {
	const testdata = "../../../cmd/preemptcheck/app/testdata/arrivals/"
	stream, err := corpus.Load(testdata + "cluster.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := os.ReadFile(testdata + "web.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	var manifests coming.Manifests
	if err := manifests.Add(text, "web.yaml"); err != nil {
		fmt.Println(err)
		return
	}
	comes, err := manifests.For(stream.Dump)
	if err != nil {
		fmt.Println(err)
		return
	}
	system := inprocess.New()
	defer system.Close()
	bounds := arrival.Bounds{Levels: 3, Cycles: 1_000}
	decide := explanation.Decides(&properties.Checker{System: system}, stream.NotGiven)
	course, err := arrival.Run(context.Background(), stream.Dump, comes, decide, bounds)
	if err != nil {
		fmt.Println(err)
		return
	}
	story := arrivals.Tell(stream.Dump, comes, course, bounds, system.Name())
	for _, g := range story.Going {
		fmt.Println(g.Workload, "loses", g.Pods, "of", g.Of)
	}
	for _, c := range story.Next {
		if len(c.Preempts) > 0 {
			fmt.Println(c.Pod, "preempts in turn", c.Preempts, "on", c.Node)
		}
	}
	// Output:
	// Deployment shop/cache loses 2 of 2
	// StatefulSet shop/search loses 1 of 1
	// Job batch/report loses 1 of 1
	// Pod batch/debug loses 1 of 1
	// shop/search-0 preempts in turn [batch/report-1] on node-3
}
