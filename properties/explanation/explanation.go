// Package explanation tells what preemption does in one cluster, and why: as data,
// and in words.
package explanation

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Explanation goes through the stages of one scheduling cycle, as the model allows
// it, and ends with what the real scheduler did.
type Explanation struct {
	// File is where the cluster is from. Of leaves it to the caller.
	File      string `json:"file"`
	Pod       string `json:"pod"`
	Priority  int32  `json:"priority"`
	Nominated string `json:"nominatedNode,omitempty"`
	Nodes     int    `json:"nodes"`

	// FitsOn are the nodes on which the pod runs without preemption.
	FitsOn []string `json:"fitsOn,omitempty"`
	// Failed says why the pod does not fit, of nodes with the same reason at once.
	Failed []Failure `json:"failed,omitempty"`
	// FromDevices are the extended resources that the pod gets from devices on some nodes.
	FromDevices []FromDevices `json:"fromDevices,omitempty"`
	// Deallocations are the resource claims of which one loses its allocation.
	Deallocations []string `json:"deallocations,omitempty"`

	Eligible *Eligibility `json:"eligible,omitempty"`
	// NotHelpful says why preemption does not help on a potential node.
	PotentialNodes int       `json:"potentialNodes"`
	NotHelpful     []Failure `json:"notHelpful,omitempty"`
	// Shortlist is how many of the candidates are enough to choose from.
	Shortlist int `json:"shortlist"`
	// Candidates are the best ones, as many as were asked for, of CandidateCount.
	Candidates     []Candidate `json:"candidates,omitempty"`
	CandidateCount int         `json:"candidateCount"`
	// Units are those groups whose pods are preempted together of which the candidates name a pod.
	Units []*Unit `json:"units,omitempty"`
	// Choices are all allowed answers, the most likely first. They are not worked out if Incomplete
	// says why.
	Choices    []Choice `json:"choices,omitempty"`
	Incomplete string   `json:"incomplete,omitempty"`
	// Odds say how likely they are, where chance decides which candidates are compared.
	Odds *Odds `json:"odds,omitempty"`

	// WithGate is what would be otherwise with GenericWorkload on, where pods name groups and it is off.
	// Of leaves it to the caller.
	WithGate *WithGate `json:"withGenericWorkload,omitempty"`

	Reference Observed `json:"reference"`

	// All has WriteText show all of what it cuts at ten otherwise.
	All bool `json:"-"`
}

// Eligibility tells whether the pod may preempt, or why not.
type Eligibility struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

// Failure is why nodes are out.
type Failure struct {
	// Plugin is "" where there is no pod of lower priority.
	Plugin       string   `json:"plugin,omitempty"`
	Unresolvable bool     `json:"unresolvable"`
	Reasons      []string `json:"reasons,omitempty"`
	Nodes        []string `json:"nodes"`
}

// Candidate is what preemption on a node costs. If the order of equally
// important pods matters, Other holds the victims of its other outcomes.
type Candidate struct {
	Node       string     `json:"node"`
	Values     []string   `json:"values"` // one for each of the criteria
	Violations int        `json:"violations"`
	Victims    []Pod      `json:"victims"`
	Reprieved  []Pod      `json:"reprieved,omitempty"`
	Other      [][]string `json:"otherVictims,omitempty"`
	// Extenders are those that change the first outcome; Fails names the one whose
	// error ends the preemption.
	Extenders []explain.Extended `json:"extenders,omitempty"`
	Fails     string             `json:"failedExtender,omitempty"`
}

// Pod is a pod of a node on which preemption helps.
type Pod struct {
	Pod string `json:"pod"`
	// Priority is the one that counts: of a pod of a group that of the group.
	Priority    int32  `json:"priority"`
	Started     string `json:"started"` // "unknown" counts as now
	Terminating bool   `json:"terminating,omitempty"`
	// Violates names the budget that evicting the pod violates.
	Violates string `json:"violates,omitempty"`
}

// Choice is an allowed answer, and what it changes in the cluster.
type Choice struct {
	Node      string   `json:"node"`
	DecidedBy string   `json:"decidedBy"`
	Victims   []string `json:"victims"`
	Deleted   []string `json:"deleted,omitempty"`
	// Terminating are the victims that are not deleted again.
	Terminating []string `json:"terminating,omitempty"`
	// Marked get the DisruptionTarget condition.
	Marked []string `json:"disruptionTarget,omitempty"`
	// Cleared lose their nomination to the node.
	Cleared []string `json:"cleared,omitempty"`
}

// Observed is what the real scheduler did.
type Observed struct {
	System    string   `json:"system"`
	Agrees    bool     `json:"agrees"`
	Remark    bool     `json:"remark,omitempty"`    // it does not, but that is a remark
	Undecided string   `json:"undecided,omitempty"` // why Agrees is not known
	Findings  []string `json:"findings,omitempty"`
	// Crash says how the system broke down, if it did, and CrashedAt at which stage,
	// where that is known.
	Crash     string      `json:"crash,omitempty"`
	CrashedAt model.Stage `json:"crashedAt,omitempty"`
	// ToContact is what to do with a finding that goes to the security contact first. It is left
	// to the caller.
	ToContact string `json:"toContact,omitempty"`
	// Reached says what was seen of the cycle until then, Stack is the functions on the way to it.
	Reached []string `json:"reached,omitempty"`
	Stack   []string `json:"stack,omitempty"`
	// Error is the text of the error in which the cycle ended, if it did, and
	// PostFilterError that of PostFilter.
	Error           string   `json:"error,omitempty"`
	PostFilterError string   `json:"postFilterError,omitempty"`
	ScheduledTo     string   `json:"scheduledTo,omitempty"`
	Pick            string   `json:"pick,omitempty"`
	DecidedBy       string   `json:"decidedBy,omitempty"`
	Victims         []string `json:"victims,omitempty"`
}

// Of explains the result of a check, with at most so many candidates, the best
// first.
func Of(r *properties.Result, candidates int) *Explanation {
	c, d, o := r.Cluster, r.Decision, r.Observation
	e := &Explanation{
		Pod:            model.Key(c.Preemptor),
		Priority:       model.Priority(c.Preemptor),
		Nominated:      c.Preemptor.Status.NominatedNodeName,
		Nodes:          len(c.Nodes),
		FitsOn:         d.Fits,
		PotentialNodes: len(d.PotentialNodes),
		Shortlist:      d.NumCandidates,
		FromDevices:    fromDevices(c),
		Deallocations:  d.Deallocatable(),
		Reference:      observed(r),
	}
	if d.Eligible != nil {
		e.Eligible = &Eligibility{d.Eligible.OK, d.Eligible.Reason}
	}
	if o.PostFilterCode == "Error" {
		e.Reference.PostFilterError = o.PostFilterMessage
	}
	if o.Pick != nil {
		e.Reference.Pick, e.Reference.Victims, e.Reference.DecidedBy = o.Pick.Node, o.Pick.Victims, explain.DecidedBy(d, o)
	}
	e.Failed = group(d.Verdicts)
	notHelpful := map[string]*model.Verdict{}
	for _, node := range d.PotentialNodes {
		if _, why := d.Listed(node); why != nil {
			notHelpful[node] = why
		}
	}
	e.NotHelpful = group(notHelpful)

	pods := map[string]*v1.Pod{}
	for _, p := range c.Pods {
		pods[model.Key(p)] = p
	}
	groups := c.Groups()
	names := d.Candidates()
	e.CandidateCount = len(names)
	for _, node := range names[:min(max(candidates, 0), len(names))] {
		e.Candidates = append(e.Candidates, explainCandidate(d, node, pods, groups))
	}
	e.Units = unitsOf(c, e.Candidates)
	if d.Orders() > maxOrders {
		e.Incomplete = "there are too many orders of equally important pods, or of overlapping budgets, to try them all"
		return e
	}
	if exact, why := d.Exact(); !exact {
		e.Incomplete = why
	}
	for _, allowed := range d.Choices() {
		e.Choices = append(e.Choices, explainChoice(d, allowed, pods))
	}
	rank := map[string]int{}
	for i, node := range names {
		rank[node] = i
	}
	if e.Shortlist < e.CandidateCount {
		e.Odds = oddsOf(d)
	}
	slices.SortStableFunc(e.Choices, func(a, b Choice) int {
		return cmp.Or(e.Odds.compare(a.Node, b.Node), rank[a.Node]-rank[b.Node])
	})
	return e
}

// observed is what there is to tell of a scheduler, whatever it schedules.
func observed(r *properties.Result) Observed {
	o, findings := r.Observation, r.Particular()
	seen := Observed{System: o.System, Agrees: len(findings) == 0 && r.Undecided == "", Undecided: r.Undecided, Error: o.CycleError, ScheduledTo: o.ScheduledTo,
		Remark: len(findings) > 0 && !slices.ContainsFunc(findings, properties.Finding.Disagrees)}
	for _, f := range findings {
		seen.Findings = append(seen.Findings, f.String())
	}
	if o.Crash != nil {
		seen.Crash, seen.CrashedAt, seen.Stack = o.Crash.String(), properties.CrashedAt(o), o.Crash.Frames()
		seen.Reached = properties.Reached(o)
	}
	return seen
}

// group puts nodes that are out for the same reasons together, the largest group
// first.
func group(verdicts map[string]*model.Verdict) []Failure {
	var groups []Failure
	at := map[string]int{}
	for _, node := range slices.Sorted(maps.Keys(verdicts)) {
		v := verdicts[node]
		reasons := slices.Sorted(slices.Values(v.Reasons))
		key := v.String() + "\n" + strings.Join(reasons, "\n")
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key] = i
			groups = append(groups, Failure{Plugin: v.Plugin, Unresolvable: v.Unresolvable, Reasons: reasons})
		}
		groups[i].Nodes = append(groups[i].Nodes, node)
	}
	slices.SortStableFunc(groups, func(a, b Failure) int { return len(b.Nodes) - len(a.Nodes) })
	return groups
}

func explainCandidate(d *answers.Set, node string, pods map[string]*v1.Pod, groups *unit.Groups) Candidate {
	outcomes, _ := d.DryRunOn(node)
	listed := outcomes[0]
	c := Candidate{Node: node, Values: explain.Values(listed), Violations: listed.Violations}
	for _, key := range listed.Victims {
		c.Victims = append(c.Victims, explainPod(pods[key], groups, listed.Violates[key]))
	}
	for _, key := range listed.Reprieved {
		c.Reprieved = append(c.Reprieved, explainPod(pods[key], groups, ""))
	}
	for _, other := range outcomes[1:] {
		c.Other = append(c.Other, other.Victims)
	}
	c.Extenders, c.Fails = explain.ExtendersOn(d, node)
	return c
}

func explainPod(p *v1.Pod, groups *unit.Groups, violates string) Pod {
	line := Pod{
		Pod: model.Key(p), Priority: groups.Priority(p, model.Priority(p)), Started: "unknown",
		Terminating: p.DeletionTimestamp != nil, Violates: violates,
	}
	if p.Status.StartTime != nil {
		line.Started = p.Status.StartTime.UTC().Format(time.RFC3339)
	}
	return line
}

func explainChoice(d *answers.Set, allowed answers.Choice, pods map[string]*v1.Pod) Choice {
	a := d.Preempts(allowed)
	c := Choice{
		Node: allowed.Node, DecidedBy: allowed.DecidedBy, Victims: allowed.Outcome.Victims,
		Deleted: a.Deleted, Marked: a.DisruptionTarget, Cleared: a.Cleared,
	}
	for _, key := range allowed.Outcome.Victims {
		if pods[key].DeletionTimestamp != nil {
			c.Terminating = append(c.Terminating, key)
		}
	}
	return c
}
