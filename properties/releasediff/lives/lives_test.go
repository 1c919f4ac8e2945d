package lives_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/releasediff/lives"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// other is the linked scheduler under the name of another release. It tells another story than it
// should.
type other struct {
	life.System
	tell func(t *timeline.Trace)
}

func (s other) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	trace, err := s.System.Live(ctx, t)
	if err == nil {
		trace.System = "v1.35.4"
		s.tell(trace)
	}
	return trace, err
}

// header comes before the steps. After them come a node with room for one pod, a victim v on it, and
// p and q, which are alike and want that room.
const header = `apiVersion: preemptcheck/v1alpha1
kind: Timeline
name: t
steps:
`

const objects = `
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "1", pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: v}
spec: {nodeName: node-1, priority: 0, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running, startTime: "2024-01-01T00:00:00Z"}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {priority: 10, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: q}
spec: {priority: 10, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
`

func read(t *testing.T, steps string) *timeline.Timeline {
	t.Helper()
	s, err := corpus.Read(strings.NewReader(header+steps+objects), "a timeline")
	require.NoError(t, err)
	return s.Cases[0].Timeline
}

const (
	preempted   = "- create: Pod default/p\n- create: Pod default/q\n- wait: 1m"
	preemptedBy = preempted + "\n- expect: {pod: p, node: node-1}"
)

// compare compares a release that tells a story with the linked one.
func compare(t *testing.T, steps string, tell func(t *timeline.Trace)) *lives.Comparison {
	t.Helper()
	from := other{life.New(), tell}
	t.Cleanup(func() { from.Close() })
	to := life.New()
	t.Cleanup(func() { to.Close() })
	c, err := lives.Compare(t.Context(), from, to, read(t, steps))
	require.NoError(t, err)
	return c
}

// pod is how a pod is when all is at rest.
func pod(t *timeline.Trace, name string) *timeline.PodState {
	i := slices.IndexFunc(t.Quiet.Pods, func(p timeline.PodState) bool { return p.Name == name })
	return &t.Quiet.Pods[i]
}

// drop leaves entries out.
func drop(t *timeline.Trace, what func(e *timeline.Entry) bool) {
	before := t.Entries[:t.FlushedAt]
	kept := slices.DeleteFunc(slices.Clone(before), func(e timeline.Entry) bool { return what(&e) })
	t.Entries = append(kept, t.Entries[t.FlushedAt:]...)
	t.FlushedAt = len(kept)
}

// TestDifferences: what users see otherwise is told, in these words.
func TestDifferences(t *testing.T) {
	for _, test := range []struct {
		name, steps string
		tell        func(t *timeline.Trace)
		kinds       []string
		did         [2]string // of the first
	}{
		{"alike", preemptedBy, func(*timeline.Trace) {}, nil, [2]string{}},
		{"breaks a promise", preempted, func(t *timeline.Trace) { t.Endless = "it goes on and on" },
			[]string{"kept now: the scheduler neither crashes, nor hangs, nor goes on for ever (gets-through: endless)"},
			[2]string{"gets-through: it goes on and on", "does not break that promise here"}},
		{"ends pending", preemptedBy, func(t *timeline.Trace) {
			p := pod(t, "default/p")
			p.Node, p.Nominated = "", "node-1"
			p.Queues, p.NominatedTo, p.CachedOn = []model.Queue{model.QueueActive}, []string{"node-1"}, nil
		}, []string{"a pod ends bound instead of pending and nominated"}, [2]string{"default/p ends pending and nominated to node-1", "default/p ends bound"}},
		{"an expectation", preemptedBy, func(t *timeline.Trace) {
			t.Unmet = []timeline.Unmet{{Step: 3, Expectation: timeline.Expectation{Pod: "default/p"}, Was: "it is gone"}}
		}, []string{"what a step expects is met now"}, [2]string{"at step 4 it is gone", "at step 4 default/p is bound to node-1"}},
		{"evicts nobody", preempted, func(t *timeline.Trace) {
			drop(t, func(e *timeline.Entry) bool { return e.What == timeline.Called && e.Call == timeline.Evict })
		}, []string{"a pod is preempted that was spared"}, [2]string{"default/v is not preempted", "default/v is deleted"}},
		{"preempts in memory", preempted, func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Called && e.Call == timeline.Evict {
					*e = timeline.Entry{What: timeline.Told, Object: e.Object, Text: "Preempted: in kube-scheduler memory"}
				}
			}
		}, []string{"a pod on its way to a node is deleted instead of being kept from it"}, [2]string{"default/v is kept from its node", "default/v is deleted"}},
		{"nominates nobody", preempted, func(t *timeline.Trace) {
			drop(t, func(e *timeline.Entry) bool {
				return e.What == timeline.Called && e.Call == timeline.Patch && strings.Contains(e.Text, "nominated to")
			})
		}, []string{"a pod is nominated on the way that was not"}, [2]string{"default/p is nominated to no node on the way", "default/p is nominated to node-1 on the way"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := compare(t, test.steps, test.tell)
			var kinds []string
			for _, d := range c.Main() {
				kinds = append(kinds, d.Kind)
			}
			require.Equal(t, test.kinds, kinds)
			if len(kinds) > 0 {
				require.Equal(t, test.did, c.Differences[0].Did)
				require.True(t, c.Has(kinds[0]))
			}
			require.False(t, c.Has("another"))
		})
	}
}

// TestNominatedAtRest: a nomination that is left counts, too.
func TestNominatedAtRest(t *testing.T) {
	require.Equal(t, []string{"a pod ends pending instead of pending and nominated"}, ends(compare(t, "- create: Pod default/p", func(t *timeline.Trace) {
		pod(t, "default/p").Nominated = "node-1"
	})))
}

// TestDeletedAgain: a deletion of a pod that terminates already is told apart.
func TestDeletedAgain(t *testing.T) {
	c := compare(t, preempted, func(t *timeline.Trace) {
		i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Called && e.Call == timeline.Evict })
		t.Entries = slices.Insert(t.Entries, i+1, timeline.Entry{What: timeline.Handled, Object: "Node node-1"}, t.Entries[i])
		t.FlushedAt += 2
	})
	require.Equal(t, []string{"a pod that terminates already is not deleted again"}, ends(c))
	last := c.Differences[len(c.Differences)-1]
	require.Equal(t, [2]string{"default/v is deleted and is deleted though it terminates already", "default/v is deleted"}, last.Did)
}

// swap has two pods change their names in a trace.
func swap(t *timeline.Trace, a, b string) {
	other := map[string]string{a: b, b: a}
	rename := func(name *string) {
		if to, ok := other[*name]; ok {
			*name = to
		}
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		if to, ok := other[e.Pod()]; ok {
			e.Object = "Pod " + to
		}
		rename(&e.By)
	}
	for _, s := range []*timeline.State{t.Quiet, t.Flushed} {
		for i := range s.Pods {
			rename(&s.Pods[i].Name)
		}
	}
}

// ends are the differences that are no broken promises: a trace in which pods have other names
// does not go together with itself.
func ends(c *lives.Comparison) (all []string) {
	for _, d := range c.Differences {
		if d.Finding == nil && d.Source == "" {
			all = append(all, d.Kind)
		}
	}
	return all
}

// TestAlikePods: which of two pods that are alike gets the room is no difference; of pods that are
// not, or that steps tell apart, it is one.
func TestAlikePods(t *testing.T) {
	change := func(t *timeline.Trace) {
		p, q := pod(t, "default/p"), pod(t, "default/q")
		p.Node, q.Node = q.Node, p.Node
	}
	require.Empty(t, ends(compare(t, preempted, change)))
	require.Equal(t, []string{"a pod ends bound instead of pending", "a pod ends pending instead of bound"}, ends(compare(t, preemptedBy, change)))

	require.Empty(t, ends(compare(t, preempted, func(t *timeline.Trace) { swap(t, "default/p", "default/q") })))
	require.NotEmpty(t, ends(compare(t, preempted, func(t *timeline.Trace) { swap(t, "default/p", "default/v") })))
}

// TestChoiceOfNode: what follows from the choice of a node for a pod that fits is no difference.
func TestChoiceOfNode(t *testing.T) {
	lie := func(node string) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Decided && len(e.Victims) > 0 {
					*e = timeline.Entry{At: e.At, What: timeline.Fits, Object: e.Object, Node: node}
					break
				}
			}
			pod(t, "default/p").Exists = false
		}
	}
	// What is preempted in the one fits in the other: that is a difference.
	require.NotEmpty(t, ends(compare(t, preempted, lie("node-2"))))

	c := compare(t, "- create: Pod default/p\n- end: v", func(t *timeline.Trace) {
		for i := range t.Entries {
			if e := &t.Entries[i]; e.What == timeline.Fits {
				e.Node = "node-2"
			}
		}
		p := pod(t, "default/p")
		p.Exists, p.Node = false, ""
	})
	require.Empty(t, ends(c))
}
