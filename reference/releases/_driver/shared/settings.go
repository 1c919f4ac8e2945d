package main

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/model"
)

// settings is what a scheduler is built for, and what it is reused by.
type settings struct {
	gates                    string
	minPercentage, minNumber int32
	// second is the name of the second profile, and the two after it its
	// arguments; "" if there is none.
	second                         string
	secondPercentage, secondNumber int32
	parallelism, toScore           int32
}

func newSettings(s model.Settings) settings {
	key := settings{
		gates:         fmt.Sprint(s.FeatureGates), // fmt sorts a map
		minPercentage: or(s.MinCandidateNodesPercentage, model.DefaultMinCandidateNodesPercentage),
		minNumber:     or(s.MinCandidateNodesAbsolute, model.DefaultMinCandidateNodesAbsolute),
		// One worker makes the order of dry runs, and so an early stop, exact.
		parallelism: or(s.Parallelism, 1),
		toScore:     or(s.PercentageOfNodesToScore, 0),
	}
	if p := s.SecondProfile; p != nil {
		key.second = p.SchedulerName
		key.secondPercentage = or(p.MinCandidateNodesPercentage, model.DefaultMinCandidateNodesPercentage)
		key.secondNumber = or(p.MinCandidateNodesAbsolute, model.DefaultMinCandidateNodesAbsolute)
	}
	return key
}

func or(p *int32, byDefault int32) int32 {
	if p == nil {
		return byDefault
	}
	return *p
}
