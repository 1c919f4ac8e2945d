package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/live"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// input is where the commands that read cases get them from.
type input struct {
	files   []string // -f
	pod     string   // --pod
	cluster cluster
	// wants is whether no file means the live cluster, even if no flag names one.
	wants bool
}

// clusterInputFlags are inputFlags for a command that reads the live cluster if there are no files.
func clusterInputFlags(cmd *cobra.Command, in *input) {
	in.wants = true
	inputFlags(cmd, in)
	clusterFlags(cmd, &in.cluster)
	in.cluster.complete(cmd, "pod", func(ctx context.Context, c *live.Cluster) ([]string, error) { return c.Pending(ctx) })
}

// isLive tells whether the live cluster is meant. It is an error if files are given as well.
func (in *input) isLive(args []string) (bool, error) {
	flag, files := in.cluster.asked(), len(args)+len(in.files) > 0
	if flag != "" && files {
		return false, fmt.Errorf("--%s: is for a live cluster, but there are files", flag)
	}
	return !files && (in.wants || flag != ""), nil
}

// scheduler is the name of the scheduler to hold against: what --reference says; if that leaves it
// open, the nearest to the live cluster, or the one linked in.
func (in *input) scheduler(cmd *cobra.Command, args []string, name string) (string, error) {
	if name != auto {
		return name, nil
	}
	isLive, err := in.isLive(args)
	if err != nil || !isLive {
		return inprocess.Version, err
	}
	return in.cluster.release(cmd)
}

// streams reads what is given, and goes on after what cannot be read.
func (in *input) streams(cmd *cobra.Command, args []string) (all []*corpus.Stream, errs []error) {
	isLive, err := in.isLive(args)
	if err != nil {
		return nil, []error{err}
	}
	if isLive {
		s, err := in.cluster.read(cmd)
		if err != nil {
			return nil, []error{err}
		}
		return []*corpus.Stream{s}, nil
	}
	for _, path := range append(args, in.files...) {
		s, err := read(cmd, path, in.cluster.skips...)
		if err != nil {
			errs = append(errs, err)
		}
		if s != nil {
			all = append(all, s)
		}
	}
	if len(all) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("which files? Give files, directories, or - for standard input"))
	}
	return all, errs
}

func inputFlags(cmd *cobra.Command, in *input) {
	cmd.Flags().StringArrayVarP(&in.files, "filename", "f", nil, "file, directory, or - for standard input; the same as an argument")
	cmd.Flags().StringVar(&in.pod, "pod", "", "only this pending pod of a dump, as namespace/name, or pod group, as podgroup/namespace/name")
}

// load reads the cases. What cannot be read does not keep the rest from being
// read: the error tells of it.
func (in *input) load(cmd *cobra.Command, args []string) ([]*corpus.Case, error) {
	all, errs := in.streams(cmd, args)
	var cases []*corpus.Case
	for _, s := range all {
		cases = append(cases, s.Cases...)
	}
	if len(cases) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("there is neither a case nor a pod that waits for the default scheduler"))
		if cmd.Name() == "explain" && len(all) == 1 && all[0].Dump != nil && len(all[0].Dump.Nodes) == 0 {
			errs = []error{fmt.Errorf("%s: is no cluster, as it holds no nodes; give what is to come by -f", slices.Concat(args, in.files, []string{in.clusterName(nil)})[0])}
		}
	}
	if in.pod == "" {
		return cases, errors.Join(errs...)
	}
	isLive, _ := in.isLive(args)
	pod := in.cluster.key(in.pod, isLive)
	var chosen []*corpus.Case
	for _, c := range cases {
		if c.Timeline != nil {
			continue
		}
		if c.Cluster.PreemptorKey() == pod {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 && len(cases) > 0 {
		errs = append(errs, fmt.Errorf("--pod: no pod %s waits for the default scheduler", pod))
	}
	return chosen, errors.Join(errs...)
}

// loadDump reads the one dump that there is to be: a cluster, of which no pod has to wait.
func (in *input) loadDump(cmd *cobra.Command, args []string) (*corpus.Stream, error) {
	paths := append(args, in.files...)
	if len(paths) > 1 {
		return nil, errors.New("give one file with a cluster dump, or - for standard input")
	}
	all, errs := in.streams(cmd, args)
	switch {
	case len(errs) > 0:
		return nil, errors.Join(errs...)
	case all[0].Dump == nil:
		return nil, fmt.Errorf("%s: is no cluster dump", paths[0])
	}
	return all[0], nil
}

// read reads one path, and tells the notes. What of a directory cannot be read, the error
// tells; the rest is in the stream. Notes to skip are not told.
func read(cmd *cobra.Command, path string, skips ...string) (s *corpus.Stream, err error) {
	defer terminal.NewProgress(cmd.ErrOrStderr()).Watch("reading " + path)()
	if path == "-" {
		s, err = corpus.Read(cmd.InOrStdin(), "standard input")
	} else {
		spareCollector(path)
		s, err = corpus.Load(path)
	}
	if s != nil {
		tellNotes(cmd, s.Notes, skips)
	}
	return s, err
}

// tellNotes tells notes but those to skip.
func tellNotes(cmd *cobra.Command, notes, skips []string) {
	for _, note := range notes {
		if !slices.ContainsFunc(skips, func(skip string) bool { return strings.HasSuffix(note, skip) }) {
			terminal.Note(cmd.ErrOrStderr(), note)
		}
	}
}

// loadOne reads the one case that there is to be.
func (in *input) loadOne(cmd *cobra.Command, args []string) (*corpus.Case, error) {
	cases, err := in.load(cmd, args)
	switch {
	case err != nil:
		return nil, err
	case len(cases) == 1:
		return cases[0], nil
	}
	var keys []string
	for _, c := range cases {
		if c.Timeline != nil {
			return nil, fmt.Errorf("give one file: there are %d cases and timelines", len(cases))
		}
		keys = append(keys, c.Cluster.PreemptorKey())
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(keys))); len(distinct) < len(keys) { // a name does not tell them apart
		return nil, fmt.Errorf("give one file: there are %d cases, and several of them are of one pod", len(cases))
	}
	return nil, fmt.Errorf("--pod: which of the %d pending pods is meant? %s", len(cases), words.Some(keys, 10))
}
