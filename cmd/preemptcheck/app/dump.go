package app

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/share"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

func newDump() *cobra.Command {
	in := newInput()
	var o share.Options
	var output terminal.Format
	cmd := &cobra.Command{
		Use:   "dump [FILE]",
		Short: "Write what decisions depend on of a cluster, with names or without",
		Long: `Dump writes to standard output what of a cluster decisions about preemption depend on,
and nothing else: each object is made anew of the fields that the scheduler, or the model of it,
reads. "preemptcheck check" and "explain" read it, and decide alike. Standard error tells what was
kept.

With --redact, all names, labels, taints, images and other texts are replaced by pseudonyms, each the
same wherever it occurs, so that the dump can be attached to an issue. It still decides alike. --map
saves what the pseudonyms stand for, for you alone. docs/dump.md tells what is kept, and what can
be inferred from it.

FILE is a cluster dump (kubectl get nodes,pods,pdb,priorityclasses -A -o yaml) or a case, or - for
standard input. Without it the live cluster is read.`,
		Example: `  preemptcheck dump --redact --map names.yaml > cluster.yaml
  kubectl get nodes,pods,pdb,priorityclasses -A -o yaml | preemptcheck dump - > cluster.yaml
  preemptcheck explain cluster.yaml`,
	}
	cmd.Flags().StringArrayVarP(&in.Files, "filename", "f", nil, "file, or - for standard input; the same as an argument")
	in.OnlyClusterFlags(cmd)
	for _, flag := range ofPods {
		_ = cmd.Flags().MarkHidden(flag)
	}
	cmd.Flags().BoolVar(&o.Redact, "redact", false, "replace names, labels, taints, images and other texts by pseudonyms")
	cmd.Flags().StringVar(&o.Map, "map", "", "with --redact, save what the pseudonyms stand for to this new `FILE`")
	terminal.FormatFlag(cmd, &output, terminal.YAML, terminal.JSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.Map != "" && !o.Redact {
			return errors.New("--map: without --redact there are no pseudonyms")
		}
		s, err := loadDumpOrCase(in, cmd, args)
		if err != nil {
			return err
		}
		o.JSON = output == terminal.JSON
		stop := terminal.NewProgress(cmd.ErrOrStderr()).Watch("writing the dump")
		var report *share.Report
		if s.Dump != nil {
			report, err = share.Write(cmd.OutOrStdout(), s, o)
		} else {
			report, err = share.WriteCase(cmd.OutOrStdout(), s.Cases[0], o)
		}
		stop()
		if err != nil {
			return err
		}
		report.WriteText(cmd.ErrOrStderr())
		return nil
	}
	return cmd
}

// ofPods are the flags for a live cluster that say which pods are asked about.
var ofPods = []string{"namespace", "selector", "all-namespaces"}

// loadDumpOrCase reads a dump, or the one case that there is to be.
func loadDumpOrCase(in *source.Input, cmd *cobra.Command, args []string) (*corpus.Stream, error) {
	for _, flag := range ofPods {
		if cmd.Flags().Changed(flag) {
			return nil, fmt.Errorf("--%s: a dump is of the whole cluster, as pods of all namespaces may be preempted", flag)
		}
	}
	paths := append(args, in.Files...)
	isLive, err := in.IsLive(args)
	switch {
	case err != nil:
		return nil, err
	case isLive:
		return in.LoadDump(cmd, args)
	case len(paths) > 1:
		return nil, errors.New("give one file with a cluster dump or a case, or - for standard input")
	}
	s, err := in.Read(cmd, paths[0])
	if err == nil && s.Dump == nil && len(s.Cases) != 1 {
		err = fmt.Errorf("%s: give one file: there are %d cases", paths[0], len(s.Cases))
	}
	return s, err
}
