package app

import (
	"strings"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/properties"
)

// commandFor is the command line that does the same to this case alone, with the
// same scheduler.
func commandFor(command, reference string, c *corpus.Case) string {
	line := program.Command() + " " + command
	if strings.HasPrefix(c.File, source.LiveName) {
		line += " --reference " + reference // another time the cluster may choose another one
	} else if flags := flags.ForReference(reference); flags != "" {
		line += " " + flags
	}
	line += given(c)
	if key := c.Cluster.PreemptorKey(); key != "" && c.Name == key { // from a dump
		line += " --pod " + c.Name
	}
	return line
}

// newInput is where a command gets its clusters from.
func newInput() *source.Input {
	return &source.Input{Program: program.Command(), Before: spareCollector}
}

// given is what a command line says of where a case is from: a file, or flags for the live cluster.
func given(c *corpus.Case) string {
	if flags, isLive := strings.CutPrefix(c.File, source.LiveName); isLive {
		return flags + c.Flags
	}
	if c.File == "standard input" {
		return c.Flags + " -"
	}
	return c.Flags + " " + c.File
}

// reproduce says in a judgement that needs a look how to come to it again. It is
// nil if there was no time.
func reproduce(j *replay.Judgement, checker *properties.Checker, c *corpus.Case) {
	if j != nil && (j.IsFound() || j.IsNotDone()) {
		j.Reproduce = commandFor("check", checker.System.Name(), c)
	}
}
