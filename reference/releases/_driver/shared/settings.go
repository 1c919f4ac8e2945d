package main

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/reference/releases/driver/wire"
)

// settings is what a scheduler is built for, and what it is reused by.
type settings struct {
	gates                    string
	minPercentage, minNumber int32
}

func newSettings(s wire.Settings) settings {
	key := settings{fmt.Sprint(s.FeatureGates), 10, 100} // fmt sorts a map
	if s.MinCandidateNodesPercentage != nil {
		key.minPercentage = *s.MinCandidateNodesPercentage
	}
	if s.MinCandidateNodesAbsolute != nil {
		key.minNumber = *s.MinCandidateNodesAbsolute
	}
	return key
}
