package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/watch"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// The scheduler's own loop runs in virtual time against an API server in memory. Each
// scenario comes to rest within a minute, long before the flush of pods that wait for
// five minutes. Its first variant meets nothing unusual.
func TestPreemptionInTime(t *testing.T) {
	// The first use of package signal, by the cache debugger, must not be in a bubble.
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	signal.Stop(c)
	// The last handler of errors sleeps, by a clock that all bubbles share.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = handlers[:1]
	defer func() { utilruntime.ErrorHandlers = handlers }()

	pod := func(name, node string, priority int32, cpu string, port int32) *v1.Pod {
		p := st.MakePod().Namespace("default").Name(name).UID(name).Priority(priority).Req(map[v1.ResourceName]string{v1.ResourceCPU: cpu}).
			Node(node).SchedulerName(v1.DefaultSchedulerName).TerminationGracePeriodSeconds(0).Obj()
		if port != 0 {
			p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: port, HostPort: port}}
		}
		if node != "" {
			p.Status.Phase = v1.PodRunning
			p.Status.StartTime = &metav1.Time{Time: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
		}
		return p
	}
	slow := func(p *v1.Pod) *v1.Pod {
		p.Spec.TerminationGracePeriodSeconds = new(int64)
		*p.Spec.TerminationGracePeriodSeconds = 30
		return p
	}
	lingers := func(p *v1.Pod) *v1.Pod {
		p.Finalizers = []string{"example.com/hold"}
		return p
	}
	like := func(p *v1.Pod) *v1.Pod { // it has to be with pods like itself
		p.Labels = map[string]string{"app": "a"}
		p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
			{LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}, TopologyKey: v1.LabelHostname}}}}
		return p
	}
	shunned := func(p *v1.Pod) *v1.Pod {
		p.Labels = map[string]string{"app": "a"}
		return p
	}
	shuns := func(p *v1.Pod) *v1.Pod {
		p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
			{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, TopologyKey: v1.LabelHostname}}}}
		return p
	}
	spread := func(p *v1.Pod) *v1.Pod { // from pods like itself
		p.Labels = map[string]string{"app": "a"}
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelHostname,
			WhenUnsatisfiable: v1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}}
		return p
	}

	member := func(p *v1.Pod) *v1.Pod { // of a group that can only be disrupted together
		group := "all"
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
		return p
	}

	gated := func(p *v1.Pod) *v1.Pod {
		p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/gate"}}
		return p
	}

	onNode1 := func(p *v1.Pod) *v1.Pod {
		p.Spec.NodeSelector = map[string]string{v1.LabelHostname: "node1"}
		return p
	}

	again := func(p *v1.Pod) *v1.Pod {
		p.UID += "-2"
		return p
	}

	never := v1.PreemptNever

	type variant struct {
		name  string
		steps func(a *podAPI)
	}
	tests := []struct {
		name        string
		synchronous bool
		group       *st.PodGroupWrapper
		nodes       map[string]string // CPU by name
		pods        []*v1.Pod
		variants    []variant
		check       func(a *podAPI) error
	}{
		{
			name:  "the victims are gone before they are preempted",
			nodes: map[string]string{"node1": "2"},
			variants: []variant{
				{"they are not", func(a *podAPI) {
					a.create(slow(pod("v", "node1", 1, "1", 0)))
					a.create(slow(pod("w", "node1", 0, "1", 0)))
					a.create(pod("p", "", 10, "2", 0))
				}},
				{"somebody deletes them", func(a *podAPI) {
					release := a.hold("patch v")
					a.create(pod("v", "node1", 1, "1", 0))
					a.create(pod("w", "node1", 0, "1", 0))
					a.create(pod("p", "", 10, "2", 0))
					time.Sleep(2 * time.Second) // its backoff is over
					a.remove("v")
					a.remove("w")
					release()
				}},
			},
			check: func(a *podAPI) error { return a.bound("p", "node1") },
		},
		{
			name:  "the victim that matters is gone before the last one is evicted",
			nodes: map[string]string{"node1": "2"},
			pods:  []*v1.Pod{pod("w", "node1", 0, "1", 0)},
			variants: []variant{
				{"it is not", func(a *podAPI) {
					a.create(slow(pod("v", "node1", 1, "1", 80)))
					a.create(pod("p", "", 10, "2", 80))
				}},
				{"the last eviction is slow", func(a *podAPI) {
					release := a.hold("patch w")
					a.create(pod("v", "node1", 1, "1", 80))
					a.create(pod("p", "", 10, "2", 80))
					release()
				}},
			},
			check: func(a *podAPI) error { return a.bound("p", "node1") },
		},
		{
			name:  "a node is added while the victim terminates",
			nodes: map[string]string{"node1": "3"},
			pods:  []*v1.Pod{pod("u", "node1", 20, "1", 0)},
			variants: []variant{
				{"nothing else happens", func(a *podAPI) {
					a.create(slow(pod("v", "node1", 0, "2", 0)))
					a.create(pod("p", "", 10, "2", 0))
					a.addNode("node2", "2")
				}},
				{"another pod goes away while the victim is evicted", func(a *podAPI) {
					a.create(slow(pod("v", "node1", 0, "2", 0)))
					release := a.hold("delete v")
					a.create(pod("p", "", 10, "2", 0))
					a.remove("u")
					release()
					a.addNode("node2", "2")
				}},
			},
			check: func(a *podAPI) error { return a.bound("p", "node2") },
		},
		{
			name:  "the nomination is withdrawn",
			nodes: map[string]string{"node1": "2"},
			variants: []variant{
				{"after its update came back", func(a *podAPI) {
					a.create(slow(pod("v", "node1", 0, "1", 0)))
					a.create(pod("p", "", 10, "2", 0))
					a.resize("node1", "1")
					a.create(pod("o", "", 0, "1", 0))
				}},
				{"before its update came back", func(a *podAPI) {
					a.create(pod("v", "node1", 0, "1", 0))
					a.holdWatch()
					a.create(pod("p", "", 10, "2", 0))
					a.remove("v")
					a.deliver()
					a.resize("node1", "1")
					a.deliver()
					a.releaseWatch()
					a.create(pod("o", "", 0, "1", 0))
				}},
			},
			check: func(a *podAPI) error { return a.bound("o", "node1") },
		},
		{
			name:  "another plugin rejects the preemptor when its victims end",
			nodes: map[string]string{"node1": "2", "node2": "2"},
			pods:  []*v1.Pod{slow(pod("v", "node1", 3, "1", 0)), slow(pod("w", "node2", 0, "1", 0))},
			variants: []variant{
				{"it is deleted", func(a *podAPI) {
					a.create(pod("q", "", 6, "2", 80))
					a.create(pod("p", "", 4, "2", 80))
					a.cordon("node2")
					a.resize("node1", "5")
					a.remove("p")
					a.create(pod("o", "", 3, "2", 0))
				}},
				{"its port is taken", func(a *podAPI) {
					a.create(pod("q", "", 6, "2", 80))
					a.create(pod("p", "", 4, "2", 80))
					a.cordon("node2")
					a.resize("node1", "5")
					a.create(pod("o", "", 3, "2", 0))
				}},
			},
			check: func(a *podAPI) error { return a.bound("o", "node1") },
		},
		{
			name:  "the victim is replaced by a pod of its name",
			nodes: map[string]string{"node1": "1"},
			pods:  []*v1.Pod{pod("v", "node1", 0, "1", 0)},
			variants: []variant{
				{"after it was evicted", func(a *podAPI) {
					a.create(pod("p", "", 10, "1", 0))
					a.create(st.MakePod().Namespace("default").Name("v").UID("v-2").Priority(0).Container("c").SchedulerName(v1.DefaultSchedulerName).Obj())
				}},
				{"before it is evicted", func(a *podAPI) {
					release := a.hold("delete v")
					a.create(pod("p", "", 10, "1", 0))
					a.remove("v")
					a.create(st.MakePod().Namespace("default").Name("v").UID("v-2").Priority(0).Container("c").SchedulerName(v1.DefaultSchedulerName).Obj())
					release()
				}},
			},
			check: func(a *podAPI) error {
				if p := a.get("v"); p == nil || p.UID != "v-2" {
					return fmt.Errorf("the pod that replaced the victim was evicted")
				}
				return nil
			},
		},
		{
			name:  "the preemptor is tried again while its victims end",
			nodes: map[string]string{"node1": "2", "node2": "2"},
			pods: []*v1.Pod{slow(pod("v", "node1", 1, "1", 0)), slow(pod("w", "node2", 0, "1", 0)),
				pod("u", "node2", 2, "1", 0)},
			variants: []variant{
				{"after its nomination came back", func(a *podAPI) {
					a.create(pod("p", "", 10, "2", 0))
					a.remove("u")
				}},
				{"before its nomination came back", func(a *podAPI) {
					release := a.hold("patch p")
					a.create(pod("p", "", 10, "2", 0))
					a.remove("u")
					a.holdWatch()
					release()
					time.Sleep(5 * time.Second)
					a.releaseWatch()
				}},
			},
			check: func(a *podAPI) error {
				if p := a.get("w"); p == nil {
					return fmt.Errorf("victims on two nodes were evicted for one pod")
				}
				return nil
			},
		},
		{
			name:        "an eviction fails",
			synchronous: true,
			nodes:       map[string]string{"node1": "1"},
			pods:        []*v1.Pod{pod("v", "node1", 0, "1", 0)},
			variants: []variant{
				{"it does not", func(a *podAPI) { a.create(pod("p", "", 10, "1", 0)) }},
				{"once", func(a *podAPI) {
					a.fail("delete v", 1)
					a.create(pod("p", "", 10, "1", 0))
				}},
			},
			check: func(a *podAPI) error { return a.bound("p", "node1") },
		},
		{
			name:  "an eviction of one pod of a group fails",
			group: st.MakePodGroup().Namespace("default").Name("all").UID("all").Priority(0).DisruptionModeAll(),
			nodes: map[string]string{"node1": "1", "node2": "500m"},
			pods:  []*v1.Pod{member(pod("u1", "node1", 0, "1", 0)), member(pod("u2", "node2", 0, "500m", 0))},
			variants: []variant{
				{"none does", func(a *podAPI) { a.create(pod("p", "", 10, "1", 0)) }},
				{"that of one whose room is not needed", func(a *podAPI) {
					a.fail("delete u2", 1000) // until the other one comes first
					a.create(pod("p", "", 10, "1", 0))
					a.fail("delete u2", 0)
				}},
			},
			check: func(a *podAPI) error {
				if a.get("u1") != nil || a.get("u2") != nil {
					return fmt.Errorf("a pod of the group runs, and the other one was evicted")
				}
				return nil
			},
		},
		{
			name:  "a pod of a group is deleted that has a scheduling gate",
			group: st.MakePodGroup().Namespace("default").Name("all").UID("all").Priority(0),
			nodes: map[string]string{"node1": "1"},
			variants: []variant{
				{"the other one comes later", func(a *podAPI) {
					a.create(gated(member(pod("u1", "", 0, "1", 0))))
					a.remove("u1")
					a.create(member(pod("u2", "", 0, "1", 0)))
				}},
				{"the other one is there already", func(a *podAPI) {
					a.create(gated(member(pod("u1", "", 0, "1", 0))))
					a.create(member(pod("u2", "", 0, "1", 0)))
					a.remove("u1")
				}},
			},
			check: func(a *podAPI) error { return a.bound("u2", "node1") },
		},
		{
			name:  "a pod of a group is deleted",
			group: st.MakePodGroup().Namespace("default").Name("all").UID("all").Priority(0).MinCount(1),
			nodes: map[string]string{"node1": "1"},
			variants: []variant{
				{"on its way to the node", func(a *podAPI) {
					release := a.hold("bind m")
					a.create(member(pod("m", "", 0, "1", 0)))
					a.remove("m")
					release()
					a.create(pod("p", "", 0, "1", 0))
				}},
				{"in the group's cycle", func(a *podAPI) {
					release := a.hold("schedule m")
					a.create(member(pod("m", "", 0, "1", 0)))
					a.remove("m")
					release()
					a.create(pod("p", "", 0, "1", 0))
				}},
			},
			check: func(a *podAPI) error { return a.bound("p", "node1") },
		},
		{
			name:  "a pod of a group is in the way of another one, which may only be on its node",
			group: st.MakePodGroup().Namespace("default").Name("all").UID("all").Priority(10).MinCount(2),
			nodes: map[string]string{"node1": "1", "node2": "2"},
			pods:  []*v1.Pod{slow(pod("v", "node2", 0, "2", 0))}, // without which it goes to the other node
			variants: []variant{
				{"by its CPU", func(a *podAPI) {
					release := a.hold("delete v")
					a.create(member(pod("m1", "", 10, "1", 0)))
					a.create(onNode1(member(pod("m2", "", 10, "1", 0))))
					release()
				}},
				{"by its port", func(a *podAPI) {
					release := a.hold("delete v")
					a.create(member(pod("m1", "", 10, "500m", 80)))
					a.create(onNode1(member(pod("m2", "", 10, "500m", 80))))
					release()
				}},
			},
			check: func(a *podAPI) error { return a.bound("m2", "node1") },
		},
		{
			name:  "the write that withdraws a nomination fails",
			nodes: map[string]string{"node1": "1"},
			pods:  []*v1.Pod{pod("v", "node1", 0, "1", 0)},
			variants: []variant{
				{"it does not", func(a *podAPI) {
					release := a.hold("delete v")
					a.create(pod("p", "", 10, "1", 0))
					a.cordon("node1")
					a.fail("delete v", 1)
					release()
				}},
				{"once", func(a *podAPI) {
					release := a.hold("delete v")
					a.create(pod("p", "", 10, "1", 0))
					a.cordon("node1")
					a.fail("delete v", 1)
					a.fail("patch p", 1)
					release()
				}},
			},
			check: func(a *podAPI) error {
				if node := a.get("p").Status.NominatedNodeName; node != "" {
					return fmt.Errorf("the pod's status nominates it to %s, the scheduler does not", node)
				}
				return nil
			},
		},
		{
			name:  "a pod goes away that only preemption had to spare",
			nodes: map[string]string{"node1": "4"},
			pods:  []*v1.Pod{pod("v", "node1", 0, "1", 80), pod("q", "node1", 10, "3", 0)},
			variants: []variant{
				{"before the pod is tried", func(a *podAPI) {
					a.remove("q")
					a.create(pod("p", "", 10, "3", 80))
				}},
				{"after the pod was tried", func(a *podAPI) {
					a.create(pod("p", "", 10, "3", 80))
					a.remove("q")
				}},
			},
			check: func(a *podAPI) error { return a.bound("p", "node1") },
		},
		{
			name:  "the victim's binding fails before it is evicted",
			nodes: map[string]string{"node1": "1"},
			variants: []variant{
				{"it does not", func(a *podAPI) {
					a.create(pod("w", "", 1, "1", 0))
					a.create(pod("p", "", 10, "1", 0))
				}},
				{"it does", func(a *podAPI) {
					bind, patch := a.hold("bind w"), a.hold("patch w")
					a.create(pod("w", "", 1, "1", 0))
					a.create(pod("p", "", 10, "1", 0))
					time.Sleep(2 * time.Second) // its backoff is over
					a.fail("bind w", 10)
					bind()
					time.Sleep(2 * time.Second)
					patch()
				}},
			},
			check: func(a *podAPI) error { return a.bound("p", "node1") },
		},
		{
			name:  "evictions go on failing",
			nodes: map[string]string{"node1": "1"},
			pods:  []*v1.Pod{pod("v", "node1", 0, "1", 0)},
			variants: []variant{
				{"they do not", func(a *podAPI) { a.create(pod("p", "", 10, "1", 0)) }},
				{"five times", func(a *podAPI) {
					a.fail("delete v", 5)
					a.create(pod("p", "", 10, "1", 0))
				}},
			},
			check: func(a *podAPI) error {
				for i := 1; i < len(a.evictions); i++ {
					if pause := a.evictions[i].Sub(a.evictions[i-1]); pause < time.Second {
						return fmt.Errorf("after a failed eviction the next one came after %v, without the initial backoff of 1s", pause)
					}
				}
				return nil
			},
		},
		{
			name:  "a nominated pod is skipped",
			nodes: map[string]string{"node1": "1"},
			pods:  []*v1.Pod{slow(pod("v", "node1", 0, "1", 0))},
			variants: []variant{
				{"as it is gone", func(a *podAPI) {
					o := pod("o", "", 10, "1", 0)
					o.Spec.PreemptionPolicy = &never
					a.create(o)
					time.Sleep(5 * time.Second)
					a.create(pod("p", "", 10, "1", 0))
					a.remove("p")
				}},
				{"as it terminates", func(a *podAPI) {
					o, p := pod("o", "", 10, "1", 0), pod("p", "", 10, "1", 0)
					o.Spec.PreemptionPolicy, p.Finalizers = &never, []string{"example.com/hold"}
					a.create(o)
					time.Sleep(5 * time.Second)
					a.create(p)
					a.remove("p")
				}},
			},
			check: func(a *podAPI) error { return a.bound("o", "node1") },
		},
		{
			name:  "the victim's binding is not seen",
			nodes: map[string]string{"node1": "1"},
			variants: []variant{
				{"before its deletion", func(a *podAPI) {
					a.holdWatch()
					a.create(pod("v", "", 1, "1", 0))
					a.create(pod("p", "", 10, "1", 0))
					a.deliver()
					a.deliver()
					a.releaseWatch()
				}},
				{"as the watch is down", func(a *podAPI) {
					a.holdWatch()
					a.create(pod("v", "", 1, "1", 0))
					a.create(pod("p", "", 10, "1", 0))
					a.deliver()
					a.deliver()
					a.endWatch()
				}},
			},
			check: func(a *podAPI) error { return a.bound("p", "node1") },
		},
		{
			name:  "a pod is recreated",
			nodes: map[string]string{"node1": "1"},
			variants: []variant{
				{"while its events are late", func(a *podAPI) {
					a.create(pod("v", "", 1, "1", 0))
					a.holdWatch()
					a.remove("v")
					a.create(again(pod("v", "", 1, "1", 0)))
					a.releaseWatch()
				}},
				{"while the watch is down", func(a *podAPI) {
					a.create(pod("v", "", 1, "1", 0))
					a.holdWatch()
					a.remove("v")
					a.create(again(pod("v", "", 1, "1", 0)))
					a.endWatch()
				}},
			},
			check: func(a *podAPI) error {
				if a.exited.Load() {
					return fmt.Errorf("the scheduler's process ends")
				}
				return a.bound("v", "node1")
			},
		},
		{
			name:  "the last pod goes away that a pod has to be with",
			nodes: map[string]string{"node1": "2", "node2": "2"},
			variants: []variant{
				{"before the pod comes", func(a *podAPI) {
					a.create(like(pod("old", "node1", 0, "1", 0)))
					a.cordon("node1")
					a.remove("old")
					a.create(like(pod("new", "", 0, "1", 0)))
				}},
				{"while the pod waits", func(a *podAPI) {
					a.create(like(pod("old", "node1", 0, "1", 0)))
					a.cordon("node1")
					a.create(like(pod("new", "", 0, "1", 0)))
					a.remove("old")
				}},
			},
			check: func(a *podAPI) error { return a.bound("new", "node2") },
		},
		{
			name:  "a node is added for a pod that another one shuns",
			nodes: map[string]string{"node1": "2"},
			variants: []variant{
				{"before the pod comes", func(a *podAPI) {
					a.create(shuns(pod("old", "node1", 0, "1", 0)))
					a.addNode("node2", "2")
					a.create(shunned(pod("new", "", 0, "1", 0)))
				}},
				{"while the pod waits", func(a *podAPI) {
					a.create(shuns(pod("old", "node1", 0, "1", 0)))
					a.create(shunned(pod("new", "", 0, "1", 0)))
					a.addNode("node2", "2")
				}},
			},
			check: func(a *podAPI) error { return a.bound("new", "node2") },
		},
		{
			name:  "a pod terminates that counts for topology spread",
			nodes: map[string]string{"node1": "2", "node2": "2"},
			variants: []variant{
				{"before the pod comes", func(a *podAPI) {
					a.cordon("node2")
					a.create(lingers(spread(pod("old", "node1", 0, "1", 0))))
					a.remove("old")
					a.create(spread(pod("new", "", 0, "1", 0)))
				}},
				{"while the pod waits", func(a *podAPI) {
					a.cordon("node2")
					a.create(lingers(spread(pod("old", "node1", 0, "1", 0))))
					a.create(spread(pod("new", "", 0, "1", 0)))
					a.remove("old")
				}},
			},
			check: func(a *podAPI) error { return a.bound("new", "node1") },
		},
		{
			name:  "a pod comes that counts for a nominated pod's spread",
			nodes: map[string]string{"node1": "3", "node2": "0"},
			pods:  []*v1.Pod{shunned(pod("v", "node1", 0, "1", 0))},
			variants: []variant{
				{"after the victim is gone", func(a *podAPI) {
					a.create(spread(pod("p", "", 10, "1", 0)))
					a.create(shunned(pod("new", "", 0, "1", 0)))
				}},
				{"while the victim ends", func(a *podAPI) {
					release := a.hold("delete v")
					a.create(spread(pod("p", "", 10, "1", 0)))
					a.create(shunned(pod("new", "", 0, "1", 0)))
					release()
				}},
			},
			check: func(a *podAPI) error {
				if a.get("new") == nil {
					return fmt.Errorf("the pod that came was evicted")
				}
				return a.bound("p", "node1")
			},
		},
		{
			name:  "a pod is relabelled that another one shuns",
			nodes: map[string]string{"node1": "2"},
			variants: []variant{
				{"on the node", func(a *podAPI) {
					a.create(shunned(pod("old", "", 0, "1", 0)))
					a.create(shuns(pod("new", "", 0, "1", 0)))
					a.update("old", func(p *v1.Pod) { p.Labels = map[string]string{"app": "b"} })
				}},
				{"on its way to the node", func(a *podAPI) {
					bind := a.hold("bind old")
					a.create(shunned(pod("old", "", 0, "1", 0)))
					a.create(shuns(pod("new", "", 0, "1", 0)))
					a.update("old", func(p *v1.Pod) { p.Labels = map[string]string{"app": "b"} })
					bind()
				}},
			},
			check: func(a *podAPI) error { return a.bound("new", "node1") },
		},
		{
			name:  "a pod is resized that keeps another one out",
			nodes: map[string]string{"node1": "2"},
			variants: []variant{
				{"on the node", func(a *podAPI) {
					a.create(pod("old", "", 0, "2", 0))
					a.create(pod("new", "", 0, "1", 0))
					a.update("old", func(p *v1.Pod) { p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse("1") })
				}},
				{"on its way to the node", func(a *podAPI) {
					bind := a.hold("bind old")
					a.create(pod("old", "", 0, "2", 0))
					a.create(pod("new", "", 0, "1", 0))
					a.update("old", func(p *v1.Pod) { p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse("1") })
					bind()
				}},
			},
			check: func(a *podAPI) error { return a.bound("new", "node1") },
		},
		{
			name:  "a nominated pod goes elsewhere",
			nodes: map[string]string{"node1": "2"},
			pods:  []*v1.Pod{pod("v", "node1", 0, "2", 0)},
			variants: []variant{
				{"before the other pod is tried", func(a *podAPI) {
					release := a.hold("delete v")
					a.create(pod("p", "", 10, "1", 0))
					a.addNode("node2", "1")
					a.fail("delete v", 1)
					release()
					a.create(pod("o", "", 5, "2", 0))
				}},
				{"after the other pod was tried", func(a *podAPI) {
					release := a.hold("delete v")
					a.create(pod("p", "", 10, "1", 0))
					a.create(pod("o", "", 5, "2", 0))
					a.addNode("node2", "1")
					a.fail("delete v", 1)
					release()
				}},
				{"it is deleted before its nomination is written", func(a *podAPI) {
					release := a.hold("delete v")
					a.fail("patch p", 10)
					a.create(pod("p", "", 10, "1", 0))
					a.create(pod("o", "", 5, "2", 0))
					a.remove("p")
					a.fail("delete v", 1)
					release()
				}},
			},
			check: func(a *podAPI) error {
				if p := a.get("v"); p != nil {
					return fmt.Errorf("after a minute nothing was preempted for pod o")
				}
				return nil
			},
		},
		{
			name:  "a pod is bound by another component",
			nodes: map[string]string{"node1": "2"},
			variants: []variant{
				{"before the other pod is tried", func(a *podAPI) {
					release := a.hold("bind p")
					a.create(pod("p", "", 10, "1", 0))
					a.addNode("node2", "1")
					a.update("p", func(p *v1.Pod) { p.Spec.NodeName = "node2" })
					release()
					a.create(pod("o", "", 5, "2", 0))
				}},
				{"after the other pod was tried", func(a *podAPI) {
					release := a.hold("bind p")
					a.create(pod("p", "", 10, "1", 0))
					a.addNode("node2", "1")
					a.create(pod("o", "", 5, "2", 0))
					a.update("p", func(p *v1.Pod) { p.Spec.NodeName = "node2" })
					release()
				}},
			},
			check: func(a *podAPI) error { return a.bound("o", "node1") },
		},
		{
			name:  "a pod is changed as its binding fails",
			nodes: map[string]string{"node1": "1"},
			variants: []variant{
				{"after it was requeued", func(a *podAPI) {
					a.fail("bind p", 1)
					a.create(pod("p", "", 5, "1", 0))
					a.update("p", func(p *v1.Pod) { p.Labels = map[string]string{"app": "a"} })
					a.tolerate("p", "node1")
				}},
				{"before it is requeued", func(a *podAPI) {
					requeue := a.hold("requeue p")
					a.fail("bind p", 1)
					a.create(pod("p", "", 5, "1", 0))
					bind := a.hold("bind p")
					a.update("p", func(p *v1.Pod) { p.Labels = map[string]string{"app": "a"} })
					requeue()
					a.tolerate("p", "node1")
					a.fail("bind p", 1)
					bind()
				}},
			},
			check: func(a *podAPI) error { return a.bound("p", "node1") },
		},
		{
			name:  "a victim ends before its deletion returns",
			nodes: map[string]string{"node1": "3", "node2": "3"},
			pods: []*v1.Pod{slow(pod("v", "node1", 2, "1", 0)), slow(pod("u", "node1", 1, "1", 0)),
				pod("w", "node2", 0, "1", 0)},
			variants: []variant{
				{"the pod gets its room", func(a *podAPI) {
					release := a.hold("delete w")
					a.create(pod("p", "", 10, "3", 0))
					a.remove("w")
					release()
				}},
				{"the pod preempts others", func(a *podAPI) {
					w, v := a.hold("delete w"), a.hold("delete v")
					a.create(pod("p", "", 10, "3", 0))
					a.create(pod("q", "", 20, "1", 0))
					a.remove("w")
					v()
					w()
				}},
			},
			check: func(a *podAPI) error {
				for _, name := range []string{"v", "u", "w"} {
					if n := a.deletions[name]; n > 1 {
						return fmt.Errorf("pod %s is deleted %d times", name, n)
					}
				}
				return nil
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range tt.variants {
				t.Run(v.name, func(t *testing.T) {
					featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.SchedulerAsyncPreemption, !tt.synchronous)
					featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, tt.group != nil)
					synctest.Test(t, func(t *testing.T) {
						ctx, cancel := context.WithCancel(context.Background())
						a := &podAPI{Clientset: fake.NewClientset(), watch: watch.NewFakeWithChanSize(1000, false), pods: map[string]*v1.Pod{},
							calls: map[string]chan struct{}{}, fails: map[string]int{}, deletions: map[string]int{}}
						for _, p := range tt.pods {
							a.pods[p.Name] = p.DeepCopy()
						}
						for name, cpu := range tt.nodes {
							a.addNode(name, cpu)
						}
						if tt.group != nil {
							if _, err := a.SchedulingV1beta1().PodGroups("default").Create(ctx, tt.group.Obj(), metav1.CreateOptions{}); err != nil {
								t.Fatal(err)
							}
						}
						klog.OsExit = func(int) {
							a.exited.Store(true)
							runtime.Goexit()
						}
						defer func() { klog.OsExit = os.Exit }()
						factory := informers.NewSharedInformerFactory(a, 0)
						sched, err := New(ctx, a, factory, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} })
						if err != nil {
							t.Fatal(err)
						}
						factory.Start(ctx.Done())
						factory.WaitForCacheSync(ctx.Done())
						if err := sched.WaitForHandlersSync(ctx); err != nil {
							t.Fatal(err)
						}
						requeue := sched.FailureHandler
						sched.FailureHandler = func(ctx context.Context, profile framework.Framework, p *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
							a.begin("requeue", p.Pod.Name)
							requeue(ctx, profile, p, status, nominating, start)
						}
						schedule := sched.SchedulePod
						sched.SchedulePod = func(ctx context.Context, profile framework.Framework, state fwk.CycleState, p *framework.QueuedPodInfo) (ScheduleResult, error) {
							a.begin("schedule", p.Pod.Name)
							return schedule(ctx, profile, state, p)
						}
						go sched.Run(ctx)
						a.settle()

						v.steps(a)
						time.Sleep(time.Minute)
						synctest.Wait()
						if err := tt.check(a); err != nil {
							t.Error(err)
						}
						cancel()
						a.watch.Stop()
						factory.Shutdown()
						time.Sleep(10 * time.Minute) // for what waits for a time of its own
					})
					signal.Reset(syscall.SIGUSR2)
				})
			}
		})
	}
}

// podAPI is a client whose pods are in memory, with a watch and calls that can be held.
type podAPI struct {
	*fake.Clientset
	watch *watch.FakeWatcher

	mu      sync.Mutex
	pods    map[string]*v1.Pod
	version int
	holding bool
	held    []watch.Event
	calls   map[string]chan struct{} // closed when the call goes on
	fails   map[string]int
	// evictions are when the scheduler asked for the deletion of a pod.
	evictions []time.Time
	deletions map[string]int // by name
	// expired: the next watch cannot begin where the last one ended.
	expired bool
	exited  atomic.Bool
}

func (a *podAPI) CoreNodes() corev1client.NodeInterface { return a.Clientset.CoreV1().Nodes() }

func (a *podAPI) CoreV1() corev1client.CoreV1Interface {
	return podAPICore{a.Clientset.CoreV1(), a}
}

type podAPICore struct {
	corev1client.CoreV1Interface
	a *podAPI
}

func (c podAPICore) Pods(namespace string) corev1client.PodInterface {
	return podAPIPods{c.CoreV1Interface.Pods(namespace), c.a}
}

type podAPIPods struct {
	corev1client.PodInterface
	a *podAPI
}

// addNode creates a node.
func (a *podAPI) addNode(name, cpu string) {
	n := st.MakeNode().Name(name).Label(v1.LabelHostname, name).Capacity(map[v1.ResourceName]string{v1.ResourceCPU: cpu, v1.ResourcePods: "10"}).Obj()
	if _, err := a.CoreNodes().Create(context.Background(), n, metav1.CreateOptions{}); err != nil {
		panic(err)
	}
	a.settle()
}

// settle lets all happen that needs no time, as it does with a millisecond of it.
func (a *podAPI) settle() {
	time.Sleep(time.Millisecond)
	synctest.Wait()
}

// change sets or deletes a pod, and tells the watch.
func (a *podAPI) change(kind watch.EventType, p *v1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version++
	p = p.DeepCopy()
	p.ResourceVersion = fmt.Sprint(a.version)
	if kind == watch.Deleted {
		delete(a.pods, p.Name)
	} else {
		a.pods[p.Name] = p
	}
	e := watch.Event{Type: kind, Object: p.DeepCopy()}
	if a.holding {
		a.held = append(a.held, e)
		return
	}
	a.watch.Action(e.Type, e.Object)
}

func (a *podAPI) holdWatch() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.holding = true
}

// deliver hands out the next event that is held.
func (a *podAPI) deliver() {
	a.mu.Lock()
	if len(a.held) > 0 {
		a.watch.Action(a.held[0].Type, a.held[0].Object)
		a.held = a.held[1:]
	}
	a.mu.Unlock()
	a.settle()
}

func (a *podAPI) releaseWatch() {
	a.mu.Lock()
	for _, e := range a.held {
		a.watch.Action(e.Type, e.Object)
	}
	a.holding, a.held = false, nil
	a.mu.Unlock()
	a.settle()
}

// endWatch ends the watch. What is held is lost, and all pods are listed anew.
func (a *podAPI) endWatch() {
	a.mu.Lock()
	a.holding, a.held, a.expired = false, nil, true
	a.watch.Stop()
	a.watch = watch.NewFakeWithChanSize(1000, false)
	a.mu.Unlock()
	time.Sleep(5 * time.Second) // the reflector backs off
	a.settle()
}

// hold keeps a call, such as "delete v", until the function that it returns is called.
func (a *podAPI) hold(call string) func() {
	c := make(chan struct{})
	a.mu.Lock()
	a.calls[call] = c
	a.mu.Unlock()
	return func() {
		close(c)
		a.settle()
	}
}

func (a *podAPI) fail(call string, times int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fails[call] = times
}

// begin is the begin of each call of the scheduler.
func (a *podAPI) begin(verb, name string) error {
	call := verb + " " + name
	a.mu.Lock()
	c := a.calls[call]
	a.mu.Unlock()
	if c != nil {
		<-c
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fails[call] > 0 {
		a.fails[call]--
		return apierrors.NewTimeoutError("the server did not answer in time", 0)
	}
	return nil
}

func (a *podAPI) get(name string) *v1.Pod {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pods[name]
}

func (a *podAPI) create(p *v1.Pod) {
	a.change(watch.Added, p)
	a.settle()
}

// remove is a deletion by somebody.
func (a *podAPI) remove(name string) {
	a.terminate(name)
	a.settle()
}

// terminate deletes a pod, at once or after its grace period.
func (a *podAPI) terminate(name string) {
	p := a.get(name).DeepCopy()
	if grace := p.Spec.TerminationGracePeriodSeconds; p.Spec.NodeName != "" && grace != nil && *grace > 0 {
		now := metav1.Now()
		p.DeletionTimestamp = &now
		a.change(watch.Modified, p)
		time.AfterFunc(time.Duration(*grace)*time.Second, func() {
			if now := a.get(name); now != nil && now.UID == p.UID {
				a.change(watch.Deleted, now)
			}
		})
		return
	}
	if len(p.Finalizers) > 0 {
		now := metav1.Now()
		p.DeletionTimestamp = &now
		a.change(watch.Modified, p)
		return
	}
	a.change(watch.Deleted, p)
}

func (a *podAPI) node(name string, change func(n *v1.Node)) {
	n, err := a.CoreNodes().Get(context.Background(), name, metav1.GetOptions{})
	if err == nil {
		change(n)
		_, err = a.CoreNodes().Update(context.Background(), n, metav1.UpdateOptions{})
	}
	if err != nil {
		panic(err)
	}
	a.settle()
}

func (a *podAPI) resize(node, cpu string) {
	a.node(node, func(n *v1.Node) { n.Status.Allocatable[v1.ResourceCPU] = resource.MustParse(cpu) })
}

func (a *podAPI) cordon(node string) {
	a.node(node, func(n *v1.Node) { n.Spec.Unschedulable = true })
}

// update changes a pod.
func (a *podAPI) update(name string, change func(p *v1.Pod)) {
	p := a.get(name).DeepCopy()
	change(p)
	a.change(watch.Modified, p)
	a.settle()
}

// tolerate gives a pod a toleration, and a node the taint that it is for.
func (a *podAPI) tolerate(name, node string) {
	a.update(name, func(p *v1.Pod) {
		p.Spec.Tolerations = []v1.Toleration{{Key: "example.com/taint", Operator: v1.TolerationOpExists}}
	})
	a.node(node, func(n *v1.Node) {
		n.Spec.Taints = []v1.Taint{{Key: "example.com/taint", Effect: v1.TaintEffectNoSchedule}}
	})
}

func (a *podAPI) bound(name, node string) error {
	if p := a.get(name); p == nil || p.Spec.NodeName != node {
		return fmt.Errorf("after a minute pod %s is not on %s", name, node)
	}
	return nil
}

func (p podAPIPods) List(context.Context, metav1.ListOptions) (*v1.PodList, error) {
	p.a.mu.Lock()
	defer p.a.mu.Unlock()
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, pod := range p.a.pods {
		list.Items = append(list.Items, *pod)
	}
	return list, nil
}

func (p podAPIPods) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	p.a.mu.Lock()
	defer p.a.mu.Unlock()
	if p.a.expired {
		p.a.expired = false
		return nil, apierrors.NewResourceExpired("too old resource version")
	}
	return p.a.watch, nil
}

func (p podAPIPods) Get(_ context.Context, name string, _ metav1.GetOptions) (*v1.Pod, error) {
	if pod := p.a.get(name); pod != nil {
		return pod.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(v1.Resource("pods"), name)
}

func (p podAPIPods) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	p.a.mu.Lock()
	p.a.evictions = append(p.a.evictions, time.Now())
	p.a.deletions[name]++
	p.a.mu.Unlock()
	if err := p.a.begin("delete", name); err != nil {
		return err
	}
	pod, err := p.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if pre := options.Preconditions; pre != nil && pre.UID != nil && *pre.UID != pod.UID {
		return apierrors.NewConflict(v1.Resource("pods"), name, fmt.Errorf("the UID in the precondition does not match"))
	}
	if pod.DeletionTimestamp == nil {
		p.a.terminate(name)
	}
	return nil
}

func (p podAPIPods) Patch(ctx context.Context, name string, _ types.PatchType, data []byte, _ metav1.PatchOptions, _ ...string) (*v1.Pod, error) {
	if err := p.a.begin("patch", name); err != nil {
		return nil, err
	}
	pod, err := p.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	before, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	after, err := strategicpatch.StrategicMergePatch(before, data, &v1.Pod{})
	if err != nil {
		return nil, err
	}
	now := &v1.Pod{}
	if err := json.Unmarshal(after, now); err != nil {
		return nil, err
	}
	if now.UID != pod.UID {
		return nil, apierrors.NewConflict(v1.Resource("pods"), name, fmt.Errorf("the UID does not match"))
	}
	p.a.change(watch.Modified, now)
	return now, nil
}

func (p podAPIPods) Bind(ctx context.Context, b *v1.Binding, _ metav1.CreateOptions) error {
	if err := p.a.begin("bind", b.Name); err != nil {
		return err
	}
	pod, err := p.Get(ctx, b.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if pod.Spec.NodeName != "" {
		return apierrors.NewConflict(v1.Resource("pods/binding"), b.Name, fmt.Errorf("pod is already assigned to node %s", pod.Spec.NodeName))
	}
	pod.Spec.NodeName, pod.Status.NominatedNodeName, pod.Status.Phase = b.Target.Name, "", v1.PodRunning
	p.a.change(watch.Modified, pod)
	return nil
}
