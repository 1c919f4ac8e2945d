//go:build !k1.35

package main

// deletesTerminating says that victims which are terminating are deleted again.
const deletesTerminating = true
