package together

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// shortestBackoff is how long a pod, or a group, backs off after its first failure
// (PodInitialBackoffSeconds, kube-scheduler/config/v1/types.go:71@v0.37.1).
const shortestBackoff = time.Second

// failure is that a member has failed with an error.
type failure struct {
	// began is the entry at which its attempt began, told the one from which on it is back.
	began, told int
	// beside: its group was tried once more before that. Such a cycle may go on, and a group that changes during its
	// cycle may be tried at once (KEP-4671, "Queuing and Ordering").
	beside bool
}

// attempt is a member that is tried, or on its way to a node.
type attempt struct {
	began int // its entry
	cycle int // the entry at which the cycle of its group began
	fits  bool
	// earlier is an attempt that it is on its way by, while this one has come to nothing: a pod that is changed on its
	// way may be tried, and is skipped.
	earlier *attempt
}

// way is the attempt by which the member is on its way to a node; nil if it is on none.
func (a *attempt) way() *attempt {
	switch {
	case a == nil:
		return nil
	case a.fits:
		return a
	}
	return a.earlier
}

// failures follows which members have failed with an error, and are back.
type failures struct {
	trace *timeline.Trace
	last  map[string]failure  // of each member, since it was tried last
	tried map[string]*attempt // of each member
	bound map[string]bool     // groups, a member of which is to be bound by their last cycle
	cycle map[string]int      // the entry at which the last cycle of each group began
}

func newFailures(trace *timeline.Trace) *failures {
	return &failures{trace, map[string]failure{}, map[string]*attempt{}, map[string]bool{}, map[string]int{}}
}

// see takes note of an entry.
func (f *failures) see(i int, e *timeline.Entry) {
	pod := e.Pod()
	a := f.tried[pod]
	switch {
	case e.What == timeline.TakenOver:
		*f = *newFailures(f.trace)
	case e.What == timeline.Popped && pod == "":
		delete(f.bound, e.Preemptor())
		f.cycle[e.Preemptor()] = i
	case e.What == timeline.Popped:
		delete(f.last, pod)
		f.tried[pod] = &attempt{began: i, cycle: f.cycle[e.Group], earlier: a.way()}
	case a == nil:
	case e.What == timeline.Fits:
		a.fits, a.earlier, f.bound[e.Group] = true, nil, true
	case e.What == timeline.Unfit, e.What == timeline.Called && e.Call == timeline.Bind && e.TookEffect():
		a.fits, a.earlier = false, nil
	case e.What == timeline.Told && a.way() != nil && strings.HasPrefix(e.Text, "FailedScheduling:"):
		way := a.way()
		f.last[pod] = failure{way.began, i, f.cycle[f.trace.Entries[way.began].Group] > way.cycle} // by an error, if the end of the attempt says so
		a.fits, a.earlier = false, nil
	case e.What == timeline.Requeued && e.Text == "error" && e.Group != "" && a.way() == nil && !f.bound[e.Group]: // the cycle has failed
		f.last[pod] = failure{began: a.began, told: i}
	}
}

// endsInError tells whether the failure of a member's binding that an entry tells of was by an error, and not by a plugin that
// rejects the pod. The end of the attempt says so, and may come later; of two that are open at once it is not known which ends.
func endsInError(trace *timeline.Trace, told int) bool {
	open := 1
	for i := told + 1; i < len(trace.Entries); i++ {
		switch e := &trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			return false
		case e.Object != trace.Entries[told].Object:
		case e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:"):
			open++
		case e.What == timeline.Requeued && e.Group == "":
			return open == 1 && e.Text == "error"
		}
	}
	return false
}

// The ways in which a group is tried too early.
const (
	afterBindings = "after bindings" // all of its members come back from a binding that failed
	afterErrors   = "after errors"   // some come back from a cycle that failed
)

// TriedAfterError looks at groups that are tried again within the shortest backoff, with no member but those that have failed with
// an error. Of several times in succession, in one way, it tells the first.
func TriedAfterError(t *timeline.Timeline, trace *timeline.Trace) (broken []Broken) {
	f := newFailures(trace)
	way := map[string]string{} // in which each group was tried too early the last time; "" if it was not
	for i := range trace.Entries {
		e := &trace.Entries[i]
		if e.What == timeline.Popped && e.Pod() == "" {
			b := f.triedAt(i)
			if b.Kind != "" && b.Kind != way[b.Pod] {
				broken = append(broken, b)
			}
			way[e.Preemptor()] = b.Kind
		}
		f.see(i, e)
	}
	return broken
}

// Failed are, of the members with which a group is tried at an entry, those that come back from a failed binding, and those that do
// not.
func Failed(trace *timeline.Trace, at int) (bindings, others []string) {
	f := newFailures(trace)
	for i := range trace.Entries[:at] {
		f.see(i, &trace.Entries[i])
	}
	for _, m := range members(trace, at) {
		if last, ok := f.last[m]; ok && trace.Entries[last.told].What == timeline.Told {
			bindings = append(bindings, m)
		} else {
			others = append(others, m)
		}
	}
	return bindings, others
}

// members are the pods with which a group is tried at an entry.
func members(trace *timeline.Trace, at int) (all []string) {
	group := trace.Entries[at].Preemptor()
	for i := at + 1; i < len(trace.Entries); i++ {
		e := &trace.Entries[i]
		if e.What != timeline.Popped || e.Group != group {
			break
		}
		all = append(all, e.Pod())
	}
	return all
}

// triedAt tells how a group is tried too early at an entry; Kind is "" if it is not.
func (f *failures) triedAt(at int) (b Broken) {
	entries := f.trace.Entries
	e := &entries[at]
	all := members(f.trace, at)
	began, latest, way := at, failure{}, afterBindings
	for _, m := range all {
		last, ok := f.last[m]
		if !ok || last.beside || e.At >= entries[last.told].At+shortestBackoff {
			return b
		}
		switch {
		case entries[last.told].What != timeline.Told:
			way = afterErrors
		case !endsInError(f.trace, last.told):
			return b
		}
		began = min(began, last.began)
		if last.told >= latest.told {
			latest = last
		}
	}
	if len(all) == 0 || f.disturbed(all, began, at) {
		return b
	}
	return Broken{e.Preemptor(), way, fmt.Sprintf("%s is tried at %.3fs, though %s failed with an error at %.3fs, and there is no other pod of it to be tried",
		e.Object, e.At.Seconds(), strings.Join(all, ", "), entries[latest.told].At.Seconds()), at}
}

// disturbed tells whether something else than a failure may have put a group into the queue, from one entry to another: a group
// came, went or changed, a pod of a group came or went, a member was changed before it had failed, or a preemption ended.
func (f *failures) disturbed(members []string, from, to int) bool {
	for i := from; i < to; i++ {
		e := &f.trace.Entries[i]
		switch pod := e.Pod(); {
		case e.What == timeline.Ends:
			return true
		case e.What != timeline.Handled:
		case pod == "" && e.Preemptor() != "":
			was, _ := e.Was.(*schedulingv1beta1.PodGroup)
			is, _ := e.Is.(*schedulingv1beta1.PodGroup)
			if was == nil || is == nil || was.UID != is.UID || !reflect.DeepEqual(was.Spec, is.Spec) {
				return true
			}
		case pod != "" && !strings.HasPrefix(e.Text, "updated"):
			was, _ := e.Was.(*v1.Pod)
			is, _ := e.Is.(*v1.Pod)
			if GroupOf(was) != "" || GroupOf(is) != "" {
				return true
			}
		case slices.Contains(members, pod) && f.last[pod].began < i && i < f.last[pod].told:
			return true
		}
	}
	return false
}
