package observation

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// goroutines is how many of those that hang Frames shows.
const goroutines = 4

// mostFrames is how many functions of a goroutine Frames shows: those of a stack that overflows
// repeat themselves.
const mostFrames = 40

// frame is the name of a function in a stack, and the file in the next line.
var frame = regexp.MustCompile(`(?m)^(?:created by )?(\S+?)(?:\([^()]*\))?(?: in goroutine \d+)?\n\t\S*/([^/\s]+:\d+)`)

// Frames are the functions on the stacks of a crash, the innermost first, with file and line, but
// those of Go's runtime, and a line between two goroutines: of the one that panics, or of some of those
// that hang. Of a deep stack the outermost are only counted.
func (c *Crash) Frames() (all []string) {
	stacks := strings.Split(strings.TrimSpace(c.Stack), "\n\n")
	stacks = slices.DeleteFunc(stacks, func(s string) bool { return !frame.MatchString(s) }) // what the process said
	shown := 1
	if c.Kind == Hang {
		shown = goroutines
	}
	for i, s := range stacks[:min(shown, len(stacks))] {
		if i > 0 {
			all = append(all, "another goroutine:")
		}
		var own []string
		outermost := 0
		for _, m := range frame.FindAllStringSubmatch(s, -1) {
			if m[1] == "panic" || strings.HasPrefix(m[1], "runtime.") {
				continue // Go's own
			}
			own = append(own, fmt.Sprintf("%s (%s)", path.Base(m[1]), m[2]))
			if strings.HasPrefix(m[1], "k8s.io/") {
				outermost = len(own)
			}
		}
		if outermost > 0 {
			own = own[:outermost] // what has called Kubernetes is of no interest
		}
		all = append(all, own[:min(mostFrames, len(own))]...)
		if more := len(own) - mostFrames; more > 0 {
			all = append(all, fmt.Sprintf("and %d more", more))
		}
	}
	return all
}

// upstreamFrame is the name of a function of the scheduler in a stack, and the file
// in the next line.
var upstreamFrame = regexp.MustCompile(`(?m)^(k8s\.io/(?:kubernetes|kube-scheduler|component-helpers|dynamic-resource-allocation)\S*?)\([^()]*\)\n\t\S*/([^/\s]+:\d+)`)

// NotUpstream is what Innermost finds in a stack without a function of the scheduler.
const NotUpstream = "unknown"

// Innermost is the innermost function of the scheduler in a stack, with file and line:
// what Crash.Where holds.
func Innermost(stack []byte) string {
	m := upstreamFrame.FindSubmatch(stack)
	if m == nil {
		return NotUpstream
	}
	return fmt.Sprintf("%s (%s)", path.Base(string(m[1])), m[2])
}
