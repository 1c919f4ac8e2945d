// Package filter specifies the filter plugins of kube-scheduler's default
// profile, one per file, behind one interface. The plugins that look at volumes
// and at devices have packages of their own.
//
// PreFilter sees the whole cluster once and returns the plugin's State for this pod.
// The State then judges one node at a time, for any list of pods that the node is
// supposed to hold. Unlike the scheduler's plugins, it keeps no account of pods that
// come and go.
package filter

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// Plugin is one filter plugin, as its documentation describes it.
type Plugin interface {
	// Name is the plugin's name in the scheduler's configuration.
	Name() string
	// PreFilter judges the preemptor before any node is looked at, and returns what
	// judges it on a node. A nil State passes every node.
	PreFilter(s *Snapshot) (State, Answer)
}

// State judges one preemptor on nodes. It does not change.
type State interface {
	// Fits says why the preemptor does not fit on n if n holds just the pods of v,
	// and all other nodes hold the pods that are bound to them. nil means that it
	// fits. The Plugin of the Verdict is left to the caller.
	Fits(n *Node, v View) *Verdict
	// Alike tells whether two pods of a node can stand in for each other: the
	// plugin gives the same verdict whichever of them is there.
	Alike(a, b *Pod) bool
}

// Answer is what a plugin says of the preemptor before any node is looked at. The
// zero Answer lets it pass.
type Answer struct {
	// Nodes are the only nodes that are left; nil means all.
	Nodes map[string]bool
	// Rejection says why no node will do.
	Rejection *Verdict
	// Error ends the scheduling cycle, if it is not "": words that are in its text.
	Error string
}

// Rejected is the Answer of a plugin that finds that no node will do, and that
// removing pods cannot help.
func Rejected(reason string) Answer { return Answer{Rejection: Unresolvable(reason)} }

// Verdict says why a node fails the pod.
type Verdict = observation.Verdict

// Unresolvable is the Verdict that removing pods cannot help.
func Unresolvable(reason string) *Verdict {
	return &Verdict{Unresolvable: true, Reasons: []string{reason}}
}

// Resolvable is the Verdict that removing pods may help.
func Resolvable(reasons ...string) *Verdict { return &Verdict{Reasons: reasons} }

// EachNode is the State of a plugin for which the pods on the node play no part.
type EachNode func(n *v1.Node) *Verdict

// Fits implements State.
func (f EachNode) Fits(n *Node, _ View) *Verdict { return f(n.Node) }

// Alike implements State.
func (EachNode) Alike(_, _ *Pod) bool { return true }

// Wrapper is a State around another one.
type Wrapper interface{ Inner() State }

// As finds the first of a State, and of those within it, that is a T.
func As[T any](st State) (found T, ok bool) {
	for st != nil {
		if found, ok = st.(T); ok {
			return found, true
		}
		w, wraps := st.(Wrapper)
		if !wraps {
			break
		}
		st = w.Inner()
	}
	return found, false
}
