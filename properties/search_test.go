package properties_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
)

// searched is checktest.Cluster with 110 nodes that have room and that an extender rejects, in
// two zones: ten of them are not looked at.
func searched() *model.Cluster {
	c := checktest.Cluster()
	filter := &model.ExtenderFilter{}
	for i := range 110 {
		n := mk.Node(fmt.Sprintf("room-%03d", i), "2")
		n.Labels = map[string]string{v1.LabelTopologyZone: string(rune('a' + i/70))}
		c.Nodes, filter.Rejects = append(c.Nodes, n), append(filter.Rejects, n.Name)
	}
	c.Settings.Extenders = []model.Extender{{Name: "e", Filter: filter}}
	return c
}

// Which nodes the scheduler looks at is left to it, but not how many, and not in which order.
func TestSearchLies(t *testing.T) {
	system := checktest.System(t)
	truth, err := (&properties.Checker{System: system}).Check(t.Context(), searched())
	require.NoError(t, err)
	require.Empty(t, truth.Findings)
	require.Nil(t, truth.Unmodelled)
	require.NotNil(t, truth.Decision.Search)
	require.Len(t, truth.Observation.Absent, 10)
	absent := truth.Observation.Absent
	rejected := model.Verdict{Plugin: model.ExtenderName}
	leftOut := model.Verdict{Plugin: model.ExtenderName, Unresolvable: true}
	seen := func(o *model.Observation, names ...string) {
		o.Absent = slices.DeleteFunc(slices.Clone(o.Absent), func(name string) bool { return slices.Contains(names, name) })
		for _, name := range names {
			o.Filters[name] = rejected
		}
	}
	unseen := func(o *model.Observation, name string) {
		o.Absent, o.Filters[name] = append(slices.Clone(o.Absent), name), leftOut
	}
	for _, lie := range []struct {
		name, kind string
		tell       func(o *model.Observation)
	}{
		{"one more is looked at", "looks further when enough nodes are found", func(o *model.Observation) { seen(o, absent[0]) }},
		{"all are looked at", "looks further when enough nodes are found", func(o *model.Observation) { seen(o, absent...) }},
		{"one fewer is looked at", "looks no further before enough nodes are found", func(o *model.Observation) { unseen(o, "room-000") }},
		{"another is looked at", "leaves out nodes while it goes round", func(o *model.Observation) { seen(o, absent[5]); unseen(o, "room-003") }},
		{"one that was not looked at could be helped", "resolvable but should be unresolvable: Extender", func(o *model.Observation) { o.Filters[absent[0]] = rejected }},
		{"one that was not looked at is potential", "tries: too many", func(o *model.Observation) { o.PotentialNodes = append(slices.Clone(o.PotentialNodes), absent[0]) }},
	} {
		checker := &properties.Checker{System: checktest.Liar{System: system, Tell: func(_ *model.Cluster, o *model.Observation) { lie.tell(o) }}}
		r, err := checker.Check(t.Context(), searched())
		require.NoError(t, err)
		if assert.NotEmpty(t, r.Findings, lie.name) {
			assert.Equal(t, lie.kind, r.Findings[0].Kind, lie.name)
			assert.Empty(t, r.Findings[0].Known, lie.name)
		}
	}
}

// Where a round over the nodes begins is not promised.
func TestSearchMayBeginAnywhere(t *testing.T) {
	tell := func(c *model.Cluster, o *model.Observation) {
		for i, n := range c.Nodes[2:] { // those of room, of which the first ten are left out
			o.Filters[n.Name] = model.Verdict{Plugin: model.ExtenderName}
			if i < 10 {
				o.Filters[n.Name] = model.Verdict{Plugin: model.ExtenderName, Unresolvable: true}
			}
		}
		o.Absent = nil
		for _, n := range c.Nodes[2:12] {
			o.Absent = append(o.Absent, n.Name)
		}
		o.PotentialNodes = slices.DeleteFunc(slices.Clone(o.PotentialNodes), func(name string) bool { return slices.Contains(o.Absent, name) })
		for _, n := range c.Nodes[len(c.Nodes)-10:] {
			o.PotentialNodes = append(o.PotentialNodes, n.Name)
		}
		for _, name := range o.Absent {
			delete(o.DryRuns, name)
		}
		for _, n := range c.Nodes[2:] {
			if !slices.Contains(o.Absent, n.Name) {
				o.DryRuns[n.Name] = model.DryRun{Failed: &model.Verdict{Unresolvable: true}}
			}
		}
	}
	oneZone := searched()
	for _, n := range oneZone.Nodes {
		n.Labels = nil
	}
	checker := &properties.Checker{System: checktest.Liar{System: checktest.System(t), Tell: tell}}
	r, err := checker.Check(t.Context(), oneZone)
	require.NoError(t, err)
	require.Empty(t, r.Findings)
}

// By a known finding nodes may fit that do not by the documents, so that the scheduler does not
// look at all of them.
func TestSearchByQuirk(t *testing.T) {
	c := searched()
	c.Preemptor = mk.Pod("p", 100, mk.CPU("12Pi"))
	for _, accepts := range []bool{false, true} {
		if accepts {
			c.Settings.Extenders[0].Filter.Rejects = nil
		}
		r, err := checktest.Checker(t).Check(t.Context(), c)
		require.NoError(t, err)
		require.Nil(t, r.Unmodelled)
		require.Nil(t, r.Decision.Search, "by the documents no node fits")
		require.NotEmpty(t, r.Findings)
		require.Empty(t, r.Unexplained())
		for _, f := range r.Findings {
			require.Contains(t, f.Known, "quantities-wrap-around")
		}
	}
}

// Where the model does not know which nodes pass all filters, the search may end early, too, and another order may lead elsewhere.
func TestSearchOfUnmodelled(t *testing.T) {
	c := searched()
	rejects := &c.Settings.Extenders[0].Filter.Rejects
	*rejects = slices.DeleteFunc(*rejects, func(name string) bool { return name == "room-069" }) // the last one of the larger zone
	c.Settings.Configuration = []byte(`{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [{"pluginConfig": [{"name": "PodTopologySpread",
		"args": {"defaultingType": "List", "defaultConstraints": [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}]}}]}]}`)
	for _, looksAt := range []string{"100 of 112 nodes", ""} {
		if looksAt == "" {
			c.Nodes = c.Nodes[:100]
		}
		r, err := checktest.Checker(t, invariant.OrderDoesNotMatter).Check(t.Context(), c)
		require.NoError(t, err)
		require.Empty(t, r.Findings)
		require.Nil(t, r.Decision)
		require.Equal(t, looksAt != "", r.Unmodelled.LeftToChance())
		if looksAt != "" {
			require.Contains(t, r.Unmodelled.Error(), "scheduler: extenders: they are asked about "+looksAt)
		}
	}
}
