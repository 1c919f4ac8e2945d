package properties

import (
	"cmp"
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/outside"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Subject is a cluster together with what a scheduler did with it.
type Subject struct {
	Context     context.Context
	Cluster     *model.Cluster
	Observation *model.Observation
	// Decision is what the documented rules allow; nil if the model does not cover the
	// cluster.
	Decision *answers.Set
	// Group is the same where the preemptor is a pod group; nil elsewhere.
	Group *podgroups.Set
	// Unmodelled is what the model does not cover. If there is a Decision all the same,
	// the plugins that it concerns were believed, and which nodes the scheduler looked at:
	// see answers.Told and answers.Searched.
	Unmodelled model.Unmodelled
	// System is the scheduler, to be asked about variations of the cluster.
	System reference.System
	// Release is whose rules and known findings apply.
	Release release.Release

	// assumed holds the ids of the ledger entries that are assumed: see Assumes.
	assumed []string
	indexed *podIndex
	storage *volume.Index        // see Claims
	judged  map[string]Judgement // see Fits
	trial   *answers.Trial       // see FitsByModel
	filters map[string]FilterCount
	runs    *filterRuns
	faulted []Faulted // see Faulted
	reached map[string]bool
	asked   *asked // see Ask
	// plain is what the rules allow without plugins that are not the scheduler's own; nil if it has none.
	plain *answers.Set
	// ofPlugins are those of AskedOf.
	ofPlugins []string
	// model is that of the scheduler's plugin, if it is modelled; reading is the number of the reading of its documents.
	model   *outside.Variant
	reading int
	cycle   *model.Cycle // see mayPreempt
}

// Assuming is the subject of a scheduler that is known to have some findings.
func (s *Subject) Assuming(ids ...string) *Subject {
	lenient := *s
	lenient.assumed, lenient.judged, lenient.trial, lenient.cycle = ids, nil, nil, nil
	return &lenient
}

// Other is the subject of another cluster, under the same assumptions.
func (s *Subject) Other(c *model.Cluster, o *model.Observation) *Subject {
	return &Subject{Context: s.Context, Cluster: c, Observation: o, System: s.System, Release: s.Release, assumed: s.assumed, ofPlugins: s.ofPlugins, model: s.model, reading: s.reading}
}

// Reach notes that something came about when the system was asked again: see
// Result.Reached.
func (s *Subject) Reach(what string) {
	if s.reached != nil {
		s.reached[what] = true
	}
}

// Assumes tells whether a known finding counts as what should happen. A property
// asks at the place where the finding would break it. A finding is explained by
// the entries of the ledger that make it go away once they are assumed.
func (s *Subject) Assumes(id string) bool { return slices.Contains(s.assumed, id) }

// AssumesAny tells whether any known finding is assumed.
func (s *Subject) AssumesAny() bool { return len(s.assumed) > 0 }

// Rules are the documented ones, with the quirks of the findings that are assumed.
func (s *Subject) Rules() *answers.Rules {
	all := release.Quirks()
	if s.model != nil {
		all = append(all, ledger.QuirksOfPlugin(s.model.Plugin)...)
	}
	on := slices.DeleteFunc(all, func(q release.Quirk) bool { return !s.Assumes(string(q)) })
	return s.rulesWith(on...)
}

// documented are Rules in which no plugin is believed.
func (s *Subject) documented() *answers.Rules {
	strict := *s
	strict.Unmodelled = nil
	return strict.Rules()
}

// rulesWith are the documented rules with some quirks. Plugins that are not modelled are
// believed.
func (s *Subject) rulesWith(quirks ...release.Quirk) *answers.Rules {
	rules := s.with(quirks...)
	if s.Decision != nil && len(s.Unmodelled) > 0 {
		if told, ok := believed(rules, s); ok {
			return told
		}
	}
	return rules
}

// Extended tells whether the scheduler has extenders.
func (s *Subject) Extended() bool {
	return len(s.Cluster.Settings.Extenders) > 0 || configuration.Extended(s.Cluster.Settings)
}

// podIndex finds the pods of a cluster: properties ask for those of a node, or of
// a name, once for each of a thousand nodes.
type podIndex struct {
	byKey     map[string]*v1.Pod
	onNode    map[string][]*v1.Pod
	elsewhere bool // see OtherNodesMatter
	groups    *unit.Groups
	grouped   bool // see Grouped
	together  bool // see Together
}

func (s *Subject) index() *podIndex {
	if s.indexed != nil {
		return s.indexed
	}
	s.indexed = &podIndex{byKey: make(map[string]*v1.Pod, len(s.Cluster.Pods)), onNode: map[string][]*v1.Pod{}, groups: s.Cluster.Groups()}
	for _, p := range s.Cluster.Pods {
		s.indexed.byKey[model.Key(p)] = p
		if node := p.Spec.NodeName; node != "" {
			s.indexed.onNode[node] = append(s.indexed.onNode[node], p)
		}
		s.indexed.together = s.indexed.together || s.indexed.groups.Whole(p) != nil
		s.indexed.grouped = s.indexed.grouped || p.Spec.SchedulingGroup != nil && s.Cluster.Settings.FeatureGates[model.GateWorkload]
	}
	if s.Cluster.Preemptor == nil {
		return s.indexed
	}
	s.indexed.elsewhere = configuration.MaySpread(s.Cluster.Settings, s.Cluster.Preemptor) || volume.Mounts(s.Cluster.Preemptor) || RequiresPods(s.Cluster.Preemptor) || slices.ContainsFunc(s.Cluster.Pods, RequiresPods)
	return s.indexed
}

// OtherNodesMatter tells whether it depends on the pods of other nodes if the
// preemptor fits on a node: by its volumes or spread constraints, or by affinity
// or anti-affinity of some pod.
func (s *Subject) OtherNodesMatter() bool { return s.index().elsewhere }

// Grouped tells whether some pod names a group, and the scheduler looks for such, whether it
// exists or not.
func (s *Subject) Grouped() bool { return s.index().grouped }

// Together tells whether some pod can only be preempted together with others.
func (s *Subject) Together() bool { return s.index().together }

// Priority is what counts for a pod: that of its group, if it belongs to one
// (unit.Groups.Priority).
func (s *Subject) Priority(p *v1.Pod) int32 { return s.index().groups.Priority(p, model.Priority(p)) }

// Unit is what goes with a pod: the group that is preempted as a whole, or nil.
func (s *Subject) Unit(p *v1.Pod) *unit.Group { return s.index().groups.Whole(p) }

// Pod is the pod of that key, or nil.
func (s *Subject) Pod(key string) *v1.Pod { return s.index().byKey[key] }

// Pods are the pods of those keys. Keys that are not in the cluster are left out.
func (s *Subject) Pods(keys []string) []*v1.Pod {
	var pods []*v1.Pod
	for _, key := range keys {
		if p := s.Pod(key); p != nil {
			pods = append(pods, p)
		}
	}
	return pods
}

// Victims are the pods that were preempted, most important first; none if nothing
// was.
func (s *Subject) Victims() []*v1.Pod {
	if s.Observation.Pick == nil {
		return nil
	}
	return s.Pods(s.Observation.Pick.Victims)
}

// Preemptable are the pods on a node that the preemptor's priority allows it to
// preempt, most important first.
func (s *Subject) Preemptable(node string) []*v1.Pod {
	var pods []*v1.Pod
	for _, p := range s.index().onNode[node] {
		if s.mayPreempt(p) {
			pods = append(pods, p)
		}
	}
	slices.SortStableFunc(pods, s.CompareImportance)
	return pods
}

// mayPreempt tells whether the preemptor may preempt a pod, by its priority or, if there is one, by the modelled plugin.
func (s *Subject) mayPreempt(p *v1.Pod) bool {
	if s.model != nil && s.cycle == nil {
		rules := s.Rules()
		s.cycle = rules.NewCycle(rules.Noticed(s.Cluster))
	}
	if s.cycle == nil {
		return s.Priority(p) < model.Priority(s.Cluster.Preemptor)
	}
	n := s.cycle.Node(p.Spec.NodeName)
	return n != nil && slices.ContainsFunc(s.cycle.PodsOn(n, true), func(other *filter.Pod) bool { return other.Key == model.Key(p) })
}

// CompareImportance is negative if a is more important than b: the higher priority,
// then the earlier start (preemption/util.go:67@v1.37.1, MoreImportantVictim). It is
// 0 if they are equally important. It is about pods that are preempted one by one.
func (s *Subject) CompareImportance(a, b *v1.Pod) int {
	if s.Assumes("member-ranks-as-group") && s.Cluster.Settings.FeatureGates[model.GateWorkload] && s.Priority(a) == s.Priority(b) {
		switch inGroup := a.Spec.SchedulingGroup != nil; {
		case inGroup == (b.Spec.SchedulingGroup != nil):
		case inGroup:
			return -1
		default:
			return 1
		}
	}
	return cmp.Or(cmp.Compare(s.Priority(b), s.Priority(a)), s.Started(a).Compare(s.Started(b)))
}

// farFuture is when pods without a start time start: they count as starting now,
// whenever that is (util/utils.go:53@v1.37.1, GetPodStartTime).
var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Started is when a pod started. It is a time in the far future for pods without a
// start time, and for all pods if the release does not look at start times yet.
func (s *Subject) Started(p *v1.Pod) time.Time {
	if p.Status.StartTime == nil || !s.Holds(StartTimesCount) {
		return farFuture
	}
	return p.Status.StartTime.Time
}

// MarkedAsVictim tells whether the status of a pod says that a scheduler preempts
// it (KEP-3329).
func MarkedAsVictim(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.DisruptionTarget && c.Status == v1.ConditionTrue && c.Reason == v1.PodReasonPreemptionByScheduler
	})
}

// Condition is one of a pod's conditions after the cycle, and whether it was written.
func (s *Subject) Condition(p *v1.Pod, kind v1.PodConditionType) (c model.Condition, written bool) {
	for _, old := range p.Status.Conditions {
		if old.Type == kind {
			c = model.Condition{Type: string(kind), Status: string(old.Status), Reason: old.Reason, Message: old.Message, ObservedGeneration: old.ObservedGeneration}
		}
	}
	for _, call := range s.Observation.Aftermath.Calls {
		if call.Object != model.Key(p) || call.Failed != "" {
			continue
		}
		for _, patch := range call.Conditions {
			if patch.Type != string(kind) {
				continue
			}
			written = true
			// A patch holds differences only.
			c.Type, c.Status, c.Reason, c.Message = patch.Type, cmp.Or(patch.Status, c.Status), cmp.Or(patch.Reason, c.Reason), cmp.Or(patch.Message, c.Message)
			c.ObservedGeneration = cmp.Or(patch.ObservedGeneration, c.ObservedGeneration)
		}
	}
	return c, written
}
