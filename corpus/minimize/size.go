package minimize

import (
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// Size counts the objects of a cluster.
type Size struct {
	Nodes   int `json:"nodes"`
	Pods    int `json:"pods"` // without the preemptor
	Budgets int `json:"budgets"`
	// Steps are those of a timeline.
	Steps int `json:"steps,omitempty"`
}

// SizeOf is the size of a cluster.
func SizeOf(c *model.Cluster) Size {
	return Size{Nodes: len(c.Nodes), Pods: len(c.Pods), Budgets: len(c.PodDisruptionBudgets)}
}

// Objects is the number of all of them.
func (s Size) Objects() int { return s.Nodes + s.Pods + s.Budgets }

// String is "2 nodes, 5 pods, 1 budget", and the steps if there are any.
func (s Size) String() string {
	text := words.Plural(s.Nodes, "node") + ", " + words.Plural(s.Pods, "pod") + ", " + words.Plural(s.Budgets, "budget")
	if s.Steps > 0 {
		text += ", " + words.Plural(s.Steps, "step")
	}
	return text
}
