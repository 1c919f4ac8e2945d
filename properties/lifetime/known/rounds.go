package known

import "github.com/preemptcheck/preemptcheck/model/timeline"

// replacementsBoundAgainst are the known findings by which all pods got to their nodes that were bound and evicted
// while pods were evicted, replaced and evicted again: each was scheduled into the room of a nominated pod that keeps
// it from there. Had one of them been kept away as it should, the evictions would not go on like that.
func (l *Life) replacementsBoundAgainst(f *Broken) (ids []string) {
	scheduled, bound := map[string]int{}, map[string]int{} // by pod: the last entry that says so
	for i := range l.Trace.Entries[:f.Entry+1] {
		e := &l.Trace.Entries[i]
		switch {
		case e.Creates():
			delete(bound, e.Pod())
		case e.What == timeline.Fits:
			scheduled[e.Pod()] = i
		case e.What == timeline.Called && e.Call == timeline.Bind && e.TookEffect() && i > f.Since:
			bound[e.Pod()] = scheduled[e.Pod()]
		case e.What == timeline.Called && e.Call == timeline.Evict && e.By != "" && e.TookEffect():
			cycle, ok := bound[e.Pod()]
			if !ok {
				break // it was bound before
			}
			by := l.takesRoom(e.Pod(), cycle)
			if len(by) == 0 {
				return nil
			}
			ids = append(ids, by...)
		}
	}
	return ids
}

// takesRoom are the known findings by which a pod was scheduled at an entry to room that is kept for a nominated pod.
func (l *Life) takesRoom(pod string, at int) []string {
	for _, g := range l.Cycles {
		if g.Property == "nominated-room-is-kept" && g.Pod == pod && g.Entry == at {
			return g.Known
		}
	}
	return nil
}
