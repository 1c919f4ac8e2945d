package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
)

// validateExtender checks an extender as far as a scheduler's configuration is
// checked (apis/config/validation/validation.go:257@v1.37.1, validateExtenders),
// and that it has a name of its own.
func validateExtender(e *model.Extender, before []model.Extender) (field string, err error) {
	if e.Name == "" {
		return "name", fmt.Errorf("required")
	}
	for i := range before {
		other := &before[i]
		if other.Name == e.Name {
			return "name", fmt.Errorf("two extenders are called %q", e.Name)
		}
		for j, r := range e.ManagedResources {
			if slices.Contains(other.ManagedResources, r) {
				return fmt.Sprintf("managedResources[%d]", j), fmt.Errorf("%s is managed by two extenders", r)
			}
		}
	}
	for j, r := range e.ManagedResources {
		domain, name, qualified := strings.Cut(r, "/")
		if !qualified || name == "" || strings.HasSuffix(domain, "kubernetes.io") {
			return fmt.Sprintf("managedResources[%d]", j), fmt.Errorf("%q is no extended resource", r)
		}
	}
	if p := e.Preempt; p != nil {
		failures := []model.PreemptFailure{"", model.PreemptError, model.PreemptUnknownNode, model.PreemptUnknownPod}
		if !slices.Contains(failures, p.Fails) {
			return "preempt.fails", fmt.Errorf("%q is none of %q", p.Fails, failures[1:])
		}
		for i, c := range p.Changes {
			at := fmt.Sprintf("preempt.changes[%d].", i)
			switch {
			case c.Keeps != nil && *c.Keeps < 0:
				return at + "keeps", fmt.Errorf("%d is negative", *c.Keeps)
			case c.Violations != nil && *c.Violations < 0:
				return at + "violations", fmt.Errorf("%d is negative", *c.Violations)
			case slices.ContainsFunc(p.Changes[:i], func(o model.VictimChange) bool { return o.Node == c.Node }):
				return at + "node", fmt.Errorf("two changes are of node %q", c.Node)
			}
		}
	}
	return "", nil
}
