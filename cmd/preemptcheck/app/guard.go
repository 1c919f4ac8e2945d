package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// A bug of the scheduler may end the process that runs it. So the commands that check
// clusters one after another do that in a child of the program that the user called.
// Should the child die, or the scheduler come to a standstill in it, it is started again with the scheduler in a process of its own,
// which takes too long to do it always: there a death is a finding like any other.

// The files of a child besides the standard ones: where it says that it has come to
// its end, and where its errors go. To its standard error go the last words of one that
// dies.
const (
	endFile = 3 + iota
	errorFile
)

// maxStack is enough for any cycle. Go's own limit is a gigabyte, which takes seconds to
// come to.
const maxStack = 128 << 20

// tolerance is how long a child may take to end when it is interrupted.
const tolerance = 3 * time.Second

// guard is the error by which a command asks to be run in a child.
type guard struct{}

func (guard) Error() string { return "to be run in a child" }

// guarded makes a command ask for that, in a program that does as main says.
func guarded(cmd *cobra.Command) *cobra.Command {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		if guards && !checkers.InChild() && runtime.GOOS != "windows" {
			return guard{}
		}
		return nil
	}
	return cmd
}

// guards is set by main.
var guards bool

// softLimit is from how much memory on the garbage collector spares no effort. A dump
// of the largest clusters takes as much.
const softLimit = 3<<30 + 1<<29

// largeInput is from which size of a file on the garbage collector runs for the sake of
// softLimit only. What is kept of such a file lets the heap grow as far in any case.
const largeInput = 1 << 29

// spareCollector keeps the garbage collector of a child from running while a large file is read.
func spareCollector(path string) {
	info, err := os.Stat(path)
	if err == nil && info.Size() >= largeInput && checkers.InChild() && os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(-1)
	}
}

// asChild is main in a child. It is short-lived, so memory counts less than time.
func asChild(ctx context.Context) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softLimit)
	}
	end := os.NewFile(endFile, "end")
	syscall.CloseOnExec(endFile) // the scheduler's process is not to keep it open
	syscall.CloseOnExec(errorFile)
	status := Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.NewFile(errorFile, "errors"))
	fmt.Fprint(end, "end")
	return status
}

// run runs the command line in a child, and once more if it died.
func (guard) run(ctx context.Context, args []string) error {
	input := os.Stdin
	if slices.Contains(args, "-") || slices.Contains(args, "--filename=-") || slices.Contains(args, "-f-") {
		var remove func()
		var err error
		if input, remove, err = kept(os.Stdin); remove != nil {
			defer remove()
		}
		if err != nil {
			return err
		}
	}
	for _, isolate := range []bool{false, true} {
		if input != os.Stdin {
			if _, err := input.Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
		status, lastWords, err := child(ctx, args, input, isolate)
		switch {
		case err != nil:
			return err
		case status >= 0:
			return terminal.Exit(status)
		case ctx.Err() != nil:
			return errors.New("interrupted")
		case isolate:
			return fmt.Errorf("the process died: %s", lastWords)
		}
	}
	return nil
}

// kept copies a stream to a file, to be read more than once. remove is to be called if
// there is one.
func kept(in io.Reader) (file *os.File, remove func(), err error) {
	dir, err := os.MkdirTemp("", "preemptcheck-input-")
	if err != nil {
		return nil, nil, err
	}
	if file, err = os.Create(filepath.Join(dir, "input")); err == nil {
		_, err = io.Copy(file, in)
	}
	return file, func() { file.Close(); os.RemoveAll(dir) }, err
}

// child runs the command line in a child. The status is negative if it did not come to
// its end; lastWords is then what it said.
func child(ctx context.Context, args []string, input *os.File, isolate bool) (status int, lastWords string, err error) {
	executable, err := os.Executable()
	if err != nil {
		return 0, "", err
	}
	end, its, err := os.Pipe()
	if err != nil {
		return 0, "", err
	}
	defer end.Close()
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Args[0] = os.Args[0] // it is called as this one is
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = tolerance
	var said strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, os.Stdout, &said
	cmd.ExtraFiles = []*os.File{its, os.Stderr}
	cmd.Env = append(os.Environ(), checkers.ChildEnvironment(isolate)...)
	err = cmd.Start()
	its.Close()
	if err != nil {
		return 0, "", err
	}
	err = cmd.Wait()
	if all, _ := io.ReadAll(end); len(all) > 0 {
		return cmd.ProcessState.ExitCode(), "", nil
	}
	if signal := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); signal == syscall.SIGPIPE {
		return 128 + int(signal), "", nil // nobody reads on, as with "| head": a shell says so too
	}
	return -1, words.FirstLine(cmp.Or(strings.TrimSpace(said.String()), fmt.Sprint(err))), nil
}
