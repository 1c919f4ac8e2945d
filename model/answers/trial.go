package answers

import (
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Trial asks of one cluster whether the preemptor would run on a node once some of
// the node's pods are gone.
type Trial struct{ cy *model.Cycle }

// NewTrial makes a cluster ready to be asked about; it must not be changed until
// the Trial is no longer used. The error is a model.Unmodelled.
func NewTrial(c *model.Cluster, rules *Rules) (*Trial, error) {
	rules = rules.In(c)
	noticed := rules.Noticed(c)
	if missing := rules.unmodelled(c, model.NewSnapshot(noticed)); len(missing) > 0 {
		return nil, missing
	}
	return &Trial{rules.NewCycle(noticed)}, nil
}

// Fits tells whether the preemptor runs on the node, of which the pods named gone
// ("namespace/name") are gone, as at the end of a dry run: all pods that may be
// preempted were taken away, and the others of them given back. The pods of
// other nodes that are preempted with those are gone, too, if they are named. The others
// of the cluster, and the pods nominated to the node, are as they are.
func (t *Trial) Fits(node string, gone map[string]bool) bool {
	n := t.cy.Node(node)
	if rejected := t.cy.PreFiltered.Rejection; n == nil || rejected != nil && rejected.Unresolvable || t.cy.PreFiltered.Error != "" {
		return false
	}
	s := model.Scene{Node: n}
	for _, p := range n.Pods {
		if !gone[p.Key] {
			s.Pods = append(s.Pods, p)
		}
	}
	var back []filter.Move
	if len(gone) > 0 {
		for _, p := range t.cy.PodsOn(n, true) {
			s.Moves = append(s.Moves, filter.Move{Pod: p})
			if !gone[p.Key] {
				back = append(back, filter.Move{Pod: p, Back: true})
			}
		}
		for _, u := range t.cy.Units.On(n) {
			for _, p := range u.Elsewhere(n) {
				if gone[p.Key] {
					s.Gone = append(s.Gone, p)
				}
			}
		}
	}
	s.Moves = append(s.Moves, back...)
	return t.cy.FitsIn(s) == nil
}
