package scheduler

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	clientsetfake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2/ktesting"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// The default profile schedules the pod group pg once, or the pod that is there instead. The first variant
// of each scenario shows that the test is sound.
func TestScheduleOnePodGroup_Preemption(t *testing.T) {
	app := map[string]string{"app": "a"}
	pod := func(name, node string, priority int32, cpu string) *st.PodWrapper {
		p := st.MakePod().Namespace("default").Name(name).UID(name).Priority(priority).Req(map[v1.ResourceName]string{v1.ResourceCPU: cpu}).
			Node(node).SchedulerName(v1.DefaultSchedulerName)
		if node != "" {
			p.StartTime(metav1.Unix(0, 0)).Phase(v1.PodRunning)
		}
		return p
	}
	node := func(name, cpu, pods string) *v1.Node {
		return st.MakeNode().Name(name).Label(v1.LabelHostname, name).Label("zone", name).
			Capacity(map[v1.ResourceName]string{v1.ResourceCPU: cpu, v1.ResourcePods: pods}).Obj()
	}
	shuns := func(p *st.PodWrapper, labels map[string]string) *st.PodWrapper {
		return p.PodAntiAffinity(v1.LabelHostname, &metav1.LabelSelector{MatchLabels: labels}, st.PodAntiAffinityWithRequiredReq)
	}
	spread := func(p *st.PodWrapper) *st.PodWrapper {
		return p.Labels(app).SpreadConstraint(1, "zone", v1.DoNotSchedule, &metav1.LabelSelector{MatchLabels: app}, nil, nil, nil, nil)
	}
	type variant struct {
		name     string
		priority int32 // of the group
		pods     []*st.PodWrapper
	}
	tests := []struct {
		name     string
		groups   []runtime.Object // nil: pg
		nodes    []*v1.Node
		variants []variant
		check    func(o *outcome) error
	}{
		{
			name:  "a pod wants no member on its node",
			nodes: []*v1.Node{node("node1", "1", "10")},
			variants: []variant{
				{"the member wants another pod away, too", 10, []*st.PodWrapper{shuns(pod("v", "node1", 0, "0"), app),
					shuns(pod("m", "", 10, "1").Labels(app), map[string]string{"app": "b"}).PodGroupName("pg")}},
				{"the member does not mind", 10, []*st.PodWrapper{shuns(pod("v", "node1", 0, "0"), app),
					pod("m", "", 10, "1").Labels(app).PodGroupName("pg")}},
			},
			check: func(o *outcome) error { return o.evicts("v") },
		},
		{
			name:  "pods come back in two of three zones",
			nodes: []*v1.Node{node("node1", "1", "10"), node("node2", "0", "10"), node("node3", "0", "10")},
			variants: []variant{
				{"in one of them none had to go", 10, []*st.PodWrapper{
					pod("v1", "node2", 10, "0").Labels(app), pod("v2", "node2", 10, "0").Labels(app), pod("w", "node3", 10, "0").Labels(app),
					pod("u1", "node1", 1, "0").Labels(app), pod("u2", "node1", 0, "0").Labels(app), spread(pod("m", "", 10, "1")).PodGroupName("pg")}},
				{"in both", 10, []*st.PodWrapper{
					pod("v1", "node2", 2, "0").Labels(app), pod("v2", "node2", 2, "0").Labels(app), pod("w", "node3", 10, "0").Labels(app),
					pod("u1", "node1", 1, "0").Labels(app), pod("u2", "node1", 0, "0").Labels(app), spread(pod("m", "", 10, "1")).PodGroupName("pg")}},
			},
			check: func(o *outcome) error { return o.evicts("u2") },
		},
		{
			name:  "two members are nominated to an empty node with a place for one",
			nodes: []*v1.Node{node("node1", "1", "1"), node("node2", "1", "1")},
			variants: []variant{
				{"the priority is 1", 1, []*st.PodWrapper{pod("v", "node2", -5, "0"),
					pod("m1", "", 1, "0").PodGroupName("pg").NominatedNodeName("node1"), pod("m2", "", 1, "0").PodGroupName("pg").NominatedNodeName("node1")}},
				{"the priority is 0", 0, []*st.PodWrapper{pod("v", "node2", -5, "0"),
					pod("m1", "", 0, "0").PodGroupName("pg").NominatedNodeName("node1"), pod("m2", "", 0, "0").PodGroupName("pg").NominatedNodeName("node1")}},
			},
			check: func(o *outcome) error { return o.evicts() },
		},
		{
			name:  "there is room for one of two members once another pod is evicted",
			nodes: []*v1.Node{node("node1", "1", "10")},
			variants: []variant{
				{"none was nominated", 10, []*st.PodWrapper{pod("v", "node1", 0, "1"),
					pod("m1", "", 10, "1").PodGroupName("pg"), pod("m2", "", 10, "1").PodGroupName("pg")}},
				{"both were nominated", 10, []*st.PodWrapper{pod("v", "node1", 0, "1"),
					pod("m1", "", 10, "1").PodGroupName("pg").NominatedNodeName("node1"), pod("m2", "", 10, "1").PodGroupName("pg").NominatedNodeName("node1")}},
			},
			check: func(o *outcome) error { return o.nominates(1) },
		},
		{
			name:  "a pod of lower priority is nominated",
			nodes: []*v1.Node{node("node1", "1", "10")},
			variants: []variant{
				{"a pod preempts", 10, []*st.PodWrapper{pod("v", "node1", 0, "1"),
					pod("low", "", 5, "1").NominatedNodeName("node1"), pod("p", "", 10, "1")}},
				{"a group preempts", 10, []*st.PodWrapper{pod("v", "node1", 0, "1"),
					pod("low", "", 5, "1").NominatedNodeName("node1"), pod("m", "", 10, "1").PodGroupName("pg")}},
			},
			check: func(o *outcome) error { return o.nominates(1) },
		},
		{
			name: "one of two groups of a composite group cannot be scheduled",
			groups: []runtime.Object{
				st.MakeCompositePodGroup().Namespace("default").Name("cpg").UID("cpg").Priority(10).MinGroupCount(1).Obj(),
				st.MakePodGroup().Namespace("default").Name("pg").UID("pg").Priority(10).MinCount(1).ParentCompositePodGroup("cpg").Obj(),
				st.MakePodGroup().Namespace("default").Name("pg2").UID("pg2").Priority(10).MinCount(2).ParentCompositePodGroup("cpg").Obj(),
			},
			nodes: []*v1.Node{node("node1", "1", "10"), node("node2", "1", "10")},
			variants: []variant{
				{"none of its pods fits", 10, []*st.PodWrapper{pod("v", "node1", 0, "1"), pod("w", "node2", 0, "1"),
					pod("m", "", 10, "1").PodGroupName("pg").NodeSelector(map[string]string{"zone": "node1"}),
					pod("m1", "", 10, "2").PodGroupName("pg2"), pod("m2", "", 10, "2").PodGroupName("pg2")}},
				{"one of its pods fits", 10, []*st.PodWrapper{pod("v", "node1", 0, "1"), pod("w", "node2", 0, "1"),
					pod("m", "", 10, "1").PodGroupName("pg").NodeSelector(map[string]string{"zone": "node1"}),
					pod("m1", "", 10, "1").PodGroupName("pg2"), pod("m2", "", 10, "1").PodGroupName("pg2")}},
			},
			check: func(o *outcome) error { return o.evicts("v") },
		},
		{
			name: "there are no nodes",
			groups: []runtime.Object{
				st.MakeCompositePodGroup().Namespace("default").Name("cpg").UID("cpg").Priority(10).MinGroupCount(1).Obj(),
				st.MakePodGroup().Namespace("default").Name("pg").UID("pg").Priority(10).MinCount(1).ParentCompositePodGroup("cpg").Obj(),
				st.MakePodGroup().Namespace("default").Name("pg2").UID("pg2").Priority(10).MinCount(1).Obj(),
			},
			variants: []variant{
				{"for a composite group", 10, []*st.PodWrapper{pod("m", "", 10, "1").PodGroupName("pg")}},
				{"for a group", 10, []*st.PodWrapper{pod("m", "", 10, "1").PodGroupName("pg2")}},
			},
			check: func(o *outcome) error { return o.waitsAs(v1.PodReasonUnschedulable) },
		},
		{
			name: "members run already where a topology constraint allows no other",
			groups: []runtime.Object{
				st.MakePodGroup().Namespace("default").Name("pg").UID("pg").Priority(10).MinCount(1).TopologyKey("zone").Obj(),
			},
			nodes: []*v1.Node{node("node1", "1", "10"), node("node2", "1", "10")},
			variants: []variant{
				{"all in one zone", 10, []*st.PodWrapper{pod("m1", "node1", 10, "1").PodGroupName("pg"),
					pod("m", "", 10, "1").PodGroupName("pg")}},
				{"in two zones", 10, []*st.PodWrapper{pod("m1", "node1", 10, "1").PodGroupName("pg"), pod("m2", "node2", 10, "1").PodGroupName("pg"),
					pod("m", "", 10, "1").PodGroupName("pg")}},
			},
			check: func(o *outcome) error { return o.waitsAs(v1.PodReasonUnschedulable) },
		},
		{
			name: "a pod of a group in a composite group does not fit",
			groups: []runtime.Object{
				st.MakeCompositePodGroup().Namespace("default").Name("cpg").UID("cpg").Priority(10).MinGroupCount(1).Obj(),
				st.MakePodGroup().Namespace("default").Name("pg").UID("pg").Priority(10).MinCount(1).ParentCompositePodGroup("cpg").Obj(),
			},
			nodes: []*v1.Node{node("node1", "1", "10")},
			variants: []variant{
				{"none of its group runs", 10, []*st.PodWrapper{pod("v", "node1", 0, "1"), pod("m", "", 10, "1").PodGroupName("pg")}},
				{"another pod of its group runs", 10, []*st.PodWrapper{pod("v", "node1", 0, "1"),
					pod("m1", "node1", 10, "0").PodGroupName("pg"), pod("m", "", 10, "1").PodGroupName("pg")}},
			},
			check: func(o *outcome) error { return o.isRejectedBy("NodeResourcesFit") },
		},
	}
	for _, tt := range tests {
		for _, v := range tt.variants {
			t.Run(tt.name+"/"+v.name, func(t *testing.T) {
				featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
					features.GenericWorkload: true, features.CompositePodGroup: tt.groups != nil, features.TopologyAwareWorkloadScheduling: tt.groups != nil,
					features.SchedulerAsyncPreemption: false, features.SchedulerAsyncAPICalls: false})
				_, ctx := ktesting.NewTestContext(t)
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				objects := slices.Clone(tt.groups)
				if objects == nil {
					objects = append(objects, st.MakePodGroup().Namespace("default").Name("pg").UID("pg").Priority(v.priority).MinCount(1).Obj())
				}
				for _, n := range tt.nodes {
					objects = append(objects, n)
				}
				for _, p := range v.pods {
					objects = append(objects, p.Obj().DeepCopy())
				}
				client := clientsetfake.NewClientset(objects...)
				factory := informers.NewSharedInformerFactory(client, 0)
				sched, err := New(ctx, client, factory, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} })
				if err != nil {
					t.Fatal(err)
				}
				var failed, plugins []string // pods that wait after the cycle, and what is recorded to have rejected them
				handler := sched.FailureHandler
				sched.FailureHandler = func(ctx context.Context, profile framework.Framework, p *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
					if fit, ok := status.AsError().(*framework.FitError); ok {
						plugins = append(plugins, sets.List(fit.Diagnosis.UnschedulablePlugins)...)
					}
					handler(ctx, profile, p, status, nominating, start)
					failed = append(failed, p.Pod.Name)
				}
				factory.Start(ctx.Done())
				factory.WaitForCacheSync(ctx.Done())
				if err := sched.WaitForHandlersSync(ctx); err != nil {
					t.Fatal(err)
				}
				sched.ScheduleOne(ctx)
				o := &outcome{failed: failed, plugins: plugins}
				// Pods that do not wait are bound soon.
				if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, wait.ForeverTestTimeout, true, func(ctx context.Context) (bool, error) {
					return o.read(ctx, client, v.pods)
				}); err != nil {
					t.Fatal(err)
				}
				if err := tt.check(o); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// outcome is what a scheduling cycle has come to.
type outcome struct {
	failed, evicted []string
	plugins         []string // that rejected a pod, as the queue knows
	nominated       []string // pods that wait for node1
	reasons         []string // why pods wait, as their conditions say
}

// read tells whether all pods are there, evicted, bound, or wait.
func (o *outcome) read(ctx context.Context, client *clientsetfake.Clientset, pods []*st.PodWrapper) (bool, error) {
	o.evicted, o.nominated, o.reasons = nil, nil, nil
	var bound []string
	for _, action := range client.Actions() {
		if create, ok := action.(clienttesting.CreateAction); ok && action.GetSubresource() == "binding" {
			bound = append(bound, create.GetObject().(*v1.Binding).Name)
		}
	}
	list, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	for _, p := range pods {
		name := p.Obj().Name
		i := slices.IndexFunc(list.Items, func(p v1.Pod) bool { return p.Name == name })
		switch {
		case i < 0:
			o.evicted = append(o.evicted, name)
		case p.Obj().Spec.NodeName != "" || slices.Contains(bound, name):
		case p.Obj().Spec.SchedulingGroup != nil && !slices.Contains(o.failed, name):
			return false, nil
		default:
			if list.Items[i].Status.NominatedNodeName == "node1" {
				o.nominated = append(o.nominated, name)
			}
			for _, c := range list.Items[i].Status.Conditions {
				o.reasons = append(o.reasons, c.Reason)
			}
		}
	}
	return true, nil
}

func (o *outcome) evicts(want ...string) error {
	if !slices.Equal(o.evicted, want) {
		return fmt.Errorf("pods %v are evicted, want %v", o.evicted, want)
	}
	return nil
}

func (o *outcome) nominates(want int) error {
	if len(o.nominated) != want {
		return fmt.Errorf("pods %v are nominated to node1, want %d", o.nominated, want)
	}
	return nil
}

func (o *outcome) waitsAs(want string) error {
	if !slices.Equal(o.reasons, []string{want}) {
		return fmt.Errorf("the pod waits as %v, want %s", o.reasons, want)
	}
	return nil
}

func (o *outcome) isRejectedBy(want string) error {
	if !slices.Equal(o.plugins, []string{want}) {
		return fmt.Errorf("the pod is rejected by %v, want [%s]", o.plugins, want)
	}
	return nil
}
