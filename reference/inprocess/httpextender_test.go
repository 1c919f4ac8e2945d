package inprocess

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/reference/linked"
	"github.com/preemptcheck/preemptcheck/reference/releases/standin"
)

// wire is a server on loopback that answers as the extenders of the cluster under
// test would, each below a path of its own, and reports what it should not have
// been sent.
type wire struct {
	*httptest.Server
	t         *testing.T
	extenders []model.Extender
	calls     map[string]int // by verb
	// work is done by a goroutine outside of all bubbles.
	work chan func()
	done chan struct{}
}

func newWire(t *testing.T) *wire {
	w := &wire{t: t, calls: map[string]int{}, work: make(chan func()), done: make(chan struct{})}
	go func() {
		for f := range w.work {
			f()
			w.done <- struct{}{}
		}
	}()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{index}/filter", func(out http.ResponseWriter, r *http.Request) {
		answer(w, out, r, "filter", w.filter)
	})
	mux.HandleFunc("POST /{index}/preempt", func(out http.ResponseWriter, r *http.Request) {
		answer(w, out, r, "preempt", w.preempt)
	})
	w.Server = httptest.NewServer(mux)
	t.Cleanup(w.Close)
	return w
}

// build makes upstream's own extenders, in upstream's own order.
func (w *wire) build(settings []model.Extender) (extenders []fwk.Extender, err error) {
	w.outside(func() { extenders, err = w.buildOutside(settings) })
	for i := range extenders {
		extenders[i] = remote{extenders[i], w}
	}
	return extenders, err
}

// outside runs f outside of the scheduler's bubble: connections wait for the network
// all the time, and so a bubble with connections never comes to rest.
func (w *wire) outside(f func()) {
	w.work <- f
	<-w.done
}

// remote is an extender that is called outside of the bubble.
type remote struct {
	fwk.Extender
	w *wire
}

func (r remote) Filter(pod *v1.Pod, nodes []fwk.NodeInfo) (passed []fwk.NodeInfo, failed, excluded extenderv1.FailedNodesMap, err error) {
	r.w.outside(func() { passed, failed, excluded, err = r.Extender.Filter(pod, nodes) })
	return passed, failed, excluded, err
}

func (r remote) ProcessPreemption(pod *v1.Pod, candidates map[string]*extenderv1.Victims, nodes fwk.NodeInfoLister) (left map[string]*extenderv1.Victims, err error) {
	r.w.outside(func() { left, err = r.Extender.ProcessPreemption(pod, candidates, nodes) })
	return left, err
}

func (w *wire) buildOutside(settings []model.Extender) ([]fwk.Extender, error) {
	w.extenders = settings
	if len(settings) == 0 {
		return nil, nil
	}
	configs := make([]config.Extender, len(settings))
	for i, e := range settings {
		configs[i] = config.Extender{URLPrefix: fmt.Sprintf("%s/%d", w.URL, i), Ignorable: e.Ignorable, NodeCacheCapable: e.NodeCacheCapable}
		if e.Filter != nil {
			configs[i].FilterVerb = "filter"
		}
		if e.Preempt != nil {
			configs[i].PreemptVerb = "preempt"
		}
		for _, name := range e.ManagedResources {
			configs[i].ManagedResources = append(configs[i].ManagedResources, config.ExtenderManagedResource{Name: name})
		}
	}
	client := fake.NewClientset()
	recorder := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	sched, err := upstream.New(klog.NewContext(w.t.Context(), linked.Discard), client, informers.NewSharedInformerFactory(client, 0), nil, recorder, upstream.WithExtenders(configs...))
	if err != nil {
		return nil, err
	}
	return sched.Extenders, nil
}

func answer[Args, Result any](w *wire, out http.ResponseWriter, r *http.Request, verb string, with func(e *model.Extender, args *Args) (*Result, int)) {
	var index int
	_, err := fmt.Sscan(r.PathValue("index"), &index)
	var args Args
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	if err == nil {
		err = in.Decode(&args)
	}
	if err != nil || index >= len(w.extenders) {
		w.t.Errorf("%s: %v", r.URL, err)
		return
	}
	w.calls[verb]++
	result, code := with(&w.extenders[index], &args)
	out.WriteHeader(code)
	if err := json.NewEncoder(out).Encode(result); err != nil {
		w.t.Error(err)
	}
}

func (w *wire) filter(e *model.Extender, args *extenderv1.ExtenderArgs) (*extenderv1.ExtenderFilterResult, int) {
	if args.Pod == nil || (args.Nodes == nil) != e.NodeCacheCapable || (args.NodeNames == nil) == e.NodeCacheCapable {
		w.t.Errorf("sent to an extender with nodeCacheCapable %t: %+v", e.NodeCacheCapable, args)
	}
	var names []string
	byName := map[string]v1.Node{}
	if args.Nodes != nil {
		for _, n := range args.Nodes.Items {
			names, byName[n.Name] = append(names, n.Name), n
		}
	} else {
		names = *args.NodeNames
	}
	passed, failed, excluded, err := standin.Filter(e, names, func(name string) string { return name })
	if err != nil {
		if e.NodeCacheCapable { // an extender may fail in two ways
			return &extenderv1.ExtenderFilterResult{Error: err.Error()}, http.StatusOK
		}
		return nil, http.StatusInternalServerError
	}
	result := &extenderv1.ExtenderFilterResult{FailedNodes: failed, FailedAndUnresolvableNodes: excluded}
	if e.NodeCacheCapable {
		result.NodeNames = &passed
	} else {
		result.Nodes = &v1.NodeList{}
		for _, name := range passed {
			result.Nodes.Items = append(result.Nodes.Items, byName[name])
		}
	}
	return result, http.StatusOK
}

func (w *wire) preempt(e *model.Extender, args *extenderv1.ExtenderPreemptionArgs) (*extenderv1.ExtenderPreemptionResult, int) {
	if args.Pod == nil || (args.NodeNameToVictims == nil) != e.NodeCacheCapable || (args.NodeNameToMetaVictims == nil) == e.NodeCacheCapable {
		w.t.Errorf("sent to an extender with nodeCacheCapable %t: %+v", e.NodeCacheCapable, args)
	}
	candidates := args.NodeNameToMetaVictims
	if !e.NodeCacheCapable {
		candidates = map[string]*extenderv1.MetaVictims{}
		for node, victims := range args.NodeNameToVictims {
			candidates[node] = &extenderv1.MetaVictims{NumPDBViolations: victims.NumPDBViolations}
			for _, p := range victims.Pods {
				candidates[node].Pods = append(candidates[node].Pods, &extenderv1.MetaPod{UID: string(p.UID)})
			}
		}
	}
	result := &extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{}}
	for node, victims := range candidates {
		if pods, violations, ok := standin.Victims(e.Preempt, node, victims.Pods, victims.NumPDBViolations); ok {
			result.NodeNameToMetaVictims[node] = &extenderv1.MetaVictims{Pods: pods, NumPDBViolations: violations}
		}
	}
	switch e.Preempt.Fails {
	case model.PreemptError:
		return nil, http.StatusInternalServerError
	case model.PreemptUnknownNode:
		result.NodeNameToMetaVictims["unknown"] = &extenderv1.MetaVictims{Pods: []*extenderv1.MetaPod{{UID: "unknown"}}}
	case model.PreemptUnknownPod:
		for node := range candidates {
			result.NodeNameToMetaVictims[node] = &extenderv1.MetaVictims{Pods: []*extenderv1.MetaPod{{UID: "unknown"}}}
		}
	}
	return result, http.StatusOK
}

// TestOverHTTP: whether extenders are called in process or by upstream's own
// HTTPExtender makes no difference, but for the words of errors and which of
// several nodes that fit is chosen: an extender that is sent whole nodes returns
// whole nodes, and those come without their pods to the plugins that score
// (extender.go:306@v1.37.1, Filter).
func TestOverHTTP(t *testing.T) {
	inProcess, overHTTP := New(), New()
	defer inProcess.Close()
	defer overHTTP.Close()
	w := newWire(t)
	overHTTP.build = w.build
	ignored := cmp.Options{
		cmpopts.IgnoreFields(model.Observation{}, "PostFilterMessage", "ScheduledTo", "Aftermath"),
		cmpopts.IgnoreFields(model.Verdict{}, "Reasons"),
		cmpopts.EquateEmpty(),
	}
	seen := map[string]int{}
	for seed, left := uint64(0), testsize.Times(300); left > 0; seed++ {
		c := generators.FromSeed(seed)
		if len(c.Settings.Extenders) == 0 {
			continue
		}
		d, err := answers.Decide(c, answers.Documented())
		if err != nil {
			continue // too many nodes
		}
		left--
		want, got := observe(t, inProcess, c), observe(t, overHTTP, c)
		if (want.CycleError == "") != (got.CycleError == "") {
			t.Fatalf("seed %d: in process %q, over HTTP %q", seed, want.CycleError, got.CycleError)
		}
		want.CycleError, got.CycleError = "", ""
		if slices.Contains(d.Fits, want.ScheduledTo) != slices.Contains(d.Fits, got.ScheduledTo) {
			t.Fatalf("seed %d: scheduled to %q in process, to %q over HTTP", seed, want.ScheduledTo, got.ScheduledTo)
		}
		// Chance decides between candidates that tie on all criteria.
		if tie := explain.DecidedBy(d, want) == model.Tie; tie && want.Pick != nil && got.Pick != nil && want.Pick.Node != got.Pick.Node {
			want.Pick, got.Pick, want.Actuation, got.Actuation = nil, nil, nil, nil
		}
		if c.Settings.Parallelism != nil { // who looks at nodes side by side ends in any order
			slices.Sort(want.Candidates)
			slices.Sort(got.Candidates)
		}
		if diff := cmp.Diff(want, got, ignored); diff != "" {
			t.Fatalf("seed %d: in process (-) and over HTTP (+):\n%s", seed, diff)
		}
		switch {
		case want.PostFilterCode == "Error":
			seen["error"]++
		case want.AfterExtenders != nil && len(want.AfterExtenders) < len(want.Candidates):
			seen["dropped"]++
		case want.Pick != nil && !slices.Equal(want.Pick.Victims, want.DryRuns[want.Pick.Node].Victims):
			seen["changed"]++
		}
	}
	t.Log(seen, w.calls)
	for _, what := range []string{"error", "dropped", "changed"} {
		if seen[what] == 0 {
			t.Errorf("never: %s", what)
		}
	}
	if w.calls["filter"] == 0 || w.calls["preempt"] == 0 {
		t.Errorf("calls: %v", w.calls)
	}
}
