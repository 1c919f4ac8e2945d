package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Process launches workers that are processes of their own. command makes the
// command, which must call Work.
func Process(command func() *exec.Cmd) Launch {
	return func() (*Peer, error) {
		cmd := command()
		var stderr head
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
			in: in, out: json.NewDecoder(out), wait: wait,
			kill:   func() { cmd.Process.Kill() },
			usage:  func() (int64, time.Duration) { return usage(cmd.Process.Pid) },
			waited: func() time.Duration { return waited(cmd.Process.Pid) },
		}, nil
	}
}

// head keeps the beginning of what is written to it: a panic says what it is first.
type head []byte

func (h *head) Write(p []byte) (int, error) {
	const most = 64 << 10
	*h = append(*h, p[:min(len(p), most-len(*h))]...)
	return len(p), nil
}

// String begins with a panic, if there is one.
func (h *head) String() string {
	text := string(*h)
	for _, begin := range []string{"panic: ", "fatal error: "} {
		if i := strings.Index(text, begin); i >= 0 {
			text = text[i:]
			break
		}
	}
	return strings.TrimSpace(text)
}
