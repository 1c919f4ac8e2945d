// Package lists are the commands that print what the program knows: findings, schedulers, the role for a
// live cluster, and its own manual.
package lists

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// Findings makes the command that tells what is known to break a promise.
func Findings() *cobra.Command {
	var classes []ledger.Class
	var output terminal.Format
	cmd := &cobra.Command{
		Use:   "findings [ID]",
		Short: "List the known findings, or tell about one",
		Long: `A known finding is a way in which kube-scheduler breaks what its documentation
promises. It is told apart from a new one by switching the same bug on in the
model: if model and scheduler then agree, the finding is known. RELEASES is which
have it.

CLASS is how sure it is that the scheduler, and not the reader, is wrong:
  crash          lets whoever may create objects end or starve the scheduler
  defect         contradicts a written promise on a cluster that the API server admits
  inconsistency  two paths of the scheduler disagree with each other
  debatable      the promise can be read both ways, or speaks of something else, such
                 as eviction, or a limit of the greedy algorithm
  unreachable    needs a state that no API server or kubelet lets arise
"check" and "explain" say that the scheduler disagrees for the first three; the others
are a remark. Of the first, nothing is told until the Kubernetes security contact has
judged it: see docs/findings/kept-back.md.`,
		Example: `  preemptcheck findings
  preemptcheck findings --class defect,inconsistency
  preemptcheck findings empty-selector`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				entries := slices.Concat(ledger.All(), ledger.Timelines())
				if len(classes) > 0 {
					entries = slices.DeleteFunc(entries, func(e ledger.Entry) bool { return !slices.Contains(classes, e.Class) })
				}
				for i := range entries {
					entries[i] = entries[i].Public()
				}
				if output == terminal.HTML {
					return reports.Findings(cmd.OutOrStdout(), entries)
				}
				return output.Print(cmd.OutOrStdout(), entries, func(w io.Writer) { listFindings(w, entries, output) })
			}
			entry, ok := ledger.LookUp(args[0])
			if !ok {
				return fmt.Errorf("there is no known finding %q, see \"preemptcheck findings\"", args[0])
			}
			entry = entry.Public()
			if output == terminal.HTML {
				return reports.Findings(cmd.OutOrStdout(), []ledger.Entry{entry})
			}
			return output.Print(cmd.OutOrStdout(), entry, func(w io.Writer) { describeFinding(w, entry) })
		},
	}
	flags.Class(cmd, &classes, "list only those of a class")
	terminal.OutputFlag(cmd, &output, terminal.Wide, terminal.Name, terminal.HTML)
	return cmd
}

func listFindings(w io.Writer, entries []ledger.Entry, format terminal.Format) {
	if format == terminal.Name {
		for _, e := range entries {
			fmt.Fprintln(w, e.ID)
		}
		return
	}
	header := []string{"ID", "CLASS", "TITLE", "RELEASES", "UPSTREAM"}
	if format == terminal.Wide {
		header = append(header, "PROMISE")
	}
	t := table.New("", header...)
	for _, e := range entries {
		row := []string{e.ID, string(e.Class), e.Title, e.Releases, e.Upstream}
		if format == terminal.Wide {
			row = append(row, e.Promise)
		}
		t.Row(row...)
	}
	t.WriteText(w)
}

func describeFinding(w io.Writer, e ledger.Entry) {
	page, witness := e.ID, "corpus case "+e.Witness
	if slices.ContainsFunc(ledger.Timelines(), func(t ledger.Entry) bool { return t.ID == e.ID }) {
		witness = "corpus timeline " + e.Witness
	}
	if e.KeptBack() {
		page, witness = "kept-back", ""
	}
	fmt.Fprintf(w, "%s\n\n", e.Title)
	for _, line := range [][2]string{
		{"Class:", string(e.Class)}, {"Costs:", e.Consequence}, {"Promise:", e.Promise}, {"  says:", e.Source}, {"Happens:", e.Happens}, {"  in:", e.Where},
		{"Releases:", e.Releases}, {"Upstream:", e.Upstream}, {"Witness:", witness}, {"Page:", "docs/findings/" + page + ".md"},
	} {
		if line[1] == "" {
			continue
		}
		fmt.Fprintf(w, "%-10s %s\n", line[0], line[1])
	}
}
