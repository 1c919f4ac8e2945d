package properties

import (
	"errors"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// WithMetrics is the cycle once more, with the metrics that it moves: only one scheduler of a process may run while these are read. It is nil
// if the system reads none, if nothing was tried, or if the system breaks down meanwhile: then broken says so.
func (s *Subject) WithMetrics() (o *model.Observation, broken []Finding, err error) {
	system, ok := s.System.(reference.StressSystem)
	if !ok || s.Observation.Aftermath == nil {
		return nil, nil, nil
	}
	o, err = system.ObserveUnder(s.Context, s.Cluster, reference.Circumstances{Metrics: true})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	if breaks, findings := Breaks(s.Cluster, o); breaks {
		return nil, findings, nil
	}
	if o.Aftermath.Metrics == nil {
		return nil, nil, nil
	}
	return o, nil, nil
}
