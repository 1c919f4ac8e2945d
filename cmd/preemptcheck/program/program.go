// Package program names this program: its version, and how a command line calls it.
package program

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/harness"
	"github.com/preemptcheck/preemptcheck/internal/shell"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// KubernetesFlag is the name of the flag for the source of Kubernetes to be built against.
const KubernetesFlag = "kubernetes"

// ownVersion is the version of a binary that was released; the linker sets it (see internal/dist).
var ownVersion string

// Version tells the version of the program, and of the scheduler that is linked in.
func Version() string {
	own := "(devel)"
	if ownVersion != "" {
		own = ownVersion
	} else if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		own = info.Main.Version
	}
	return fmt.Sprintf("preemptcheck %s, kube-scheduler %s", own, inprocess.Source())
}

// Name returns the name by which the program was called: that of a plugin of kubectl, if kubectl, or a
// link that it would find, called it.
func Name() string {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl-preemptcheck") {
		return "kubectl preemptcheck"
	}
	return "preemptcheck"
}

// Command returns how a command line for this program begins: it names the source of
// Kubernetes that it was built against.
func Command() string {
	if dir := harness.BuiltFrom().Dir; dir != "" {
		return Name() + " --" + KubernetesFlag + " " + shell.Quote(dir)
	}
	return Name()
}
