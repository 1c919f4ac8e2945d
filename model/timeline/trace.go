package timeline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
)

// Trace is what was seen of a timeline.
type Trace struct {
	System  string
	Entries []Entry
	// Startups are what each scheduler knew when it started, the first one's before all
	// entries.
	Startups []Startup
	// Courses are the cycles of groups, as far as they are seen beside the entries.
	Courses []Course
	// Quiet is how things were when all had come to rest: no step was left, nothing was
	// held, no call failed any more, and nothing changed for a while. Flushed is how they
	// were after the scheduler's flush of pods that wait for too long.
	Quiet, Flushed *State
	// FlushedAt is the index in Entries of what came after Quiet.
	FlushedAt int
	// Unmet are the expectations that did not hold.
	Unmet []Unmet
	// Endless: the scheduler did not come to rest at an instant of its clock, or its
	// cluster did not come to rest at all.
	Endless string
	Crash   *model.Crash
}

// Startup is what a scheduler knew when it started.
type Startup struct {
	Entry   int // the index of the first entry after that
	Objects []runtime.Object
	// Missed are the events that its list did not show yet, in turn: see Step.Behind.
	Missed []Missed
}

// Missed is an event that comes to a scheduler after the list with which it started.
type Missed struct {
	Object string // as that of an entry
	Text   string // as that of an entry that is Stored
}

// Missed are the events that the list did not show yet with which the scheduler began that took over
// at an entry.
func (t *Trace) Missed(takenOver int) []Missed {
	for _, s := range t.Startups {
		if s.Entry > takenOver {
			return s.Missed
		}
	}
	return nil
}

// Unmet is an expectation that did not hold.
type Unmet struct {
	Step int // its index
	Expectation
	Was string
}

// What is a kind of entry.
type What string

// What people and kubelets do, with what is in the API.
const (
	Created  What = "created"  // an object, Is; By is the pod that it replaces, if a controller does
	Updated  What = "updated"  // an object
	Removed  What = "removed"  // an object, from the API
	Deleting What = "deleting" // a pod was told to terminate
	Started  What = "started"  // a pod, by its kubelet
)

// What the scheduler sees, and does.
const (
	Stored  What = "stored"  // an event, in the informer's store
	Handled What = "handled" // an event, by the scheduler
	Popped  What = "popped"  // a pod, from the queue
	// Fits: the pod is to be bound to Node. Unfit: it is not; Text says why. Of a member of a
	// group both are the end of its part in the group's cycle, and Node of one that is not to be
	// bound is where it is nominated to.
	Fits  What = "fits"
	Unfit What = "unfit"
	// Tried: a member was placed on Node, or on none; Text says why. What comes of it is decided
	// for the whole group.
	Tried What = "tried"
	// Decided: Victims on Node are preempted for the pod. Without victims, the
	// pod is nominated to Node, or, if that is "", to none.
	Decided What = "decided"
	// Requeued: the pod's cycle has failed and is over. Text is "error" if it failed with an
	// error, and did not find the pod unschedulable.
	Requeued What = "requeued"
	// Begins and Ends are of the goroutine that preempts victims for the pod.
	Begins What = "begins"
	Ends   What = "ends"
	// Called: an API call, Text says which; Error is its answer.
	Called What = "called"
	// Told: an event about the pod; Text is its reason and note.
	Told What = "told"
)

// What happens to the timeline itself.
const (
	Holding   What = "holding"
	Releasing What = "releasing"
	Failing   What = "failing"
	TakenOver What = "taken over"
	Relisted  What = "relisted"  // a kind of object
	Replacing What = "replacing" // a pod, from now on; Error if there is none
	Rested    What = "at rest"
)

// Entry is one thing that was seen.
type Entry struct {
	// At is the scheduler's clock since the start.
	At time.Duration
	// Step is the index of the step during which it was; the number of steps after the
	// last one.
	Step int
	What What
	// Object is "Pod default/a", "Node n1", a place, or a kind of object. Of the cycle and the
	// preemption of a group it is "PodGroup default/g".
	Object string
	// Group is the group with which a pod is scheduled, in whose cycle this is: as Preemptor names
	// it; "" of a cycle of the pod's own.
	Group   string
	Node    string
	Text    string
	Error   string
	Victims []string // as "default/a"
	// By tells whose victim a call is about: the pod or the group that is preempted for, as
	// Preemptor names it; "" if it is not known. Of a pod that a controller creates it is the one
	// that it replaces.
	By string
	// Call of a Called entry.
	Call PlaceName
	// Queue is where a requeued pod is; Gated whether it is kept there.
	Queue model.Queue
	Gated bool
	// Second: a member was placed with all potential victims gone.
	Second bool
	// Untracked, of a pod that has just been filtered, and still waits to be bound: the queue has it nowhere, and does not count it
	// among those that are being tried, for which it keeps what happens meanwhile.
	Untracked bool `json:",omitempty"`
	// Listed: the event is not of the watch. It is a difference that a new list has shown:
	// several changes in one, or a deletion of an object whose last state is not known.
	Listed bool
	// Replaced: of a listed event, that an object is deleted and that another one of its name
	// is added are one update to the scheduler.
	Replaced bool

	// What follows is not part of the entry's text.

	// Was and Is are the object before and after an event that is stored or handled; nil
	// if there is none. Of an object that is created, Is is that object; of what happens in a
	// cycle, it is the pod as it was popped.
	Was, Is runtime.Object
	// ByUID is the UID of the pod By, of a call that a preemption makes for it: pods may have been created
	// under its name since.
	ByUID types.UID
	// UID is the UID of the pod that a call binds, or that an event is about: pods may have been created under its name since. No
	// other call tells which it means.
	UID types.UID
	// Of a decision: the violations of budgets that it counts, what becomes of the pod's
	// nomination, and whether it ended in an error.
	Violations int
	Nomination model.NominationMode
	Failed     bool
	// Cycle, of a decision and of both ends of its goroutine, is the number of the cycle that decided so: goroutines
	// of one pod, or of two of one name, may be on at once.
	Cycle int
	// Let is what was held and may go on: where each waited, in the order in which they came.
	Let []Place
	// Left, of an event that is handled, are the pods that are unschedulable once the scheduler
	// has dealt with it: it will not try them before another event, or the flush. Of two entries
	// that are one update, the second has them.
	Left []Left
}

// Course is what the cycle of a group came to, to whose end the scheduler lived.
type Course struct {
	// Entry is the index of the entry at which the group was popped.
	Entry int
	*model.GroupCycle
}

// Left is a pod that an event has left unschedulable.
type Left struct {
	Pod string // as "default/a"
	// Gated: a plugin keeps it out of the queues. Preempting: its preemption goroutine is on.
	Gated      bool `json:",omitempty"`
	Preempting bool `json:",omitempty"`
}

// BindsTo is the node that a call binds its pod to; "" if it is another call.
func (e *Entry) BindsTo() string {
	if e.Call != Bind {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(e.Text, "to "), ", took effect")
}

// Creates tells whether an object is new from this entry on: there was none of its name.
func (e *Entry) Creates() bool { return e.What == Created && e.Error == "" }

// Pod is the pod of an entry, as "default/a"; "" if its object is none.
func (e *Entry) Pod() string {
	name, _ := strings.CutPrefix(e.Object, "Pod ")
	if name == e.Object {
		return ""
	}
	return name
}

// Preemptor is the pod of an entry, as "default/a", or the group, as model.PodGroupKey names it; ""
// if its object is neither.
func (e *Entry) Preemptor() string {
	switch kind, key, _ := strings.Cut(e.Object, " "); kind {
	case "PodGroup", "CompositePodGroup":
		return strings.ToLower(kind) + "/" + key
	}
	return e.Pod()
}

// OfGroup tells whether an entry is about a group, or about a pod in the cycle of its group.
func (e *Entry) OfGroup() bool { return e.Group != "" || e.Pod() == "" && e.Preemptor() != "" }

// Preempts tells whether an entry is the event that says that a pod was preempted.
func (e *Entry) Preempts() bool { return e.What == Told && strings.HasPrefix(e.Text, "Preempted:") }

// PreemptsInMemory tells whether an entry says that a pod was preempted by ending its way to a
// node, without a call.
func (e *Entry) PreemptsInMemory() bool {
	return e.Preempts() && strings.Contains(e.Text, "in kube-scheduler memory")
}

// MarksVictim tells whether a call gives a pod the condition of a victim.
func (e *Entry) MarksVictim() bool {
	return e.Call == Patch && strings.Contains(e.Text, "DisruptionTarget")
}

var waitsForCPU = regexp.MustCompile(`^0/\d+ nodes are available: \d+ Insufficient cpu\.( |$)`)

// WaitsForCPU tells whether a pod does not fit as it waits for resources, and for nothing else.
func (e *Entry) WaitsForCPU() bool { return waitsForCPU.MatchString(e.Text) }

// TookEffect tells whether a call changed anything; it may have, though its answer is an error.
func (e *Entry) TookEffect() bool {
	return e.Error == "" || strings.Contains(e.Text, "took effect")
}

func (e *Entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%9.3fs  %-3d %-10s %s", e.At.Seconds(), e.Step, e.What, e.Object)
	if e.Call != "" {
		fmt.Fprintf(&b, " [%s]", e.Call)
	}
	if e.Node != "" {
		fmt.Fprintf(&b, " on %s", e.Node)
	}
	if len(e.Victims) > 0 {
		fmt.Fprintf(&b, ", victims %s", strings.Join(e.Victims, ", "))
	}
	if e.By != "" {
		fmt.Fprintf(&b, ", for %s", e.By)
	}
	if e.Queue != "" {
		fmt.Fprintf(&b, ", in %s", e.Queue)
	}
	if e.Gated {
		b.WriteString(", gated")
	}
	if e.Second {
		b.WriteString(", without victims")
	}
	if e.Text != "" {
		fmt.Fprintf(&b, ": %s", e.Text)
	}
	if e.Listed {
		b.WriteString(", as listed")
	}
	if e.Replaced {
		b.WriteString(", in one update")
	}
	if e.Error != "" {
		fmt.Fprintf(&b, " → %s", e.Error)
	}
	return b.String()
}

// String is the whole trace, a line for each entry.
func (t *Trace) String() string {
	var b strings.Builder
	for i := range t.Entries {
		b.WriteString(t.Entries[i].String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Where a member of a group is that is in no queue by itself.
const (
	// QueueIncomplete: its group is not known to the scheduler.
	QueueIncomplete model.Queue = "incomplete"
	// QueuePending: it waits for the cycle of its group to end.
	QueuePending model.Queue = "pending"
)

// State is how things are at an instant.
type State struct {
	At time.Duration
	// Pods are those in the API and those that the scheduler knows, by their names.
	Pods []PodState
	// Held are the places at which something waits.
	Held []string
}

// PodState is how a pod is in the API, and what the scheduler makes of it.
type PodState struct {
	Name string
	// Exists and the next four are what the API says.
	Exists      bool
	Node        string
	Nominated   string
	Terminating bool
	Scheduler   string // spec.schedulerName
	Priority    int32
	// Queues are those that the pod is in; the name of a queue once for each place in it.
	Queues   []model.Queue
	InFlight bool
	Gated    bool
	// NominatedTo are the nodes to which the scheduler's nominator has it.
	NominatedTo []string
	// CachedOn are the nodes on which the scheduler's cache has it; Assumed: not bound as
	// far as it knows.
	CachedOn []string
	Assumed  bool
	// Preempting: its preemption goroutine is on.
	Preempting bool
}

// Pod is the state of a pod: of several of one name, of the one that is in the API. One that there is nothing of is the zero value.
func (s *State) Pod(name string) PodState {
	named := func(p PodState) bool { return p.Name == name }
	i := slices.IndexFunc(s.Pods, func(p PodState) bool { return named(p) && p.Exists })
	if i < 0 {
		i = slices.IndexFunc(s.Pods, named)
	}
	if i < 0 {
		return PodState{Name: name}
	}
	return s.Pods[i]
}

// Outcome is what users see: which pods there are, where they run, and where they are
// nominated to.
func (s *State) Outcome() string {
	var b strings.Builder
	for _, p := range s.Pods {
		if !p.Exists {
			continue
		}
		fmt.Fprintf(&b, "%s", p.Name)
		switch {
		case p.Node != "":
			fmt.Fprintf(&b, " on %s", p.Node)
		case p.Nominated != "":
			fmt.Fprintf(&b, " nominated to %s", p.Nominated)
		default:
			b.WriteString(" pending")
		}
		if p.Terminating {
			b.WriteString(" terminating")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
