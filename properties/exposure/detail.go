package exposure

import (
	"fmt"
	"io"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// Commands are those that show more: %s is the name of what they are asked about.
type Commands struct {
	// Witness shows what a class takes, Pending what a pending pod takes.
	Witness, Pending func(name string) string
}

// WriteDetail prints all that there is to say of one workload.
func (r *Report) WriteDetail(w io.Writer, its *Workload, show Commands) {
	fmt.Fprintf(w, "%s: %s, priority %s\n", its.Name, words.Plural(its.Pods, "pod"), its.priority())
	r.writeThreats(w, its, show)
	if len(its.Now) > 0 {
		fmt.Fprintf(w, "\nPending pods that may take pods of it now:\n\n")
		t := table.New("  ", "POD", "OF", "AT MOST", "ON NODE", "EXPECTED", "HOW SURE")
		for _, taker := range its.Now {
			pod, sure := taker.Pod, "one of several answers"
			if taker.Alike > 0 {
				pod += fmt.Sprintf(" and %d alike", taker.Alike)
			}
			if taker.Certain {
				sure = "in each answer"
			}
			t.Row(pod, taker.Workload, fmt.Sprint(taker.AtOnce), taker.Node, fmt.Sprintf("%.3g", taker.Expected), sure)
		}
		t.WriteText(w)
		fmt.Fprintf(w, "\n  %s\n", show.Pending(its.Now[0].Pod))
	}
	r.writeBudgets(w, its)
	if tried := len(r.Losses.Tried); tried > 0 {
		l := its.Loss
		fmt.Fprintf(w, "\nNode losses: of %d tried, %d hit it", tried, l.Nodes)
		if l.Nodes > 0 {
			fmt.Fprintf(w, ": %s preempted, %d that stay pending. The worst is that of %s: %d and %d", words.Plural(l.Preempted, "pod"), l.Pending, l.Worst, l.WorstPreempted, l.WorstPending)
		}
		fmt.Fprintln(w, ".")
	}
}

func (r *Report) writeThreats(w io.Writer, its *Workload, show Commands) {
	if len(its.Threats) == 0 {
		fmt.Fprintf(w, "\nNo class can preempt its pods.\n")
		return
	}
	fmt.Fprintf(w, "\nWho can preempt it, and what one pod of a class takes at most:\n\n")
	t := table.New("  ", "CLASS", "PRIORITY", "AT ONCE", "ON NODE", "IF IT ASKS FOR")
	for _, threat := range its.Threats {
		t.Row(threat.Class, fmt.Sprint(threat.Value), fmt.Sprint(threat.AtOnce), orDash(threat.Node), orDash(threat.Asks))
	}
	t.WriteText(w)
	worst := r.worst(its)
	if worst == nil || worst.AtOnce == 0 {
		return
	}
	var pods []string
	for _, p := range worst.Pods {
		pods = append(pods, p.Key)
	}
	fmt.Fprintln(w)
	words.WriteWrapped(w, "  ", fmt.Sprintf("On %s a pod of %s takes %s.", worst.Node, worst.Class, words.Some(pods, 10)))
	fmt.Fprintf(w, "\n  %s\n", show.Witness(worst.Class))
}

func (r *Report) writeBudgets(w io.Writer, its *Workload) {
	if len(its.Budgets) == 0 {
		fmt.Fprintf(w, "\nNo budget protects it.\n")
		return
	}
	fmt.Fprintf(w, "\nBudgets:\n\n")
	t := table.New("  ", "BUDGET", "ALLOWS", "VERDICT", "TOO MANY", "BY CLASS", "ON NODE")
	for _, b := range its.Budgets {
		over := "-"
		if b.Over > 0 {
			over = fmt.Sprint(b.Over)
		}
		t.Row(b.Name, fmt.Sprint(b.Allowed), string(b.Verdict), over, orDash(b.Class), orDash(b.Node))
	}
	t.WriteText(w)
	for _, b := range its.Budgets {
		for _, f := range b.Findings {
			fmt.Fprintln(w)
			words.WriteWrapped(w, "  ", fmt.Sprintf("%s, finding %s: %s.", b.Name, f.ID, f.Why))
			fmt.Fprintf(w, "  preemptcheck findings %s\n", f.ID)
		}
	}
}
