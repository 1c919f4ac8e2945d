package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/preemptcheck/preemptcheck/model"
)

// A scheduler has the pods of its profiles.
func TestSchedules(t *testing.T) {
	for second, want := range map[string][]string{"": {model.DefaultSchedulerName}, "second": {model.DefaultSchedulerName, "second"}} {
		var s model.Settings
		if second != "" {
			s.SecondProfile = &model.Profile{SchedulerName: second}
		}
		var has []string
		for _, name := range []string{model.DefaultSchedulerName, "second", "third"} {
			if s.Schedules(name) {
				has = append(has, name)
			}
		}
		assert.Equal(t, want, has)
	}
}
