// Package terminal is how commands talk to people and to programs: formats of data, exit
// statuses, errors, colours, and how far long work is.
package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// Format is the value of -o.
type Format string

// The formats. Text, JSON and YAML are known to each command.
const (
	Text     Format = "text"
	JSON     Format = "json"
	YAML     Format = "yaml"
	Markdown Format = "markdown"
	HTML     Format = "html"
	// Wide is text with more columns, and Name a name on each line, as kubectl prints them.
	Wide Format = "wide"
	Name Format = "name"
)

// formatFlag is the flag -o of a command, which knows some formats.
type formatFlag struct {
	*Format
	known []string
}

func (f formatFlag) String() string { return string(*f.Format) }
func (formatFlag) Type() string     { return "format" }

func (f formatFlag) Set(s string) error {
	if !slices.Contains(f.known, s) {
		return fmt.Errorf("must be %s", f.usage())
	}
	*f.Format = Format(s)
	return nil
}

func (f formatFlag) usage() string {
	last := len(f.known) - 1
	return strings.Join(f.known[:last], ", ") + " or " + f.known[last]
}

// OutputFlag adds -o to a command, which may know more than the formats of all.
func OutputFlag(cmd *cobra.Command, f *Format, more ...Format) {
	FormatFlag(cmd, f, append([]Format{Text, JSON, YAML}, more...)...)
}

// FormatFlag adds -o to a command that knows just these formats, the first by default.
func FormatFlag(cmd *cobra.Command, f *Format, known ...Format) {
	*f = known[0]
	flag := formatFlag{Format: f}
	for _, format := range known {
		flag.known = append(flag.known, string(format))
	}
	cmd.Flags().VarP(flag, "output", "o", flag.usage())
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(flag.known, cobra.ShellCompDirectiveNoFileComp))
}

// Print writes data as JSON or YAML, or calls asText for people, who see colours where w is a
// terminal.
func (f Format) Print(w io.Writer, data any, asText func(io.Writer)) error {
	switch f {
	case JSON:
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(data)
	case YAML:
		out, err := yaml.Marshal(data)
		if err == nil {
			_, err = w.Write(out)
		}
		return err
	}
	asText(Coloured(w))
	return nil
}

// Conclude prints what a command has come to, and the problems on the way, of which
// nil is none. The error is the exit status: that of problems is CouldNot.
func (f Format) Conclude(cmd *cobra.Command, data any, asText func(io.Writer), found, couldNot bool, problems ...error) error {
	if err := f.Print(cmd.OutOrStdout(), data, asText); err != nil {
		return err
	}
	return conclude(cmd, found, couldNot, problems)
}

// ConcludePage is Conclude for a page, which write writes.
func ConcludePage(cmd *cobra.Command, write func(io.Writer) error, found, couldNot bool, problems ...error) error {
	if err := write(cmd.OutOrStdout()); err != nil {
		return err
	}
	return conclude(cmd, found, couldNot, problems)
}

func conclude(cmd *cobra.Command, found, couldNot bool, problems []error) error {
	if err := errors.Join(problems...); err != nil {
		PrintErrors(cmd.ErrOrStderr(), err)
		couldNot = true
	}
	return Status(found, couldNot)
}

// Exit statuses. What was found outranks what could not be done: a run that did
// both exits with Found.
const (
	Agrees   = 0
	Found    = 1 // a finding that the ledger does not explain, or an expectation that was not met
	CouldNot = 2 // bad input, bad flags, or something that is not modelled
)

// Exit is an error that only sets the exit status: everything has been said.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Status is the error for what was found and what could not be done.
func Status(found, couldNot bool) error {
	switch {
	case found:
		return Exit(Found)
	case couldNot:
		return Exit(CouldNot)
	}
	return nil
}

// PrintErrors prints what err joins, each on a line of its own.
func PrintErrors(w io.Writer, err error) {
	if q, ok := w.(quiet); ok {
		w = q.w
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			PrintErrors(w, e)
		}
		return
	}
	fmt.Fprintln(w, Paint(w, Bad, "error:"), strings.ReplaceAll(err.Error(), "\n", "\n  "))
}

// Note prints what is worth to know besides the answer.
func Note(w io.Writer, note string) { fmt.Fprintln(w, Paint(w, Dim, "note:"), note) }
