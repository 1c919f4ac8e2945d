package app

import (
	"context"
	"fmt"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize/report"
)

// minimiseTimeline makes the timeline of a case small with the scheduler of that name.
func minimiseTimeline(ctx context.Context, reference string, c *corpus.Case) (*report.Report, error) {
	life, err := checkers.NewLife(reference)
	if err != nil {
		return nil, err
	}
	if life == nil {
		return nil, fmt.Errorf("%s cannot be run through timelines", reference)
	}
	defer life.Close()
	return report.MinimiseTimeline(ctx, life.Live, c)
}
