package relation

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// violating lies about the number of violations on candidates: it counts more.
func violating(more func(c *model.Cluster, node string) int) func(*model.Cluster, *model.Observation) {
	return func(c *model.Cluster, o *model.Observation) {
		for _, node := range candidates(o) {
			run := o.DryRuns[node]
			run.Violations += more(c, node)
			o.DryRuns[node] = run
			if o.Pick != nil && o.Pick.Node == node {
				o.Pick.Violations = run.Violations
			}
		}
	}
}

func milliCPU(c *model.Cluster, node string) int {
	i := slices.IndexFunc(c.Nodes, func(n *v1.Node) bool { return n.Name == node })
	return int(c.Nodes[i].Status.Allocatable.Cpu().MilliValue())
}

func allowed(c *model.Cluster) int {
	sum := 0
	for _, b := range c.PodDisruptionBudgets {
		sum += int(b.Status.DisruptionsAllowed)
	}
	return sum
}

func podsOf(c *model.Cluster, is func(p *v1.Pod) bool) int {
	return len(slices.DeleteFunc(slices.Clone(c.Pods), func(p *v1.Pod) bool { return !is(p) }))
}

func odd(c *model.Cluster) bool { return model.Priority(c.Preemptor)%2 != 0 }

// mostVictimsIf picks, of some clusters, the candidate with the most victims.
func mostVictimsIf(is func(c *model.Cluster) bool) func(*model.Cluster, *model.Observation) {
	return func(c *model.Cluster, o *model.Observation) {
		if !is(c) {
			return
		}
		for _, node := range candidates(o) {
			if run := o.DryRuns[node]; o.Pick == nil || len(run.Victims) > len(o.Pick.Victims) {
				o.Pick = &model.Pick{Node: node, Victims: run.Victims, Violations: run.Violations}
			}
		}
	}
}

// relationLies break each relation in a way that only this relation is about.
var relationLies = map[string]map[string]func(*model.Cluster, *model.Observation){
	"renaming": {
		"a node's name counts": violating(func(_ *model.Cluster, node string) int { return strings.Count(node, "0") }),
		"a pod's name counts":  violating(func(c *model.Cluster, _ string) int { return strings.Count(c.Preemptor.Name, "p") }),
		"the first name wins": func(c *model.Cluster, o *model.Observation) {
			if names := candidates(o); len(names) > 0 {
				o.Pick = &model.Pick{Node: names[0], Victims: o.DryRuns[names[0]].Victims, Violations: o.DryRuns[names[0]].Violations}
			}
		},
	},
	"permuting-lists": {
		"the first node is worse": violating(func(c *model.Cluster, node string) int {
			if node == c.Nodes[0].Name {
				return 1
			}
			return 0
		}),
		"the first pod counts":       violating(func(c *model.Cluster, _ string) int { return int(model.Priority(c.Pods[0])) }),
		"the first container counts": violating(func(c *model.Cluster, _ string) int { return len(c.Preemptor.Spec.Containers[0].Name) }),
	},
	"permuting-budgets": {
		"the first budget counts": violating(func(c *model.Cluster, _ string) int {
			if len(c.PodDisruptionBudgets) == 0 {
				return 0
			}
			return int(c.PodDisruptionBudgets[0].Status.DisruptionsAllowed)
		}),
	},
	"shifting-priorities": {
		"the priority itself counts":             violating(func(c *model.Cluster, _ string) int { return int(model.Priority(c.Preemptor) % 7) }),
		"pods of odd priority pick most victims": mostVictimsIf(odd),
		"nobody of a positive priority preempts": func(c *model.Cluster, o *model.Observation) {
			if o.Eligible != nil && model.Priority(c.Preemptor) > 0 {
				o.Eligible.OK = false
			}
		},
	},
	"ranking-priorities": {
		"pods of odd priority pick most victims": mostVictimsIf(odd),
		"the priority itself counts":             violating(func(c *model.Cluster, _ string) int { return int(model.Priority(c.Preemptor) % 7) }),
	},
	"scaling-resources": {
		"big nodes are worse": violating(milliCPU),
		"big nodes have room": func(c *model.Cluster, o *model.Observation) {
			for _, n := range c.Nodes {
				if n.Status.Allocatable.Cpu().Value() > 4 {
					delete(o.Filters, n.Name)
				}
			}
		},
	},
	"adding-a-useless-node": {
		"nodes are counted": violating(func(c *model.Cluster, _ string) int { return len(c.Nodes) }),
		"empty nodes have room": func(c *model.Cluster, o *model.Observation) {
			for _, n := range c.Nodes {
				if podsOf(c, func(p *v1.Pod) bool { return p.Spec.NodeName == n.Name }) == 0 {
					o.ScheduledTo = n.Name
				}
			}
		},
		"empty nodes are picked": func(c *model.Cluster, o *model.Observation) {
			for _, n := range c.Nodes {
				if o.Pick != nil && podsOf(c, func(p *v1.Pod) bool { return p.Spec.NodeName == n.Name }) == 0 {
					o.Pick.Node = n.Name
				}
			}
		},
	},
	"adding-an-idle-budget": {
		"budgets are counted": violating(func(c *model.Cluster, _ string) int { return len(c.PodDisruptionBudgets) }),
	},
	"adding-an-important-pod": {
		"pods are counted": violating(func(c *model.Cluster, _ string) int { return len(c.Pods) }),
		"important pods are counted": violating(func(c *model.Cluster, _ string) int {
			return podsOf(c, func(p *v1.Pod) bool { return model.Priority(p) >= model.Priority(c.Preemptor) })
		}),
	},
	"removing-a-useless-node": {
		"nodes are counted": violating(func(c *model.Cluster, _ string) int { return len(c.Nodes) }),
	},
	"duplicating-a-node": {
		"pods of other nodes count": violating(func(c *model.Cluster, node string) int {
			return podsOf(c, func(p *v1.Pod) bool { return p.Spec.NodeName != node })
		}),
		"of two like nodes the second is worse": violating(func(_ *model.Cluster, node string) int { return strings.Count(node, "copy") }),
		"the last node fails": func(c *model.Cluster, o *model.Observation) {
			last := c.Nodes[max(len(c.Nodes)-1, 0):]
			if len(last) > 0 && o.DryRuns != nil {
				o.DryRuns[last[0].Name] = model.DryRun{Failed: &model.Verdict{Plugin: "Last"}}
			}
		},
	},
	"raising-a-budget": {
		"bigger budgets are violated more": violating(func(c *model.Cluster, _ string) int { return allowed(c) }),
		"violations grow with the budget": func(c *model.Cluster, o *model.Observation) {
			violating(func(_ *model.Cluster, node string) int { return min(o.DryRuns[node].Violations, 1) * allowed(c) })(c, o)
		},
		"every other budget rules candidates out": func(c *model.Cluster, o *model.Observation) {
			for _, node := range candidates(o) {
				if allowed(c)%2 == 1 {
					o.DryRuns[node] = model.DryRun{Failed: &model.Verdict{Plugin: "Odd"}}
				}
			}
		},
	},
	"adding-capacity": {
		"room elsewhere counts": violating(func(c *model.Cluster, _ string) int {
			sum := 0
			for _, n := range c.Nodes {
				sum += milliCPU(c, n.Name)
			}
			return sum
		}),
		"big nodes are no candidates": func(c *model.Cluster, o *model.Observation) {
			for _, node := range candidates(o) {
				if milliCPU(c, node) > 2000 {
					o.DryRuns[node] = model.DryRun{Failed: &model.Verdict{Plugin: "Big"}}
				}
			}
		},
		"on big nodes the most important has to go": func(c *model.Cluster, o *model.Observation) {
			s := &properties.Subject{Release: release.Linked, Cluster: c}
			for _, node := range candidates(o) {
				if milliCPU(c, node) > 2000 && !uniform(s, node) {
					run := o.DryRuns[node]
					run.Victims = []string{model.Key(s.Preemptable(node)[0])}
					o.DryRuns[node] = run
				}
			}
		},
		"on big nodes all have to go": func(c *model.Cluster, o *model.Observation) {
			s := &properties.Subject{Release: release.Linked, Cluster: c}
			for _, node := range candidates(o) {
				if milliCPU(c, node) > 2000 {
					run := o.DryRuns[node]
					run.Victims = nil
					for _, p := range s.Preemptable(node) {
						run.Victims = append(run.Victims, model.Key(p))
					}
					o.DryRuns[node] = run
				}
			}
		},
	},
	"splitting-a-budget": {
		"label by label, the most victims win": mostVictimsIf(func(c *model.Cluster) bool { return len(c.PodDisruptionBudgets)%2 == 0 }),
		"budgets are counted":                  violating(func(c *model.Cluster, _ string) int { return len(c.PodDisruptionBudgets) }),
	},
	"setting-start-times": {
		"pods without a start are counted": violating(func(c *model.Cluster, _ string) int {
			return podsOf(c, func(p *v1.Pod) bool { return p.Status.StartTime == nil })
		}),
	},
}

// caughtAt is the first generated cluster on which a relation catches a lie that
// the truth would not have made a finding, and what it finds.
func caughtAt(t *testing.T, truth reference.System, r properties.Property, lie func(*model.Cluster, *model.Observation)) (seed uint64, f *properties.Finding) {
	for seed := range uint64(1000) {
		c := generators.FromSeed(seed)
		findings, err := r.Check(checktest.Subject(t, checktest.Liar{System: truth, Tell: lie}, c))
		require.NoError(t, err)
		if len(findings) == 0 {
			continue
		}
		honest, err := r.Check(checktest.Subject(t, truth, c))
		require.NoError(t, err)
		if len(honest) == 0 {
			return seed, &findings[0]
		}
	}
	return 0, nil
}

// A scheduler that breaks a relation is caught by it.
func TestRelationsCatchLies(t *testing.T) {
	truth := checktest.System(t)
	for _, r := range All() {
		assert.NotEmpty(t, relationLies[r.Name], "nothing breaks %s", r.Name)
		assert.ElementsMatch(t, r.Lies, slices.Collect(maps.Keys(relationLies[r.Name])), r.Name)
		for name, lie := range relationLies[r.Name] {
			seed, f := caughtAt(t, truth, r, lie)
			if assert.NotNil(t, f, "%s does not catch: %s", r.Name, name) {
				t.Logf("%s: %s: caught at cluster %d: %v", r.Name, name, seed+1, f)
			}
		}
	}
	assert.Len(t, relationLies, len(All()))
}

// A lie is found at the stage at which it is told: all stages are compared.
func TestRelationsCompareAllStages(t *testing.T) {
	truth := checktest.System(t)
	const name = "node-0" // after which the lies go, and renaming gives it to another node
	zero := func(key string) bool { return strings.HasSuffix(key, "-0") }
	for _, test := range []struct {
		lie   string
		stage model.Stage
		tell  func(c *model.Cluster, o *model.Observation)
	}{
		{"another plugin", model.StageFilter, func(_ *model.Cluster, o *model.Observation) {
			if v, ok := o.Filters[name]; ok {
				v.Plugin += "!"
				o.Filters[name] = v
			}
		}},
		{"another resolvability", model.StageFilter, func(_ *model.Cluster, o *model.Observation) {
			if v, ok := o.Filters[name]; ok {
				v.Unresolvable = !v.Unresolvable
				o.Filters[name] = v
			}
		}},
		{"an error", model.StageFilter, func(c *model.Cluster, o *model.Observation) {
			if zero(c.Preemptor.Name) {
				o.CycleError = "error"
			}
		}},
		{"another error", model.StageFilter, func(c *model.Cluster, o *model.Observation) {
			if o.CycleError = "an error"; zero(c.Preemptor.Name) {
				o.CycleError = "panic: an error"
			}
		}},
		{"another error of a dry run", model.StageDryRun, func(c *model.Cluster, o *model.Observation) {
			for node := range o.DryRuns {
				if o.DryRuns[node] = (model.DryRun{Error: "an error"}); node == name {
					o.DryRuns[node] = model.DryRun{Error: "panic: an error"}
				}
			}
		}},
		{"another answer of PostFilter", model.StagePick, func(c *model.Cluster, o *model.Observation) {
			if o.Pick == nil && o.PostFilterCode != "" && zero(c.Preemptor.Name) {
				o.PostFilterCode += "!"
			}
		}},
		{"not scheduled", model.StageFilter, func(_ *model.Cluster, o *model.Observation) {
			if o.ScheduledTo == name {
				o.ScheduledTo = ""
			}
		}},
		{"not eligible", model.StageEligible, func(c *model.Cluster, o *model.Observation) {
			if o.Eligible != nil && zero(c.Preemptor.Name) {
				o.Eligible.OK = false
			}
		}},
		{"never asked", model.StageEligible, func(c *model.Cluster, o *model.Observation) {
			if zero(c.Preemptor.Name) {
				o.Eligible = nil
			}
		}},
		{"not a potential node", model.StagePotential, func(_ *model.Cluster, o *model.Observation) {
			o.PotentialNodes = slices.DeleteFunc(o.PotentialNodes, func(n string) bool { return n == name })
		}},
		{"no candidate", model.StageDryRun, func(_ *model.Cluster, o *model.Observation) {
			if _, tried := o.DryRuns[name]; tried {
				o.DryRuns[name] = model.DryRun{Failed: &model.Verdict{}}
			}
		}},
		{"an error in a dry run", model.StageDryRun, func(_ *model.Cluster, o *model.Observation) {
			if run, tried := o.DryRuns[name]; tried {
				run.Error = "error"
				o.DryRuns[name] = run
			}
		}},
		{"fewer victims", model.StageDryRun, func(_ *model.Cluster, o *model.Observation) {
			if run := o.DryRuns[name]; len(run.Victims) > 1 {
				run.Victims = run.Victims[1:]
				o.DryRuns[name] = run
			}
		}},
		{"another order", model.StageDryRun, func(_ *model.Cluster, o *model.Observation) {
			slices.Reverse(o.DryRuns[name].Victims)
		}},
		{"another pick", model.StagePick, func(_ *model.Cluster, o *model.Observation) {
			if names := candidates(o); len(names) > 0 {
				o.Pick = &model.Pick{Node: names[0], Victims: o.DryRuns[names[0]].Victims, Violations: o.DryRuns[names[0]].Violations}
				o.Actuation = nil // which is that of the true pick
			}
		}},
		{"no pick", model.StagePick, func(c *model.Cluster, o *model.Observation) {
			if zero(c.Preemptor.Name) {
				o.Pick = nil
			}
		}},
		{"not deleted", model.StageActuate, func(_ *model.Cluster, o *model.Observation) {
			if o.Actuation != nil {
				o.Actuation.Deleted = slices.DeleteFunc(o.Actuation.Deleted, zero)
			}
		}},
		{"not marked", model.StageActuate, func(_ *model.Cluster, o *model.Observation) {
			if o.Actuation != nil {
				o.Actuation.DisruptionTarget = slices.DeleteFunc(o.Actuation.DisruptionTarget, zero)
			}
		}},
		{"not cleared", model.StageActuate, func(_ *model.Cluster, o *model.Observation) {
			if o.Actuation != nil {
				o.Actuation.Cleared = slices.DeleteFunc(o.Actuation.Cleared, zero)
			}
		}},
		{"nomination kept", model.StageActuate, func(c *model.Cluster, o *model.Observation) {
			if o.Actuation != nil && zero(c.Preemptor.Name) {
				o.Actuation.Nomination = model.NominationKept
			}
		}},
		{"another write", model.StageActuate, func(c *model.Cluster, o *model.Observation) {
			if o.Actuation != nil && zero(c.Preemptor.Name) {
				o.Actuation.Other = []string{"patch"}
			}
		}},
	} {
		_, f := caughtAt(t, truth, All()[0], test.tell)
		if assert.NotNil(t, f, test.lie) {
			assert.Equal(t, test.stage, f.Stage, "%s: %v", test.lie, f)
		}
	}
}
