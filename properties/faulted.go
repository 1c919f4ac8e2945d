package properties

import (
	"errors"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Faulted is what a scheduler does when an API call of its cycle fails.
type Faulted struct {
	Fault       reference.Fault
	Observation *model.Observation
}

// maxFaults is how many calls of a cycle are made to fail, each in a cycle of its own.
const maxFaults = 8

// Faulted asks the system once for each API call of the cycle, which then fails with
// an error that depends on the cluster alone; of many calls, for some. None if the
// system does not show its calls, or cannot make them fail.
func (s *Subject) Faulted() ([]Faulted, error) {
	system, ok := s.System.(reference.StressSystem)
	if s.faulted != nil || s.Observation.Aftermath == nil || !ok {
		return s.faulted, nil
	}
	s.faulted = []Faulted{}
	random := Random(s.Cluster, "faults")
	calls := random.Perm(len(s.Observation.Aftermath.Calls))
	calls = calls[:min(len(calls), maxFaults)]
	slices.Sort(calls)
	for _, n := range calls {
		errs := reference.APIErrors()
		fault := reference.Fault{Call: n, Error: errs[random.IntN(len(errs))], Passing: random.IntN(4) == 0}
		o, err := system.ObserveUnder(s.Context, s.Cluster, reference.Circumstances{Fault: &fault})
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		s.faulted = append(s.faulted, Faulted{fault, o})
	}
	return s.faulted, nil
}

// Under is the subject of that cycle.
func (s *Subject) Under(f Faulted) *Subject {
	under := *s
	under.Observation = f.Observation
	return &under
}
