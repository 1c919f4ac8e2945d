package main

import (
	"fmt"
	"io"
	"strings"
)

// Exit statuses. What was found outranks what could not be done: a run that did
// both exits with statusFound.
const (
	statusAgrees   = 0
	statusFound    = 1 // a finding that the ledger does not explain, or an expectation that was not met
	statusCouldNot = 2 // bad input, bad flags, or something that is not modelled
)

// exit is an error that only sets the exit status: everything has been said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// status is the error for what was found and what could not be done.
func status(found, couldNot bool) error {
	switch {
	case found:
		return exit(statusFound)
	case couldNot:
		return exit(statusCouldNot)
	}
	return nil
}

// printErrors prints what err joins, each on a line of its own.
func printErrors(w io.Writer, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			printErrors(w, e)
		}
		return
	}
	fmt.Fprintln(w, "error:", strings.ReplaceAll(err.Error(), "\n", "\n  "))
}
