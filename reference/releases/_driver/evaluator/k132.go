//go:build k1.32

package main

import (
	"context"
	"errors"
	"reflect"
	goruntime "runtime"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// From 1.32 on the plugin has an Evaluator that can be changed from outside.

type pluginHook = *defaultpreemption.DefaultPreemption

func (s *scheduler) hookProfiles([]config.KubeSchedulerProfile) (frameworkruntime.Registry, error) {
	return frameworkruntime.Registry{}, nil
}

func (s *scheduler) hook(profile framework.Framework) (pluginHook, error) {
	for _, p := range profile.PreEnqueuePlugins() {
		if plugin, ok := p.(*defaultpreemption.DefaultPreemption); ok {
			s.hookPreemptPod(plugin)
			return plugin, nil
		}
	}
	if s.outside { // one of those takes its place
		return nil, nil
	}
	return nil, errors.New("the default profile has no " + names.DefaultPreemption)
}

// executor is the part of the plugin that preempts: before 1.36 the Evaluator.
func executor(plugin pluginHook) reflect.Value {
	if e := reflect.ValueOf(plugin).Elem().FieldByName("Executor"); e.IsValid() {
		return e
	}
	return reflect.ValueOf(plugin.Evaluator)
}

// hookPreemptPod wraps the function that preempts one victim on a candidate: it makes
// a panic an error, and signals the end of an asynchronous preemption, which is its last
// victim, or an error. The types of the preemptor and of the results changed.
func (s *scheduler) hookPreemptPod(plugin pluginHook) {
	field := executor(plugin).Elem().FieldByName("PreemptPod")
	next := reflect.ValueOf(field.Interface())
	field.Set(reflect.MakeFunc(next.Type(), func(in []reflect.Value) (out []reflect.Value) {
		for i := range next.Type().NumOut() {
			out = append(out, reflect.Zero(next.Type().Out(i)))
		}
		candidate, victim, failed := in[1].Interface().(preemption.Candidate), in[3].Interface(), &out[len(out)-1]
		defer func() {
			if p := recover(); p != nil {
				err := s.caught(p)
				*failed = reflect.ValueOf(&err).Elem()
			}
			if !failed.IsNil() || victim == lastToDelete(candidate.Victims().Pods) {
				select {
				case s.preempted <- struct{}{}:
				default:
				}
			}
		}()
		copy(out, next.Call(in))
		return out
	}))
}

// awaitPreemption returns when the API calls of an asynchronous preemption are
// made.
func (s *scheduler) awaitPreemption(victims []*v1.Pod) {
	if s.evaluating != nil {
		for s.evaluating(s.loaded.preemptor.UID) {
			goruntime.Gosched()
		}
		return
	}
	if !s.async || s.plugin == nil || lastToDelete(victims) == nil {
		return
	}
	<-s.preempted
	// What is left for upstream to do is to say that it is done.
	running := executor(s.plugin).Interface().(interface{ IsPodRunningPreemption(types.UID) bool })
	for running.IsPodRunningPreemption(s.loaded.preemptor.UID) {
		goruntime.Gosched()
	}
}

// lastToDelete is the victim that is preempted after all others. From 1.35 on
// those that are terminating already are left out.
func lastToDelete(victims []*v1.Pod) *v1.Pod {
	for _, v := range slices.Backward(victims) {
		if v.DeletionTimestamp == nil || deletesTerminating {
			return v
		}
	}
	return nil
}

// nodeStatus is what Filter said of a node.
func nodeStatus(d *framework.Diagnosis, node string) *status { return d.NodeToStatus.Get(node) }

func (s *scheduler) postFilter(r *recorder, state cycleState, d *framework.Diagnosis) (*postFilterResult, *status) {
	select {
	case <-s.preempted: // of a preemption that was over before anybody waited
	default:
	}
	if s.plugin != nil {
		// The recorder is between the plugin and its Evaluator meanwhile.
		ev := s.plugin.Evaluator
		r.Interface = ev.Interface
		ev.Interface, ev.Handler = r, handle{s.profile, s.extenders}
		defer func() { ev.Interface = r.Interface }()
	}
	return s.profile.RunPostFilterPlugins(s.ctx, state, s.loaded.preemptor, potentialNodes{d.NodeToStatus, r})
}

// potentialNodes sorts the nodes that preemption is tried on by name, where
// upstream ranges over a map, and records them.
type potentialNodes struct {
	*framework.NodeToStatus
	r *recorder
}

func (p potentialNodes) NodesForStatusCode(lister nodeInfoLister, c code) ([]nodeInfo, error) {
	nodes, err := p.NodeToStatus.NodesForStatusCode(lister, c)
	sortByName(nodes)
	p.r.obs.PotentialNodes = make([]string, len(nodes))
	for i, n := range nodes {
		p.r.obs.PotentialNodes[i] = n.Node().Name
	}
	return nodes, err
}

func (r *recorder) PodEligibleToPreemptOthers(ctx context.Context, pod *v1.Pod, nominated *status) (bool, string) {
	ok, reason := r.Interface.PodEligibleToPreemptOthers(ctx, pod, nominated)
	r.obs.Eligible = &observation.Eligibility{OK: ok, Reason: reason}
	return ok, reason
}
