package releases

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// process is a driver that runs. It answers one request at a time, and is of no
// more use after an error.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *json.Decoder
	stderr  *head
	wait    func() error
}

// failure is the death of a process: its own, or for want of an answer.
type failure struct {
	what string
	// late is that it gave no answer; stderr is what it wrote.
	late   bool
	stderr string
}

func (f *failure) Error() string { return f.what }

// start runs a driver and waits until it is ready.
func start(ctx context.Context, cmd *exec.Cmd, release string) (*process, error) {
	p := &process{cmd: cmd, stderr: &head{}}
	p.wait = sync.OnceValue(cmd.Wait)
	cmd.Stderr = p.stderr
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.answers = json.NewDecoder(bufio.NewReaderSize(out, 1<<16))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var hello wire.Hello
	if err := p.within(ctx, driverTimeout, func() error { return p.answers.Decode(&hello) }); err != nil {
		return nil, fmt.Errorf("starting the scheduler of %s: %w", release, err)
	}
	if hello.Release != release {
		p.stop()
		return nil, fmt.Errorf("starting the scheduler of %s: it says that it is of %q", release, hello.Release)
	}
	return p, nil
}

// ask sends a request and reads the answer, which may come although ctx has ended. The
// error is a *failure if the process is dead, or that of ctx, for which it is killed
// after a courtesy.
func (p *process) ask(ctx context.Context, request []byte, timeout time.Duration, answer any) error {
	p.stderr.clear() // what it said before has nothing to do with this
	return p.within(ctx, timeout, func() error {
		if _, err := p.in.Write(append(request, '\n')); err != nil {
			return err
		}
		for {
			if err := p.answers.Decode(answer); err != nil {
				return err
			}
			if a, ok := answer.(unfinished); !ok || !a.more() {
				return nil
			}
		}
	})
}

// unfinished is an answer that may come in several parts.
type unfinished interface {
	// more takes in the part that was read, and tells whether another one follows.
	more() bool
}

// courtesy is how long a process may still answer once nobody waits for it: most
// answers come sooner than a new process would.
const courtesy = time.Second

// within calls f, which talks to the process, and kills the process if that takes
// too long. If f fails, the process is dead thereafter.
func (p *process) within(ctx context.Context, timeout time.Duration, f func() error) error {
	var late atomic.Bool
	timer := time.AfterFunc(timeout, func() {
		late.Store(true)
		p.cmd.Process.Signal(syscall.SIGQUIT) // Go programs then say where they are
		time.AfterFunc(time.Second, p.kill)
	})
	var over sync.Mutex
	answered, killed := false, false
	undone := context.AfterFunc(ctx, func() {
		time.AfterFunc(courtesy, func() {
			over.Lock()
			defer over.Unlock()
			if !answered {
				killed = true
				p.kill()
			}
		})
	})
	err := f()
	undone()
	over.Lock()
	answered = err == nil
	alive := answered && !killed
	over.Unlock()
	// An answer may come while the process is killed already: it is not to be asked again.
	if inTime := timer.Stop(); inTime && alive {
		return nil
	}
	// A process that closed its output, or wrote nonsense, may live on.
	if !late.Load() && ctx.Err() == nil {
		grace := time.AfterFunc(time.Second, p.kill)
		defer grace.Stop()
	}
	p.in.Close()
	exit := p.wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case late.Load():
		return &failure{what: fmt.Sprintf("no answer within %v", timeout), late: true, stderr: p.stderr.String()}
	}
	return &failure{what: p.stderr.reason(exit, err), stderr: p.stderr.String()}
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

// stop ends the process in its own time, but soon.
func (p *process) stop() error {
	defer time.AfterFunc(10*time.Second, p.kill).Stop()
	p.in.Close()
	return p.wait()
}

// head keeps the first of what a process writes: a panic's text comes before the
// stacks of its goroutines.
type head struct {
	mu   sync.Mutex
	text []byte
}

const headSize = 1 << 16

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p[:min(len(p), headSize-len(h.text))]...)
	return len(p), nil
}

func (h *head) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = h.text[:0]
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}

// reason says in one line why the process died: what it said last words of, or how
// it ended.
func (h *head) reason(exit, err error) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, line := range strings.Split(string(h.text), "\n") {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	if first, _, _ := bytes.Cut(bytes.TrimSpace(h.text), []byte("\n")); len(first) > 0 {
		return string(first)
	}
	if exit != nil {
		return exit.Error()
	}
	return err.Error()
}
