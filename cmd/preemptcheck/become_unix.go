//go:build unix

package main

import "syscall"

// become makes this process run another program, with the same standard streams,
// environment and process id. It returns only if that fails.
func become(binary string, args []string) error {
	return syscall.Exec(binary, args, syscall.Environ())
}
