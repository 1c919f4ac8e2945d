package main

import (
	"errors"
	"fmt"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// loaded is what unload has to take out again.
type loaded struct {
	extra     []runtime.Object
	nodes     []*v1.Node
	bound     []*v1.Pod
	pending   []*v1.Pod // nominated, or members
	members   []*v1.Pod // of pod groups, that wait
	preemptor *v1.Pod
	told      []any // pods
}

// surroundings are told of what is loaded, besides the scheduler: plugins from outside have informers of their own.
// Their functions are nil in the driver of a release.
type surroundings struct {
	load   func(*cluster) error
	told   func(obj any, added bool)
	unload func()
}

func (a *surroundings) tell(obj any, added bool) {
	if a.told != nil {
		a.told(obj, added)
	}
}

// load puts c into the scheduler as the event handlers would: the order of the
// pods is theirs. The preemptor is where Add and Pop would leave it: in no queue, and
// its nomination, if any, remains. On an error the scheduler has to be unloaded too.
func (s *scheduler) load(c *cluster) error {
	s.budgets.budgets = c.budgets
	for _, obj := range c.extra {
		if inf := s.extra[reflect.TypeOf(obj)]; inf != nil {
			if err := inf.add(obj); err != nil {
				return err
			}
			s.loaded.extra = append(s.loaded.extra, obj)
		}
	}
	if s.around.load != nil {
		if err := s.around.load(c); err != nil {
			return err
		}
	}
	nodes := make([]any, len(c.nodes))
	for i, n := range c.nodes {
		nodes[i] = n
		if err := call(s.cache(), "AddNode", s.ctx, n); err != nil {
			return err
		}
		s.loaded.nodes = append(s.loaded.nodes, n)
		s.around.tell(n, true)
	}
	if err := s.nodes.Replace(nodes, ""); err != nil {
		return err
	}
	pods := make([]any, 0, len(c.pods)+1)
	for _, p := range c.pods {
		// The scheduler's pod informer leaves these out.
		if p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			pods = append(pods, p)
		}
	}
	// The nominator looks pods up, so the lister comes first.
	if err := s.pods.Replace(append(pods, c.preemptor), ""); err != nil {
		return err
	}
	s.loaded.preemptor = c.preemptor
	s.loaded.told = append(pods, c.preemptor)
	for _, p := range s.loaded.told {
		s.around.tell(p, true)
	}
	if err := s.popped(c.preemptor); err != nil {
		return err
	}
	// What waits comes last: whether a member of a group may be tried depends on how many there are.
	for _, load := range []func(*v1.Pod) error{s.loadBound, s.loadMember, s.loadWaiting} {
		for _, obj := range pods {
			if err := load(obj.(*v1.Pod)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *scheduler) loadBound(p *v1.Pod) error {
	if p.Spec.NodeName == "" {
		return nil
	}
	if err := call(s.cache(), "AddPod", s.ctx, p); err != nil {
		return err
	}
	s.loaded.bound = append(s.loaded.bound, p)
	return nil
}

func (s *scheduler) loadMember(p *v1.Pod) error {
	if p.Spec.NodeName != "" || !inGroup(p) || !s.handles(p) {
		return nil
	}
	s.loaded.members = append(s.loaded.members, p)
	return call(s.cache(), "AddPodGroupMember", p)
}

// loadWaiting: nothing but nominations, and the members of pod groups, is visible to another
// pod's cycle, so the rest need not queue. A nominated pod must: known to the nominator
// alone, later releases take it for one of priority 0 without requests.
func (s *scheduler) loadWaiting(p *v1.Pod) error {
	if p.Spec.NodeName != "" || p.Status.NominatedNodeName == "" && !inGroup(p) || !s.handles(p) {
		return nil
	}
	s.loaded.pending = append(s.loaded.pending, p)
	return call(s.queue(), "Add", s.ctx, p)
}

// inGroup tells whether a pod names a pod group that the scheduler looks for: from 1.36 on.
func inGroup(p *v1.Pod) bool {
	group := reflect.ValueOf(p.Spec).FieldByName("SchedulingGroup")
	return group.IsValid() && !group.IsNil()
}

// canRun says why the scheduler would never try the preemptor, if so.
func (s *scheduler) canRun(p *v1.Pod) error {
	why := ""
	held := reflect.ValueOf(p.Spec).FieldByName("SchedulingGates") // from 1.26 on
	switch {
	case p.Spec.NodeName != "":
		why = "is bound to node " + p.Spec.NodeName
	case p.DeletionTimestamp != nil:
		why = "is being deleted"
	case held.IsValid() && held.Len() > 0:
		why = "has scheduling gates"
	case inGroup(p):
		why = "belongs to a pod group, which is scheduled as a whole"
	case !s.handles(p):
		why = fmt.Sprintf("is for the scheduler %q", p.Spec.SchedulerName)
	default:
		return nil
	}
	return fmt.Errorf("preemptor %s %s", key(p), why)
}

// unload empties the scheduler. An error means that it cannot be used again.
func (s *scheduler) unload() error {
	var errs []error
	check := func(err error) { errs = append(errs, err) }
	if s.loaded.preemptor != nil {
		check(call(s.queue(), "DeleteNominatedPodIfExists", s.loaded.preemptor))
	}
	for _, p := range s.loaded.pending {
		check(call(s.queue(), "Delete", p))
	}
	for _, p := range s.loaded.members {
		check(call(s.cache(), "RemovePodGroupMember", p))
	}
	for _, p := range s.loaded.bound {
		check(call(s.cache(), "RemovePod", s.ctx, p))
	}
	for _, n := range s.loaded.nodes {
		check(call(s.cache(), "RemoveNode", s.ctx, n))
	}
	for _, p := range s.loaded.told {
		s.around.tell(p, false)
	}
	for _, n := range s.loaded.nodes {
		s.around.tell(n, false)
	}
	check(s.pods.Replace(nil, ""))
	check(s.nodes.Replace(nil, ""))
	for _, obj := range s.loaded.extra {
		check(s.extra[reflect.TypeOf(obj)].remove(obj))
	}
	s.budgets.budgets = nil
	if s.around.unload != nil {
		s.around.unload()
	}
	// Without this the next cluster, if its nodes have the same names, would be
	// listed in the order of this one's.
	check(s.updateSnapshot())
	s.loaded = loaded{}
	return errors.Join(errs...)
}
