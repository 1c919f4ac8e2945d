package timeline

import (
	"maps"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Preemption is one preemption for a pod, as the entries of a trace tell of it. Entries are
// given by their indexes, -1 if there is none.
type Preemption struct {
	Node    string
	Victims []string
	// Decided is the entry of the decision; Began and Ended are those of its goroutine.
	Decided, Began, Ended int
	// Gone are the entries at which the scheduler handled that victims are gone, by victim.
	Gone map[string]int
	// Deleted is how many victims it deleted.
	Deleted int
}

// LastPreemption is the last preemption for a pod, or for a group as Preemptor names it, that was decided before entry before; nil if
// there is none.
func (t *Trace) LastPreemption(pod string, before int) *Preemption {
	var p *Preemption
	cycle := 0 // that decided so
	handled := map[string]int{}
	for i := range t.Entries[:before] {
		e := &t.Entries[i]
		switch {
		case e.What == TakenOver:
			p = nil
		case e.What == Created || e.What == Handled && e.Text == "added": // a pod of that name that is gone was another
			delete(handled, e.Pod())
		case e.What == Handled && e.Text == "deleted":
			handled[e.Pod()] = i
		case e.What == Decided && e.Preemptor() == pod:
			p, cycle = nil, e.Cycle
			if len(e.Victims) > 0 {
				p = &Preemption{Node: e.Node, Victims: e.Victims, Decided: i, Began: -1, Ended: -1}
			}
		case p == nil:
		case e.What == Begins && e.Preemptor() == pod && e.Cycle == cycle:
			p.Began = i
		case e.What == Ends && e.Preemptor() == pod && e.Cycle == cycle:
			p.Ended = i
		case e.What == Called && e.Call == Evict && e.By == pod && e.TookEffect():
			p.Deleted++
		}
	}
	if p != nil {
		p.Gone = map[string]int{}
		for _, v := range p.Victims {
			if at, ok := handled[v]; ok {
				p.Gone[v] = at
			}
		}
	}
	return p
}

// Began is the index of the entry at which the pod of entry i was popped for the cycle that the
// entry is of.
func (t *Trace) Began(i int) int {
	for at := i; at >= 0; at-- {
		if e := &t.Entries[at]; e.What == Popped && e.Object == t.Entries[i].Object {
			return at
		}
	}
	return 0
}

// ToDelete are the victims of a decision that did not terminate when its cycle began, as far as the scheduler had
// been told, in order. Surely is false if it was told meanwhile that one terminates.
func (t *Trace) ToDelete(decided int) (victims []string, surely bool) {
	surely = true
	began := t.Began(decided)
	for _, v := range t.Entries[decided].Victims {
		then, now := t.LastTold(v, began), t.LastTold(v, decided)
		if !terminates(then) || then.Spec.NodeName == "" {
			victims = append(victims, v)
		}
		// Of a pod that is on its way to a node the scheduler keeps what it was when it was tried.
		surely = surely && terminates(then) == terminates(now) && (!terminates(then) || then.Spec.NodeName != "")
	}
	return victims, surely
}

func terminates(p *v1.Pod) bool { return p != nil && p.DeletionTimestamp != nil }

// LastTold is what a pod was when the scheduler was last told of it before an entry; nil if it was not, or that it is gone.
func (t *Trace) LastTold(pod string, before int) *v1.Pod {
	begin := 0 // of the scheduler that is alive
	for _, s := range t.Startups {
		if s.Entry <= before {
			begin = s.Entry
		}
	}
	for i := before - 1; i >= begin; i-- {
		if e := &t.Entries[i]; e.What == Handled && e.Pod() == pod {
			p, _ := e.Is.(*v1.Pod)
			return p
		}
	}
	for _, s := range t.Startups {
		if s.Entry != begin {
			continue
		}
		for _, o := range s.Objects {
			if p, ok := o.(*v1.Pod); ok && p.Namespace+"/"+p.Name == pod {
				return p
			}
		}
	}
	return nil
}

// Recreated tells whether there were several pods of a name, of which a trace does not tell which
// one an entry is about.
func (t *Timeline) Recreated(trace *Trace, pod string) bool {
	n := 0
	for _, p := range t.Cluster.Pods {
		if p.Namespace+"/"+p.Name == pod {
			n++
		}
	}
	for i := range trace.Entries {
		if e := &trace.Entries[i]; e.Creates() && e.Pod() == pod {
			n++
		}
	}
	return n > 1
}

// HitNamesakes are the calls of preemptions, by their entries, that hit another pod of a victim's
// name, which was created after the one that was decided on. It counts the pods that had a name,
// in the API and as the scheduler has been told; on its way to a node is the one that was tried.
func (t *Trace) HitNamesakes() (hits []int) {
	created, told := map[string]int{}, map[string]int{}
	decided := map[string]map[string]int{} // by preemptor and victim: the latest that was decided
	toldAt := make([]map[string]int, len(t.Entries))
	tried, onWay := map[string]int{}, map[string]int{} // which of them
	for i := range t.Entries {
		e := &t.Entries[i]
		pod := e.Pod()
		switch {
		case e.What == TakenOver:
			told = maps.Clone(created)
			for _, missed := range t.Missed(i) {
				if missed.Text == "added" {
					told[strings.TrimPrefix(missed.Object, "Pod ")]--
				}
			}
			clear(decided)
			clear(onWay)
		case e.Creates():
			created[pod]++
		case e.What == Handled && e.Text == "added":
			told[pod]++
		case e.What == Popped:
			toldAt[i] = maps.Clone(told)
			tried[pod] = told[pod]
		case e.What == Fits:
			onWay[pod] = tried[pod]
		case e.What == Requeued, e.What == Called && e.Call == Bind && e.TookEffect():
			delete(onWay, pod)
		case e.What == Decided:
			by := e.Preemptor()
			if decided[by] == nil {
				decided[by] = map[string]int{}
			}
			for _, v := range e.Victims {
				decided[by][v] = toldAt[t.Began(i)][v]
				if which, is := onWay[v]; is {
					decided[by][v] = which
				}
			}
		case e.What == Called && e.By != "" && e.TookEffect() && (e.Call == Evict || e.MarksVictim()):
			if which, ok := decided[e.By][pod]; ok && created[pod] > which {
				hits = append(hits, i)
			}
		}
	}
	return hits
}
