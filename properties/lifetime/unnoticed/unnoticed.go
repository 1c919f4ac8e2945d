// Package unnoticed finds in a trace what has happened since a pod was last tried that helps it, while nobody has it tried
// again: no plugin that rejected it takes notice, or what happened is told to nobody.
//
// It knows of no findings: package known says which ones these are.
package unnoticed

import (
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
)

// Life is a timeline and what was seen of it up to some entry.
type Life struct {
	Timeline *timeline.Timeline
	Trace    *timeline.Trace
	// Release is the one whose scheduler was run.
	Release release.Release
	// End is the index after the last entry that is looked at.
	End int
}

// helpless tells whether, by what the scheduler knows in the end, a pod would fit nowhere, nor preempt if
// that is asked, if something had not happened.
func (l *Life) helpless(pod string, preempts bool, undo func(c *model.Cluster)) (helpless bool) {
	rules := l.Release.Rules()
	account.Follow(l.Timeline, l.Trace, func(i int, k account.Known) {
		if i != l.End {
			return
		}
		c := k.Cycle(pod, false)
		if c == nil {
			return
		}
		still := true // States tells only whether all were visited
		helpless = c.States(account.Bugs{}, func(s *account.State) bool {
			cluster := *s.Cluster
			undo(&cluster)
			d, err := answers.Decide(&cluster, rules)
			still = err == nil && len(d.Fits) == 0 && (!preempts || len(d.Choices()) == 0)
			return still
		}) && still
	})
	return helpless
}
