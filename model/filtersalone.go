package model

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// FilterRun is what one filter plugin, by itself, says of the preemptor on a node.
type FilterRun struct {
	Plugin, Node string
	// Change is what became of Pod, one of the node's, before the plugin was
	// asked.
	Change Change
	Pod    string
	// Failed is nil if the plugin lets the preemptor run there.
	Failed *Verdict
	// Error is why the plugin came to no answer; "" if it did.
	Error string
}

// Change is what became of a pod of a node.
type Change string

// The changes. A plugin is told of the first two as a dry run tells it, after its
// PreFilter saw the pod.
const (
	Untouched       Change = "as it is"
	Removed         Change = "with a pod removed"
	RemovedAndAdded Change = "with a pod removed and added again"
	// Deleted: the pod was deleted from the cluster, so PreFilter did not see it.
	Deleted Change = "once a pod is deleted"
)

// FiltersAlone answers for each filter as if it were the only one.
type FiltersAlone struct {
	rules *Rules
	// c is asked about; questions holds it by the pod that is deleted.
	c         *Cluster
	questions map[string]*question
	alone     map[[2]string]*question // by that pod and by plugin
}

// NewFiltersAlone makes c ready to be asked about. c must not be changed until
// the answers are no longer used. The error is an Unmodelled, as that of Decide.
func NewFiltersAlone(c *Cluster, rules *Rules) (*FiltersAlone, error) {
	if missing := unmodelled(c, rules); len(missing) > 0 {
		return nil, missing
	}
	f := &FiltersAlone{rules, c, map[string]*question{}, map[[2]string]*question{}}
	if err := f.question("", "VolumeBinding").undecidedStorage(); err != nil {
		return nil, err
	}
	return f, nil
}

// FilterPlugins are the plugins that FiltersAlone answers for.
func FilterPlugins() []string {
	var names []string
	for _, f := range defaultFilters() {
		names = append(names, f.Plugin)
	}
	return names
}

// Answer is run with the model's Failed and Error, in place of those it has.
func (f *FiltersAlone) Answer(run FilterRun) FilterRun {
	gone := ""
	if run.Change == Deleted {
		gone = run.Pod
	}
	q := f.question(gone, run.Plugin)
	n := q.byName[run.Node]
	run.Failed, run.Error = nil, q.pre.err
	switch {
	case q.pre.err != "":
	case q.pre.rejection != nil:
		run.Failed = q.pre.rejection
	case q.pre.excludes(n):
		run.Failed = &Verdict{Plugin: run.Plugin, Unresolvable: true}
	case run.Change == Removed || run.Change == Deleted:
		// Of a deleted pod, only the quirks of what upstream keeps of a node know.
		before := f.question("", run.Plugin).byName[run.Node]
		var staying, removed []*pod
		for _, p := range before.pods {
			if p.key == run.Pod {
				removed = append(removed, p)
			} else {
				staying = append(staying, p)
			}
		}
		if run.Change == Deleted {
			staying = n.pods
		}
		run.Failed = q.verdict(n, q.without(before, staying, removed))
	default:
		run.Failed = q.verdict(n, view{pods: n.pods})
	}
	if run.Failed != nil && run.Failed.Error != "" {
		run.Failed, run.Error = nil, run.Failed.Error
	}
	return run
}

// question is that of the cluster without the pod gone, if any, with just one
// filter.
func (f *FiltersAlone) question(gone, plugin string) *question {
	key := [2]string{gone, plugin}
	if q := f.alone[key]; q != nil {
		return q
	}
	all := f.questions[gone]
	if all == nil {
		c := *f.c
		if gone != "" {
			c.Pods = make([]*v1.Pod, 0, len(f.c.Pods))
			for _, p := range f.c.Pods {
				if Key(p) != gone {
					c.Pods = append(c.Pods, p)
				}
			}
		}
		all = newQuestion(&c, f.rules)
		f.questions[gone] = all
	}
	q, rules := *all, *f.rules
	rules.filters = nil
	for _, filter := range f.rules.filters {
		if filter.Plugin == plugin {
			rules.filters = append(rules.filters, filter)
		}
	}
	q.rules = &rules
	q.pre = q.preFilter()
	f.alone[key] = &q
	return &q
}

func (r FilterRun) String() string {
	text := fmt.Sprintf("%s on %s %s", r.Plugin, r.Node, r.Change)
	if r.Pod != "" {
		text += " (" + r.Pod + ")"
	}
	return text + ": " + r.Outcome()
}

// Outcome says what the plugin comes to.
func (r FilterRun) Outcome() string {
	switch {
	case r.Error != "":
		return "error: " + r.Error
	case r.Failed == nil:
		return "passes"
	case r.Failed.Unresolvable:
		return "fails, unresolvable"
	default:
		return "fails"
	}
}
