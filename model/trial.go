package model

// Trial asks of one cluster whether the preemptor would run on a node once some of
// the node's pods are gone.
type Trial struct{ q *question }

// NewTrial makes a cluster ready to be asked about; it must not be changed until
// the Trial is no longer used. The error is an Unmodelled.
func NewTrial(c *Cluster, rules *Rules) (*Trial, error) {
	if missing := unmodelled(c, rules); len(missing) > 0 {
		return nil, missing
	}
	return &Trial{newQuestion(c, rules)}, nil
}

// Fits tells whether the preemptor runs on the node, of which the pods named gone
// ("namespace/name") are gone. The other pods of the cluster, and the pods
// nominated to the node, are as they are.
func (t *Trial) Fits(node string, gone map[string]bool) bool {
	n := t.q.byName[node]
	if n == nil || t.q.pre.rejection != nil || t.q.pre.err != "" {
		return false
	}
	var staying, possible []*pod
	for _, p := range n.pods {
		if !gone[p.key] {
			staying = append(staying, p)
		}
		if t.q.preemptable(p) {
			possible = append(possible, p)
		}
	}
	if len(gone) == 0 {
		possible = nil
	}
	v := t.q.without(n, staying, possible)
	v.givenBack = len(gone) > 0
	return t.q.verdict(n, v) == nil
}
