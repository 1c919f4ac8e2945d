package inprocess

import (
	"cmp"

	"github.com/preemptcheck/preemptcheck/internal/harness"
)

// Version is the release of the kube-scheduler linked in, for example "v1.37.1".
// Of a program built against another source it is the release that the source is,
// or the last one before it.
var Version = cmp.Or(harness.BuiltFrom().Version, "v1.37.1")

// Source names the kube-scheduler linked in: its release, and the source it was
// built from if that is not the released one.
func Source() string {
	if from := harness.BuiltFrom(); from.Dir != "" {
		return from.String()
	}
	return Version
}
