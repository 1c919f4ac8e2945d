package corpus

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
)

const timelineHead = `apiVersion: preemptcheck/v1alpha1
kind: Timeline
name: t
steps:
- create: Pod default/a
`

// noClaims is why a timeline has no pod that waits with volumes or claims.
const noClaims = "timelines do not know what the scheduler writes about volumes and claims, and so no pod that waits with them"

func TestReadBadTimeline(t *testing.T) {
	step := func(text string) string { return timelineHead + "- " + text + "\n" + goodPods }
	head := func(text string) string { return timelineHead + text + goodPods }
	for _, test := range []struct{ name, input, want string }{
		// The Timeline document.
		{"version", strings.Replace(head(""), "preemptcheck/v1alpha1", "v1", 1), `f: document 1, line 1: apiVersion: "v1" is no version of a Timeline, preemptcheck/v1alpha1 is`},
		{"no range", strings.Replace(head(""), "name: t\n", "name: t\nreleases: new\n", 1), `f: document 1, line 4: Timeline t: releases: "new" is no range of releases: Could not get version from string: "new"`},
		{"bad name", strings.Replace(head(""), "name: t\n", "name: T\n", 1), `f: document 1, line 3: Timeline T: name: "T" is no name for a case: use lower case letters, digits and '-', at most 240`},
		{"timeline comes last", strings.TrimPrefix(goodPods, "---\n") + "---\n" + timelineHead, `f: document 3, line 12: Timeline t: kind: a Timeline must be the first document of its stream, and the only Timeline`},
		{"two timelines", head("") + "---\n" + head(""), `f: document 4, line 18: Timeline t: kind: a Timeline must be the first document of its stream, and the only Timeline`},
		{"unknown field", head("preemptor: a\n"), `f: document 1, line 6: Timeline t: preemptor: unknown field`},
		{"percentage", head("scheduler:\n  minCandidateNodesPercentage: 101\n"), `f: document 1, line 7: Timeline t: scheduler.minCandidateNodesPercentage: 101 is not within 0 to 100`},
		{"finding without property", head("finding:\n  kind: x\n"), `f: document 1, line 6: Timeline t: finding.property: required: the property that did not hold`},

		// Steps.
		{"step of nothing", step("{}"), `f: document 1, line 6: Timeline t: steps[1]: a step is one of create, change, delete, end, wait, hold, release, next, fail, relist, replace, takeover, expect; there are 0`},
		{"step of two", step("{delete: Pod default/a, wait: 1s}"), `f: document 1, line 6: Timeline t: steps[1]: a step is one of create, change, delete, end, wait, hold, release, next, fail, relist, replace, takeover, expect; there are 2`},
		{"no step", step("3"), `f: document 1, line 6: Timeline t: steps[1]: a number does not fit, it takes a mapping`},
		{"unknown step", step("kill: Pod default/a"), `f: document 1, line 6: Timeline t: steps[1].kill: unknown field`},
		{"create what is not there", step("create: Pod default/b"), `f: document 1, line 6: Timeline t: steps[1].create: there is no manifest of "Pod default/b"`},
		{"create without a kind", step("create: a"), `f: document 1, line 6: Timeline t: steps[1].create: there is no manifest of "a"`},
		{"change without with", step("change: Pod default/a"), `f: document 1, line 6: Timeline t: steps[1].with: "change" and "with" go together`},
		{"with without change", step("{delete: Pod default/a, with: {}}"), `f: document 1, line 6: Timeline t: steps[1].with: "change" and "with" go together`},
		{"change of no object", step("{change: a, with: {}}"), `f: document 1, line 6: Timeline t: steps[1].change: "a" names no object; it takes a kind and a name, as in "Pod default/a"`},
		{"huge exponent", step("{change: Node n1, with: {status: {capacity: {cpu: '1e-3000000000'}}}}"), `f: document 1, line 6: Timeline t: steps[1].with.status.capacity[cpu]: the exponent of quantity 1e-3000000000 is beyond ±1000`},
		{"delete no object", step("delete: 'Pod '"), `f: document 1, line 6: Timeline t: steps[1].delete: "Pod " names no object; it takes a kind and a name, as in "Pod default/a"`},
		{"wait for no time", step("wait: soon"), `f: document 1, line 6: Timeline t: steps[1].wait: "soon" is no time from 1ns to 24h0m0s, for example 1m30s`},
		{"wait without a unit", step("wait: '5'"), `f: document 1, line 6: Timeline t: steps[1].wait: "5" is no time from 1ns to 24h0m0s, for example 1m30s`},
		{"wait backwards", step("wait: -1s"), `f: document 1, line 6: Timeline t: steps[1].wait: "-1s" is no time from 1ns to 24h0m0s, for example 1m30s`},
		{"wait too long", step("wait: 25h"), `f: document 1, line 6: Timeline t: steps[1].wait: "25h" is no time from 1ns to 24h0m0s, for example 1m30s`},
		{"relist of no kind", step("relist: Pod default/a"), `f: document 1, line 6: Timeline t: steps[1].relist: "Pod default/a" is no kind of object that a scheduler watches; there are [Pod Node PodDisruptionBudget Namespace PersistentVolume PersistentVolumeClaim Service ReplicationController ReplicaSet StatefulSet StorageClass CSINode CSIDriver CSIStorageCapacity VolumeAttachment ResourceClaim ResourceSlice DeviceClass DeviceTaintRule PodGroup CompositePodGroup]`},
		{"replace nothing", step("replace: {after: 1s}"), `f: document 1, line 6: Timeline t: steps[1].replace.pod: a controller replaces a pod`},
		{"replace some time", step("replace: {pod: a, after: soon}"), `f: document 1, line 6: Timeline t: steps[1].replace.after: "soon" is no time up to 24h0m0s, for example 1m30s`},
		{"replace before", step("replace: {pod: a, after: -1s}"), `f: document 1, line 6: Timeline t: steps[1].replace.after: "-1s" is no time up to 24h0m0s, for example 1m30s`},
		{"replace too often", step("replace: {pod: a, times: 21}"), `f: document 1, line 6: Timeline t: steps[1].replace.times: 21 is not within 0 to 20`},
		{"replace what else", step("replace: {pod: a, name: b}"), `f: document 1, line 6: Timeline t: steps[1].replace.name: unknown field`},
		{"default class comes", step("create: PriorityClass c") + "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: c}\nvalue: 1\nglobalDefault: true\n", `f: document 1, line 6: Timeline t: steps[1].create: a class that is the default of all pods has to be there from the start`},
		{"default class goes", step("delete: PriorityClass c") + "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: c}\nvalue: 1\nglobalDefault: true\n", `f: document 1, line 6: Timeline t: steps[1].delete: a class that is the default of all pods has to stay`},
		{"class of another value", step("{change: PriorityClass c, with: {value: 2}}") + "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: c}\nvalue: 1\n", `f: document 1, line 6: Timeline t: steps[1].with.value: it cannot be changed; delete the class, and create it anew`},
		{"behind without takeover", step("{relist: Pod, behind: {Pod: 1}}"), `f: document 1, line 6: Timeline t: steps[1].behind: "behind" goes with "takeover"`},
		{"behind of no kind", step("{takeover: true, behind: {Pods: 1}}"), `f: document 1, line 6: Timeline t: steps[1].behind: "Pods" is no kind of object that a scheduler watches; there are [Pod Node PodDisruptionBudget Namespace PersistentVolume PersistentVolumeClaim Service ReplicationController ReplicaSet StatefulSet StorageClass CSINode CSIDriver CSIStorageCapacity VolumeAttachment ResourceClaim ResourceSlice DeviceClass DeviceTaintRule PodGroup CompositePodGroup]`},
		{"behind by nothing", step("{takeover: true, behind: {Pod: 0}}"), `f: document 1, line 6: Timeline t: steps[1].behind[Pod]: 0 is no number of events`},
		{"behind some time", step("{takeover: true, behind: {Pod: 1s}}"), `f: document 1, line 6: Timeline t: steps[1].behind[Pod]: a string does not fit, it takes a int`},
		{"takeover is a truth value", step("takeover: maybe"), `f: document 1, line 6: Timeline t: steps[1].takeover: a string does not fit, it takes a bool`},

		// Places.
		{"hold no place", step("hold: {place: there}"), `f: document 1, line 6: Timeline t: steps[1].hold.place: "there" is no place; there are [pop filter requeue preempt preempted permit preBind preBound unreserve record patch evict bind store handle start stop]`},
		{"release no place", step("release: {pod: a}"), `f: document 1, line 6: Timeline t: steps[1].release.place: is missing; there are [pop filter requeue preempt preempted permit preBind preBound unreserve record patch evict bind store handle start stop]`},
		{"next of a kind has a pod", step("next: {place: store, pod: a}"), `f: document 1, line 6: Timeline t: steps[1].next.pod: store is of a kind of object`},
		{"hold of a pod has a kind", step("hold: {place: bind, kind: Pod}"), `f: document 1, line 6: Timeline t: steps[1].hold.kind: bind is of a pod`},
		{"pop of a pod", step("hold: {place: pop, pod: a}"), `f: document 1, line 6: Timeline t: steps[1].hold.pod: pop is before it is known which pod it will be`},
		{"unknown field of a place", step("hold: {place: bind, node: n1}"), `f: document 1, line 6: Timeline t: steps[1].hold.node: unknown field`},

		// Failures.
		{"fail no call", step("fail: {call: pop, error: Timeout}"), `f: document 1, line 6: Timeline t: steps[1].fail.call: "pop" is no call; there are [patch evict bind]`},
		{"fail with no error", step("fail: {call: bind}"), `f: document 1, line 6: Timeline t: steps[1].fail.error: "" is no error; there are [NotFound Conflict InternalError Timeout]`},
		{"fail often", step("fail: {call: bind, error: Timeout, times: -1}"), `f: document 1, line 6: Timeline t: steps[1].fail.times: -1 is negative`},

		// Expectations.
		{"expect of no pod", step("expect: {exists: true}"), `f: document 1, line 6: Timeline t: steps[1].expect.pod: an expectation is of a pod`},
		{"expect nothing", step("expect: {pod: a}"), `f: document 1, line 6: Timeline t: steps[1].expect: it takes one of node, nominated, exists, queue`},
		{"expect no queue", step("expect: {pod: a, queue: fast}"), `f: document 1, line 6: Timeline t: steps[1].expect.queue: "fast" is no queue; there are [active backoff unschedulable incomplete pending none]`},

		// Objects.
		{"no object", "apiVersion: preemptcheck/v1alpha1\nkind: Timeline\nname: t\nsteps: []\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n",
			`f: document 2, line 9: Pod default/a: spec.containers: Required value`},
		{"pod on a node that comes later", step("create: Node n1") + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {nodeName: n1, containers: [{name: c}]}\n",
			`f: document 4, line 21: Pod default/b: spec.nodeName: node "n1" is not there at the start`},
		{"pod with a claim", step("create: Pod default/b") + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {volumes: [{name: a, emptyDir: {}}, {name: v, persistentVolumeClaim: {claimName: c}}], containers: [{name: c}]}\n",
			`f: document 4, line 21: Pod default/b: spec.volumes[1].persistentVolumeClaim: ` + noClaims},
		{"replaced pod with a claim", step("replace: {pod: b}") + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], containers: [{name: c}]}\n",
			`f: document 4, line 21: Pod default/b: spec.volumes[0].persistentVolumeClaim: ` + noClaims},
		{"pod with a claim of devices", step("create: Pod default/b") + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {resourceClaims: [{name: a, resourceClaimName: a}], containers: [{name: c}]}\n",
			`f: document 4, line 21: Pod default/b: spec.resourceClaims: ` + noClaims},
		{"pod with a backed resource", step("create: Pod default/b") + "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: d}\nspec: {extendedResourceName: example.com/d}\n" +
			"---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {containers: [{name: c, resources: {requests: {example.com/d: 1}, limits: {example.com/d: 1}}}]}\n",
			`f: document 5, line 26: Pod default/b: spec.containers[0].resources.requests[example.com/d]: ` + noClaims},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.input), "f")
			assert.EqualError(t, err, test.want)
			var input *InputError
			assert.ErrorAs(t, err, &input)
		})
	}
}

// TestObjectsOfTheStart: an object is there at the start unless the first step that is about it
// creates it.
func TestObjectsOfTheStart(t *testing.T) {
	c := readOne(t, timelineHead+goodPods)
	require.Empty(t, c.Cluster.Pods)
	require.Len(t, c.Cluster.Nodes, 1)
	require.Equal(t, "a", c.Timeline.Steps[0].CreatedPod().Name)

	again := strings.Replace(timelineHead, "- create", "- delete: Pod default/a\n- create", 1)
	c = readOne(t, again+goodPods)
	require.Len(t, c.Cluster.Pods, 1)
	require.Equal(t, "a", c.Timeline.Steps[1].CreatedPod().Name)
}

// TestNamesOfPods: a pod is named without its namespace if that is "default".
// A step about what is there at no time does nothing, which is told.
func TestStepsAboutNothing(t *testing.T) {
	for step, want := range map[string]string{
		"end: b":          `steps[1].end: there is no manifest of "Pod default/b", so the step does nothing`,
		"delete: Node n9": `steps[1].delete: there is no manifest of "Node n9", so the step does nothing`,
		"{change: Pod default/b, with: {spec: {}}}":  `steps[1].change: there is no manifest of "Pod default/b", so the step does nothing`,
		"hold: {place: bind, pod: b}":                `steps[1].hold.pod: there is no manifest of "Pod default/b", so the step does nothing`,
		"fail: {call: bind, pod: b, error: Timeout}": `steps[1].fail.pod: there is no manifest of "Pod default/b", so the step does nothing`,
		"replace: {pod: b}":                          `steps[1].replace.pod: there is no manifest of "Pod default/b", so the step does nothing`,
		"expect: {pod: b, node: n1}":                 `steps[1].expect.pod: there is no manifest of "Pod default/b", so the step does nothing`,
		"expect: {pod: b, exists: false}":            "",
		"end: a":                                     "",
		"hold: {place: bind}":                        "",
	} {
		s, err := Read(strings.NewReader(timelineHead+"- "+step+"\n"+goodPods), "f")
		require.NoError(t, err, step)
		assert.Equal(t, want, strings.Join(s.Notes, "; "), step)
	}
	s, err := Read(strings.NewReader(timelineHead+"- replace: {pod: a}\n- expect: {pod: a-1, node: n1}\n"+goodPods), "f")
	require.NoError(t, err)
	assert.Empty(t, s.Notes, "a controller makes it")
}

func TestNamesOfPods(t *testing.T) {
	c := readOne(t, timelineHead+`- end: a
- hold: {place: bind, pod: a}
- fail: {call: bind, pod: x/a, error: Timeout}
- expect: {pod: a, node: ""}
`+goodPods)
	steps := c.Timeline.Steps
	require.Equal(t, "default/a", steps[1].End)
	require.Equal(t, "default/a", steps[2].Hold.Pod)
	require.Equal(t, "x/a", steps[3].Fail.Pod)
	require.Equal(t, "default/a", steps[4].Expect.Pod)
	require.Empty(t, *steps[4].Expect.Node)
	require.Nil(t, steps[4].Expect.Nominated)
}

func TestTimelinesRoundTrip(t *testing.T) {
	s, err := Load("timelines")
	require.NoError(t, err)
	require.NotEmpty(t, s.Cases)
	for _, c := range s.Cases {
		text := written(t, c)
		again := readOne(t, text)
		require.Empty(t, diffCases(c, again), c.File)
		require.Equal(t, text, written(t, again), c.File)
	}
}

// Drawn timelines are written, and read back as they were.
func TestDrawnTimelinesRoundTrip(t *testing.T) {
	for seed := range uint64(testsize.Times(100)) {
		tl := timelines.FromSeed(seed)
		require.NoError(t, apiserver.Timeline(tl))
		c := &Case{Name: "drawn", Origin: "a test", Cluster: tl.Cluster, Timeline: tl}
		again := readOne(t, written(t, c))
		require.Empty(t, cmp.Diff(c, again, cmpopts.IgnoreFields(Case{}, "File"), cmpopts.EquateEmpty()), "seed %d", seed)
	}
}
