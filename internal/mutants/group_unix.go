//go:build unix

package mutants

import (
	"os/exec"
	"syscall"
)

// ownGroup has a command, and all that it starts, be a group of processes.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills what is left of the group.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
