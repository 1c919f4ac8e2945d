package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Process is a program that runs.
type Process struct {
	name, log string
	cmd       *exec.Cmd
	gone      chan struct{} // closed when it has ended
}

// Run starts a program. What it prints is added to the file NAME.log in dir. Should this process die, the
// program does, too. An interrupt from the terminal does not reach it.
func Run(dir, name, program string, args ...string) (*Process, error) {
	p := &Process{name: name, log: filepath.Join(dir, name+".log"), cmd: exec.Command(program, args...), gone: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = log, log, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.gone)
	}()
	return p, nil
}

// PID is the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended says whether the program has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// Signal sends the process a signal. One that has ended takes none.
func (p *Process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill ends the program at once, and waits until it is gone.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.gone
}

// Stop asks the program to end, ends it after the patience is over, and waits until it is gone.
func (p *Process) Stop(patience time.Duration) {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.gone:
	case <-time.After(patience):
		p.Kill()
	}
}

// LastWords are the end of its log.
func (p *Process) LastWords() string {
	log, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Sprintf("%s: %v", p.name, err)
	}
	return p.name + ": " + string(log[max(0, len(log)-2000):])
}
