package releases

import (
	"fmt"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
)

// lateSettings are the settings that not all drivers put into force: from which
// minor release on they are.
var lateSettings = []struct {
	field string
	from  int
	set   func(s *model.Settings) bool
	why   string
}{
	{"configuration", 25, func(s *model.Settings) bool { return len(s.Configuration) > 0 }, "reads none: kubescheduler.config.k8s.io/v1 came with v1.25"},
	{"extenders", 25, func(s *model.Settings) bool { return len(s.Extenders) > 0 }, "does not call extenders"},
	{"profiles[1]", 25, func(s *model.Settings) bool { return s.SecondProfile != nil }, "has one profile"},
	{"parallelism", 25, func(s *model.Settings) bool { return s.Parallelism != nil && *s.Parallelism != 1 }, "looks at one node at a time"},
	{"noDefaultConstraints", 38, func(s *model.Settings) bool { return s.NoDefaultConstraints }, "leaves them at their default"},
	{"featureGates.SchedulerAsyncAPICalls", 38, func(s *model.Settings) bool { return s.FeatureGates["SchedulerAsyncAPICalls"] }, "does not see asynchronous API calls"},
	{"percentageOfNodesToScore", 25, func(s *model.Settings) bool { return s.PercentageOfNodesToScore != nil }, "leaves it at its default"},
}

// refusedSettings says which settings the driver of a release does not put into
// force; "" if it does so with all of them. DryRunOffset is never one: a driver that
// cannot pin it does not say that it has (Observation.PinnedDryRuns).
func refusedSettings(release string, s *model.Settings) string {
	minor := mustParse(release).Minor
	var refused []string
	for _, l := range lateSettings {
		if minor < l.from && l.set(s) {
			refused = append(refused, fmt.Sprintf("scheduler: %s: the driver of %s %s", l.field, release, l.why))
		}
	}
	if minor < 20 && (s.MinCandidateNodesPercentage != nil || s.MinCandidateNodesAbsolute != nil) {
		refused = append(refused, "DefaultPreemptionArgs") // there are none: all nodes are tried
	}
	return strings.Join(refused, "; ")
}
