package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/live"
	"github.com/preemptcheck/preemptcheck/internal/shell"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// cluster is the live cluster that a command reads if there are no files.
type cluster struct {
	flags    *pflag.FlagSet // of the command
	config   *genericclioptions.ConfigFlags
	selector string
	all      bool
	program  string
}

// shown are the flags for the cluster that help tells of. kubectl has the others, too.
var shown = []string{"context", "kubeconfig", "namespace"}

// onlyClusterFlags adds kubectl's flags for the cluster, and those that say which of its pods are asked
// about.
func onlyClusterFlags(cmd *cobra.Command, c *cluster) {
	c.flags, c.config = cmd.Flags(), genericclioptions.NewConfigFlags(true)
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.config.AddFlags(own)
	own.VisitAll(func(f *pflag.Flag) {
		f.Hidden = !slices.Contains(shown, f.Name)
		c.flags.AddFlag(f)
	})
	c.flags.Lookup("namespace").Usage = "of the live cluster, ask only about pending pods of this namespace; they are preempted in all"
	c.flags.StringVarP(&c.selector, "selector", "l", "", "of the live cluster, ask only about pending pods with these labels, as kubectl takes them")
	c.flags.BoolVarP(&c.all, "all-namespaces", "A", false, "of the live cluster, ask about pending pods of all namespaces, which is the default")
	c.complete(cmd, "namespace", func(ctx context.Context, c *live.Cluster) ([]string, error) { return c.Namespaces(ctx) })
	_ = cmd.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		config, err := c.config.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.Sorted(maps.Keys(config.Contexts)), cobra.ShellCompDirectiveNoFileComp
	})
	_ = cmd.MarkFlagFilename("kubeconfig")
}

// complete has a flag completed by what the cluster answers soon.
func (c *cluster) complete(cmd *cobra.Command, flag string, ask func(context.Context, *live.Cluster) ([]string, error)) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), 3*time.Second)
		defer cancel()
		at, err := c.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names, err := ask(ctx, at)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// asked is the first flag for the cluster that was given; "" if none was.
func (c *cluster) asked() (flag string) {
	if c.config == nil {
		return ""
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.config.AddFlags(own)
	c.flags.Visit(func(f *pflag.Flag) {
		if flag == "" && (own.Lookup(f.Name) != nil || f.Name == "selector" || f.Name == "all-namespaces") {
			flag = f.Name
		}
	})
	return flag
}

// connect finds the cluster as kubectl does, and in a pod the one that this is in.
func (c *cluster) connect() (*live.Cluster, error) {
	loader := c.config.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, err
	}
	if len(raw.Contexts) == 0 && len(raw.Clusters) == 0 && *c.config.APIServer == "" && os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		return nil, errors.New("which cluster? Give files, or - for standard input; or a cluster by --kubeconfig or --server, as to kubectl")
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("which cluster? %w", err)
	}
	return live.Connect(config)
}

// read reads the cluster, and keeps the pods that are asked about.
func (c *cluster) read(cmd *cobra.Command) (*corpus.Stream, error) {
	selector, err := labels.Parse(c.selector)
	if err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	if c.all && c.flags.Changed("namespace") {
		return nil, errors.New("--all-namespaces: --namespace says otherwise")
	}
	at, err := c.connect()
	if err != nil {
		return nil, err
	}
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	s, err := at.Read(cmd.Context(), func(resource string, objects int) {
		progress.Show(terminal.Unknown, func() string { return fmt.Sprintf("reading %s: %d objects, now %s", at.Name, objects, resource) })
	})
	progress.Finish()
	if err != nil {
		return nil, err
	}
	for _, one := range s.Cases {
		one.File = c.name()
	}
	tell(cmd, s.Notes)
	s.Cases = slices.DeleteFunc(s.Cases, func(one *corpus.Case) bool {
		return !slices.ContainsFunc(one.Cluster.Preemptors(), func(p *v1.Pod) bool { return c.means(p, selector) })
	})
	return s, nil
}

// LiveName begins the name of the live cluster, where cases have that of their file.
const LiveName = "the live cluster"

// name names the cluster, and ends with the flags that led to it.
func (c *cluster) name() string {
	name := LiveName
	for _, flag := range []string{"kubeconfig", "context", "cluster", "server"} {
		if f := c.flags.Lookup(flag); f.Changed {
			name += fmt.Sprintf(" --%s %s", flag, shell.Quote(f.Value.String()))
		}
	}
	return name
}

// means tells whether a pending pod is asked about.
func (c *cluster) means(p *v1.Pod, selector labels.Selector) bool {
	return (*c.config.Namespace == "" || p.Namespace == *c.config.Namespace) && selector.Matches(labels.Set(p.Labels))
}

// Auto is the name of the scheduler that suits the cluster.
const Auto = "auto"

// release is the name of the scheduler that is the nearest to that of the cluster, and says which
// it is. One that has to be built first is passed over for the one linked in.
func (c *cluster) release(cmd *cobra.Command) (string, error) {
	at, err := c.connect()
	if err != nil {
		return "", err
	}
	version, err := at.Version(cmd.Context())
	if err != nil {
		return "", err
	}
	var all []release.Release
	for _, s := range systems.All() {
		if r, err := release.Parse(s.Name); err == nil {
			all = append(all, r)
		}
	}
	nearest, exact, ok := live.Nearest(version, all)
	if !ok {
		terminal.Note(cmd.ErrOrStderr(), fmt.Sprintf("the server is %s, which is no release of Kubernetes; held against %s", cmp.Or(version, "of no version"), inprocess.Version))
		return inprocess.Version, nil
	}
	name := nearest.String()
	system, err := systems.NewPool(name, 1)
	if err != nil {
		terminal.Note(cmd.ErrOrStderr(), fmt.Sprintf("the server is %s, and the nearest scheduler, %s, is not built: \"%s references --build %[2]s\" builds it; held against %[4]s", version, name, c.program, inprocess.Version))
		return inprocess.Version, nil
	}
	system.Close()
	how := "the nearest release that can be run"
	if exact {
		how = "the same release"
	}
	terminal.Note(cmd.ErrOrStderr(), fmt.Sprintf("the server is %s; held against %s, %s", version, name, how))
	return name, nil
}

// key is a pod, or a group, as its case is named. A name alone is of the namespace of the cluster's
// context, or of the default one.
func (c *cluster) key(name string, isLive bool) string {
	if strings.Contains(name, "/") {
		return name
	}
	namespace := "default"
	if isLive {
		if its, _, err := c.config.ToRawKubeConfigLoader().Namespace(); err == nil {
			namespace = its
		}
	}
	return namespace + "/" + name
}
