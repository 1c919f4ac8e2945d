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
}

// SizeOf is the size of a cluster.
func SizeOf(c *model.Cluster) Size {
	return Size{len(c.Nodes), len(c.Pods), len(c.PodDisruptionBudgets)}
}

// Objects is the number of all of them.
func (s Size) Objects() int { return s.Nodes + s.Pods + s.Budgets }

// String is "2 nodes, 5 pods, 1 budget".
func (s Size) String() string {
	return words.Plural(s.Nodes, "node") + ", " + words.Plural(s.Pods, "pod") + ", " + words.Plural(s.Budgets, "budget")
}
