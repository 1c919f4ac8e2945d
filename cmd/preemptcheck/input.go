package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// input is where the commands that read cases get them from.
type input struct {
	files []string // -f
	pod   string   // --pod
}

func inputFlags(cmd *cobra.Command, in *input) {
	cmd.Flags().StringArrayVarP(&in.files, "filename", "f", nil, "file, directory, or - for standard input; the same as an argument")
	cmd.Flags().StringVar(&in.pod, "pod", "", "only this pending pod of a dump, as namespace/name, or pod group, as podgroup/namespace/name")
}

// load reads the cases. What cannot be read does not keep the rest from being
// read: the error tells of it.
func (in *input) load(cmd *cobra.Command, args []string) ([]*corpus.Case, error) {
	paths := append(args, in.files...)
	if len(paths) == 0 {
		return nil, errors.New("which files? Give files, directories, or - for standard input")
	}
	var cases []*corpus.Case
	var errs []error
	for _, path := range paths {
		s, err := read(cmd, path)
		if err != nil {
			errs = append(errs, err)
		}
		if s == nil {
			continue
		}
		cases = append(cases, s.Cases...)
	}
	if len(cases) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("there is neither a case nor a pod that waits for the default scheduler"))
	}
	if in.pod == "" {
		return cases, errors.Join(errs...)
	}
	var chosen []*corpus.Case
	for _, c := range cases {
		if c.Timeline != nil {
			continue
		}
		if key := c.Cluster.PreemptorKey(); key == in.pod || key == "default/"+in.pod {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 && len(cases) > 0 {
		errs = append(errs, fmt.Errorf("--pod: no pod %s waits for the default scheduler", in.pod))
	}
	return chosen, errors.Join(errs...)
}

// loadDump reads the one dump that there is to be: a cluster, of which no pod has to wait.
func (in *input) loadDump(cmd *cobra.Command, args []string) (*corpus.Stream, error) {
	paths := append(args, in.files...)
	if len(paths) != 1 {
		return nil, errors.New("give one file with a cluster dump, or - for standard input")
	}
	s, err := read(cmd, paths[0])
	switch {
	case err != nil:
		return nil, err
	case s.Dump == nil:
		return nil, fmt.Errorf("%s: is no cluster dump", paths[0])
	}
	return s, nil
}

// read reads one path, and tells the notes. What of a directory cannot be read, the error
// tells; the rest is in the stream.
func read(cmd *cobra.Command, path string) (s *corpus.Stream, err error) {
	defer terminal.NewProgress(cmd.ErrOrStderr()).Watch("reading " + path)()
	if path == "-" {
		s, err = corpus.Read(cmd.InOrStdin(), "standard input")
	} else {
		spareCollector(path)
		s, err = corpus.Load(path)
	}
	if s != nil {
		for _, note := range s.Notes {
			terminal.Note(cmd.ErrOrStderr(), note)
		}
	}
	return s, err
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
