package observation

import (
	"context"
	"maps"
	"slices"
)

type tellingKey struct{}

// Telling is a context in which a scheduler tells what is seen of its cycle as it comes, each as an
// Observation of its own: the process that runs it may not live to give the whole one.
func Telling(ctx context.Context, told func(part *Observation)) context.Context {
	return context.WithValue(ctx, tellingKey{}, told)
}

// Teller is who is to be told in a context; nil if there is nobody.
func Teller(ctx context.Context) func(part *Observation) {
	told, _ := ctx.Value(tellingKey{}).(func(*Observation))
	return told
}

// Add adds what was told to an observation.
func (o *Observation) Add(part *Observation) {
	for node, v := range part.Filters {
		o.SetFilter(node, v)
	}
	for node, run := range part.DryRuns {
		o.SetDryRun(node, run)
	}
	if part.Absent != nil {
		o.Absent = part.Absent
	}
	if part.Eligible != nil {
		o.Eligible = part.Eligible
	}
	if part.PotentialNodes != nil {
		o.PotentialNodes = part.PotentialNodes
	}
	if part.Candidates != nil {
		o.Candidates = part.Candidates
	}
	if part.AfterExtenders != nil {
		o.AfterExtenders = part.AfterExtenders
	}
	if part.Pick != nil {
		o.Pick = part.Pick
	}
	if part.ScheduledTo != "" {
		o.ScheduledTo = part.ScheduledTo
	}
	if part.CycleError != "" {
		o.CycleError = part.CycleError
	}
	if part.PostFilterCode != "" {
		o.PostFilterCode, o.PostFilterMessage = part.PostFilterCode, part.PostFilterMessage
	}
	if part.Group != nil { // always the whole of it
		o.Group = part.Group
	}
	if part.Aftermath != nil {
		for _, c := range part.Aftermath.Calls {
			o.AddCall(c)
		}
	}
}

// Seen is a copy of what was seen up to now, to which nothing that comes later is added.
func (o *Observation) Seen() *Observation {
	seen := &Observation{System: o.System, Filters: map[string]Verdict{}}
	seen.Add(o)
	if o.AfterExtenders != nil {
		seen.AfterExtenders = maps.Clone(o.AfterExtenders)
	}
	if o.Group != nil {
		seen.Group = o.Group.Seen()
	}
	return seen
}

// Seen is a copy of what was seen up to now, to which nothing that comes later is added. Of what is in a list just
// the last try changes.
func (g *GroupCycle) Seen() *GroupCycle {
	seen := *g
	seen.First, seen.Second = slices.Clone(g.First), slices.Clone(g.Second)
	seen.FirstChoices, seen.SecondChoices = slices.Clone(g.FirstChoices), slices.Clone(g.SecondChoices)
	seen.Placed, seen.PlacedTo = slices.Clone(g.Placed), slices.Clone(g.PlacedTo)
	seen.Tried, seen.Victims = slices.Clone(g.Tried), slices.Clone(g.Victims)
	for i := range seen.Tried {
		seen.Tried[i].Pods = slices.Clone(g.Tried[i].Pods)
	}
	seen.Members = maps.Clone(g.Members)
	return &seen
}

// SetFilter notes the verdict on a node.
func (o *Observation) SetFilter(node string, v Verdict) {
	if o.Filters == nil {
		o.Filters = map[string]Verdict{}
	}
	o.Filters[node] = v
}

// SetDryRun notes what came of the dry run on a node.
func (o *Observation) SetDryRun(node string, run DryRun) {
	if o.DryRuns == nil {
		o.DryRuns = map[string]DryRun{}
	}
	o.DryRuns[node] = run
}

// AddCall notes an API call, which is made or under way.
func (o *Observation) AddCall(c Call) {
	if o.Aftermath == nil {
		o.Aftermath = &Aftermath{}
	}
	o.Aftermath.Calls = append(o.Aftermath.Calls, c)
}
