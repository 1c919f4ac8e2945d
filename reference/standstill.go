package reference

import "github.com/preemptcheck/preemptcheck/model"

// Standstill is the error of a call of a plugin that does not come back.
type Standstill struct{ Crash *model.Crash }

func (s *Standstill) Error() string { return s.Crash.String() }
