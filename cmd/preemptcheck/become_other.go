//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
)

// become runs another program with the same standard streams, and returns its
// exit status. An interrupt reaches both: this one waits for the other.
func become(binary string, args []string) error {
	cmd := &exec.Cmd{Path: binary, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); err == nil || errors.As(err, &failed) {
		return exit(cmd.ProcessState.ExitCode())
	}
	return err
}
