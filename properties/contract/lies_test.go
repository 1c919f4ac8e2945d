package contract_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/reference"
	asking "github.com/preemptcheck/preemptcheck/reference/contract"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

const (
	podLimit   = "PodLimit"
	limitLabel = "limit"  // how many pods a node may have
	closed     = "closed" // a node with this label takes no pods
)

// plugin is PodLimit: a node with a limit has no more pods than that. It keeps the contract but for its lie.
type plugin struct {
	lie    string
	handle fwk.Handle

	mu       sync.Mutex
	reserved map[string]sets.Set[string] // pods by node
	bound    sets.Set[string]            // those for which PreBind was called
	last     string                      // the node that Filter was asked about last
}

type counts map[string]int

type state struct {
	counts
	shared bool
}

// Clone implements fwk.StateData.
func (s *state) Clone() fwk.StateData {
	if s.shared {
		return s
	}
	return &state{counts: maps.Clone(s.counts)}
}

func (p *plugin) Name() string { return podLimit }

func (p *plugin) PreFilter(_ context.Context, cs fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if p.lie == "PreFilter panics" {
		panic("out of cheese")
	}
	isClosed := func(n fwk.NodeInfo) bool { _, is := n.Node().Labels[closed]; return is }
	if p.lie == "PreFilter panics after an event" && len(nodes) == 3 && !slices.ContainsFunc(nodes, isClosed) {
		panic("out of cheese")
	}
	s := &state{counts: counts{}, shared: p.lie == "Clone shares its map"}
	open, limited, full := sets.New[string](), false, false
	for _, n := range nodes {
		labels := n.Node().Labels
		s.counts[n.Node().Name] = len(n.GetPods())
		if limit, err := strconv.Atoi(labels[limitLabel]); err == nil {
			limited, full = true, full || len(n.GetPods()) >= limit
		}
		if _, is := labels[closed]; is {
			limited, full = true, true
			continue
		}
		if p.lie != "PreFilter leaves a node out that Filter passes" || n.Node().Name != "b" {
			open.Insert(n.Node().Name)
		}
	}
	if !limited || !full && p.lie == "PreFilter skips where Filter would reject" {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	cs.Write(podLimit, s)
	if open.Len() == len(nodes) {
		return nil, nil
	}
	return &fwk.PreFilterResult{NodeNames: open}, nil
}

func (p *plugin) PreFilterExtensions() fwk.PreFilterExtensions { return p }

func (p *plugin) change(cs fwk.CycleState, node string, by int) *fwk.Status {
	data, err := cs.Read(podLimit)
	if err != nil {
		return fwk.AsStatus(err)
	}
	data.(*state).counts[node] += by
	return nil
}

func (p *plugin) AddPod(_ context.Context, cs fwk.CycleState, _ *v1.Pod, _ fwk.PodInfo, n fwk.NodeInfo) *fwk.Status {
	if p.lie == "AddPod counts twice" {
		return p.change(cs, n.Node().Name, 2)
	}
	return p.change(cs, n.Node().Name, 1)
}

func (p *plugin) RemovePod(_ context.Context, cs fwk.CycleState, _ *v1.Pod, _ fwk.PodInfo, n fwk.NodeInfo) *fwk.Status {
	if p.lie == "RemovePod forgets" {
		return nil
	}
	return p.change(cs, n.Node().Name, -1)
}

func (p *plugin) Filter(_ context.Context, cs fwk.CycleState, _ *v1.Pod, n fwk.NodeInfo) *fwk.Status {
	name := n.Node().Name
	data, err := cs.Read(podLimit)
	if err != nil {
		return fwk.AsStatus(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := data.(*state)
	last := p.last
	p.last = name
	full := fwk.NewStatus(fwk.Unschedulable, "the node is full")
	switch p.lie {
	case "Filter counts how often it was asked":
		defer func() { s.counts[name]++ }()
	case "Filter panics when it is asked again":
		if s.counts["asked about "+name]++; s.counts["asked about "+name] > 1 {
			panic("out of cheese")
		}
	case "Filter takes a pod off the node":
		if pods := n.GetPods(); len(pods) > 0 {
			_ = n.RemovePod(klog.Background(), pods[0].GetPod())
		}
	case "Filter depends on the node asked before":
		if last > name {
			return full
		}
	case "Filter returns an error":
		return fwk.AsStatus(errors.New("no cheese"))
	case "Filter says unresolvable of a node that is only full":
		full = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "the node is full")
	case "Filter rejects without a reason":
		full = fwk.NewStatus(fwk.Unschedulable)
	case "Filter gives an empty reason":
		full = fwk.NewStatus(fwk.Unschedulable, "", "the node is full")
	case "Filter rejects nodes that are empty":
		if s.counts[name] == 0 {
			return full
		}
	}
	if _, is := n.Node().Labels[closed]; is {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "the node is closed")
	}
	if limit, err := strconv.Atoi(n.Node().Labels[limitLabel]); err == nil && s.counts[name]+p.reserved[name].Len() >= limit {
		return full
	}
	return nil
}

func (p *plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	hint := func(klog.Logger, *v1.Pod, any, any) (fwk.QueueingHint, error) {
		switch p.lie {
		case "a hint says QueueSkip":
			return fwk.QueueSkip, nil
		case "a hint panics":
			panic("no object")
		}
		return fwk.Queue, nil
	}
	events := []fwk.ClusterEventWithHint{{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel}, QueueingHintFn: hint}}
	if p.lie != "a plugin registers for nothing" {
		events = append(events, fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Delete}, QueueingHintFn: hint})
	}
	return events, nil
}

func (p *plugin) Reserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reserved[node] == nil {
		p.reserved[node] = sets.New[string]()
	}
	p.reserved[node].Insert(string(pod.UID))
	return nil
}

func (p *plugin) Unreserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.lie == "Unreserve keeps what Reserve took", p.lie == "Reserve keeps what it took when PreBind fails" && p.bound.Has(string(pod.UID)):
		return
	}
	p.reserved[node].Delete(string(pod.UID))
}

func (p *plugin) PreBindPreFlight(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, nil
}

func (p *plugin) PreBind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	p.mu.Lock()
	p.bound.Insert(string(pod.UID))
	p.mu.Unlock()
	_, err := p.handle.ClientSet().CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return fwk.AsStatus(err)
}

// withPlugin is a scheduler with PodLimit.
func withPlugin(lie string) (system reference.PluginSystem, end func()) {
	undo := linked.Register(linked.Plugin{Name: podLimit, New: func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		return &plugin{lie: lie, handle: h, reserved: map[string]sets.Set[string]{}, bound: sets.New[string]()}, nil
	}})
	s := asking.New()
	return asked{s}, func() { undo(); s.Close() }
}

type asked struct{ *asking.System }

func (asked) Name() string { return "v1.37.1" }
func (asked) Observe(context.Context, *model.Cluster) (*model.Observation, error) {
	return nil, errors.ErrUnsupported
}

// clusters are those in which PodLimit has something to say.
func clusters(t *testing.T) []*model.Cluster {
	node := func(name string, labels map[string]string) *v1.Node {
		return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
			v1.ResourceCPU: resource.MustParse("8"), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("10")}}}
	}
	pod := func(name, on, nominated string, priority int32) *v1.Pod {
		return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1.PodSpec{NodeName: on, Priority: &priority, Containers: []v1.Container{{Name: "c", Image: "i"}}},
			Status: v1.PodStatus{NominatedNodeName: nominated}}
	}
	full := &model.Cluster{Preemptor: pod("p", "", "", 10),
		Nodes: []*v1.Node{node("a", map[string]string{limitLabel: "1"}), node("b", nil), node("c", map[string]string{closed: ""})},
		Pods:  []*v1.Pod{pod("one", "a", "", 0), pod("two", "b", "", 0), pod("three", "c", "", 0)}}
	free := &model.Cluster{Preemptor: pod("p", "", "", 10), Nodes: []*v1.Node{node("a", map[string]string{limitLabel: "1"}), node("b", map[string]string{limitLabel: "2"})},
		Pods: []*v1.Pod{pod("one", "b", "", 0), pod("coming", "", "a", 20)}}
	for _, c := range []*model.Cluster{full, free} {
		require.NoError(t, apiserver.Admit(c))
	}
	return []*model.Cluster{full, free}
}

// broken are the names of the properties that the plugin breaks, and what was counted of it.
func broken(t *testing.T, lie string) (names []string, counted map[string]int) {
	return brokenBy(t, release.Linked, lie)
}

// brokenBy takes the scheduler for one of a release.
func brokenBy(t *testing.T, of release.Release, lie string) (names []string, counted map[string]int) {
	system, end := withPlugin(lie)
	defer end()
	counted = map[string]int{}
	for _, c := range clusters(t) {
		s := &properties.Subject{Context: context.Background(), Cluster: c, System: system, Release: of}
		for _, p := range append(contract.All(podLimit), contract.Monotone(podLimit)) {
			findings, err := p.Findings(s)
			require.NoError(t, err)
			for _, f := range findings {
				t.Logf("%q: %s", lie, f)
				require.Contains(t, f.Kind, podLimit)
			}
			if len(findings) > 0 {
				names = append(names, p.Name)
			}
		}
		for what, n := range s.Counted()[podLimit] {
			counted[what] += n
		}
	}
	slices.Sort(names)
	return slices.Compact(names), counted
}

// TestHonest: a plugin that keeps the contract breaks nothing, and was asked about every clause.
func TestHonest(t *testing.T) {
	names, counted := broken(t, "")
	require.Empty(t, names)
	for _, what := range []string{contract.AskedIncremental, contract.AskedPure, contract.AskedLeftOut, contract.AskedUnresolvable, contract.AskedNoErrors, contract.AskedReasons,
		contract.AskedUndone, contract.Turned, contract.InVain, contract.Slept, contract.Removals, contract.Rejected} {
		assert.Positive(t, counted[what], what)
	}
}

// TestLies: each clause catches the plugin that breaks it.
func TestLies(t *testing.T) {
	for _, p := range append(contract.All(), contract.Monotone()) {
		require.NotEmpty(t, p.Lies, p.Name)
		if p.Name == contract.Kept().Name {
			continue // PodLimit finds nothing for claims: TestKept
		}
		for _, lie := range p.Lies {
			t.Run(p.Name+"/"+lie, func(t *testing.T) {
				names, _ := broken(t, lie)
				require.Contains(t, names, p.Name)
			})
		}
	}
}

// TestLiesOfHintsBefore: where the queue does not tell plugins of all events, those that it does tell of catch a plugin that registers for none.
func TestLiesOfHintsBefore(t *testing.T) {
	before, err := release.Parse("v1.31.14")
	require.NoError(t, err)
	_, all := broken(t, "")
	names, told := brokenBy(t, before, "")
	require.Empty(t, names)
	require.Positive(t, told[contract.Turned])
	require.Less(t, told[contract.InVain]+told[contract.Slept], all[contract.InVain]+all[contract.Slept])
	for _, lie := range contract.Hints().Lies {
		names, _ := brokenBy(t, before, lie)
		require.Contains(t, names, "contract-hints", lie)
	}
}
