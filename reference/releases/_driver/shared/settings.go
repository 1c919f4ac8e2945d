package main

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/model"
)

// settings is what a scheduler is built for, and what it is reused by.
type settings struct {
	gates                string
	first, second        profileSettings // the second is zero if there is none
	parallelism, toScore int32
	// configuration is a whole one, as JSON; "" if there is none.
	configuration string
}

type profileSettings struct {
	name                     string
	minPercentage, minNumber int32
}

func newSettings(s model.Settings) settings {
	key := settings{
		gates: fmt.Sprint(s.FeatureGates), // fmt sorts a map
		first: newProfile(model.DefaultSchedulerName, s.MinCandidateNodesPercentage, s.MinCandidateNodesAbsolute),
		// One worker makes the order of dry runs, and so an early stop, exact.
		parallelism: or(s.Workers(), 1),
		toScore:     or(s.NodesToScore(""), 0),

		configuration: string(s.Configuration),
	}
	if p := s.SecondProfile; p != nil {
		key.second = newProfile(p.SchedulerName, p.MinCandidateNodesPercentage, p.MinCandidateNodesAbsolute)
	}
	return key
}

func newProfile(name string, minPercentage, minNumber *int32) profileSettings {
	return profileSettings{name, or(minPercentage, model.DefaultMinCandidateNodesPercentage), or(minNumber, model.DefaultMinCandidateNodesAbsolute)}
}

func or(p *int32, byDefault int32) int32 {
	if p == nil {
		return byDefault
	}
	return *p
}
