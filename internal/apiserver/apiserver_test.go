package apiserver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

func parse[T any](t *testing.T, manifest string) *T {
	t.Helper()
	object := new(T)
	require.NoError(t, yaml.UnmarshalStrict([]byte(manifest), object))
	return object
}

// terse returns the shortest cluster that is a question.
func terse(t *testing.T) *model.Cluster {
	return &model.Cluster{
		Nodes: []*v1.Node{parse[v1.Node](t, `{metadata: {name: n1}, status: {capacity: {cpu: 1, memory: 1Gi, pods: 10}}}`)},
		Pods: []*v1.Pod{parse[v1.Pod](t, `
metadata: {name: a}
spec: {nodeName: n1, containers: [{resources: {limits: {cpu: 1}}}]}`)},
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{parse[policyv1.PodDisruptionBudget](t,
			`{metadata: {name: b}, spec: {minAvailable: 1, selector: {}}, status: {disruptionsAllowed: 1}}`)},
		PriorityClasses: []*schedulingv1.PriorityClass{
			parse[schedulingv1.PriorityClass](t, `{metadata: {name: high}, value: 100, preemptionPolicy: Never}`)},
		Preemptor: parse[v1.Pod](t, `{metadata: {name: p}, spec: {priorityClassName: high, containers: [{}]}}`),
	}
}

func TestAdmitFillsInWhatTheAPIServerStores(t *testing.T) {
	c := terse(t)
	c.Pods = append(c.Pods, parse[v1.Pod](t, `{metadata: {name: done}, status: {phase: Succeeded}}`))
	require.NoError(t, apiserver.Admit(c))

	require.Equal(t, c.Nodes[0].Status.Capacity, c.Nodes[0].Status.Allocatable)
	require.Len(t, c.Pods, 1, "a terminated pod is not the scheduler's business")
	a := c.Pods[0]
	require.Equal(t, "default", a.Namespace)
	require.Equal(t, "default-scheduler", a.Spec.SchedulerName)
	require.Equal(t, "1", a.Spec.Containers[0].Resources.Requests.Cpu().String(), "requests default to limits")
	require.Nil(t, a.Spec.Priority)
	require.Equal(t, "default", c.PodDisruptionBudgets[0].Namespace)
	require.Equal(t, int32(100), *c.Preemptor.Spec.Priority)
	require.Equal(t, v1.PreemptNever, *c.Preemptor.Spec.PreemptionPolicy)

	again := terse(t)
	require.NoError(t, apiserver.Admit(again))
	require.NoError(t, apiserver.Admit(again))
	require.Empty(t, cmp.Diff(c, again), "admitting twice changes nothing more")
}

func TestAllocatableBecomesCapacity(t *testing.T) {
	c := terse(t)
	c.Nodes[0] = parse[v1.Node](t, `{metadata: {name: n1}, status: {allocatable: {cpu: 2}}}`)
	require.NoError(t, apiserver.Admit(c))
	require.Equal(t, "2", c.Nodes[0].Status.Capacity.Cpu().String())
}

func TestPodLevelRequestsAreDefaulted(t *testing.T) {
	c := terse(t)
	c.Preemptor = parse[v1.Pod](t, `
metadata: {name: p}
spec:
  resources: {limits: {cpu: 3}}
  containers: [{resources: {requests: {cpu: 1, memory: 1Mi}}}]`)
	require.NoError(t, apiserver.Admit(c))
	requests := c.Preemptor.Spec.Resources.Requests
	require.Equal(t, "1", requests.Cpu().String(), "what the containers request together")
	require.Equal(t, "1Mi", requests.Memory().String())
}

func TestPriority(t *testing.T) {
	classes := []*schedulingv1.PriorityClass{
		parse[schedulingv1.PriorityClass](t, `{metadata: {name: high}, value: 100, preemptionPolicy: Never}`),
		parse[schedulingv1.PriorityClass](t, `{metadata: {name: usual}, value: 7, globalDefault: true}`),
		parse[schedulingv1.PriorityClass](t, `{metadata: {name: low}, value: -7, globalDefault: true}`),
	}
	for _, tc := range []struct {
		name, spec string
		noClasses  bool
		want       int32
		policy     v1.PreemptionPolicy
		class      string
	}{
		{name: "class", spec: `priorityClassName: high`, want: 100, policy: v1.PreemptNever, class: "high"},
		{name: "system class", spec: `priorityClassName: system-node-critical`, noClasses: true, want: 2000001000, class: "system-node-critical"},
		{name: "lowest global default", spec: ``, want: -7, policy: v1.PreemptLowerPriority, class: "low"},
		{name: "stored priority of another class value", spec: `{priorityClassName: high, priority: 3}`, want: 3, class: "high"},
		{name: "stored priority of the class", spec: `{priorityClassName: high, priority: 100}`, want: 100, policy: v1.PreemptNever, class: "high"},
		{name: "stored priority, class gone", spec: `{priorityClassName: gone, priority: 3}`, want: 3, class: "gone"},
		{name: "stored priority, no class", spec: `priority: 3`, want: 3},
		{name: "own policy", spec: `{priorityClassName: high, preemptionPolicy: PreemptLowerPriority}`, want: 100, policy: v1.PreemptLowerPriority, class: "high"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := terse(t)
			c.Pods = nil
			c.PriorityClasses = classes
			if tc.noClasses {
				c.PriorityClasses = nil
			}
			c.Preemptor.Spec = *parse[v1.PodSpec](t, tc.spec)
			c.Preemptor.Spec.Containers = []v1.Container{{}}
			require.NoError(t, apiserver.Admit(c))
			got := c.Preemptor.Spec
			require.Equal(t, tc.want, *got.Priority)
			require.Equal(t, tc.class, got.PriorityClassName)
			if tc.policy == "" {
				require.Nil(t, got.PreemptionPolicy)
			} else {
				require.Equal(t, tc.policy, *got.PreemptionPolicy)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(t *testing.T, c *model.Cluster)
		want  string
	}{
		{"negative request", func(t *testing.T, c *model.Cluster) {
			c.Pods[0] = parse[v1.Pod](t, `{metadata: {name: a}, spec: {containers: [{resources: {requests: {cpu: -1}}}]}}`)
		}, `Pod default/a: spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		{"negative allocatable", func(t *testing.T, c *model.Cluster) {
			c.Nodes[0] = parse[v1.Node](t, `{metadata: {name: n1}, status: {allocatable: {cpu: -1}, capacity: {}}}`)
		}, `Node n1: status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0`},
		{"negative allocated resources", func(t *testing.T, c *model.Cluster) {
			c.Pods[0].Status = *parse[v1.PodStatus](t, `containerStatuses: [{name: container-0, allocatedResources: {cpu: -1}}]`)
		}, `Pod default/a: status.containerStatuses[0].allocatedResources[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		{"negative budget", func(t *testing.T, c *model.Cluster) {
			c.PodDisruptionBudgets[0].Status.DisruptionsAllowed = -1
		}, `PodDisruptionBudget default/b: status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0`},
		{"two nodes of one name", func(t *testing.T, c *model.Cluster) {
			c.Nodes = append(c.Nodes, c.Nodes[0])
		}, `Node n1: metadata.name: Duplicate value: "Node n1"`},
		{"two pods of one name", func(t *testing.T, c *model.Cluster) {
			c.Preemptor.Name = "a"
		}, `Pod default/a: metadata.name: Duplicate value: "Pod default/a"`},
		{"two budgets of one name", func(t *testing.T, c *model.Cluster) {
			c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, c.PodDisruptionBudgets[0])
		}, `PodDisruptionBudget default/b: metadata.name: Duplicate value: "PodDisruptionBudget default/b"`},
		{"two pods of one UID", func(t *testing.T, c *model.Cluster) {
			c.Pods[0].UID, c.Preemptor.UID = "same", "same"
		}, `Pod default/p: metadata.uid: Duplicate value: "same"`},
		{"missing node", func(t *testing.T, c *model.Cluster) { c.Nodes = nil },
			`Pod default/a: spec.nodeName: Not found: "n1"`},
		{"unknown class", func(t *testing.T, c *model.Cluster) { c.PriorityClasses = nil },
			`Pod default/p: spec.priorityClassName: Not found: "high"`},
		{"user class above the limit", func(t *testing.T, c *model.Cluster) { c.PriorityClasses[0].Value = 1000000001 },
			`PriorityClass high: value: Forbidden: maximum allowed value of a user defined priority is 1000000000`},
		{"pod without containers", func(t *testing.T, c *model.Cluster) { c.Pods[0].Spec.Containers = nil },
			`Pod default/a: spec.containers: Required value`},
		{"bad label", func(t *testing.T, c *model.Cluster) { c.Pods[0].Labels = map[string]string{"a b": ""} },
			`Pod default/a: metadata.labels: Invalid value: "a b": name part must consist of`},
		{"nominated to no name", func(t *testing.T, c *model.Cluster) { c.Preemptor.Status.NominatedNodeName = "N!" },
			`Pod default/p: status.nominatedNodeName: Invalid value: "N!": a lowercase RFC 1123 subdomain`},
		{"no preemptor", func(t *testing.T, c *model.Cluster) { c.Preemptor = nil },
			`Cluster: preemptor: Required value: no pod to schedule`},
		{"bound preemptor", func(t *testing.T, c *model.Cluster) { c.Preemptor.Spec.NodeName = "n1" },
			`Pod default/p: spec.nodeName: Invalid value: "n1": the preemptor is bound already`},
		{"terminating preemptor", func(t *testing.T, c *model.Cluster) {
			c.Preemptor = parse[v1.Pod](t, `{metadata: {name: p, deletionTimestamp: "2024-01-01T00:00:00Z"}, spec: {containers: [{}]}}`)
		}, `Pod default/p: metadata.deletionTimestamp: Forbidden: the preemptor is terminating`},
		{"terminated preemptor", func(t *testing.T, c *model.Cluster) { c.Preemptor.Status.Phase = v1.PodFailed },
			`Pod default/p: status.phase: Invalid value: "Failed": the preemptor has terminated`},
		{"gated preemptor", func(t *testing.T, c *model.Cluster) {
			c.Preemptor.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
		}, `Pod default/p: spec.schedulingGates: Forbidden: the preemptor is gated`},
		{"another scheduler's preemptor", func(t *testing.T, c *model.Cluster) { c.Preemptor.Spec.SchedulerName = "other" },
			`Pod default/p: spec.schedulerName: Unsupported value: "other": supported values: "default-scheduler"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := terse(t)
			tc.spoil(t, c)
			errs := apiserver.Errors[*apiserver.Error](apiserver.Admit(c))
			require.Len(t, errs, 1)
			require.Truef(t, strings.HasPrefix(errs[0].Error(), tc.want), "got  %s\nwant %s", errs[0], tc.want)
		})
	}
}

func TestStoredObjectsPass(t *testing.T) {
	c := terse(t)
	c.Pods[0] = parse[v1.Pod](t, `
metadata:
  name: a
  deletionTimestamp: "2024-01-01T00:00:00Z"
  deletionGracePeriodSeconds: 30
spec:
  nodeName: n1
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: k, operator: In, values: ["no label value!"]}]}]
  containers: [{name: c}]
  ephemeralContainers: [{name: debug, image: i, imagePullPolicy: Always, terminationMessagePolicy: File}]
status:
  nominatedNodeName: n1
  phase: Running
  qosClass: BestEffort
  conditions: [{type: DisruptionTarget, status: "True", reason: PreemptionByScheduler}]`)
	require.NoError(t, apiserver.Admit(c))
}

// A cluster made from an admitted one comes out as if it was admitted as a whole,
// and what the two share is not written to.
func TestAdmitFrom(t *testing.T) {
	admitted := terse(t)
	require.NoError(t, apiserver.Admit(admitted))
	untouched := admitted.DeepCopy()
	another := func(name string) *v1.Pod {
		return parse[v1.Pod](t, "{metadata: {name: "+name+"}, spec: {priorityClassName: high, nodeName: n1, containers: [{}]}}")
	}
	for _, test := range []struct {
		name   string
		change func(c *model.Cluster)
		err    string
	}{
		{"a pod more", func(c *model.Cluster) { c.Pods = append(c.Pods, another("b")) }, ""},
		{"a name twice", func(c *model.Cluster) { c.Pods = append(c.Pods, another("a")) }, "Duplicate"},
		{"a node less", func(c *model.Cluster) { c.Nodes = nil }, "spec.nodeName"},
		{"another value of the class", func(c *model.Cluster) {
			class := c.PriorityClasses[0].DeepCopy()
			class.Value = 7
			c.PriorityClasses = []*schedulingv1.PriorityClass{class}
			c.Preemptor = another("p")
			c.Preemptor.Spec.NodeName = ""
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed := *admitted
			changed.Pods = slices.Clone(admitted.Pods)
			test.change(&changed)
			whole := changed.DeepCopy()
			err, wantErr := apiserver.AdmitFrom(admitted, &changed), apiserver.Admit(whole)
			if test.err == "" {
				require.NoError(t, err)
				require.Empty(t, cmp.Diff(whole, &changed))
			} else {
				require.ErrorContains(t, err, test.err)
				require.Equal(t, wantErr.Error(), err.Error())
			}
			require.Empty(t, cmp.Diff(untouched, admitted))
		})
	}
}

// A pod of a group may be on a node that has been deleted.
func TestMemberOutlivesItsNode(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 1, mk.CPU("1")), mk.Pod("a", 0, mk.CPU("1"), mk.On("gone"), mk.Member("g")))
	require.NoError(t, apiserver.Admit(c))
	c.Pods[0].Spec.SchedulingGroup = nil
	require.ErrorContains(t, apiserver.Admit(c), `Pod default/a: spec.nodeName: Not found: "gone"`)
}
