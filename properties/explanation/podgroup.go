package explanation

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/properties"
)

// OfGroup goes through the cycle of a pod group, as the model allows it: which node a pod takes, and what else
// is left open, is as the scheduler chose it. It ends with what the scheduler did.
type OfGroup struct {
	// File is where the cluster is from. Group leaves it to the caller.
	File     string `json:"file"`
	Group    string `json:"group"` // as "PodGroup default/train"
	Priority int32  `json:"priority"`
	// MinCount is how many pods have to run at least; 0 if none has to.
	MinCount int `json:"minCount"`
	// Groups are those of a composite group.
	Groups []ChildGroup `json:"groups,omitempty"`
	// Pods are the members that wait, and Running those that are bound.
	Pods []string `json:"pods"`
	// Topology is the label whose value all nodes of the group have to share, if there is one.
	Topology string     `json:"topology,omitempty"`
	Running  []OnNode   `json:"running,omitempty"`
	Before   []OnNode   `json:"nominatedBefore,omitempty"`
	Nodes    int        `json:"nodes"`
	Waits    bool       `json:"waits,omitempty"` // for more members
	Fails    string     `json:"fails,omitempty"` // words of the error
	First    *Placement `json:"first,omitempty"`
	Fits     bool       `json:"fits"`

	Eligible *Eligibility `json:"eligible,omitempty"`
	// Awaits are the victims of a preemption before.
	Awaits []string `json:"awaits,omitempty"`
	// Second is where the members go once everything of lower priority is gone; nil if preemption is not tried.
	Second *Placement `json:"second,omitempty"`
	Helps  bool       `json:"helps"`
	// Evicted are the units that are not given back, and GivenBack the others, in the order in which that is tried.
	Evicted    []Evicted    `json:"evicted,omitempty"`
	GivenBack  []TogetherOn `json:"givenBack,omitempty"`
	Violations int          `json:"violations"`
	Deleted    []string     `json:"deleted,omitempty"`
	// Terminating are the victims that are not deleted again.
	Terminating []string `json:"terminating,omitempty"`
	Marked      []string `json:"disruptionTarget,omitempty"`
	Cleared     []string `json:"cleared,omitempty"`
	// Nominated are members in the end.
	Nominated []OnNode `json:"nominated,omitempty"`

	Reference GroupObserved `json:"reference"`
}

// ChildGroup is a group of a composite one.
type ChildGroup struct {
	Group    string `json:"group"`              // as "PodGroup default/workers"
	Parent   string `json:"parent"`             // likewise
	Topology string `json:"topology,omitempty"` // as that of the root
	MinCount int    `json:"minCount"`           // 0 if none of its pods, or groups, has to be scheduled
	Pods     int    `json:"pods"`
	Groups   int    `json:"groups"`
}

// OnNode is a pod with a node.
type OnNode struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// Placement is what placing the members one after another comes to.
type Placement struct {
	// Domains are the topology domains in which it is done, if there are any: the rest is about those that are shown. Domain is that
	// of the group as a whole.
	Domains []DomainTried `json:"domains,omitempty"`
	Domain  string        `json:"domain,omitempty"`
	Placed  []Placed      `json:"placed,omitempty"`
	// TakenBack had a place, but the group that they are in cannot be scheduled: the place is free again.
	TakenBack []OnNode `json:"takenBack,omitempty"`
	// Failed says why others do not fit, of pods with the same reasons at once.
	Failed []MembersFailed `json:"failed,omitempty"`
	// Untried are not tried any more, as too few could fit.
	Untried []string `json:"untried,omitempty"`
}

// DomainTried is a value of the label of a group, with how many nodes have it, and whether enough members of the group fit there.
type DomainTried struct {
	Group string `json:"group"` // as "PodGroup default/train"
	// Within are the values of the groups above that the nodes have, too, from the root down.
	Within []string `json:"within,omitempty"`
	Value  string   `json:"value"`
	Nodes  int      `json:"nodes"`
	Placed int      `json:"placed"`
	Enough bool     `json:"enough"`
	// Shown: what is told besides is about this one. It is the one that is taken, or the first of which none is.
	Shown bool `json:"shown"`
}

// Placed is a member that fits. Nodes are all that it may take.
type Placed struct {
	OnNode `json:",inline"`
	Nodes  []string `json:"nodes"`
}

// MembersFailed are members that fit nowhere for the same reasons.
type MembersFailed struct {
	Pods     []string  `json:"pods"`
	Nodes    int       `json:"nodes"` // on which they are tried
	Failures []Failure `json:"failures"`
}

// TogetherOn is what is preempted together.
type TogetherOn struct {
	// Name is that of a pod, or of a group as "PodGroup default/train".
	Name     string   `json:"name"`
	IsGroup  bool     `json:"isGroup,omitempty"`
	Priority int32    `json:"priority"`
	Started  string   `json:"started"` // "unknown" counts as now
	Pods     []string `json:"pods"`
	Nodes    []string `json:"nodes"`
}

// Evicted is what is not given back. With it there, Pod would not fit on Node for the reasons of Plugin.
type Evicted struct {
	TogetherOn `json:",inline"`
	// Violates names the budgets that this violates.
	Violates []string `json:"violates,omitempty"`
	Pod      string   `json:"pod"`
	Node     string   `json:"node"`
	Plugin   string   `json:"plugin"`
	Reasons  []string `json:"reasons,omitempty"`
}

// GroupObserved is what the real scheduler did with the group.
type GroupObserved struct {
	Observed  `json:",inline"`
	Waits     bool     `json:"waits,omitempty"`
	Bound     []OnNode `json:"bound,omitempty"`
	Nominated []OnNode `json:"nominated,omitempty"`
}

// minCount is what a gang says, and 0 otherwise.
func minCount(t *podgroup.Tree) int {
	if !t.Gang {
		return 0
	}
	return t.Least
}

// Group explains the result of a check of a pod group.
func Group(r *properties.Result) *OfGroup {
	c, s, o := r.Cluster, r.Group, r.Observation
	course := explain.Follow(s, o)
	e := &OfGroup{
		Group: model.GroupTitle(c.PreemptorGroup), Priority: s.Priority(), MinCount: minCount(s.Root), Nodes: len(c.Nodes),
		Waits: course.Waits, Fails: course.Fails, Fits: course.Binds, Helps: course.Preempts, Violations: course.Violations,
	}
	e.Topology = podgroup.TopologyKey(c, c.PreemptorGroup)
	e.addGroups(c, s.Root)
	for _, m := range s.Members {
		key := model.Key(m)
		e.Pods = append(e.Pods, key)
		if node := m.Status.NominatedNodeName; node != "" {
			e.Before = append(e.Before, OnNode{key, node})
		}
		if node := course.Nominated[key]; node != "" {
			e.Nominated = append(e.Nominated, OnNode{key, node})
		}
	}
	for _, m := range s.Bound {
		e.Running = append(e.Running, OnNode{model.Key(m), m.Spec.NodeName})
	}
	if course.First != nil || e.Topology != "" && !course.Waits && course.Fails == "" {
		e.First = placement(course.First, course.FirstDomains, s)
	}
	if course.Eligible != nil {
		e.Eligible = &Eligibility{course.Eligible.OK, course.Eligible.Reason}
	}
	for _, p := range course.Awaited {
		e.Awaits = append(e.Awaits, p.Key)
	}
	if course.Second != nil || course.SecondDomains != nil {
		e.Second = placement(course.Second, course.SecondDomains, s)
	}
	for _, u := range course.Units {
		together := togetherOn(u)
		if u.Refused == nil {
			e.GivenBack = append(e.GivenBack, together)
			continue
		}
		e.Evicted = append(e.Evicted, Evicted{together, u.Violates, model.Key(u.Placement.Pod), u.Node, u.Refused.Plugin, slices.Sorted(slices.Values(u.Refused.Reasons))})
	}
	for _, p := range course.Victims {
		if p.DeletionTimestamp != nil {
			e.Terminating = append(e.Terminating, p.Key)
		}
	}
	if a := course.Actuation; a != nil {
		e.Deleted, e.Marked, e.Cleared = a.Deleted, a.DisruptionTarget, a.Cleared
	}
	e.Reference = groupObserved(r)
	return e
}

func groupObserved(r *properties.Result) GroupObserved {
	o := r.Observation
	seen := GroupObserved{Observed: observed(r)}
	if o.Group == nil {
		return seen
	}
	seen.Waits, seen.Victims = o.Group.Waits != "", o.Group.Victims
	if o.Group.Code == "Error" {
		seen.PostFilterError = o.Group.Message
	}
	seen.Bound = Bound(o)
	for _, m := range r.Group.Members {
		if end := o.Group.Members[model.Key(m)]; end.Held != "" {
			seen.Nominated = append(seen.Nominated, OnNode{model.Key(m), end.Held})
		}
	}
	return seen
}

// Bound are the pods that a scheduler bound, by name.
func Bound(o *model.Observation) (all []OnNode) {
	if o.Aftermath == nil {
		return nil
	}
	for _, c := range o.Aftermath.Calls {
		if c.Verb == "bind" && c.Failed == "" {
			all = append(all, OnNode{c.Object, c.Node})
		}
	}
	slices.SortFunc(all, func(a, b OnNode) int { return strings.Compare(a.Pod, b.Pod) })
	return all
}

// addGroups adds the groups below one, each before those below it.
func (e *OfGroup) addGroups(c *model.Cluster, t *podgroup.Tree) {
	for _, g := range t.Groups {
		e.Groups = append(e.Groups, ChildGroup{model.GroupTitle(g.Key), model.GroupTitle(t.Key), podgroup.TopologyKey(c, g.Key), minCount(g), len(g.Members) + len(g.Bound), len(g.Groups)})
		e.addGroups(c, g)
	}
}

func placement(tries []explain.MemberFit, domains []explain.DomainFit, s *podgroups.Set) *Placement {
	p := &Placement{}
	for _, d := range domains {
		fits := 0
		for _, t := range d.Tries {
			if t.Node != "" {
				fits++
			}
		}
		p.Domains = append(p.Domains, DomainTried{model.GroupTitle(d.Group), d.In.Path(), d.Name, len(d.Nodes), fits, d.Enough, d.Shown})
		if d.Shown && d.Group == s.Root.Key && len(d.Tries) > 0 {
			p.Domain = d.Name
		}
	}
	var untried []string
	for _, m := range s.Members {
		untried = append(untried, model.Key(m))
	}
	var placed []podgroup.Placement
	for _, t := range tries {
		if t.Node != "" {
			placed = append(placed, podgroup.Placement{Pod: t.Member, Node: t.Node})
		}
	}
	lost := s.TakenBack(placed)
	for _, t := range tries {
		key := model.Key(t.Member)
		untried = slices.DeleteFunc(untried, func(other string) bool { return other == key })
		switch at := (podgroup.Placement{Pod: t.Member, Node: t.Node}); {
		case slices.ContainsFunc(lost, at.Is):
			p.TakenBack = append(p.TakenBack, OnNode{key, t.Node})
			continue
		case t.Node != "":
			p.Placed = append(p.Placed, Placed{OnNode{key, t.Node}, t.Fits})
			continue
		}
		failures := group(t.Verdicts)
		if i := slices.IndexFunc(p.Failed, func(f MembersFailed) bool { return slices.EqualFunc(f.Failures, failures, alike) }); i >= 0 {
			p.Failed[i].Pods = append(p.Failed[i].Pods, key)
		} else {
			p.Failed = append(p.Failed, MembersFailed{[]string{key}, len(t.Verdicts), failures})
		}
	}
	p.Untried = untried
	return p
}

func alike(a, b Failure) bool {
	return a.Plugin == b.Plugin && a.Unresolvable == b.Unresolvable && slices.Equal(a.Reasons, b.Reasons) && slices.Equal(a.Nodes, b.Nodes)
}

func togetherOn(u explain.UnitFate) TogetherOn {
	t := TogetherOn{Name: u.Key, IsGroup: u.Kind != 0, Priority: u.Priority, Started: "unknown"}
	if t.IsGroup {
		t.Name = u.Kind.String() + " " + u.Key
	}
	nodes := map[string]bool{}
	for _, p := range u.Pods {
		t.Pods = append(t.Pods, p.Key)
		nodes[p.Spec.NodeName] = true
		if p.Status.StartTime != nil && (t.Started == "unknown" || p.Start.UTC().Format(time.RFC3339) < t.Started) {
			t.Started = p.Start.UTC().Format(time.RFC3339)
		}
	}
	t.Nodes = slices.Sorted(maps.Keys(nodes))
	return t
}
