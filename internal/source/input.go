// Package source is where commands get clusters and cases from: files, standard input, or the live
// cluster.
package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/live"
	"github.com/preemptcheck/preemptcheck/internal/store/address"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// Input is where the commands that read cases get them from.
type Input struct {
	// Program is how a command line for this program begins. Before is called before a file is read.
	Program string
	Before  func(path string)
	Files   []string // -f
	Pod     string   // --pod
	cluster cluster
	// Configuration is that of the scheduler in all that is read; the zero value leaves each as it is.
	Configuration Configuration
	// Live is whether no file means the live cluster, even if no flag names one.
	Live bool
	// comes is whether files may be manifests of what is to come.
	comes bool
}

// OnlyClusterFlags adds the flags for the live cluster, which is read if there are no files.
func (in *Input) OnlyClusterFlags(cmd *cobra.Command) {
	in.Live = true
	in.cluster.program = in.Program
	onlyClusterFlags(cmd, &in.cluster)
}

// Release is the name of the scheduler that suits the live cluster: see Scheduler.
func (in *Input) Release(cmd *cobra.Command) (string, error) { return in.cluster.release(cmd) }

// ClusterFlags are Flags for a command that reads the live cluster if there are no files.
func (in *Input) ClusterFlags(cmd *cobra.Command) {
	in.Flags(cmd)
	in.OnlyClusterFlags(cmd)
	in.cluster.complete(cmd, "pod", func(ctx context.Context, c *live.Cluster) ([]string, error) { return c.Pending(ctx) })
}

// IsLive tells whether the live cluster is meant. It is an error if files are given as well.
func (in *Input) IsLive(args []string) (bool, error) {
	flag, files := in.cluster.asked(), len(args)+len(in.Files) > 0
	if flag != "" && files {
		return false, fmt.Errorf("--%s: is for a live cluster, but there are files", flag)
	}
	return !files && (in.Live || flag != ""), nil
}

// Scheduler is the name of the scheduler to hold against: what --reference says; if that leaves it
// open, the nearest to the live cluster, or the one linked in.
func (in *Input) Scheduler(cmd *cobra.Command, args []string, name string) (string, error) {
	if name != Auto {
		return name, nil
	}
	isLive, err := in.IsLive(args)
	if err != nil || !isLive {
		return inprocess.Version, err
	}
	return in.cluster.release(cmd)
}

// streams reads what is given, and goes on after what cannot be read.
func (in *Input) streams(cmd *cobra.Command, args []string) (all []*corpus.Stream, errs []error) {
	isLive, err := in.IsLive(args)
	if err != nil {
		return nil, []error{err}
	}
	if isLive {
		s, err := in.cluster.read(cmd)
		if err != nil {
			return nil, []error{err}
		}
		in.Configuration.configure(s)
		return []*corpus.Stream{s}, nil
	}
	for _, path := range append(args, in.Files...) {
		s, err := in.Read(cmd, path)
		if err != nil {
			errs = append(errs, err)
		}
		if s != nil {
			in.Configuration.configure(s)
			all = append(all, s)
		}
	}
	if len(all) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("which files? Give files, directories, or - for standard input"))
	}
	return all, errs
}

// Flags adds the flags that name files, and a pod of a dump.
func (in *Input) Flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&in.Files, "filename", "f", nil, "file, directory, or - for standard input; the same as an argument")
	cmd.Flags().StringVar(&in.Pod, "pod", "", "only this pending pod of a dump, as namespace/name, or pod group, as podgroup/namespace/name")
}

// Load reads the cases. What cannot be read does not keep the rest from being
// read: the error tells of it.
func (in *Input) Load(cmd *cobra.Command, args []string) ([]*corpus.Case, error) {
	all, errs := in.streams(cmd, args)
	var cases []*corpus.Case
	for _, s := range all {
		cases = append(cases, s.Cases...)
		for _, name := range s.Idle {
			terminal.Note(cmd.ErrOrStderr(), name+": no pod waits for the default scheduler")
		}
	}
	if len(cases) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("there is neither a case nor a pod that waits for the default scheduler"))
		if in.comes && len(all) == 1 && all[0].Dump != nil && len(all[0].Dump.Nodes) == 0 {
			errs = []error{noCluster(in.name(slices.Concat(args, in.Files)))}
		}
	}
	if in.Pod == "" {
		return cases, errors.Join(errs...)
	}
	isLive, _ := in.IsLive(args)
	pod := in.cluster.key(in.Pod, isLive)
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

// LoadDump reads the one dump that there is to be: a cluster, of which no pod has to wait.
func (in *Input) LoadDump(cmd *cobra.Command, args []string) (*corpus.Stream, error) {
	paths := append(args, in.Files...)
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

// Read reads one path, and tells the notes. What of a directory cannot be read, the error
// tells; the rest is in the stream.
func (in *Input) Read(cmd *cobra.Command, path string) (s *corpus.Stream, err error) {
	defer terminal.NewProgress(cmd.ErrOrStderr()).Watch("reading " + path)()
	switch {
	case path == "-":
		s, err = corpus.Read(cmd.InOrStdin(), "standard input")
	case address.IsBucket(path):
		s, err = readBucket(cmd, path)
	default:
		in.Before(path)
		s, err = corpus.Load(path)
	}
	if s != nil {
		tell(cmd, s.Notes)
	}
	return s, err
}

func tell(cmd *cobra.Command, notes []string) {
	for _, note := range notes {
		terminal.Note(cmd.ErrOrStderr(), note)
	}
}

// LoadOne reads the one case that there is to be.
func (in *Input) LoadOne(cmd *cobra.Command, args []string) (*corpus.Case, error) {
	cases, err := in.Load(cmd, args)
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
