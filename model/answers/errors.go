package answers

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
)

// What PostFilter answers with: the pod can be made schedulable, it cannot, or the
// plugin aborts due to some internal error (kube-scheduler/framework/interface.go:593@v0.37.1,
// doc comment of PostFilter).
const (
	codeSuccess       = "Success"
	codeUnschedulable = "Unschedulable"
	codeError         = "Error"
)

// noNodes is in the error of a cycle without nodes (scheduler.go:65@v1.37.1,
// ErrNoNodesAvailable).
const noNodes = "no nodes available to schedule pods"

// particular matches what one error of a kind says and another does not: quoted
// names, namespace/name, numbers.
var particular = regexp.MustCompile(`"[^"]*"|[\w.-]+/[\w.-]*\w|-?[0-9]+`)

// Cause is the first line of an error, which leaves out the stack of a panic,
// without what is particular to it.
func Cause(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return particular.ReplaceAllString(line, "")
}

func errorKind(text string) string { return kindOf(kindError, Cause(text)) }

// IsError tells whether a disagreement of that kind is an error where none is allowed.
func IsError(kind string) bool { return kind == kindError || strings.HasPrefix(kind, kindError+": ") }

// ErrorChanged is the kind of a difference between the errors of two cycles.
func ErrorChanged(before, after string) string { return errorKind(cmp.Or(after, before)) }

// cycleErrors are why the cycle ends in an error while nodes are filtered.
func (s *Set) cycleErrors() []string {
	if len(s.Cycle.Nodes) == 0 {
		return []string{noNodes}
	}
	return s.Errors
}

// CycleFails tells whether the cycle may end in an error of that text while nodes are
// filtered.
func (s *Set) CycleFails(text string) bool { return saysOneOf(text, s.cycleErrors()) }

// DryRunFails tells whether the dry run on a node may end in an error of that text.
func (s *Set) DryRunFails(node, text string) bool {
	run := s.run(node)
	if run == nil {
		return false
	}
	run.enumerate(s.Cycle, s.worlds[0].order)
	return run.fails(text)
}

// fails tells whether r may end in an error of that text. A node on which nobody has
// to go counts as an error (preemption.go:489@v1.37.1, DryRunPreemption).
func (r *run) fails(text string) bool {
	switch {
	case r.Failed != nil:
		return r.Failed.Error != "" && strings.Contains(text, r.Failed.Error)
	case r.without() != nil:
		return strings.Contains(text, noVictims(r.Node.Name))
	}
	return false
}

func noVictims(node string) string {
	return fmt.Sprintf("expected at least one victim pod on node %q", node)
}

// PostFilterFails tells whether PostFilter may end in the error that o shows: that of a
// plugin that cannot tell, or those of all dry runs that failed, if they leave no
// candidate (preemption.go:145@v1.37.1, evaluate).
func (s *Set) PostFilterFails(o *model.Observation) bool {
	if s.PostFilterError != "" {
		return strings.Contains(o.PostFilterMessage, s.PostFilterError)
	}
	failed := false
	if len(s.worlds) > 0 {
		for _, node := range s.worlds[0].unbegun() {
			if failed = strings.Contains(o.PostFilterMessage, s.run(node).Failed.Error); !failed {
				return false
			}
		}
	}
	for node, run := range o.DryRuns {
		if run.Error == "" {
			continue
		}
		if failed = s.DryRunFails(node, run.Error) && strings.Contains(o.PostFilterMessage, run.Error); !failed {
			return false
		}
	}
	return failed && len(o.Candidates) == 0
}

// ExtenderFails tells whether an error of that text is that of the extender in the
// preemption of o: its own, or that it left a candidate without victims
// (preemption.go:258@v1.37.1, callExtenders).
func (s *Set) ExtenderFails(name string, o *model.Observation) bool {
	words := []string{"extender " + name + ": "}
	for _, node := range o.Candidates {
		words = append(words, noVictims(node))
	}
	return saysOneOf(o.PostFilterMessage, words)
}

func saysOneOf(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// admitsStatus compares what PostFilter answers with.
func (s *Set) admitsStatus(o *model.Observation, code string) *Disagreement {
	got := o.PostFilterCode
	if got == "UnschedulableAndUnresolvable" {
		got = codeUnschedulable
	}
	switch {
	case got == "": // not shown
	case got == codeError && (code != codeError || !s.PostFilterFails(o)):
		return disagree(model.StagePick, "", errorKind(o.PostFilterMessage), "PostFilter answers "+code, "an error: "+o.PostFilterMessage)
	case got != code && code == codeError:
		return disagree(model.StagePick, "", kindNoError, "PostFilter ends in an error", got)
	case got != code:
		return disagree(model.StagePick, "", "answers "+got+" but should answer "+code, code, got)
	}
	return nil
}
