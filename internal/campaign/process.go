package campaign

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/preemptcheck/preemptcheck/properties"
)

// Process launches workers that are processes of their own. command makes the
// command, which must call Work.
func Process(command func() *exec.Cmd) Launch {
	return func() (*Peer, error) {
		cmd := command()
		var stderr tail
		cmd.Stderr = &stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("starting a worker: %w", err)
		}
		wait := sync.OnceValue(func() error {
			err := cmd.Wait()
			if err == nil {
				err = errors.New("it ended")
			}
			if said := stderr.String(); said != "" {
				err = fmt.Errorf("%w: %s", err, said)
			}
			return err
		})
		return &Peer{
			in: in, out: bufio.NewReader(out), wait: wait,
			kill:   func() { cmd.Process.Kill() },
			memory: func() int64 { return residentMemory(cmd.Process.Pid) },
		}, nil
	}
}

// InProcess launches workers that are goroutines, to campaign against a system
// that is no process of its own. Each makes its own checker.
func InProcess(checker func() (*properties.Checker, error)) Launch {
	return func() (*Peer, error) {
		c, err := checker()
		if err != nil {
			return nil, err
		}
		ctx, kill := context.WithCancel(context.Background())
		requests, in := io.Pipe()
		out, answers := io.Pipe()
		done := make(chan error, 1)
		go func() {
			err := Work(ctx, c, requests, answers)
			c.System.Close()
			requests.CloseWithError(io.ErrClosedPipe)
			answers.CloseWithError(io.EOF)
			done <- err
		}()
		return &Peer{in: in, out: bufio.NewReader(out), kill: kill, wait: sync.OnceValue(func() error { return <-done }), memory: func() int64 { return 0 }}, nil
	}
}

// tail keeps the beginning of the last panic of what is written to it, or else
// the end.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 64 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > maxTail {
		t.text = t.text[:maxTail] // a panic says what it is first
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.text)
	for _, begin := range []string{"panic: ", "fatal error: "} {
		if i := strings.Index(text, begin); i >= 0 {
			return strings.TrimSpace(text[i:])
		}
	}
	return strings.TrimSpace(text)
}
