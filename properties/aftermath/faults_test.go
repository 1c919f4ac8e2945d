package aftermath

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// The metrics count what happens on generated clusters, and who miscounts is caught.
func TestMetricsCount(t *testing.T) {
	system := checktest.System(t).(reference.StressSystem)
	for seed := range uint64(testsize.Times(500)) {
		s := checktest.Subject(t, system, generators.FromSeed(seed))
		findings, err := MetricsCount.Findings(s)
		require.NoError(t, err)
		require.Empty(t, findings, "seed %d", seed)
	}
	lies := map[string]func(o *model.Observation){
		"an attempt to preempt is not counted": func(o *model.Observation) { o.Aftermath.Metrics.PreemptionAttempts-- },
		"a preemption is counted twice":        func(o *model.Observation) { o.Aftermath.Metrics.Preemptions++ },
		"it panics as it counts":               func(o *model.Observation) { o.Crash = &model.Crash{Kind: model.Panic, Message: "oops", Where: "x"} },
		"a victim is not counted":              func(o *model.Observation) { o.Aftermath.Metrics.Victims-- },
		"a pod that cannot be scheduled is counted as an error": func(o *model.Observation) {
			o.Aftermath.Metrics.ScheduleAttempts = map[string]int{"error default-scheduler": 1}
		},
		"an attempt is counted for another profile": func(o *model.Observation) {
			o.Aftermath.Metrics.ScheduleAttempts = map[string]int{"unschedulable other-scheduler": 1}
		},
	}
	require.ElementsMatch(t, MetricsCount.Lies, slices.Collect(maps.Keys(lies)))
	for name, lie := range lies {
		s := checktest.Subject(t, faultLiar{system, lie}, cluster())
		findings, err := MetricsCount.Findings(s)
		require.NoError(t, err)
		require.Len(t, findings, 1, name)
	}
}

// The promises hold on generated clusters, or are broken in a known way.
func TestFaultsOnGeneratedClusters(t *testing.T) {
	system := checktest.System(t)
	faults, known, spared := 0, 0, map[string]int{}
	for seed := range uint64(testsize.Times(1000)) {
		s := checktest.Subject(t, system, generators.FromSeed(seed))
		if s.Observation.Crash != nil {
			continue
		}
		for _, p := range Faults() {
			findings, err := p.Findings(s)
			require.NoError(t, err, "seed %d, %s", seed, p.Name)
			for _, f := range findings {
				if known++; len(f.Known) == 0 {
					t.Errorf("seed %d: %v", seed, f)
				}
			}
		}
		all, err := s.Faulted()
		require.NoError(t, err)
		faults += len(all)
		for _, one := range all {
			f := &faulted{Subject: s.Under(one), fault: one.Fault}
			if one.Observation.Crash == nil && onNode(f.spared()) {
				spared[situation(f)]++
			}
		}
	}
	for _, way := range ways {
		n := 0
		for _, of := range situations(way) {
			n += spared[of]
		}
		t.Logf("%s: %d victims spared", way, n)
		assert.GreaterOrEqual(t, n, testsize.Times(10), way)
	}
	t.Logf("%d calls failed, known findings: %d", faults, known)
	assert.Positive(t, known)
}

// Each call about a victim fails with each error in each way of preempting, and all promises
// are kept, or broken in a known way.
func TestEachCallAboutAVictimFails(t *testing.T) {
	system := checktest.System(t)
	spared := map[string]int{}
	for n := range 60 {
		for _, gates := range []map[string]bool{
			{"SchedulerAsyncPreemption": true}, {"SchedulerAsyncPreemption": false}, {"SchedulerAsyncPreemption": true, "SchedulerAsyncAPICalls": true},
		} {
			c := cluster()
			c.Preemptor.Name = fmt.Sprintf("p-%d", n)
			c.Settings.FeatureGates = gates
			r, err := (&properties.Checker{System: system, Properties: Faults()}).Check(t.Context(), c)
			require.NoError(t, err)
			require.Empty(t, r.Unexplained(), "%s: %v", c.Preemptor.Name, gates)
			s := checktest.Subject(t, system, c)
			all, err := s.Faulted()
			require.NoError(t, err)
			for _, one := range all {
				if f := (&faulted{Subject: s.Under(one), fault: one.Fault}); onNode(f.spared()) {
					spared[situation(f)]++
				}
			}
		}
	}
	for _, way := range ways {
		for _, of := range situations(way) {
			assert.Positive(t, spared[of], of)
		}
	}
}

// ways are those in which the scheduler preempts.
var ways = []string{"asynchronous", "synchronous", "asynchronous calls"}

// situations are those in which a victim is spared, in one way of preempting.
func situations(way string) (all []string) {
	for _, err := range []reference.APIError{reference.Conflict, reference.InternalError, reference.Timeout} {
		for _, verb := range []string{"patch", "delete"} {
			all = append(all, fmt.Sprintf("%s, %s, %s", way, verb, err))
		}
	}
	return all
}

// situation is how the scheduler preempts, and which call fails how.
func situation(f *faulted) string {
	way := "synchronous"
	switch {
	case gateOn(f.Subject, "SchedulerAsyncAPICalls"):
		way = "asynchronous calls"
	case f.Cluster.Settings.AsyncPreemption():
		way = "asynchronous"
	}
	return fmt.Sprintf("%s, %s, %s", way, f.lost().Verb, f.fault.Error)
}

// faultLiar tells the truth unless a call fails.
type faultLiar struct {
	reference.StressSystem
	tell func(o *model.Observation)
}

func (l faultLiar) ObserveUnder(ctx context.Context, c *model.Cluster, under reference.Circumstances) (*model.Observation, error) {
	o, err := l.StressSystem.ObserveUnder(ctx, c, under)
	if err == nil {
		l.tell(o)
	}
	return o, err
}

// failedCall is the first call that failed.
func failedCall(o *model.Observation) *model.Call {
	return &o.Aftermath.Calls[slices.IndexFunc(o.Aftermath.Calls, func(c model.Call) bool { return c.Failed != "" })]
}

func deletes(pod string) func(*model.Observation) {
	return func(o *model.Observation) {
		o.Aftermath.Calls = append(o.Aftermath.Calls, model.Call{Verb: "delete", Resource: "pods", Object: pod})
	}
}

func withoutCalls(which func(c, failed *model.Call) bool) func(*model.Observation) {
	return func(o *model.Observation) {
		failed := *failedCall(o)
		o.Aftermath.Calls = slices.DeleteFunc(o.Aftermath.Calls, func(c model.Call) bool { return which(&c, &failed) })
	}
}

var faultLies = []struct {
	property, name string
	tell           func(o *model.Observation)
}{
	{"fault-gets-through", "a call that fails is followed by a panic", func(o *model.Observation) { o.Crash = &model.Crash{Kind: model.Panic} }},
	{"retried-after-fault", "the pod is lost", func(o *model.Observation) { o.Aftermath.Queue = model.QueueNone }},
	{"retried-after-fault", "the pod waits for a deletion that does not come", func(o *model.Observation) { o.Aftermath.Queue = model.QueueUnschedulable }},
	{"retried-after-fault", "the pod stays gated", func(o *model.Observation) { o.Aftermath.Gated = true }},
	{"activated-after-fault", "nobody is activated", func(o *model.Observation) { o.Aftermath.Activated = nil }},
	{"activated-after-fault", "nobody is activated as a nomination cannot be withdrawn", func(o *model.Observation) {
		if failedCall(o).NominatedNode != nil {
			o.Aftermath.Activated = nil
		}
	}},
	{"activated-after-fault", "another pod is activated", func(o *model.Observation) { o.Aftermath.Activated = append(o.Aftermath.Activated, "default/other") }},
	{"tried-again", "a patch is not tried again", withoutCalls(func(c, failed *model.Call) bool { return c.Failed == "" && like(c, failed) })},
	{"only-victims-deleted", "a pod of another node is deleted instead", deletes("default/other")},
	{"last-victim-spared", "the last victim is deleted all the same", deletes("default/low")},
	{"spared-is-not-told", "a pod that is not deleted is told that it is preempted", func(o *model.Observation) {
		o.Aftermath.Events = append(o.Aftermath.Events, model.Event{Reason: "Preempted", Regarding: "Pod " + failedCall(o).Object})
	}},
	{"spared-is-held", "a victim that still runs is forgotten", func(o *model.Observation) {
		o.Aftermath.Held = slices.DeleteFunc(o.Aftermath.Held, func(key string) bool { return key == failedCall(o).Object })
	}},
	{"unmarked-is-not-deleted", "a victim that could not be marked is deleted", func(o *model.Observation) { deletes(failedCall(o).Object)(o) }},
	{"deleted-is-told", "a victim that is deleted is not told", func(o *model.Observation) { withoutEvent("Preempted")(o.Aftermath) }},
	{"failed-preemption-is-told", "a preemption that failed is answered as a success", func(o *model.Observation) { o.PostFilterCode = "Success" }},
	{"failed-preemption-is-told", "the event does not say the error", func(o *model.Observation) {
		e := eventOf(o.Aftermath, "FailedScheduling")
		e.Note = strings.ReplaceAll(e.Note, failedCall(o).Failed, "")
	}},
	{"failed-preemption-is-told", "the condition does not say the error", func(o *model.Observation) {
		for i := range o.Aftermath.Calls {
			c := &o.Aftermath.Calls[i]
			for j := range c.Conditions {
				c.Conditions[j].Message = strings.ReplaceAll(c.Conditions[j].Message, failedCall(o).Failed, "")
			}
		}
	}},
	{"gone-is-no-error", "a victim that is gone ends the preemption", withoutCalls(func(c, _ *model.Call) bool { return c.Verb == "delete" })},
	{"no-nomination-without-preemption", "a preemption that failed nominates", func(o *model.Observation) { o.Aftermath.NominatedTo = "node-1" }},
	{"no-nomination-without-preemption", "a preemption that failed nominates to another node", func(o *model.Observation) { o.Aftermath.NominatedTo = "node-9" }},
}

// A scheduler that lies when a call fails is caught, on one of some clusters: they get
// different errors.
func TestFaultsCatchLies(t *testing.T) {
	system := checktest.System(t).(reference.StressSystem)
	caught := map[string][]string{}
	for _, lie := range faultLies {
		i := slices.IndexFunc(Faults(), func(p properties.Property) bool { return p.Name == lie.property })
		require.GreaterOrEqual(t, i, 0, lie.property)
		for n := range 50 {
			c := cluster()
			c.Preemptor.Name = fmt.Sprintf("p-%d", n)
			c.Settings.FeatureGates = map[string]bool{"SchedulerAsyncPreemption": n%2 == 0}
			check := func(system reference.System) []properties.Finding {
				checker := &properties.Checker{System: system, Properties: Faults()[i : i+1]}
				r, err := checker.Check(t.Context(), c)
				require.NoError(t, err)
				return r.Unexplained()
			}
			require.Empty(t, check(system), "the truth")
			if len(check(faultLiar{system, lie.tell})) > 0 {
				t.Logf("%s: caught on cluster %d: %s", lie.property, n, lie.name)
				caught[lie.property] = append(caught[lie.property], lie.name)
				break
			}
		}
	}
	for _, p := range Faults() {
		assert.NotEmpty(t, p.Lies, "no lie breaks %s", p.Name)
		assert.Equal(t, p.Lies, caught[p.Name], p.Name)
	}
}

// TestKnownNominationIsToItsNode: with asynchronous preemption, what is known excuses the nomination
// to the node whose pods were to be preempted, and to no other.
func TestKnownNominationIsToItsNode(t *testing.T) {
	system := checktest.System(t).(reference.StressSystem)
	excused, caught := 0, 0
	for n := range 20 {
		c := cluster()
		c.Preemptor.Name = fmt.Sprintf("p-%d", n)
		c.Settings.FeatureGates = map[string]bool{"SchedulerAsyncPreemption": true}
		check := func(system reference.System) *properties.Result {
			r, err := (&properties.Checker{System: system, Properties: []properties.Property{NoNominationWithoutPreemption}}).Check(t.Context(), c)
			require.NoError(t, err)
			return r
		}
		honest := check(system)
		require.Empty(t, honest.Unexplained())
		if len(honest.Findings) == 0 {
			continue
		}
		excused++
		for _, tell := range []func(o *model.Observation){
			func(o *model.Observation) { o.Aftermath.NominatedTo = "node-9" },
			func(o *model.Observation) {
				o.Aftermath.Calls = append(o.Aftermath.Calls, model.Call{Verb: "patch", Resource: "pods/status", Object: model.Key(c.Preemptor), NominatedNode: new("node-9")})
			},
		} {
			if len(check(faultLiar{system, tell}).Unexplained()) > 0 {
				caught++
			}
		}
	}
	require.Positive(t, excused)
	require.Equal(t, 2*excused, caught)
}
