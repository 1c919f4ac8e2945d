// Package harness has what the linker writes to.
package harness

var stamp string

// Stamp is what the linker wrote.
func Stamp() string { return stamp }
