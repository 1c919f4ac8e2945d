// Package arrivals tells what comes of pods that are not in a cluster yet: who goes, which budgets
// are violated, what the preempted do next, and what stays pending. As data, and in words.
package arrivals

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/arrival"
)

// Story is what comes of an arrival. The sums are in Coming, Going, Budgets and Pending; Arrivals and
// Next go through the cycles in order.
type Story struct {
	// Files are where the manifests are from, and Cluster where the cluster is. Tell leaves them to the caller.
	Files   []string `json:"files,omitempty"`
	Cluster string   `json:"cluster,omitempty"`

	Coming []Coming `json:"coming"`
	// Going are the workloads that lose pods, those that lose most first.
	Going   []Going  `json:"going,omitempty"`
	Budgets []Budget `json:"violatedBudgets,omitempty"`
	// Arrivals are the last answers to each pod that comes, and Next those to the pods that replace others.
	Arrivals []Cycle `json:"arrivals"`
	Next     []Cycle `json:"next,omitempty"`
	// Pending is what stays so, by reason.
	Pending []Pending `json:"pending,omitempty"`
	// NotTried is how many pods are beyond the bounds, and Bounds are these.
	NotTried int    `json:"notTried,omitempty"`
	Bounds   string `json:"bounds,omitempty"`
	// Waiting is how many pods were pending in the cluster before, which are not tried.
	Waiting int `json:"pendingBefore,omitempty"`
	// Open is in how many cycles more than one answer is allowed.
	Open      int       `json:"open"`
	Reference Reference `json:"reference"`
}

// Coming is a workload that comes.
type Coming struct {
	Workload string `json:"workload"`
	Priority int32  `json:"priority"`
	Pods     int    `json:"pods"`
	Runs     int    `json:"runs"`
	// Preempted is how many of its pods ran and were preempted by others, whether they run again or not.
	Preempted int `json:"preempted,omitempty"`
	// NotMade is how many wait for the one before them to run.
	NotMade int `json:"notMade,omitempty"`
}

// Going is a workload that loses pods.
type Going struct {
	Workload string `json:"workload"`
	// Priority is the highest of the pods that go.
	Priority int32 `json:"priority"`
	// Pods go of Of that were bound before.
	Pods int `json:"pods"`
	Of   int `json:"of"`
	// Violates counts, by budget, the pods whose eviction violates it.
	Violates map[string]int `json:"violates,omitempty"`
	// Then is what comes of its pods: how many run again, stay pending, are not tried, are gone for good, were
	// terminating before.
	Runs        int      `json:"runAgain"`
	Pending     int      `json:"stayPending"`
	NotTried    int      `json:"notTried"`
	Gone        int      `json:"goneForGood"`
	Terminating int      `json:"terminatingBefore,omitempty"`
	Victims     []string `json:"victims"`
}

// Budget is one that is violated.
type Budget struct {
	Budget string `json:"budget"`
	Pods   int    `json:"pods"`
}

// Cycle is the last one of a pod, or of a group.
type Cycle struct {
	// Pod is a pod, or a pod group as "PodGroup default/train".
	Pod      string `json:"pod"`
	Workload string `json:"workload"`
	Level    int    `json:"level,omitempty"`
	Replaces string `json:"replaces,omitempty"`
	// Node is where it goes; Nodes is that of the pods of a group. Neither if it stays pending.
	Node     string            `json:"node,omitempty"`
	Nodes    map[string]string `json:"nodes,omitempty"`
	Preempts []string          `json:"preempts,omitempty"`
	Violates []string          `json:"violates,omitempty"`
	// Ways is how many answers are allowed, and Percent how likely this node is, where that is known.
	Ways    int     `json:"allowed,omitempty"`
	Percent float64 `json:"percent,omitempty"`
	Why     string  `json:"why"`
	// LaterPreempted: it ran, and was preempted by one of those after it.
	LaterPreempted bool `json:"laterPreempted,omitempty"`
	Again          bool `json:"again,omitempty"`
}

// Pending are pods that stay so for the same reasons.
type Pending struct {
	Why string `json:"why"`
	// Comes tells whether they come, or replace others.
	Comes     bool     `json:"comes"`
	Workloads []string `json:"workloads"`
	Pods      []string `json:"pods"`
}

// Reference is whether the real scheduler decided likewise.
type Reference struct {
	System string `json:"system"`
	Cycles int    `json:"cycles"`
	// Asked is in how many it was asked, and Agrees in how many it does as the model allows, remarks included.
	Asked     int      `json:"asked"`
	Agrees    int      `json:"agrees"`
	Disagrees []string `json:"disagrees,omitempty"`
	// Unknown are the pods of which the model cannot tell.
	Unknown []string `json:"unknown,omitempty"`
	// New: it disagrees by something that is no known finding.
	New bool `json:"new,omitempty"`
}

// Tell tells how it went. before is the cluster as it was.
func Tell(before *model.Cluster, coming *arrival.Coming, c *arrival.Course, bounds arrival.Bounds, system string) *Story {
	t := &teller{Story: &Story{Waiting: c.Waiting, Reference: Reference{System: system, Cycles: len(c.Steps)}}, course: c}
	t.index(before)
	for _, w := range coming.Workloads {
		t.comes(w.Ref, w.Pods)
	}
	t.goes()
	t.cycles()
	t.stays()
	if t.NotTried = len(c.NotTried); t.NotTried > 0 {
		t.Bounds = fmt.Sprintf("level %d (--cascade)", bounds.Levels)
		if len(c.Steps) == bounds.Cycles {
			t.Bounds = words.Plural(bounds.Cycles, "cycle")
		}
	}
	return t.Story
}

type teller struct {
	*Story
	course   *arrival.Course
	bound    map[string]*v1.Pod   // in the end
	were     map[workload.Ref]int // bound before
	notTried map[*arrival.Pod]bool
	victims  map[string]bool
}

func (t *teller) index(before *model.Cluster) {
	t.bound, t.were, t.notTried, t.victims = map[string]*v1.Pod{}, map[workload.Ref]int{}, map[*arrival.Pod]bool{}, map[string]bool{}
	for _, p := range before.Pods {
		if p.Spec.NodeName != "" {
			t.were[workload.Of(p)]++
		}
	}
	for _, p := range t.course.After.Pods {
		if p.Spec.NodeName != "" {
			t.bound[model.Key(p)] = p
		}
	}
	for _, p := range t.course.NotTried {
		t.notTried[p] = true
	}
	for _, v := range t.course.Victims {
		t.victims[model.Key(v.Pod)] = true
	}
}

func (t *teller) comes(ref workload.Ref, pods []*v1.Pod) {
	c := Coming{Workload: ref.String(), Pods: len(pods)}
	for i, p := range pods {
		if priority := model.Priority(p); i == 0 || priority > c.Priority {
			c.Priority = priority
		}
		if t.bound[model.Key(p)] != nil {
			c.Runs++
		}
		if t.victims[model.Key(p)] {
			c.Preempted++
		}
	}
	for _, p := range t.course.NotMade {
		if p.Workload == ref {
			c.NotMade++
		}
	}
	t.Coming = append(t.Coming, c)
}

// goes sums up the victims by workload.
func (t *teller) goes() {
	at := map[workload.Ref]*Going{}
	var refs []workload.Ref
	budgets := map[string]int{}
	again := map[*arrival.Pod]bool{} // replacements that were preempted themselves are followed from there
	for _, v := range t.course.Victims {
		if v.Replaced != nil {
			again[v.Replaced] = t.lostAgain(v.Replaced)
		}
	}
	for _, v := range t.course.Victims {
		g := at[v.Workload]
		if g == nil {
			g = &Going{Workload: v.Workload.String(), Of: t.were[v.Workload], Priority: model.Priority(v.Pod)}
			at[v.Workload] = g
			refs = append(refs, v.Workload)
		}
		g.Pods++
		g.Priority = max(g.Priority, model.Priority(v.Pod))
		g.Victims = append(g.Victims, model.Key(v.Pod))
		if v.Violates != "" {
			budgets[v.Violates]++
			if g.Violates == nil {
				g.Violates = map[string]int{}
			}
			g.Violates[v.Violates]++
		}
		switch {
		case v.Terminating:
			g.Terminating++
		case v.Replaced == nil:
			g.Gone++
		case again[v.Replaced]:
		case t.notTried[v.Replaced]:
			g.NotTried++
		case v.Replaced.Spec.NodeName != "":
			g.Runs++
		default:
			g.Pending++
		}
	}
	for _, ref := range refs {
		t.Going = append(t.Going, *at[ref])
	}
	slices.SortStableFunc(t.Going, func(a, b Going) int { return cmp.Or(b.Pods-a.Pods, int(int64(b.Priority)-int64(a.Priority))) })
	for _, b := range slices.Sorted(maps.Keys(budgets)) {
		t.Budgets = append(t.Budgets, Budget{b, budgets[b]})
	}
}

// lostAgain tells whether a replacement ran, and was preempted in turn.
func (t *teller) lostAgain(p *arrival.Pod) bool {
	return slices.ContainsFunc(t.course.Victims, func(v *arrival.Victim) bool { return v.Pod == p.Pod })
}

// cycles tells the last one of each pod.
func (t *teller) cycles() {
	last := map[*arrival.Pod]*arrival.Step{}
	for _, s := range t.course.Steps {
		for _, p := range s.Pods {
			last[p] = s
		}
		if s.Ways > 1 {
			t.Open++
		}
		t.refers(s)
	}
	told := map[*arrival.Step]bool{}
	for i, p := range slices.Concat(t.course.Arrived, t.course.Replacing) {
		s := last[p]
		if s == nil || told[s] {
			continue
		}
		told[s] = true
		cycle := t.cycle(s, p)
		if i < len(t.course.Arrived) {
			t.Arrivals = append(t.Arrivals, cycle)
		} else {
			t.Next = append(t.Next, cycle)
		}
	}
}

func (t *teller) refers(s *arrival.Step) {
	r := &t.Reference
	if s.Asked {
		r.Asked++
	}
	if s.Disagrees != "" {
		r.Disagrees = append(r.Disagrees, s.Title()+": "+s.Disagrees)
	} else if s.Asked && s.Unknown == "" {
		r.Agrees++
	}
	if s.Unknown != "" {
		r.Unknown = append(r.Unknown, s.Title()+": "+s.Unknown)
	}
	r.New = r.New || s.New
}

func (t *teller) cycle(s *arrival.Step, p *arrival.Pod) Cycle {
	c := Cycle{Pod: s.Title(), Workload: p.Workload.String(), Level: p.Level, Replaces: p.Replaces,
		Preempts: s.Victims, Ways: s.Ways, Percent: s.Percent, Why: why(s), LaterPreempted: t.lostAgain(p), Again: s.Again}
	if s.Group != "" {
		c.Nodes = s.Nodes
	} else {
		c.Node = s.Nodes[model.Key(p.Pod)]
	}
	for _, budget := range s.Violates {
		c.Violates = append(c.Violates, budget)
	}
	slices.Sort(c.Violates)
	c.Violates = slices.Compact(c.Violates)
	return c
}

// why says in words why a pod goes where it does, or stays pending.
func why(s *arrival.Step) string {
	switch {
	case s.Error != "":
		return "its cycle ends in an error: " + s.Error
	case len(s.Why) > 0:
		return whyPending(s.Why)
	case s.Unknown != "" && len(s.Nodes) == 0:
		return "what becomes of it is not known, see below"
	case s.Unknown != "":
		return "as the scheduler does; it is not modelled, see below"
	case s.Group != "" && len(s.Victims) == 0:
		return "fits as a whole"
	case s.Group != "":
		return "preempts as a whole"
	case len(s.Victims) == 0 && s.Ways == 1:
		return "fits on no other node"
	case len(s.Victims) == 0:
		return fmt.Sprintf("fits on %s", words.Plural(s.Ways, "node"))
	case s.Ways > 1 && s.Percent > 0:
		return fmt.Sprintf("%s; one of %d allowed answers, %.1f %% likely", s.By, s.Ways, s.Percent)
	case s.Ways > 1:
		return fmt.Sprintf("%s; one of %d allowed answers", s.By, s.Ways)
	}
	return cmp.Or(s.By, "preempts")
}

func whyPending(all []arrival.Reason) string {
	var lines []string
	for _, r := range all {
		text := cmp.Or(r.Text, r.Plugin)
		switch {
		case r.Nodes == 0:
		case r.Plugin == "" && r.Text == model.NoVictims:
			text = "no pod of lower priority on " + words.Plural(r.Nodes, "node")
		case r.Plugin == "":
			text = fmt.Sprintf("on %s preemption does not help: %s", words.Plural(r.Nodes, "node"), text)
		default:
			text = fmt.Sprintf("%s on %s", text, words.Plural(r.Nodes, "node"))
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "; ")
}

// stays groups what stays pending.
func (t *teller) stays() {
	add := func(p *arrival.Pod, why string) {
		w, comes := p.Workload.String(), p.Level == 0
		i := slices.IndexFunc(t.Pending, func(q Pending) bool { return q.Why == why && q.Comes == comes })
		if i < 0 {
			i = len(t.Pending)
			t.Pending = append(t.Pending, Pending{Why: why, Comes: comes})
		}
		its := &t.Pending[i]
		its.Pods = append(its.Pods, model.Key(p.Pod))
		if !slices.Contains(its.Workloads, w) {
			its.Workloads = append(its.Workloads, w)
		}
	}
	for _, s := range t.course.Pending {
		for _, p := range s.Unplaced() {
			add(p, why(s))
		}
	}
	for _, p := range t.course.NotMade {
		add(p, "is made once the pod before it runs")
	}
}
