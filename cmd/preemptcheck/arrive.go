package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/coming"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/arrival"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
	"github.com/preemptcheck/preemptcheck/properties/explanation/arrivals"
)

// moreCycles is how many cycles there may be besides one for each pod that comes.
const moreCycles = 1_000

// manifests reads those files of -f that are no clusters, and leaves the others in in.files. It is nil if
// there are none.
func (in *input) manifests(cmd *cobra.Command, args []string) (m *coming.Manifests, files []string, err error) {
	var clusters []string
	for _, path := range in.files {
		some, err := corpus.Files(path)
		if err != nil {
			return nil, nil, err
		}
		for _, file := range some {
			if file == "-" && slices.Contains(args, "-") {
				return nil, nil, errors.New("-f -: standard input is the cluster already")
			}
			data, err := manifestsOf(cmd, file)
			if err != nil {
				return nil, nil, err
			}
			if data == nil {
				clusters = append(clusters, file)
				continue
			}
			if m == nil {
				m = &coming.Manifests{}
			}
			if file == "-" {
				file = "standard input"
			}
			if err := m.Add(data, file); err != nil {
				return nil, nil, err
			}
			files = append(files, file)
		}
	}
	if m != nil {
		in.files = clusters
	}
	return m, files, nil
}

// manifestsOf is what a file holds, or nil if that is a cluster. What was read of standard input can be read
// again.
func manifestsOf(cmd *cobra.Command, file string) ([]byte, error) {
	if file == "-" {
		data, err := io.ReadAll(cmd.InOrStdin())
		if err != nil || coming.IsCluster(data) {
			cmd.SetIn(bytes.NewReader(data))
			return nil, err
		}
		return coming.ReadAll(bytes.NewReader(data), "standard input")
	}
	if info, err := os.Stat(file); err == nil && info.Size() > coming.MaxSize {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := coming.ReadAll(f, file)
	if err != nil || coming.IsCluster(data) {
		return nil, err
	}
	return data, nil
}

// oneCluster reads the cluster that manifests come to, and says what it leaves out of whatever is asked.
func (in *input) oneCluster(cmd *cobra.Command, args []string) (c *model.Cluster, name string, missing func(*model.Cluster) []model.UnmodelledField, err error) {
	paths := slices.Concat(args, in.files)
	if len(paths) > 1 {
		return nil, "", nil, fmt.Errorf("which cluster? %s are clusters, as they hold nodes or are arguments: give one", words.Some(paths, 3))
	}
	in.cluster.skips = []string{corpus.NoneWaits} // others come
	all, errs := in.streams(cmd, args)
	if len(errs) > 0 {
		return nil, "", nil, errors.Join(errs...)
	}
	s := all[0]
	if name = in.clusterName(paths); s.Dump != nil {
		if len(s.Dump.Nodes) == 0 {
			return nil, "", nil, fmt.Errorf("%s: is no cluster, as it holds no nodes; give what is to come by -f", name)
		}
		return s.Dump, name, s.NotGiven, nil
	}
	if len(s.Cases) != 1 || s.Cases[0].Timeline != nil {
		return nil, "", nil, fmt.Errorf("%s: give a cluster dump, or one case", name)
	}
	its := *s.Cases[0].Cluster
	if its.Preemptor != nil {
		its.Pods = append(slices.Clip(its.Pods), its.Preemptor)
	}
	return &its, name, nil, nil
}

func (in *input) clusterName(paths []string) string {
	switch {
	case len(paths) == 0:
		return in.cluster.name()
	case paths[0] == "-":
		return "standard input"
	}
	return paths[0]
}

// explainArrivals tells what comes of manifests in a cluster.
func explainArrivals(cmd *cobra.Command, in *input, args []string, m *coming.Manifests, files []string, reference string, output terminal.Format, bounds arrival.Bounds, rows int) error {
	switch {
	case in.pod != "":
		return errors.New("--pod: chooses a pending pod of a cluster, but all that comes by -f is told")
	case output == terminal.HTML:
		return errors.New("--output: what comes by -f is not drawn; give text, json or yaml")
	}
	reference, err := in.scheduler(cmd, args, reference)
	if err != nil {
		return err
	}
	checker, err := newChecker(reference, 1)
	if err != nil {
		return err
	}
	defer checker.System.Close()
	c, name, missing, err := in.oneCluster(cmd, args)
	if err != nil {
		return err
	}
	comes, err := m.For(c)
	if err != nil {
		return err
	}
	for _, note := range m.Notes {
		terminal.Note(cmd.ErrOrStderr(), note)
	}
	pods := 0
	for _, w := range comes.Workloads {
		pods += len(w.Pods)
	}
	bounds.Cycles = pods + moreCycles
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	cycles, victims := 0, 0
	decide := explanation.Decides(checker, missing)
	course, err := arrival.Run(cmd.Context(), c, comes, func(ctx context.Context, c *model.Cluster) (*arrival.Answer, error) {
		progress.Show(terminal.Unknown, func() string {
			return fmt.Sprintf("%s coming: %s done, %s preempted", words.Plural(pods, "pod"), words.Plural(cycles, "cycle"), words.Plural(victims, "pod"))
		})
		a, err := decide(ctx, c)
		if cycles++; a != nil {
			victims += len(a.Victims)
		}
		return a, err
	}, bounds)
	progress.Finish()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	story := arrivals.Tell(c, comes, course, bounds, checker.System.Name())
	story.Files, story.Cluster = files, name
	return output.Conclude(cmd, story, func(w io.Writer) { story.WriteText(w, rows) }, story.Reference.New, len(story.Reference.Unknown) > 0)
}
