package app

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/harness"
	"github.com/preemptcheck/preemptcheck/internal/shell"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// ownVersion is the version of a binary that was released; the linker sets it.
var ownVersion string

func version() string {
	own := "(devel)"
	if ownVersion != "" {
		own = ownVersion
	} else if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		own = info.Main.Version
	}
	return fmt.Sprintf("preemptcheck %s, kube-scheduler %s", own, inprocess.Source())
}

// kubernetesName is the flag for the source to be built against.
const kubernetesName = "kubernetes"

// called is the name by which the program was called: that of a plugin of kubectl, if kubectl, or a
// link that it would find, called it.
func called() string {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl-preemptcheck") {
		return "kubectl preemptcheck"
	}
	return "preemptcheck"
}

// program is how a command line for this program begins: it names the source of
// Kubernetes that it was built against.
func program() string {
	if dir := harness.BuiltFrom().Dir; dir != "" {
		return called() + " --" + kubernetesName + " " + shell.Quote(dir)
	}
	return called()
}

// namedAsCalled has help call the program, and all its commands, by the name by which it was called.
func namedAsCalled(root *cobra.Command, name string) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	if name == root.Name() {
		return
	}
	for _, cmd := range append(root.Commands(), root) {
		for _, text := range []*string{&cmd.Long, &cmd.Example} {
			*text = strings.NewReplacer("\n  preemptcheck ", "\n  "+name+" ", "| preemptcheck ", "| "+name+" ", `"preemptcheck `, `"`+name+" ").Replace("\n" + *text)[1:]
		}
	}
}

// commandFor is the command line that does the same to this case alone, with the
// same scheduler.
func commandFor(command, reference string, c *corpus.Case) string {
	line := program() + " " + command
	if strings.HasPrefix(c.File, source.LiveName) {
		line += " --reference " + reference // another time the cluster may choose another one
	} else if flags := flags.ForReference(reference); flags != "" {
		line += " " + flags
	}
	line += given(c)
	if key := c.Cluster.PreemptorKey(); key != "" && c.Name == key { // from a dump
		line += " --pod " + c.Name
	}
	return line
}

// newInput is where a command gets its clusters from.
func newInput() *source.Input { return &source.Input{Program: program(), Before: spareCollector} }

// given is what a command line says of where a case is from: a file, or flags for the live cluster.
func given(c *corpus.Case) string {
	if flags, isLive := strings.CutPrefix(c.File, source.LiveName); isLive {
		return flags + c.Flags
	}
	if c.File == "standard input" {
		return c.Flags + " -"
	}
	return c.Flags + " " + c.File
}

// reproduce says in a judgement that needs a look how to come to it again. It is
// nil if there was no time.
func reproduce(j *replay.Judgement, checker *properties.Checker, c *corpus.Case) {
	if j != nil && (j.IsFound() || j.IsNotDone()) {
		j.Reproduce = commandFor("check", checker.System.Name(), c)
	}
}
