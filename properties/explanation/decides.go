package explanation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/arrival"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Decides decides cycles for arrival.Run: the model says what is allowed, and of several allowed
// answers the scheduler of the checker chooses, or else the most likely one is taken. Which node a pod takes that
// fits on several depends on scores, which the model does not have. missing, if it is not nil, says what a cluster
// depends on and whoever described it left out.
func Decides(checker *properties.Checker, missing func(*model.Cluster) []model.UnmodelledField) arrival.Decide {
	return func(ctx context.Context, c *model.Cluster) (*arrival.Answer, error) {
		if missing != nil {
			c.NotGiven = missing(c)
		}
		r, err := checker.Check(ctx, c)
		if err != nil {
			return nil, err
		}
		a := &arrival.Answer{}
		switch {
		case r.Group != nil && r.Observation != nil:
			ofGroup(a, r)
		case r.Decision != nil && r.Observation != nil:
			ofPod(a, r)
		case r.Observation != nil && c.Preemptor != nil:
			believes(a, r)
		}
		if r.Unmodelled != nil {
			a.Unknown = "not modelled: " + strings.Join(words.Lines(r.Unmodelled), "; ")
		}
		if r.Observation == nil {
			return a, nil
		}
		a.Asked = true
		if seen := observed(r); !seen.Agrees && !seen.Remark {
			a.Disagrees = cmp.Or(strings.Join(seen.Findings, "; "), seen.Undecided, seen.breaks())
		}
		a.New = len(r.Unexplained()) > 0
		return a, nil
	}
}

// believes takes what the scheduler does, where the model does not cover the cluster.
func believes(a *arrival.Answer, r *properties.Result) {
	o, key := r.Observation, model.Key(r.Cluster.Preemptor)
	switch {
	case o.CycleError != "":
		a.Error = o.CycleError
	case o.ScheduledTo != "":
		a.Nodes = map[string]string{key: o.ScheduledTo}
	case o.Pick != nil:
		a.Nodes, a.Victims = map[string]string{key: o.Pick.Node}, o.Pick.Victims
	}
}

func ofPod(a *arrival.Answer, r *properties.Result) {
	d, o, key := r.Decision, r.Observation, model.Key(r.Cluster.Preemptor)
	switch {
	case len(d.Errors) > 0:
		a.Error = strings.Join(d.Errors, "; ")
	case len(r.Cluster.Nodes) == 0:
		a.Error = "there are no nodes"
	case len(d.Fits) > 0:
		node := o.ScheduledTo
		if !slices.Contains(d.Fits, node) {
			node = d.Fits[0]
		}
		a.Nodes, a.Ways = map[string]string{key: node}, len(d.Fits)
	default:
		if picks(a, r, key) {
			return
		}
		if d.Eligible != nil && !d.Eligible.OK {
			a.Why = append(a.Why, arrival.Reason{Text: "it may not preempt: " + d.Eligible.Reason})
		}
		a.Why = append(a.Why, reasons(group(d.Verdicts))...)
		a.Why = append(a.Why, noHelp(d)...)
	}
}

// picks tells of the allowed answer that the scheduler gives, or else of the likeliest; whether there is one.
func picks(a *arrival.Answer, r *properties.Result, key string) bool {
	d, o := r.Decision, r.Observation
	if d.Orders() > maxOrders {
		if o.Pick == nil {
			return false
		}
		a.Nodes, a.Victims, a.By = map[string]string{key: o.Pick.Node}, o.Pick.Victims, explain.DecidedBy(d, o)
		if listed, _ := d.Listed(o.Pick.Node); listed != nil {
			a.Violates = listed.Violates
		}
		return true
	}
	choices := d.Choices()
	if len(choices) == 0 {
		return false
	}
	var odds *Odds
	if len(choices) > 1 && d.NumCandidates < len(d.Candidates()) {
		odds = oddsOf(d)
	}
	at := slices.IndexFunc(choices, func(c answers.Choice) bool { return d.Gives(c, o) })
	if at < 0 {
		at = 0
		for i, c := range choices {
			if odds.compare(c.Node, choices[at].Node) < 0 {
				at = i
			}
		}
	}
	c := choices[at]
	a.Nodes, a.Victims, a.Violates, a.By, a.Ways = map[string]string{key: c.Node}, c.Outcome.Victims, c.Outcome.Violates, c.DecidedBy, len(choices)
	a.Cleared = d.Preempts(c).Cleared
	a.Percent = odds.percent(c.Node)
	return true
}

// percent is how likely a node is picked, and 0 if that is not known.
func (o *Odds) percent(node string) float64 {
	if o == nil || o.byNode[node] == nil {
		return 0
	}
	return likelihood(nil, 0, o.byNode[node].Probability).Percent
}

// noHelp is why preemption does not help, where it could.
func noHelp(d *answers.Set) []arrival.Reason {
	failed := map[string]*model.Verdict{}
	for _, node := range d.PotentialNodes {
		if _, why := d.Listed(node); why != nil {
			failed[node] = why
		}
	}
	all := group(failed)
	for i := range all {
		all[i].Plugin = ""
	}
	return reasons(all)
}

func reasons(all []Failure) (why []arrival.Reason) {
	for _, f := range all {
		text := strings.Join(f.Reasons, "; ")
		why = append(why, arrival.Reason{Plugin: f.Plugin, Text: text, Nodes: len(f.Nodes)})
	}
	return why
}

// ofGroup takes what is open as the scheduler chose it.
func ofGroup(a *arrival.Answer, r *properties.Result) {
	e := Group(r)
	a.Nodes, a.Violates = map[string]string{}, map[string]string{}
	switch {
	case e.Waits:
		a.Why = append(a.Why, arrival.Reason{Text: "the group waits: fewer of its pods exist than have to run"})
		return
	case e.Fails != "":
		a.Error = e.Fails
		return
	case e.Fits:
		for _, p := range e.First.Placed {
			a.Nodes[p.Pod] = p.Node
		}
	case e.Helps:
		for _, p := range e.Nominated {
			a.Nodes[p.Pod] = p.Node
		}
		a.Victims, a.Cleared = slices.Concat(e.Deleted, e.Terminating), e.Cleared
		for _, u := range e.Evicted {
			for i, budget := range u.Violates {
				a.Violates[u.Pods[min(i, len(u.Pods)-1)]] = budget
			}
		}
	}
	if len(a.Nodes) == len(e.Pods) {
		return
	}
	if e.Eligible != nil && !e.Eligible.OK {
		a.Why = append(a.Why, arrival.Reason{Text: "it may not preempt: " + e.Eligible.Reason})
	}
	for _, p := range []*Placement{e.First, e.Second} {
		if p == nil {
			continue
		}
		for _, f := range p.Failed {
			why := reasons(f.Failures)
			if p == e.Second {
				for i := range why {
					why[i].Plugin = ""
				}
			}
			a.Why = append(a.Why, why...)
		}
		if p == e.First && e.Second == nil {
			break
		}
	}
}
