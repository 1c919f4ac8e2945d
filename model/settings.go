package model

import (
	_ "embed"
	"encoding/json"
)

// SettingsSource is the text of this file. The drivers of other releases compile it,
// alone, as their package model: it imports nothing but the standard library.
//
//go:embed settings.go
var SettingsSource []byte

// DefaultSchedulerName is that of the profile which a scheduler has by itself.
const DefaultSchedulerName = "default-scheduler"

// Settings are the parts of the scheduler's configuration that preemption
// depends on. Their JSON names are those of DefaultPreemptionArgs and of
// KubeSchedulerConfiguration.
type Settings struct {
	// MinCandidateNodesPercentage and MinCandidateNodesAbsolute are
	// DefaultPreemptionArgs. nil means the default: 10 percent, 100 nodes.
	MinCandidateNodesPercentage *int32 `json:"minCandidateNodesPercentage"`
	MinCandidateNodesAbsolute   *int32 `json:"minCandidateNodesAbsolute"`
	// SecondProfile is a profile besides the default one, with the default plugins;
	// nil if there is none.
	SecondProfile *Profile `json:"secondProfile"`
	// Parallelism is how many nodes the scheduler looks at side by side. nil means
	// any number; the scheduler's default is 16.
	Parallelism *int32 `json:"parallelism"`
	// PercentageOfNodesToScore is after which share of the cluster's nodes that fit
	// the scheduler looks no further, in clusters of 100 nodes or more. nil and 0
	// mean the default, which depends on the size of the cluster.
	PercentageOfNodesToScore *int32 `json:"percentageOfNodesToScore"`
	// NoDefaultConstraints says that pods are not spread by default: PodTopologySpreadArgs
	// with the defaultingType List and no defaultConstraints. It matters to scores only,
	// and to whether pods have signatures, by which equal ones share their results.
	NoDefaultConstraints bool `json:"noDefaultConstraints,omitempty"`
	// DryRunOffset is at which of the potential nodes, in order of their names, dry
	// runs begin (modulo how many there are). The linked scheduler also picks that one
	// of equal candidates. It is no setting: a real scheduler draws it each time, and
	// takes the nodes in any order. nil means any.
	DryRunOffset *int32 `json:"dryRunOffset"`
	// FeatureGates holds the gates that differ from the release's defaults.
	FeatureGates map[string]bool `json:"featureGates"`
	// Extenders are asked in this order, those that are ignorable last.
	Extenders []Extender `json:"extenders"`
	// Configuration is a whole KubeSchedulerConfiguration, as JSON (config/v1/types.go:44@v0.37.1).
	// It takes the place of all of the above but for NoDefaultConstraints, DryRunOffset,
	// FeatureGates and Extenders. What it leaves out has the scheduler's default, but for
	// the parallelism, which is 1.
	Configuration json.RawMessage `json:"configuration,omitempty"`
}

// Profile is a profile of the scheduler.
type Profile struct {
	// SchedulerName is that of the pods which the profile is for.
	SchedulerName string `json:"schedulerName"`
	// MinCandidateNodesPercentage and MinCandidateNodesAbsolute are its
	// DefaultPreemptionArgs, as in Settings.
	MinCandidateNodesPercentage *int32 `json:"minCandidateNodesPercentage"`
	MinCandidateNodesAbsolute   *int32 `json:"minCandidateNodesAbsolute"`
}

// Schedules tells whether the scheduler has a profile for the pods of that
// schedulerName.
func (s Settings) Schedules(schedulerName string) bool {
	if c := s.configured(); c != nil {
		return c.profile(schedulerName) != nil
	}
	return schedulerName == DefaultSchedulerName || s.SecondProfile != nil && schedulerName == s.SecondProfile.SchedulerName
}

// Schedulers are the names of all profiles.
func (s Settings) Schedulers() (names []string) {
	if c := s.configured(); c != nil {
		for _, p := range c.Profiles {
			names = append(names, p.SchedulerName)
		}
		return names
	}
	if names = []string{DefaultSchedulerName}; s.SecondProfile != nil {
		names = append(names, s.SecondProfile.SchedulerName)
	}
	return names
}

// profile is the profile for the pods of a schedulerName.
func (s Settings) profile(schedulerName string) Profile {
	if c := s.configured(); c != nil {
		return c.arguments(schedulerName)
	}
	if schedulerName != DefaultSchedulerName && s.Schedules(schedulerName) {
		return *s.SecondProfile
	}
	return Profile{DefaultSchedulerName, s.MinCandidateNodesPercentage, s.MinCandidateNodesAbsolute}
}

// Workers is Parallelism, or that of the Configuration. nil means any number.
func (s Settings) Workers() *int32 {
	if c := s.configured(); c != nil {
		return c.Parallelism
	}
	return s.Parallelism
}

// NodesToScore is PercentageOfNodesToScore for the pods of a schedulerName: that of their
// profile, if the Configuration sets it there, comes first.
func (s Settings) NodesToScore(schedulerName string) *int32 {
	c := s.configured()
	if c == nil {
		return s.PercentageOfNodesToScore
	}
	if p := c.profile(schedulerName); p != nil && p.PercentageOfNodesToScore != nil {
		return p.PercentageOfNodesToScore
	}
	return c.PercentageOfNodesToScore
}

// Offset is DryRunOffset, or 0 if that is nil.
func (s Settings) Offset() int {
	if s.DryRunOffset == nil {
		return 0
	}
	return int(*s.DryRunOffset)
}

// Defaults of DefaultPreemptionArgs
// (apis/config/v1/defaults.go:179@v1.37.1, SetDefaults_DefaultPreemptionArgs).
const (
	DefaultMinCandidateNodesPercentage int32 = 10
	DefaultMinCandidateNodesAbsolute   int32 = 100
)

// GateAsyncPreemption names the gate that moves the API calls of a preemption
// out of the scheduling cycle (KEP-4832); on by default at v1.37.1. No documented
// rule depends on it.
const GateAsyncPreemption = "SchedulerAsyncPreemption"

// AsyncPreemption tells whether the cluster's scheduler preempts asynchronously.
func (s Settings) AsyncPreemption() bool {
	on, set := s.FeatureGates[GateAsyncPreemption]
	return on || !set
}

// ExtenderName is what takes the place of a plugin's name in the verdict on a
// node that an extender filtered out (framework/types.go:1420@v1.37.1).
const ExtenderName = "Extender"

// Extender says what a scheduler extender does: the same whenever it is asked.
type Extender struct {
	Name string `json:"name"`
	// ManagedResources are the extended resources that it manages: it is asked
	// about pods that request one of them. None means about every pod.
	ManagedResources []string `json:"managedResources"`
	// Ignorable: an error of it does not fail the scheduling of the pod.
	Ignorable bool `json:"ignorable"`
	// NodeCacheCapable: it is sent names of nodes and UIDs of pods in place of
	// objects.
	NodeCacheCapable bool `json:"nodeCacheCapable"`
	// Filter and Preempt are its answers; nil if it has no such verb.
	Filter  *ExtenderFilter  `json:"filter"`
	Preempt *ExtenderPreempt `json:"preempt"`
}

// ExtenderFilter is how an extender filters: it passes all nodes but those named.
type ExtenderFilter struct {
	// Fails: it answers with an error.
	Fails bool `json:"fails"`
	// Rejects are the nodes it lists as failed, Excludes those it lists as failed
	// and unresolvable; of a node that is in both, the latter counts. Omits are
	// left out of its answer without being listed as failed.
	Rejects  []string `json:"rejects"`
	Excludes []string `json:"excludes"`
	Omits    []string `json:"omits"`
}

// ExtenderPreempt is how an extender processes a preemption: it returns the
// candidates as they are, but for those named.
type ExtenderPreempt struct {
	// Fails, unless it is "", makes the answer an error.
	Fails PreemptFailure `json:"fails"`
	// Nothing: it returns no node at all.
	Nothing bool `json:"nothing"`
	// Drops are the nodes that it does not return.
	Drops   []string       `json:"drops"`
	Changes []VictimChange `json:"changes"`
}

// PreemptFailure is a way in which an extender fails to process a preemption.
type PreemptFailure string

// The ways: it says so itself, or it answers with something that does not exist.
const (
	PreemptError       PreemptFailure = "Error"
	PreemptUnknownNode PreemptFailure = "UnknownNode"
	PreemptUnknownPod  PreemptFailure = "UnknownPod"
)

// VictimChange is what an extender does to the victims on a candidate.
type VictimChange struct {
	Node string `json:"node"`
	// Reverses puts the victims in the opposite order.
	Reverses bool `json:"reverses"`
	// Keeps, if set, leaves only so many of them, the first in that order.
	Keeps *int32 `json:"keeps"`
	// Violations, if set, is the number of budget violations returned.
	Violations *int64 `json:"violations"`
}
