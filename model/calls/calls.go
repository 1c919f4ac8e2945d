// Package calls is what one plugin of a scheduler can be asked: a script of calls of its
// extension points, with what happens to the cluster in between, and the answers.
//
// It is compiled into the drivers of other releases, so it uses the standard library only.
package calls

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Source is the text of this file, for the drivers of other releases.
//
//go:embed calls.go
var Source []byte

// Op is what a call does.
type Op string

// The calls. A state is named by the index of the call that made it.
const (
	// List answers with the plugins of the preemptor's profile, and the extension points at which each is enabled.
	List Op = "list"
	// Says asks Plugin about Pod on every node of the cluster as it is now: PreEnqueue, PreFilter, and Filter of
	// each node. If there is an Object, that is the pod, of which the scheduler was not told.
	Says Op = "says"
	// PreFilter asks Plugin about Pod, and makes a state.
	PreFilter Op = "PreFilter"
	// Clone makes a state out of another one, and of its nodes.
	Clone Op = "Clone"
	// RemovePod and AddPod tell the state that Pod is not on Node any more, or is as well. The state has a node of
	// its own from then on.
	RemovePod Op = "RemovePod"
	AddPod    Op = "AddPod"
	// Filter asks about every node of a state; with Reversed in the opposite order.
	Filter Op = "Filter"
	// FilterNominated asks about every node of a state, as the framework does where pods are nominated to nodes: once with
	// those of equal or higher priority on it, and once without.
	FilterNominated Op = "Filter with nominated pods"
	// FilterAtOnce asks about every node of a state from so many goroutines at once: see AtOnce. The answer is
	// what all say; Differs tells what they do not agree about.
	FilterAtOnce Op = "Filter, many at once"
	// Digest answers with what the pod, the snapshot and the nodes of a state hold.
	Digest Op = "digest"
	// Reserve, Unreserve and PreBind are about Node. API calls that PreBind makes fail.
	Reserve   Op = "Reserve"
	Unreserve Op = "Unreserve"
	PreBind   Op = "PreBind, as API calls fail"
	// Set creates an object, or puts it in the place of the one of its name. Delete deletes it. Bind runs Pod on Node.
	// The scheduler is told of each, as by its watch.
	Set    Op = "set"
	Delete Op = "delete"
	Bind   Op = "bind"
	// Restore takes all changes back, the last one first.
	Restore Op = "restore"
	// Park puts the preemptor among the pods that wait for an event, as rejected by Plugin. Waits tells whether it is
	// still there, and takes it away.
	Park  Op = "park"
	Waits Op = "waits"
)

// IsOfState tells whether a call is about a state.
func (o Op) IsOfState() bool {
	switch o {
	case Clone, RemovePod, AddPod, Filter, FilterNominated, FilterAtOnce, Digest, Reserve, Unreserve, PreBind:
		return true
	}
	return false
}

// AtOnce is how many goroutines FilterAtOnce asks from.
const AtOnce = 16

// Twin, as a Pod, is a pod just like the preemptor, with another name and UID.
const Twin = "twin of the preemptor"

// Call is one call.
type Call struct {
	Op     Op     `json:"op"`
	Plugin string `json:"plugin,omitempty"`
	State  int    `json:"state,omitempty"`
	// Pod is its namespace/name; "" is the preemptor, where that can be.
	Pod      string `json:"pod,omitempty"`
	Node     string `json:"node,omitempty"`
	Reversed bool   `json:"reversed,omitempty"`
	// Object is what is set or deleted, or a pod that is asked about.
	Object *Object `json:"object,omitempty"`
}

// Object is one of any kind.
type Object struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Namespace  string          `json:"namespace,omitempty"`
	Name       string          `json:"name"`
	JSON       json.RawMessage `json:"json,omitempty"`
}

func (o *Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Code is the outcome of a call of a plugin: that of its status, or Panics.
type Code string

// The codes.
const (
	Success      Code = "Success"
	Rejects      Code = "Unschedulable"
	Unresolvable Code = "UnschedulableAndUnresolvable"
	Pending      Code = "Pending"
	Skip         Code = "Skip"
	Fails        Code = "Error"
	Panics       Code = "panic"
	// Broken is that the scheduler was not asked, as it panicked before.
	Broken Code = "broken"
)

// Verdict is what a plugin says of one node, or of all.
type Verdict struct {
	Code Code `json:"code"`
	// LeftOut: the node is none of those in the PreFilterResult. The framework takes it for Unresolvable.
	LeftOut bool   `json:"leftOut,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Mute: no reason was given, or one that is empty.
	Mute bool `json:"mute,omitempty"`
	// Stack is that of a panic.
	Stack string `json:"stack,omitempty"`
}

// Passes tells whether the plugin lets the pod go there.
func (v Verdict) Passes() bool { return v.Code == Success || v.Code == Skip }

// IsRejection tells whether the plugin does not let the pod go there. An error is no rejection.
func (v Verdict) IsRejection() bool {
	return v.Code == Rejects || v.Code == Unresolvable || v.Code == Pending
}

// Broke tells whether there is no answer.
func (v Verdict) Broke() bool { return v.Code == Panics || v.Code == Broken || v.Code == Fails }

// Word is what the verdict comes to, in a word.
func (v Verdict) Word() string {
	switch {
	case v.LeftOut:
		return "leaves the node out"
	case v.Passes():
		return "passes"
	case v.Code == Fails:
		return "error"
	case v.Code == Panics:
		return "panics"
	}
	return string(v.Code)
}

func (v Verdict) String() string {
	if v.Reason == "" {
		return v.Word()
	}
	return v.Word() + " (" + v.Reason + ")"
}

// Answer is the answer to one call.
type Answer struct {
	// Verdict is about all nodes together; Nodes are about each.
	Verdict Verdict            `json:"verdict,omitzero"`
	Nodes   map[string]Verdict `json:"nodes,omitempty"`
	// Plugins is the answer to List.
	Plugins []Plugin `json:"plugins,omitempty"`
	// Text is the answer to Digest, and says what differs in FilterAtOnce.
	Text string `json:"text,omitempty"`
	// Yes is the answer to Park, whether the preemptor was put there, and to Waits.
	Yes bool `json:"yes,omitempty"`
}

// Plugin is one of a profile.
type Plugin struct {
	Name string `json:"name"`
	// Points are the extension points at which it is enabled, for example "PreFilter".
	Points []string `json:"points"`
}

// At tells whether the plugin is enabled at one of the extension points.
func (p Plugin) At(points ...string) bool {
	return slices.ContainsFunc(points, func(point string) bool { return slices.Contains(p.Points, point) })
}

func (c Call) String() string {
	text := string(c.Op)
	for _, part := range []string{c.Plugin, c.Pod} {
		if part != "" {
			text += " " + part
		}
	}
	if c.Node != "" {
		text += " on " + c.Node
	}
	if c.Object != nil {
		text += " " + c.Object.String()
	}
	return strings.TrimSpace(fmt.Sprintf("%s [%d]", text, c.State))
}
