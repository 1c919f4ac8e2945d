package explanation

import (
	"fmt"
	"io"
	"maps"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// WithGate is what would be otherwise with the feature gate GenericWorkload on, in a cluster whose pods name
// groups.
type WithGate struct {
	// NotModelled says why that is not known.
	NotModelled string `json:"notModelled,omitempty"`
	// Outcome is what the scheduler does then, and Before what it does with the gate off.
	Outcome string `json:"outcome,omitempty"`
	Before  string `json:"before"`
	// Units go together then.
	Units []*Unit `json:"units,omitempty"`
}

// GateOff is a cluster as a scheduler with the feature gate GenericWorkload off has it, in which pods are in no
// groups, and GateOn with it on; nil if no pod of the cluster names a group, or if the gate is on already.
func GateOff(c *model.Cluster) (off, on *model.Cluster) {
	if c.Settings.FeatureGates[model.GateWorkload] || c.Preemptor == nil {
		return nil, nil
	}
	plain, grouped := *c, *c
	plain.Pods = make([]*v1.Pod, len(c.Pods))
	named := c.Preemptor.Spec.SchedulingGroup != nil
	alone := func(p *v1.Pod) *v1.Pod {
		if p.Spec.SchedulingGroup == nil {
			return p
		}
		named = true
		p = p.DeepCopy()
		p.Spec.SchedulingGroup = nil
		return p
	}
	plain.Preemptor = alone(c.Preemptor)
	for i, p := range c.Pods {
		plain.Pods[i] = alone(p)
	}
	if !named {
		return nil, nil
	}
	grouped.Settings = c.Settings.DeepCopy()
	gates := maps.Clone(c.Settings.FeatureGates)
	if gates == nil {
		gates = map[string]bool{}
	}
	gates[model.GateWorkload] = true
	grouped.Settings.FeatureGates = gates
	return &plain, &grouped
}

// Compared tells what is otherwise with the gate on. candidates is that of Of.
func Compared(off, on *properties.Result, candidates int) *WithGate {
	w := &WithGate{}
	w.Before, _ = Outcome(off)
	if on.Decision == nil || on.Unmodelled != nil {
		w.NotModelled = on.Unmodelled[0].String()
		return w
	}
	w.Outcome, _ = Outcome(on)
	w.Units = Of(on, candidates).Units
	return w
}

func (w *WithGate) writeText(out io.Writer) {
	if w == nil {
		return
	}
	fmt.Fprint(out, "Pods of this cluster name groups. With the feature gate GenericWorkload off, as here, that means nothing.\n")
	switch {
	case w.NotModelled != "":
		fmt.Fprintf(out, "What would be otherwise with it on is not modelled: %s.\n", w.NotModelled)
	case w.Outcome == w.Before:
		fmt.Fprintf(out, "With it on, the outcome is the same: %s.\n", w.Outcome)
	default:
		fmt.Fprintf(out, "With it on, the outcome is: %s, in place of: %s.\n", w.Outcome, w.Before)
	}
	for _, u := range w.Units {
		u.writeText(out)
	}
	fmt.Fprintln(out)
}
