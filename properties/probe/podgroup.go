package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
)

// addGroup counts the cycle of a pod group. It exercises no probes, which are about pods. What comes of it is told by the
// rules where they know it: which node a member takes is left to chance, and the same cluster has to be counted the
// same each time.
func (s *Stats) addGroup(r *properties.Result) {
	g := r.Observation.Group
	binds := len(g.Members) < len(r.Cluster.Preemptors()) && g.Waits == ""
	tries := g.Waits == "" && g.Eligible != nil && g.Eligible.OK && !g.Ongoing
	preempts := len(g.Placed) > 0
	if r.Group != nil {
		course := explain.Follow(r.Group, nil)
		binds, tries, preempts = course.Binds, course.Eligible != nil && course.Eligible.OK && len(course.Awaited) == 0, course.Preempts
	}
	switch {
	case binds:
		s.Scheduled++ // some of them are
	case g.Code == "Error":
		s.InError++
	case !tries:
		s.Ineligible++
	case !preempts:
		s.NotHelpful++
	default:
		s.Preempted++
	}
	s.Shapes.add([]byte(groupShape(r)))
}

// groupShape describes a cycle as Shapes says, by what does not depend on the node that a member takes: why the first one
// does not fit, how many there are of each, and how much may be preempted.
func groupShape(r *properties.Result) string {
	s, g := r.Group, r.Observation.Group
	shape := []string{g.Waits, fmt.Sprint(len(r.Cluster.Members()), len(r.Cluster.Preemptors()))}
	if len(g.First) > 0 {
		var verdicts []string
		for _, v := range g.First[0].Filters {
			verdicts = append(verdicts, v.String())
		}
		slices.Sort(verdicts)
		shape = append(shape, verdicts...)
	}
	if s != nil {
		possible, _ := s.Domain(s.Cycle)
		shape = append(shape, fmt.Sprint(s.Root.Least))
		for _, u := range possible {
			shape = append(shape, fmt.Sprint(len(u.Pods)))
		}
	}
	return strings.Join(shape, "\n")
}
