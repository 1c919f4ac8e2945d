package variation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
)

// anyOrder is that the order does not matter in which the scheduler is told of independent things
// between two cycles. In the variation, steps during which the queue hands out no pod come in
// another order. What the scheduler knows when it goes on is the same then.
//
// Of a stretch of steps without a pause,
//
//   - the queue is held, so that no cycle begins;
//   - the scheduler is seen doing nothing but being told of events;
//   - in the end all that was told to it is handled, and no pod is held that a kubelet is to end.
//
// Two of its steps may change places if
//
//   - no object is concerned in both: of one object the events come in order, and "there is no
//     promise about ordering between states seen for different objects";
//   - they do not bring pods of equal priority into the queue: of these, the first to come is the
//     first to be tried (doc comment of PrioritySort's Less);
//   - neither lets events go on at a place to which the other adds some: who is let go depends on
//     who waits;
//   - neither shows what becomes of the last victim of a preemption that goes on. Until it terminates,
//     PreEnqueue keeps the preemptor out of the queue, and from then on it takes the preemption for done
//     (comment in prepareCandidateAsync, executor.go:275@v1.37.1). So it matters which event is met by the gate.
//
// Among equal victims, and among equal candidates, either choice is right. Where the two lives
// part by such a choice, their ends are not compared.
func anyOrder() Relation {
	return Relation{
		Name:    "any-order-of-deliveries",
		Promise: "the same objects are there in the end, in whatever order the scheduler is told of independent objects while it tries no pod",
		Source: "doc comment of SharedInformer, \"there is no promise about ordering between states seen for different objects\" (client-go/tools/cache/shared_informer.go:79@v0.37.1); " +
			"doc comment of Less (queuesort/priority_sort.go:40@v1.37.1), \"It sorts entities based on their priority. When priorities are equal, it uses the entity timestamp\"",
		Lies: []string{"forgets a pod in one order", "deletes a pod in one order", "keeps a nomination in one order", "takes another node in one order", "never comes to rest in one order"},
		Vary: func(l *lifetime.Life) *timeline.Timeline {
			order := reorder(l)
			if slices.IsSorted(order) {
				return nil
			}
			t := l.Timeline.Clone()
			for i, from := range order {
				t.Steps[i] = l.Timeline.Steps[from]
			}
			return t
		},
		Compare: func(l, other *lifetime.Life) []lifetime.Finding {
			before, after := existing(l), existing(other)
			for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
				kind, is := state(before[name])
				otherKind, otherwise := state(after[name])
				if is == otherwise || lifetime.ChooseDifferently(l, other) {
					continue
				}
				kinds := []string{kind, otherKind}
				slices.Sort(kinds)
				return []lifetime.Finding{{Pod: name, Kind: strings.Join(slices.Compact(kinds), " or "), Entry: l.Trace.FlushedAt, Detail: fmt.Sprintf(
					"when all is at rest, pod %s is %s; it is %s if steps %s come in the order %s", name, is, otherwise, inOrder(sortedMoved(reorder(l))), inOrder(moved(reorder(l))))}}
			}
			return nil
		},
	}
}

func union(a, b map[string]timeline.PodState) map[string]timeline.PodState {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// moved are the steps that are elsewhere in an order, by number, as they come there.
func moved(order []int) (steps []int) {
	for i, from := range order {
		if i != from {
			steps = append(steps, from+1)
		}
	}
	return steps
}

func sortedMoved(order []int) []int { return slices.Sorted(slices.Values(moved(order))) }

func inOrder(steps []int) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(steps)), ", "), "[]")
}

// reorder is the order in which the steps of a timeline may come as well: in each stretch, those
// that are free to come first are taken from its end.
func reorder(l *lifetime.Life) []int {
	all := deliveries(l)
	order := make([]int, len(l.Timeline.Steps))
	for i := range order {
		order[i] = i
	}
	for _, s := range stretches(l, all) {
		left := slices.Clone(order[s.from:s.to])
		for at := s.from; at < s.to; at++ {
			for i := len(left) - 1; i >= 0; i-- {
				if !slices.ContainsFunc(left[:i], func(j int) bool { return all[j].before(&all[left[i]]) }) {
					order[at] = left[i]
					left = slices.Delete(left, i, i+1)
					break
				}
			}
		}
	}
	return order
}

// delivery is what a step brings about until the next one.
type delivery struct {
	// idle: nothing was seen of the scheduler but that it is told of events.
	idle bool
	// objects are those that the step and its events are about, as "Pod default/a".
	objects map[string]bool
	// kinds are theirs; lets is the kind of which the step lets events go on.
	kinds map[string]bool
	lets  string
	// priorities are those of pods that the step may bring into the queue.
	priorities map[int32]bool
	// opensGate: listers show another state of the last victim of a preemption that goes on.
	opensGate bool
}

// before tells whether d, which comes first, has to stay first.
func (d *delivery) before(e *delivery) bool {
	return d.opensGate || e.opensGate || meet(d.objects, e.objects) || meet(d.priorities, e.priorities) || e.kinds[d.lets] || d.kinds[e.lets] || d.lets != "" && d.lets == e.lets
}

func meet[K comparable](a, b map[K]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// deliveries are what the steps bring about.
func deliveries(l *lifetime.Life) []delivery {
	priority := priorities(l)
	all := make([]delivery, len(l.Timeline.Steps))
	for i := range all {
		s := &l.Timeline.Steps[i]
		d := &all[i]
		d.objects, d.kinds, d.priorities = map[string]bool{}, map[string]bool{}, map[int32]bool{}
		switch {
		case s.Create != nil, s.Change != "", s.Delete != "", s.End != "":
			d.idle = true
			d.concern(s.Change)
			d.concern(s.Delete)
			if s.End != "" {
				d.concern("Pod " + s.End)
			}
			if p := s.CreatedPod(); p != nil && p.Spec.PriorityClassName != "" { // refused if there is none
				d.concern("PriorityClass " + p.Spec.PriorityClassName)
			}
		case s.Release != nil && s.Release.Name.OfKind() && s.Release.Kind != "":
			d.idle, d.lets = true, s.Release.Kind
		case s.Next != nil && s.Next.Name.OfKind() && s.Next.Kind != "":
			d.idle, d.lets = true, s.Next.Kind
		}
	}
	decided, last := map[string]int{}, map[string]string{} // by preemptor: its decision, and the last victim of what goes on
	for i := range l.Trace.Entries {
		e := &l.Trace.Entries[i]
		if e.Step >= len(all) {
			break
		}
		d := &all[e.Step]
		switch e.What {
		case timeline.TakenOver:
			clear(last)
		case timeline.Decided:
			decided[e.Preemptor()] = i
		case timeline.Begins:
			last[e.Preemptor()] = l.LastEvicted(decided[e.Preemptor()])
		case timeline.Ends:
			delete(last, e.Preemptor())
		case timeline.Stored:
			for _, victim := range last {
				d.opensGate = d.opensGate || e.Pod() != "" && e.Pod() == victim
			}
		}
		switch e.What {
		case timeline.Created, timeline.Updated, timeline.Removed, timeline.Deleting, timeline.Started, timeline.Stored, timeline.Handled:
			d.concern(e.Object)
			if p, ok := priority[e.Object]; ok && (e.What == timeline.Created || e.What == timeline.Updated) {
				d.priorities[p] = true
			}
		case timeline.Releasing:
		default:
			d.idle = false
		}
	}
	for i := range all {
		if all[i].lets != "" { // its events come in their order
			clear(all[i].kinds)
			all[i].kinds[all[i].lets] = true
			clear(all[i].priorities)
		}
	}
	return all
}

func (d *delivery) concern(object string) {
	if object == "" {
		return
	}
	kind, _, _ := strings.Cut(object, " ")
	d.objects[object], d.kinds[kind] = true, true
}

// priorities are those of all pods that there were, by name.
func priorities(l *lifetime.Life) map[string]int32 {
	all := map[string]int32{}
	add := func(p *v1.Pod) {
		if p != nil {
			all["Pod "+model.Key(p)] = model.Priority(p)
		}
	}
	for _, p := range l.Timeline.Cluster.Pods {
		add(p)
	}
	for i := range l.Timeline.Steps {
		add(l.Timeline.Steps[i].CreatedPod())
	}
	for i := range l.Trace.Entries {
		p, _ := l.Trace.Entries[i].Is.(*v1.Pod)
		add(p)
	}
	return all
}

// stretch is of the steps from one to before another.
type stretch struct{ from, to int }

// stretches are the longest ones in which the queue is held and the scheduler does nothing, and
// after which nothing is held that would be told or would end in the order of the steps.
func stretches(l *lifetime.Life, all []delivery) (found []stretch) {
	var held []timeline.Place
	from, to := -1, -1
	end := func() {
		if to-from > 1 {
			found = append(found, stretch{from, to})
		}
		from, to = -1, -1
	}
	for i := range l.Timeline.Steps {
		s := &l.Timeline.Steps[i]
		switch {
		case s.Hold != nil:
			held = append(held, *s.Hold)
		case s.Release != nil:
			held = slices.DeleteFunc(held, func(p timeline.Place) bool { return p == *s.Release })
		}
		if !all[i].idle || !slices.Contains(held, timeline.Place{Name: timeline.Pop}) {
			end()
			continue
		}
		if from < 0 {
			from = i
		}
		if !slices.ContainsFunc(held, func(p timeline.Place) bool { return p.Name.OfKind() || p.Name == timeline.Stop }) {
			to = i + 1
		}
	}
	end()
	return found
}
