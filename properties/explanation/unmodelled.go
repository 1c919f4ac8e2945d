package explanation

import (
	"fmt"
	"io"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties"
)

// NotModelled is what there is to tell of a cluster that the model does not cover.
type NotModelled struct {
	File      string   `json:"file"`
	Pod       string   `json:"pod"`
	Fields    []string `json:"notModelled"`
	Reference Observed `json:"reference"`
}

// OfUnmodelled tells what the scheduler did with a cluster that the model does not cover.
func OfUnmodelled(r *properties.Result) *NotModelled {
	e := &NotModelled{Pod: r.Cluster.PreemptorKey(), Fields: words.Lines(r.Unmodelled), Reference: observed(r)}
	if len(r.Findings) == 0 {
		e.Reference.Agrees, e.Reference.Undecided = false, "not modelled"
	}
	if o := r.Observation; o.Pick != nil {
		e.Reference.Pick, e.Reference.Victims = o.Pick.Node, o.Pick.Victims
	}
	return e
}

// WriteText prints what the scheduler did.
func (e *NotModelled) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s: the model does not cover the cluster, so what is allowed is not known. Asked is whether the scheduler gets\nthrough it; \"preemptcheck check\" asks besides what needs no model.\n\n", e.Pod)
	for _, field := range e.Fields {
		fmt.Fprintln(w, "  not modelled: "+field)
	}
	fmt.Fprintln(w)
	did := e.Reference.breaks()
	switch r := &e.Reference; {
	case did != "":
	case r.ScheduledTo != "":
		did = "it schedules the pod to " + r.ScheduledTo
	case r.Pick != "":
		did = fmt.Sprintf("it nominates %s and preempts %s", r.Pick, words.Some(r.Victims, shownPods))
	default:
		did = "it gets through"
	}
	e.Reference.writeText(w, did)
}
