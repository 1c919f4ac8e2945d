package releases

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/patience"
	"github.com/preemptcheck/preemptcheck/reference/releases/lifewire"
)

var _ reference.LifeSystem = (*Isolated)(nil)

// Live implements reference.LifeSystem. What ends the process is the Crash of a trace.
func (s *Isolated) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	data, err := json.Marshal(isolatedRequest{Timeline: lifewire.OfTimeline(t), Patience: patience.Of(ctx, longest)})
	if err != nil {
		return nil, err
	}
	a := &isolatedAnswer{}
	err = s.answer(ctx, data, time.Duration(len(t.Cluster.Nodes)+len(t.Cluster.Pods)+len(t.Steps))*perObject, a)
	if died := (*failure)(nil); errors.As(err, &died) {
		a.told.System, a.told.Crash = s.release, died.crash()
		return &a.told, nil
	}
	if err != nil {
		return nil, err
	}
	return a.Trace.Received(), nil
}
