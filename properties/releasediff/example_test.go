package releasediff_test

import (
	"context"
	"fmt"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
)

// The schedulers of releases are releases.New("v1.31.0") and so on; here, models
// stand for them.
func Example() {
	side := func(name string) releasediff.Side {
		version, _ := release.Parse(name)
		return releasediff.Side{Release: version, System: modelsystem.New(version)}
	}
	stream, err := corpus.Load("../../corpus/cases/finding-first-victim-is-highest.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := releasediff.New(side("v1.31.0"), side("v1.31.14")).Compare(context.Background(), stream.Cases[0].Cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Verdict)
	for _, line := range r.Lines() {
		fmt.Println(line)
	}
	for _, effect := range r.Effects {
		fmt.Println(effect)
	}
	// Output:
	// different
	// preempts default/b, default/a on node-1, writes besides: patch default/a [status]: phase Pending
	// preempts default/b, default/a on node-1
	// fixed: A victim gets the preemptor's status with the condition DisruptionTarget; fewer writes to other pods
}
