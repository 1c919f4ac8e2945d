package observation

import (
	"fmt"
	"path"
	"regexp"
)

// upstreamFrame is the name of a function of the scheduler in a stack, and the file
// in the next line.
var upstreamFrame = regexp.MustCompile(`(?m)^(k8s\.io/(?:kubernetes|kube-scheduler|component-helpers|dynamic-resource-allocation)\S*?)\([^()]*\)\n\t\S*/([^/\s]+:\d+)`)

// Innermost is the innermost function of the scheduler in a stack, with file and line:
// what Crash.Where holds.
func Innermost(stack []byte) string {
	m := upstreamFrame.FindSubmatch(stack)
	if m == nil {
		return "unknown"
	}
	return fmt.Sprintf("%s (%s)", path.Base(string(m[1])), m[2])
}
