package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/properties"
)

func newFindings() *cobra.Command {
	var output format
	cmd := &cobra.Command{
		Use:   "findings [ID]",
		Short: "List the known findings, or tell about one",
		Long: `A known finding is a way in which kube-scheduler breaks what its documentation
promises. It is told apart from a new one by switching the same bug on in the
model: if model and scheduler then agree, the finding is known. RELEASES is which
have it.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return output.print(cmd.OutOrStdout(), properties.LedgerOfAll(), listFindings)
			}
			entry, ok := properties.LookUp(args[0])
			if !ok {
				return fmt.Errorf("there is no known finding %q, see \"preemptcheck findings\"", args[0])
			}
			return output.print(cmd.OutOrStdout(), entry, func(w io.Writer) { describeFinding(w, entry) })
		},
	}
	outputFlag(cmd, &output)
	return cmd
}

func listFindings(w io.Writer) {
	t := table.New("", "ID", "TITLE", "RELEASES", "UPSTREAM")
	for _, e := range properties.LedgerOfAll() {
		t.Row(e.ID, e.Title, e.Releases, e.Upstream)
	}
	t.WriteText(w)
}

func describeFinding(w io.Writer, e properties.LedgerEntry) {
	fmt.Fprintf(w, "%s\n\n", e.Title)
	for _, line := range [][2]string{
		{"Promise:", e.Promise}, {"  says:", e.Source}, {"Happens:", e.Happens}, {"  in:", e.Where},
		{"Releases:", e.Releases}, {"Upstream:", e.Upstream}, {"Witness:", "corpus case " + e.Witness},
	} {
		fmt.Fprintf(w, "%-10s %s\n", line[0], line[1])
	}
}
