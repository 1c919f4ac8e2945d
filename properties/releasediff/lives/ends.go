package lives

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// alike gives the class of each pod: pods of one class differ in nothing but their names, and no
// step says what becomes of one of them. Others are in no class.
func alike(t *timeline.Timeline) func(pod string) string {
	var named []string
	name := func(p *timeline.Place) {
		if p != nil {
			named = append(named, p.Pod)
		}
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		for _, object := range []string{s.Change, s.Delete} {
			named = append(named, strings.TrimPrefix(object, "Pod "))
		}
		named = append(named, s.End)
		name(s.Hold)
		name(s.Release)
		name(s.Next)
		if s.Fail != nil {
			named = append(named, s.Fail.Pod)
		}
		if s.Replace != nil {
			named = append(named, s.Replace.Pod)
		}
		if s.Expect != nil {
			named = append(named, s.Expect.Pod)
		}
	}
	class := map[string]string{}
	put := func(p *v1.Pod) {
		if key := model.Key(p); !slices.Contains(named, key) {
			class[key] += shape(p) // twice if it is created twice
		}
	}
	for _, p := range t.Cluster.Pods {
		put(p)
	}
	for i := range t.Steps {
		if p := t.Steps[i].CreatedPod(); p != nil {
			put(p)
		}
	}
	return func(pod string) string { return class[pod] }
}

// shape is all of a pod but its name, and what the API server makes up.
func shape(p *v1.Pod) string {
	p = p.DeepCopy()
	p.Name, p.UID, p.ResourceVersion, p.CreationTimestamp = "", "", "", metav1.Time{}
	text, err := json.Marshal(p)
	if err != nil {
		return model.Key(p)
	}
	return string(text)
}

// unlike pairs what became of pods in the one release and in the other where it is not the same.
// Pods that are alike may change places.
func unlike[T comparable](of [2]map[string]T, class func(pod string) string, pair func(pods [2]string, ends [2]T)) {
	all := maps.Clone(of[0])
	maps.Copy(all, of[1])
	var left [2][]string // pods
	for _, pod := range slices.Sorted(maps.Keys(all)) {
		if of[0][pod] != of[1][pod] {
			left[0], left[1] = append(left[0], pod), append(left[1], pod)
		}
	}
	for _, pod := range left[0] {
		end := of[0][pod]
		same := func(other string) bool { return class(pod) != "" && class(other) == class(pod) }
		if i := slices.IndexFunc(left[1], func(other string) bool { return same(other) && of[1][other] == end }); i >= 0 {
			left[1] = slices.Delete(left[1], i, i+1)
			continue
		}
		i := slices.Index(left[1], pod)
		if i < 0 { // what it came to in the other release is what one like it came to here
			i = slices.IndexFunc(left[1], same)
		}
		other := left[1][i]
		left[1] = slices.Delete(left[1], i, i+1)
		pair([2]string{pod, other}, [2]T{end, of[1][other]})
	}
}

// end is what has become of a pod once all is at rest. On which of the nodes that it fits a pod
// runs is left to scores.
type end struct {
	state ending
	node  string // that it is nominated to
}

type ending string

const (
	gone        ending = "gone"
	bound       ending = "bound"
	nominated   ending = "pending and nominated"
	pending     ending = "pending"
	terminating ending = "terminating"
)

func endOf(p *timeline.PodState) end {
	switch {
	case !p.Exists:
		return end{state: gone}
	case p.Terminating:
		return end{state: terminating}
	case p.Node != "":
		return end{state: bound}
	case p.Nominated != "":
		return end{nominated, p.Nominated}
	}
	return end{state: pending}
}

func (e end) String() string {
	if e.node == "" {
		return string(e.state)
	}
	return string(e.state) + " to " + e.node
}

// ends adds the pods that end otherwise.
func (c *Comparison) ends(class func(pod string) string) {
	var of [2]map[string]end
	for i, l := range c.Lives {
		of[i] = map[string]end{}
		for _, p := range l.Trace.Quiet.Pods {
			of[i][p.Name] = endOf(&p)
		}
	}
	for i := range of { // a pod that nothing is known of is gone
		for pod := range of[1-i] {
			if _, ok := of[i][pod]; !ok {
				of[i][pod] = end{state: gone}
			}
		}
	}
	unlike(of, class, func(pods [2]string, ends [2]end) {
		kind := fmt.Sprintf("a pod ends %s instead of %s", ends[1].state, ends[0].state)
		if ends[0].state == ends[1].state {
			kind = "a pod ends nominated to another node"
		}
		c.add(ofEnds, kind, fmt.Sprintf("%s ends %s", pods[0], ends[0]), fmt.Sprintf("%s ends %s", pods[1], ends[1]))
	})
}

// evicted is how many pods of a name were deleted for a preemptor, and how many were preempted by
// ending their way to a node. again: one was deleted that was terminating already.
type evicted struct {
	deleted, inMemory int
	again             bool
}

func (e evicted) String() string {
	var all []string
	if e.deleted > 0 {
		all = append(all, "is deleted"+ifElse(e.deleted > 1, fmt.Sprintf(", and %d more of its name", e.deleted-1), ""))
	}
	if e.inMemory > 0 {
		all = append(all, "is kept from its node")
	}
	if e.again {
		all = append(all, "is deleted though it terminates already")
	}
	if len(all) == 0 {
		return "is not preempted"
	}
	return strings.Join(all, " and ")
}

// preemptions adds the pods that are preempted by just one of the two, or otherwise.
func (c *Comparison) preemptions(class func(pod string) string) {
	var of [2]map[string]evicted
	for i, l := range c.Lives {
		of[i] = map[string]evicted{}
		before := map[string]evicted{} // when the pod that there is was created
		for j := range l.Trace.Entries[:l.Trace.FlushedAt] {
			e := &l.Trace.Entries[j]
			was := of[i][e.Pod()]
			switch {
			case e.Creates():
				before[e.Pod()] = was
				continue
			case e.What == timeline.Called && e.Call == timeline.Evict && e.TookEffect() && !ends(l.Trace.Entries[:j], e.Object):
				was.again = true
			case e.What == timeline.Called && e.Call == timeline.Evict && e.TookEffect():
				was.deleted = before[e.Pod()].deleted + 1
			case e.PreemptsInMemory():
				was.inMemory = before[e.Pod()].inMemory + 1
			default:
				continue
			}
			of[i][e.Pod()] = was
		}
	}
	unlike(of, class, func(pods [2]string, did [2]evicted) {
		never, kind := evicted{}, "another number of pods of one name is preempted"
		switch {
		case did[0] == evicted{again: true} && did[1] == never:
			kind = "a pod that terminates already is not deleted again"
		case did[0] == never && did[1] == evicted{again: true}:
			kind = "a pod that terminates already is deleted again"
		case did[0] == never:
			kind = "a pod is preempted that was spared"
		case did[1] == never:
			kind = "a pod is spared that was preempted"
		case did[0].deleted == did[1].deleted && did[0].inMemory == did[1].inMemory:
			kind = ifElse(did[0].again, "a pod that terminates already is not deleted again", "a pod that terminates already is deleted again")
		case did[0].inMemory == 0 && did[1].deleted == 0:
			kind = "a pod on its way to a node is kept from it instead of being deleted"
		case did[0].deleted == 0 && did[1].inMemory == 0:
			kind = "a pod on its way to a node is deleted instead of being kept from it"
		}
		c.add(ofPreemptions, kind, pods[0]+" "+did[0].String(), pods[1]+" "+did[1].String())
	})
}

// ends tells whether the last entries say that an object is told to end, or is gone: what a call does
// is seen before its answer.
func ends(entries []timeline.Entry, object string) bool {
	for i := len(entries) - 1; i >= 0 && entries[i].Object == object; i-- {
		if w := entries[i].What; w == timeline.Deleting || w == timeline.Removed {
			return true
		}
	}
	return false
}

// nominations adds the pods that are nominated to other nodes before all is at rest. Those to
// nodes to which pods are about to be bound count apart.
func (c *Comparison) nominations(class func(pod string) string) {
	var preempting, binding [2]map[string]string
	for i, l := range c.Lives {
		to, fits := map[bool]map[string][]string{false: {}, true: {}}, map[string]string{}
		for j := range l.Trace.Entries[:l.Trace.FlushedAt] {
			switch e := &l.Trace.Entries[j]; {
			case e.What == timeline.Fits:
				fits[e.Pod()] = e.Node
			case e.What == timeline.Decided:
				delete(fits, e.Pod())
			case e.What == timeline.Called && e.Call == timeline.Patch && e.TookEffect():
				if _, node, ok := strings.Cut(e.Text, "nominated to "); ok {
					node, _, _ = strings.Cut(node, ",")
					list := to[fits[e.Pod()] == node]
					list[e.Pod()] = append(list[e.Pod()], node)
				}
			}
		}
		preempting[i], binding[i] = map[string]string{}, map[string]string{}
		for pod, nodes := range to[false] {
			slices.Sort(nodes)
			preempting[i][pod] = words.Some(slices.Compact(nodes), 5)
		}
		for pod := range to[true] {
			binding[i][pod] = "the node that it is to be bound to"
		}
	}
	report := func(never, always, other string) func(pods, to [2]string) {
		return func(pods, to [2]string) {
			kind := ifElse(to[0] == "", never, ifElse(to[1] == "", always, other))
			said := func(i int) string {
				return pods[i] + " is nominated to " + cmp.Or(to[i], "no node") + " on the way"
			}
			c.add(ofNominations, kind, said(0), said(1))
		}
	}
	unlike(preempting, class, report("a pod is nominated on the way that was not", "a pod is not nominated on the way any more", "a pod is nominated to another node on the way"))
	unlike(binding, class, report("a pod that fits is nominated to its node before it is bound", "a pod that fits is not nominated to its node any more before it is bound", ""))
}

// chosen tells whether the two went apart when a pod that fits on several nodes went to one of
// them in the first release, and to another in the second, which scores are free to have.
func (c *Comparison) chosen() bool {
	var results [2][]*timeline.Entry
	for i, l := range c.Lives {
		for j := range l.Trace.Entries {
			if e := &l.Trace.Entries[j]; e.What == timeline.Fits || e.What == timeline.Decided && len(e.Victims) > 0 {
				results[i] = append(results[i], e)
			}
		}
	}
	for i := range min(len(results[0]), len(results[1])) {
		a, b := results[0][i], results[1][i]
		if a.What != b.What || a.Object != b.Object || a.What == timeline.Decided && (a.Node != b.Node || !slices.Equal(a.Victims, b.Victims)) {
			return false
		}
		if a.Node != b.Node {
			return true
		}
	}
	return false
}
