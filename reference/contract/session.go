package contract

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// session is a script on its way through a scheduler.
type session struct {
	*scheduler
	world
	states map[int]*state
	// outdated: the snapshot does not show the last change.
	outdated bool
	parked   *v1.Pod // nil if none is
	broken   bool
}

// state is a cycle state, and the nodes that its plugin was told of changes of.
type state struct {
	framework.Framework
	cycle  cycleState
	pod    *v1.Pod
	result *preFilterResult
	status *status
	skips  bool // Filter
	nodes  map[string]nodeInfo
}

// ask makes the calls of a script. The scheduler is reusable unless a plugin panicked, or something could not be taken out again.
func (s *scheduler) ask(c *model.Cluster, script []calls.Call) (answers []calls.Answer, reusable bool, err error) {
	x := &session{scheduler: s, states: map[int]*state{}, outdated: true}
	x.world.scheduler = s
	s.bubble.Watch(true)
	defer s.bubble.Watch(false)
	// Where the scheduler would end its process, it panics.
	defer linked.Listen(s.bubble, func(string, []any) {})()
	defer func() {
		if p := recover(); p != nil { // a handler of events, of the scheduler or of a plugin
			answers, reusable, err = nil, false, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if err := x.load(c); err != nil {
		return nil, false, err
	}
	answers = make([]calls.Answer, len(script))
	for i, call := range script {
		s.bubble.Watch(true) // many calls come at one moment
		s.bubble.Progress()
		if x.broken {
			answers[i].Verdict.Code = calls.Broken
			continue
		}
		if err := x.call(i, call, &answers[i]); err != nil {
			return nil, false, fmt.Errorf("call %d, %s: %w", i, call, err)
		}
	}
	if x.broken {
		return answers, false, nil
	}
	if x.parked != nil {
		x.unpark()
	}
	return answers, x.unload() == nil, nil
}

// rescue makes a panic of a plugin the answer.
func (x *session) rescue(a *calls.Verdict) {
	if p := recover(); p != nil {
		x.broken = true
		*a = calls.Verdict{Code: calls.Panics, Reason: fmt.Sprint(p), Stack: string(debug.Stack())}
	}
}

func (x *session) call(i int, c calls.Call, a *calls.Answer) (err error) {
	st := x.states[c.State]
	if st == nil && c.Op.IsOfState() && c.Op != calls.Digest {
		return fmt.Errorf("there is no state %d", c.State)
	}
	defer x.rescue(&a.Verdict)
	if c.Op != calls.Digest {
		if err := x.refresh(); err != nil {
			return err
		}
	}
	switch c.Op {
	case calls.List:
		a.Plugins = x.plugins
	case calls.Says:
		return x.says(c, a)
	case calls.PreFilter:
		f, err := x.profile(c.Plugin)
		if err != nil {
			return err
		}
		pod, err := x.podIn(c)
		if err != nil {
			return err
		}
		st := x.begin(c.Plugin, f, pod)
		x.states[i], a.Verdict = st, st.verdict()
	case calls.Clone:
		again := *st
		again.cycle, again.nodes = st.cycle.Clone(), map[string]nodeInfo{}
		for name, info := range st.nodes {
			again.nodes[name] = copied(info)
		}
		x.states[i] = &again
	case calls.RemovePod, calls.AddPod:
		return x.move(st, c, a)
	case calls.Filter, calls.FilterNominated:
		a.Nodes = x.filter(st, c.Reversed, c.Op == calls.FilterNominated)
	case calls.FilterAtOnce:
		a.Nodes, a.Text = x.filterAtOnce(st)
	case calls.Digest:
		a.Text = x.digest(st)
	case calls.Reserve:
		a.Verdict = verdict(st.RunReservePluginsReserve(x.ctx, st.cycle, st.pod, c.Node))
	case calls.Unreserve:
		st.RunReservePluginsUnreserve(x.ctx, st.cycle, st.pod, c.Node)
	case calls.PreBind:
		a.Verdict = x.preBind(st, c.Node)
	case calls.Park:
		a.Yes, err = x.park(c.Plugin)
		return err
	case calls.Waits:
		a.Yes = x.parked != nil && x.unpark()
	default:
		return x.change(c)
	}
	return nil
}

// refresh has the snapshot show the last change.
func (x *session) refresh() error {
	if !x.outdated {
		return nil
	}
	x.outdated = false
	return x.updateSnapshot()
}

func (x *session) profile(plugin string) (framework.Framework, error) {
	if f := x.sched.Profiles[alone+plugin]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("the profile has no plugin %s", plugin)
}

func (x *session) podOf(key string) *v1.Pod {
	switch key {
	case "":
		return x.preemptor
	case calls.Twin:
		twin := x.preemptor.DeepCopy()
		twin.Name, twin.UID, twin.Status.NominatedNodeName = twin.Name+"-twin", twin.UID+"-twin", ""
		return twin
	}
	return x.pod(key)
}

// podIn is the pod that a call asks about.
func (x *session) podIn(c calls.Call) (pod *v1.Pod, err error) {
	if c.Object != nil {
		pod = &v1.Pod{}
		return pod, json.Unmarshal(c.Object.JSON, pod)
	}
	if pod = x.podOf(c.Pod); pod == nil {
		return nil, fmt.Errorf("there is no pod %s", c.Pod)
	}
	return pod, nil
}

// begin calls PreFilter.
func (x *session) begin(plugin string, f framework.Framework, pod *v1.Pod) *state {
	st := &state{Framework: f, cycle: newCycleState(), pod: pod, nodes: map[string]nodeInfo{}}
	st.skips = st.preFilter(x.ctx, plugin)
	return st
}

// verdict is that of PreFilter.
func (st *state) verdict() calls.Verdict {
	v := verdict(st.status)
	if st.skips {
		v.Code = calls.Skip
	}
	return v
}

func (st *state) leavesOut(node string) bool {
	return st.status.IsSuccess() && !st.result.AllNodes() && !st.result.NodeNames.Has(node)
}

// says goes through PreEnqueue, PreFilter and Filter.
func (x *session) says(c calls.Call, a *calls.Answer) error {
	f, err := x.profile(c.Plugin)
	if err != nil {
		return err
	}
	pod, err := x.podIn(c)
	if err != nil {
		return err
	}
	if st := preEnqueue(x.ctx, f, pod); !st.IsSuccess() {
		a.Verdict = verdict(st)
		a.Nodes = x.everywhere(a.Verdict)
		return nil
	}
	st := x.begin(c.Plugin, f, pod)
	a.Verdict = st.verdict()
	a.Nodes = x.filter(st, false, false)
	for node, v := range a.Nodes {
		if v.LeftOut {
			a.Nodes[node] = calls.Verdict{Code: calls.Unresolvable, LeftOut: true}
		}
	}
	return nil
}

func (x *session) everywhere(v calls.Verdict) map[string]calls.Verdict {
	all := map[string]calls.Verdict{}
	for _, node := range x.nodeNames() {
		all[node] = v
	}
	return all
}

func (x *session) nodeNames() (all []string) {
	infos, _ := x.snapshot.NodeInfos().List()
	for _, info := range infos {
		all = append(all, info.Node().Name)
	}
	slices.Sort(all)
	return all
}

// node is a node as a state has it.
func (x *session) node(st *state, name string) (nodeInfo, error) {
	if info := st.nodes[name]; info != nil {
		return info, nil
	}
	return x.snapshot.NodeInfos().Get(name)
}

// filter asks about all nodes, also about those that the PreFilterResult leaves out.
func (x *session) filter(st *state, reversed, nominated bool) map[string]calls.Verdict {
	if !st.status.IsSuccess() {
		return x.everywhere(verdict(st.status))
	}
	names, all := x.nodeNames(), map[string]calls.Verdict{}
	if reversed {
		slices.Reverse(names)
	}
	for _, name := range names {
		if !x.broken {
			all[name] = x.filterNode(st, name, nominated)
		}
	}
	return all
}

func (x *session) filterNode(st *state, name string, nominated bool) (v calls.Verdict) {
	defer x.rescue(&v)
	x.bubble.Progress()
	info, err := x.node(st, name)
	if err != nil {
		return calls.Verdict{Code: calls.Fails, Reason: err.Error()}
	}
	if nominated {
		v = verdict(st.RunFilterPluginsWithNominatedPods(x.ctx, st.cycle, st.pod, info))
	} else {
		v = verdict(st.filter(x.ctx, info))
	}
	v.LeftOut = st.leavesOut(name)
	return v
}

// filterAtOnce asks from many goroutines, each of which begins with another node.
func (x *session) filterAtOnce(st *state) (all map[string]calls.Verdict, differs string) {
	names := x.nodeNames()
	if !st.status.IsSuccess() || len(names) == 0 {
		return x.everywhere(verdict(st.status)), ""
	}
	var answers [calls.AtOnce]map[string]calls.Verdict
	var broke sync.Map
	var wait sync.WaitGroup
	for i := range answers {
		answers[i] = map[string]calls.Verdict{}
		wait.Go(func() {
			for k := range names {
				name := names[(i+k)%len(names)]
				func() {
					var v calls.Verdict
					defer func() {
						if p := recover(); p != nil {
							v = calls.Verdict{Code: calls.Panics, Reason: fmt.Sprint(p), Stack: string(debug.Stack())}
							broke.Store(i, true)
						}
						answers[i][name] = v
					}()
					x.bubble.Progress()
					info, err := x.node(st, name)
					if err != nil {
						v = calls.Verdict{Code: calls.Fails, Reason: err.Error()}
						return
					}
					v = verdict(st.filter(x.ctx, info))
					v.LeftOut = st.leavesOut(name)
				}()
			}
		})
	}
	wait.Wait()
	broke.Range(func(any, any) bool { x.broken = true; return false })
	for _, name := range names {
		for i := range answers {
			if one, other := answers[0][name], answers[i][name]; one.Code != other.Code && differs == "" {
				differs = fmt.Sprintf("%s: %s and %s", name, one, other)
			}
		}
	}
	return answers[0], differs
}

// move removes a pod from a node of the state, or adds one, and tells the plugin: in the way of a dry run
// (preemption.go:338@v1.37.1), and of nominated pods.
func (x *session) move(st *state, c calls.Call, a *calls.Answer) error {
	info, err := x.node(st, c.Node)
	if err != nil {
		return err
	}
	if st.nodes[c.Node] == nil {
		info = copied(info)
		st.nodes[c.Node] = info
	}
	if c.Op == calls.AddPod {
		pod := x.podOf(c.Pod)
		if pod == nil {
			return fmt.Errorf("there is no pod %s", c.Pod)
		}
		status, err := st.addPod(x.ctx, pod, info)
		a.Verdict = verdict(status)
		return err
	}
	status, found, err := st.removePod(x.ctx, func(p *v1.Pod) bool { return model.Key(p) == c.Pod }, info)
	if a.Verdict = verdict(status); !found { // a plugin has taken it away
		x.broken, a.Verdict.Code = true, calls.Broken
	}
	return err
}

// preBind calls PreBind while every write to the API fails.
func (x *session) preBind(st *state, node string) calls.Verdict {
	if status := st.preFlights(x.ctx, node); !status.IsSuccess() {
		return verdict(status)
	}
	x.api.writes.Store(0)
	x.bubble.Watch(false) // it may wait for minutes
	defer x.bubble.Watch(true)
	v := verdict(st.RunPreBindPlugins(x.ctx, st.cycle, st.pod, node))
	if x.api.writes.Load() == 0 && v.Code == calls.Success {
		v.Code = calls.Skip // it wrote nothing
	}
	return v
}

// park puts the preemptor among the unschedulable pods. It tells whether it could be.
func (x *session) park(plugin string) (bool, error) {
	if _, err := x.profile(plugin); err != nil {
		return false, err
	}
	if err := x.drain(); err != nil {
		return false, err
	}
	pod := *x.preemptor
	pod.Spec.SchedulerName = alone + plugin
	x.enqueue(&pod)
	if x.active() > 0 { // else PreEnqueue has put it where it waits
		info, err := x.dequeue()
		if err != nil {
			return false, err
		}
		if err := x.reject(info, plugin); err != nil {
			return false, err
		}
		x.done(info.Pod)
	}
	x.parked = &pod
	if x.waits(x.parked) {
		return true, nil
	}
	x.unpark()
	return false, nil
}

// unpark takes the preemptor out of the queue, and tells whether it still waited.
func (x *session) unpark() bool {
	waits := x.waits(x.parked)
	x.forget(x.parked)
	x.parked = nil
	return waits
}

func verdict(status *status) calls.Verdict {
	v := calls.Verdict{Code: codeOf(status)}
	if !status.IsSuccess() {
		v.Reason = strings.Join(status.Reasons(), "; ")
		v.Mute = len(status.Reasons()) == 0 || slices.Contains(status.Reasons(), "")
		if err := status.AsError(); err != nil && v.Reason == "" {
			v.Reason = err.Error()
		}
	}
	return v
}
