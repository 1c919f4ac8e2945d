package model

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// An extender that changes a candidate leaves what was found before as it was.
func TestChangedCandidate(t *testing.T) {
	found := &Outcome{Pods: []*filter.Pod{{Key: "default/a"}, {Key: "default/b"}}}
	p := &ExtenderPreempt{Changes: []VictimChange{{Node: "n", Reverses: true}}}
	require.Equal(t, []string{"default/b", "default/a"}, p.changed("n", found).Victims)
	require.Equal(t, []string{"default/a", "default/b"}, keys(found.Pods))
	require.Same(t, found, p.changed("m", found))
}

// A node of which an extender says nothing is rejected by the extender, whatever it is that says how.
func TestNodeThatAnExtenderLeavesOut(t *testing.T) {
	c := &Cluster{Nodes: []*v1.Node{{}}, Preemptor: &v1.Pod{}, Settings: Settings{Extenders: []Extender{{Name: "e", Filter: &ExtenderFilter{Omits: []string{"n"}}}}}}
	c.Nodes[0].Name = "n"
	cy, verdicts := Documented().NewCycle(c), map[string]*Verdict{}
	require.Empty(t, cy.FilterByExtenders(verdicts))
	require.Equal(t, ExtenderName, verdicts["n"].Plugin)
	require.Equal(t, []string{"extender e"}, verdicts["n"].Reasons)
	require.True(t, cy.Absent["n"])
}

// An extender without a filter, and one that cannot be asked any more, are passed over, and not the others behind them.
func TestExtendersBehindOthers(t *testing.T) {
	rejects := func(node string) *ExtenderFilter { return &ExtenderFilter{Rejects: []string{node}} }
	c := &Cluster{Nodes: []*v1.Node{{}, {}}, Preemptor: &v1.Pod{}, Settings: Settings{Extenders: []Extender{
		{Name: "binds"}, {Name: "gone", Filter: &ExtenderFilter{Fails: true}, Ignorable: true}, {Name: "one", Filter: rejects("n")}, {Name: "other", Filter: rejects("m")}}}}
	c.Nodes[0].Name, c.Nodes[1].Name = "n", "m"
	verdicts := map[string]*Verdict{}
	require.Empty(t, Documented().NewCycle(c).FilterByExtenders(verdicts))
	require.Equal(t, []string{"extender one"}, verdicts["n"].Reasons)
	require.Equal(t, []string{"extender other"}, verdicts["m"].Reasons)
}

// A configuration counts from the first time on that it is read.
func TestConfigurationCountsAtOnce(t *testing.T) {
	s := Settings{Configuration: []byte(`{"profiles": [{"schedulerName": "of-this-test"}]}`)}
	for range 2 {
		require.Equal(t, "of-this-test", s.configured().Profiles[0].SchedulerName)
	}
}
