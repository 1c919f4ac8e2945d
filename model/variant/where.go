package variant

import "github.com/preemptcheck/preemptcheck/model/filter"

// Where makes a plugin that is changed just for the snapshots that it concerns: it
// saves the work where the change means nothing.
func Where(concerns func(*filter.Snapshot) bool, change OfPlugin) OfPlugin {
	return func(p filter.Plugin) filter.Plugin { return where{wrapped{p}, concerns, change(p)} }
}

type where struct {
	wrapped
	concerns func(*filter.Snapshot) bool
	changed  filter.Plugin
}

func (w where) PreFilter(s *filter.Snapshot) (filter.State, filter.Answer) {
	if w.concerns(s) {
		return w.changed.PreFilter(s)
	}
	return w.Plugin.PreFilter(s)
}
