package timeline

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

// LastPreemption is the last preemption for a pod that was decided before entry before; nil if
// there is none.
func (t *Trace) LastPreemption(pod string, before int) *Preemption {
	var p *Preemption
	handled := map[string]int{}
	for i := range t.Entries[:before] {
		e := &t.Entries[i]
		switch {
		case e.What == TakenOver:
			p = nil
		case e.What == Created:
			delete(handled, e.Pod())
		case e.What == Handled && e.Text == "deleted":
			handled[e.Pod()] = i
		case e.What == Decided && e.Pod() == pod:
			p = nil
			if len(e.Victims) > 0 {
				p = &Preemption{Node: e.Node, Victims: e.Victims, Decided: i, Began: -1, Ended: -1}
			}
		case p == nil:
		case e.What == Begins && e.Pod() == pod:
			p.Began = i
		case e.What == Ends && e.Pod() == pod:
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
