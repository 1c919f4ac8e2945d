package fingerprint

import (
	"regexp"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
)

// KeptBack begins the names of cases of findings that go to the security contact.
const KeptBack = "kept back"

// ToContact says what to do with such a finding.
const ToContact = "It goes to the Kubernetes security contact before it is published: see docs/findings/kept-back.md."

// endings are what a process says that ends, of itself or of the check that it ran, and the kinds
// of crashes.
var endings = regexp.MustCompile(`(?i)panic|fatal error|runtime error|nil pointer|deadlock|^(hang|exit) in `)

// GoesToContact tells whether a finding, with its detail, may let others end or starve the
// scheduler: it is new, and the scheduler breaks down or goes on for ever, in a cycle or while a
// timeline runs, or a cycle ends in an error where none is promised, which one object may do to
// the cycles of all pods. Such findings go to the Kubernetes security contact before they are
// published (docs/findings/kept-back.md). A panic of preemptcheck's own code is none of them.
func GoesToContact(f Fingerprint, detail string) bool {
	if f.Known != "" || f.Property == Failed && strings.HasPrefix(f.Kind, properties.OwnPanic) {
		return false
	}
	switch f.Property {
	case Unmet:
		return false // of a case that is published
	case properties.GetsThrough().Name, "fault-gets-through", "no-internal-error", Failed:
		return true
	}
	return f.Kind == variation.NoEnd || answers.IsError(f.Kind) || endings.MatchString(f.Kind) || endings.MatchString(detail)
}
