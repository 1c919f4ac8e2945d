package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// format is the value of -o.
type format string

const text format = "text"

// formatFlag is the flag -o of a command, which knows some formats.
type formatFlag struct {
	*format
	known []string
}

func (f formatFlag) String() string { return string(*f.format) }
func (formatFlag) Type() string     { return "format" }

func (f formatFlag) Set(s string) error {
	if !slices.Contains(f.known, s) {
		return fmt.Errorf("must be %s", f.usage())
	}
	*f.format = format(s)
	return nil
}

func (f formatFlag) usage() string {
	last := len(f.known) - 1
	return strings.Join(f.known[:last], ", ") + " or " + f.known[last]
}

// outputFlag adds -o to a command, which may know more than the formats of all.
func outputFlag(cmd *cobra.Command, f *format, more ...string) {
	*f = text
	flag := formatFlag{f, append([]string{"text", "json", "yaml"}, more...)}
	cmd.Flags().VarP(flag, "output", "o", flag.usage())
}

// print writes data as JSON or YAML, or calls asText for people.
func (f format) print(w io.Writer, data any, asText func(io.Writer)) error {
	switch f {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(data)
	case "yaml":
		out, err := yaml.Marshal(data)
		if err == nil {
			_, err = w.Write(out)
		}
		return err
	}
	asText(w)
	return nil
}

// conclude prints what a command has come to, and the problems on the way, of which
// nil is none. The error is the exit status: that of problems is statusCouldNot.
func (f format) conclude(cmd *cobra.Command, data any, asText func(io.Writer), found, couldNot bool, problems ...error) error {
	if err := f.print(cmd.OutOrStdout(), data, asText); err != nil {
		return err
	}
	if err := errors.Join(problems...); err != nil {
		printErrors(cmd.ErrOrStderr(), err)
		couldNot = true
	}
	return status(found, couldNot)
}

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

// progress shows now and then how far long work is: in place on a terminal, else
// in a line every ten seconds.
type progress struct {
	w        io.Writer
	terminal bool
	next     time.Time
	every    time.Duration
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, every: 10 * time.Second}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.terminal, p.every = true, time.Second
		}
	}
	p.next = time.Now().Add(p.every)
	return p
}

func (p *progress) show(line func() string) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(p.every)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\033[K%s", line())
	} else {
		fmt.Fprintln(p.w, line())
	}
}

// finish clears the line in place.
func (p *progress) finish() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
