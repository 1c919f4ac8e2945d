package known

import "github.com/preemptcheck/preemptcheck/properties/lifetime/unnoticed"

// unnoticed is what was seen by the end that is looked at, to be asked what helps a pod unnoticed.
func (l *Life) unnoticed() *unnoticed.Life {
	return &unnoticed.Life{Timeline: l.Timeline, Trace: l.Trace, Release: l.Release, End: l.end()}
}

// missedByPlugins are the known findings by which no plugin that rejected a pod takes notice of what helps it, or is told. It is helped
// if it fits or, if preempts, if it can preempt.
func (l *Life) missedByPlugins(pod string, preempts bool) (ids []string) {
	changes := l.unnoticed()
	if changes.FirstOfItsKind(pod) {
		ids = append(ids, FirstUnnoticed)
	}
	if changes.NodeForShunned(pod, preempts) {
		ids = append(ids, NodeForShunned)
	}
	if changes.ShunnerGone(pod, preempts) {
		ids = append(ids, ShunnerGone)
	}
	if changes.SpreadEased(pod, preempts) {
		ids = append(ids, SpreadEased)
	}
	if changes.Relabelled(pod, preempts) {
		ids = append(ids, Relabelled)
	}
	if changes.Resized(pod, preempts) {
		ids = append(ids, Resized)
	}
	return ids
}
