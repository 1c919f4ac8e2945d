package corpus

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

const groupHead = `apiVersion: preemptcheck/v1alpha1
kind: Case
name: gang
preemptor: podgroup/default/g
scheduler: {featureGates: {GenericWorkload: true}}
`

const groupObjects = `---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 10
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g}
spec:
  priorityClassName: high
  schedulingPolicy: {gang: {minCount: 2}}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 1, pods: 9}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  priorityClassName: high
  schedulingGroup: {podGroupName: g}
  containers: [{name: c}]
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec:
  priorityClassName: high
  schedulingGroup: {podGroupName: g}
  containers: [{name: c}]
`

const compositeObjects = `---
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: root}
spec:
  schedulingPolicy: {gang: {minGroupCount: 1}}
  disruptionMode: {all: {}}
`

// A case of a pod group is read, admitted, and written as it was.
func TestGroupCase(t *testing.T) {
	composite := strings.NewReplacer("podgroup/default/g", "compositepodgroup/default/root",
		"GenericWorkload: true", "GenericWorkload: true, CompositePodGroup: true, TopologyAwareWorkloadScheduling: true",
		"spec:\n  priorityClassName: high\n  schedulingPolicy", "spec:\n  parentCompositePodGroupName: root\n  priorityClassName: high\n  schedulingPolicy").
		Replace(groupHead + groupObjects)
	for _, test := range []struct{ text, key string }{
		{groupHead + groupObjects, "podgroup/default/g"},
		{composite + compositeObjects, "compositepodgroup/default/root"},
	} {
		s, err := Read(strings.NewReader(test.text), "f")
		require.NoError(t, err)
		c := s.Cases[0].Cluster
		require.Nil(t, c.Preemptor)
		require.Equal(t, test.key, c.PreemptorKey())
		require.Len(t, c.Preemptors(), 2)
		g := c.Group("podgroup/default/g").(*schedulingv1beta1.PodGroup)
		require.Equal(t, ptr.To[int32](10), g.Spec.Priority, "its class resolves it")
		require.NotNil(t, g.Spec.DisruptionMode.Single, "the default")

		var first, second bytes.Buffer
		require.NoError(t, s.Cases[0].Write(&first))
		again, err := Read(bytes.NewReader(first.Bytes()), "g")
		require.NoError(t, err)
		require.Equal(t, c, again.Cases[0].Cluster)
		require.NoError(t, again.Cases[0].Write(&second))
		require.Equal(t, first.String(), second.String())
	}
}

// TestBadGroups: what is wrong with a group is said with file, document and field.
func TestBadGroups(t *testing.T) {
	good := groupHead + groupObjects
	for _, test := range []struct{ name, old, new, want string }{
		{"no such group", "podgroup/default/g", "podgroup/default/h",
			`f: document 1, line 4: Case gang: preemptor: there is no PodGroup default/h`},
		{"too many slashes", "podgroup/default/g", "pods/default/g",
			`f: document 1, line 4: Case gang: preemptor: "pods/default/g" is neither a pod, as namespace/name, nor a group, as podgroup/namespace/name or compositepodgroup/namespace/name`},
		{"gate off", "GenericWorkload: true", "GenericWorkload: false",
			`f: document 1, line 4: Case gang: preemptor: PodGroup default/g: Forbidden: no scheduler schedules it as a whole unless the feature gate GenericWorkload is on`},
		{"no member", "{podGroupName: g}", "{podGroupName: h}",
			`f: document 1, line 4: Case gang: preemptor: PodGroup default/g: Invalid value: "podgroup/default/g": no pod of it waits to be scheduled`},
		{"members are gated", "  containers:", "  schedulingGates: [{name: wait}]\n  containers:",
			`f: document 5, line 30: Pod default/a: spec.schedulingGates: Forbidden: the preemptor is gated: no scheduler tries it`},
		{"two policies", "schedulingPolicy: {gang", "schedulingPolicy: {basic: {}, gang",
			`f: document 3, line 17: PodGroup default/g: spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: ` + "`basic`, `gang`"},
		{"count of 0", "minCount: 2", "minCount: 0",
			`f: document 3, line 17: PodGroup default/g: spec.schedulingPolicy.gang.minCount: Required value`},
		{"unknown field", "minCount: 2", "minCount: 2, maxCount: 3",
			`f: document 3, line 17: PodGroup default/g: spec.schedulingPolicy.gang.maxCount: unknown field`},
		{"no such class", "priorityClassName: high\n  schedulingPolicy", "priorityClassName: low\n  schedulingPolicy",
			`f: document 3, line 16: PodGroup default/g: spec.priorityClassName: Not found: "low"`},
		{"old version", "scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3",
			`f: document 3, line 12: PodGroup default/g: apiVersion: Unsupported value: "scheduling.k8s.io/v1alpha3": supported values: "scheduling.k8s.io/v1beta1"`},
		{"the nomination of a pod", "scheduler:", "expect: [{outcome: Preempted, nominations: [{node: n1, victims: [a], violations: 0}]}]\nscheduler:",
			`f: document 1, line 5: Case gang: expect[0].nominations[0].members: a pod group needs them, each with its node, and no node besides`},
		{"no such member", "scheduler:", "expect: [{outcome: Preempted, nominations: [{members: {nobody: n1}, victims: [], violations: 0}]}]\nscheduler:",
			`f: document 1, line 5: Case gang: expect[0].nominations[0].members: there is no Pod "default/nobody"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Contains(t, good, test.old)
			_, err := Read(strings.NewReader(strings.ReplaceAll(good, test.old, test.new)), "f")
			require.ErrorContains(t, err, test.want)
		})
	}
}

// In a dump the members of a group are one case, with the gates on that they need; all
// others are cases of their own.
func TestGroupsOfADump(t *testing.T) {
	const other = `---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c}]}
`
	s, err := Read(strings.NewReader(strings.TrimPrefix(groupObjects, "---\n")+other), "f")
	require.NoError(t, err)
	require.Len(t, s.Cases, 2)
	require.Equal(t, []string{"1 pod group to be scheduled as a whole, with GenericWorkload on"}, s.Notes)
	require.Equal(t, "default/p", s.Cases[0].Name)
	require.Empty(t, s.Cases[0].Cluster.Settings.FeatureGates)
	require.Len(t, s.Cases[0].Cluster.Pods, 2)
	gang := s.Cases[1]
	require.Equal(t, "podgroup/default/g", gang.Name)
	require.Equal(t, map[string]bool{model.GateWorkload: true}, gang.Cluster.Settings.FeatureGates)
	require.Len(t, gang.Cluster.Pods, 3)
	require.Empty(t, gang.Cluster.NotGiven)

	// Those of composite groups are one case together.
	inRoot := strings.ReplaceAll(groupObjects, "spec:\n  priorityClassName: high\n  schedulingPolicy", "spec:\n  parentCompositePodGroupName: root\n  priorityClassName: high\n  schedulingPolicy")
	s, err = Read(strings.NewReader(strings.TrimPrefix(inRoot, "---\n")+compositeObjects), "f")
	require.NoError(t, err)
	require.Len(t, s.Cases, 1)
	require.Equal(t, "compositepodgroup/default/root", s.Cases[0].Name)
	require.Len(t, s.Cases[0].Cluster.Settings.FeatureGates, 3)
	require.Equal(t, []string{"1 pod group to be scheduled as a whole, with CompositePodGroup, GenericWorkload, TopologyAwareWorkloadScheduling on"}, s.Notes)

	// A dump without the kinds is never mistaken for a cluster without such objects.
	s, err = Read(strings.NewReader(strings.TrimPrefix(inRoot, "---\n")), "f")
	require.NoError(t, err)
	require.Len(t, s.Cases, 1)
	require.ErrorContains(t, model.Unmodelled(s.Cases[0].Cluster.NotGiven), "PodGroup default/g: spec.parentCompositePodGroupName: the dump holds no compositepodgroups")
	i := strings.Index(groupObjects, "---\napiVersion: v1\nkind: Node")
	s, err = Read(strings.NewReader(groupObjects[strings.Index(groupObjects, "apiVersion"):strings.Index(groupObjects, "---\napiVersion: scheduling.k8s.io/v1beta1")]+groupObjects[i:]), "f")
	require.NoError(t, err)
	require.Len(t, s.Cases, 2)
	require.ErrorContains(t, model.Unmodelled(s.Cases[0].Cluster.NotGiven), "Pod default/a: spec.schedulingGroup: the dump holds no podgroups")
}

// TestGroupsAreNotModelled: the model says so, and does not crash.
func TestGroupsAreNotModelled(t *testing.T) {
	s, err := Read(strings.NewReader(groupHead+groupObjects), "f")
	require.NoError(t, err)
	_, err = answers.Decide(s.Cases[0].Cluster, answers.Documented())
	require.EqualError(t, err, "not modelled: PodGroup default/g: preemptor: the scheduling of a pod group as a whole")
}
