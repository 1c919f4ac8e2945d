package probe

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/axiomhq/hyperloglog"
)

// Shapes estimates how many different shapes of scheduling cycles were seen, to
// about 2 percent, in memory that does not grow. The zero value has seen none.
//
// The shape of a cycle is what happened in it, without names, and without numbers
// other than small counts of pods:
//
//   - which of the Probes it exercised, the criterion that decided among them;
//   - of each node, in no order: which filter fails the preemptor there and
//     whether for good; whether preemption was tried and, if so, which filter
//     fails it, or the number of victims, of violations and of pods reprieved;
//     whether the node was shortlisted, and whether it was chosen, unless by chance.
//
// Where the model does not cover the cluster there are no probes, runs, and chances.
//
// Clusters whose cycles went the same way have the same shape, whatever else they
// hold.
type Shapes struct{ sketch *hyperloglog.Sketch }

// shapesPrecision is the logarithm of the number of bytes that Shapes takes.
const shapesPrecision = 12

// sketched is the sketch to add to. It is never of the sparse kind, whose
// encoding depends on the order of what was added.
func (s *Shapes) sketched() *hyperloglog.Sketch {
	if s.sketch == nil {
		s.sketch, _ = hyperloglog.NewSketch(shapesPrecision, false) // fails only for precisions out of bounds
	}
	return s.sketch
}

// Count is the estimate.
func (s Shapes) Count() int {
	if s.sketch == nil {
		return 0
	}
	return int(s.sketch.Estimate())
}

func (s *Shapes) add(shape []byte) { s.sketched().Insert(shape) }

func (s *Shapes) merge(other Shapes) error {
	if other.sketch == nil {
		return nil
	}
	return s.sketched().Merge(other.sketch)
}

// MarshalText encodes the sketch. Equal ones have equal encodings.
func (s Shapes) MarshalText() ([]byte, error) {
	if s.sketch == nil {
		return nil, nil
	}
	data, err := s.sketch.MarshalBinary()
	return base64.StdEncoding.AppendEncode(nil, data), err
}

// UnmarshalText reads what MarshalText wrote.
func (s *Shapes) UnmarshalText(text []byte) error {
	*s = Shapes{}
	if len(text) == 0 {
		return nil
	}
	data, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("shapes: %w", err)
	}
	var read hyperloglog.Sketch
	if err := read.UnmarshalBinary(data); err != nil {
		return fmt.Errorf("shapes: %w", err)
	}
	return s.merge(Shapes{&read})
}

// shape describes a cycle as Shapes says. exercised are the indices of the probes.
func (c *cycle) shape(exercised []int) []byte {
	nodes, runs := make([]string, len(c.Cluster.Nodes)), c.runs
	for i, n := range c.Cluster.Nodes {
		var r *run
		if len(runs) > 0 && runs[0].node == n.Name {
			r, runs = &runs[0], runs[1:]
		}
		nodes[i] = c.nodeShape(n.Name, r)
	}
	slices.Sort(nodes)
	shape := make([]byte, 0, 1024)
	for _, i := range exercised {
		shape = append(append(shape, probes[i].Name...), ';')
	}
	for _, n := range nodes {
		shape = append(append(shape, '\n'), n...)
	}
	return shape
}

// nodeShape is the part of a node; r is nil if preemption was not tried there.
func (c *cycle) nodeShape(node string, r *run) string {
	var shape []string
	if v, failed := c.Observation.Filters[node]; failed {
		shape = append(shape, v.String())
	}
	switch {
	case r == nil:
	case r.Error != "":
		shape = append(shape, "error")
	case r.Failed != nil:
		shape = append(shape, "dry run", r.Failed.String())
	default:
		for _, count := range []int{len(r.Victims), r.Violations, len(r.possible) - len(r.Victims)} {
			shape = append(shape, strconv.Itoa(count))
		}
	}
	if slices.Contains(c.Observation.Candidates, node) {
		shape = append(shape, "candidate")
	}
	if c.pick != nil && c.pick.Node == node || c.Decision != nil && c.Observation.ScheduledTo == node && len(c.Decision.Fits) == 1 {
		shape = append(shape, "chosen")
	}
	return strings.Join(shape, " ")
}
