package lifetime_test

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Lies about the cycles of groups: in the first, g1 and g2 fit nowhere and preempt u1 and u2 together; in the last they fit.
func init() {
	lies["group-goes-as-told"] = map[string]func(t *timeline.Trace){
		"places a member of a group on a node that is full": func(t *timeline.Trace) {
			t.Courses[0].First[0].Node, t.Courses[0].First[0].Filters = "node-1", nil
		},
		"finds no node for a member though one is free": func(t *timeline.Trace) {
			last := &t.Courses[len(t.Courses)-1].First[0]
			last.Node, last.Filters = "", t.Courses[0].First[0].Filters
		},
		"gives a unit back that is in the way of a group": func(t *timeline.Trace) {
			t.Courses[0].Tried[0].GivenBack, t.Courses[0].Tried[0].Failed, t.Courses[0].Victims = true, "", nil
		},
		"preempts nobody for a group though that would help": func(t *timeline.Trace) {
			c := t.Courses[0].GroupCycle
			c.SecondCalls, c.Second, c.Placed, c.PlacedTo, c.Tried, c.Victims = 0, nil, nil, nil, nil, nil
		},
		"binds a member of a group that does not fit": func(t *timeline.Trace) {
			at := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Popped && e.Object == "Pod default/g2" })
			t.Entries = slices.Insert(t.Entries, at+1, timeline.Entry{What: timeline.Fits, Object: "Pod default/g2", Group: t.Entries[at].Group, Node: "node-2", Is: t.Entries[at].Is})
		},
	}
}
