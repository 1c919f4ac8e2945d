package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/coming"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// Manifests reads those files of -f that are no clusters, and leaves the others in Files. It is nil if
// there are none.
func (in *Input) Manifests(cmd *cobra.Command, args []string) (m *coming.Manifests, files []string, err error) {
	in.comes = true
	var clusters []string
	for _, path := range in.Files {
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
		in.Files = clusters
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

// OneCluster reads the cluster that manifests come to, and says what it leaves out of whatever is asked.
func (in *Input) OneCluster(cmd *cobra.Command, args []string) (c *model.Cluster, name string, missing func(*model.Cluster) []model.UnmodelledField, err error) {
	paths := slices.Concat(args, in.Files)
	if len(paths) > 1 {
		return nil, "", nil, fmt.Errorf("which cluster? %s are clusters, as they hold nodes or are arguments: give one", words.Some(paths, 3))
	}
	all, errs := in.streams(cmd, args)
	if len(errs) > 0 {
		return nil, "", nil, errors.Join(errs...)
	}
	s := all[0]
	if name = in.name(paths); s.Dump != nil {
		if len(s.Dump.Nodes) == 0 {
			return nil, "", nil, noCluster(name)
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

// name is where the cluster is from.
func (in *Input) name(paths []string) string {
	switch {
	case len(paths) == 0:
		return in.cluster.name()
	case paths[0] == "-":
		return "standard input"
	}
	return paths[0]
}

func noCluster(name string) error {
	return fmt.Errorf("%s: is no cluster, as it holds no nodes; give what is to come by -f", name)
}
