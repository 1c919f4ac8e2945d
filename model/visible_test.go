package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAdmitsVisible: what users see of an answer is compared, and how the scheduler
// came to it is not.
func TestAdmitsVisible(t *testing.T) {
	waiting := aPod("low", 1, nominated("a"))
	c := aCluster(aPod("p", 9, cpu("2"), nominated("b")), aNode("a", "2"), aNode("b", "2"), waiting,
		aPod("v1", 1, cpu("1"), on("a")), aPod("v2", 1, cpu("1"), on("a"), terminating), aPod("w1", 2, cpu("1"), on("b")), aPod("w2", 2, cpu("1"), on("b")))
	answer := func(change func(o *Observation)) *Observation {
		o := &Observation{
			Pick: &Pick{Node: "a", Victims: []string{"default/v1", "default/v2"}},
			Actuation: &Actuation{
				Deleted: []string{"default/v1"}, DisruptionTarget: []string{"default/v1"}, Cleared: []string{"default/low"},
				Nomination: NominationSet, NominatedNode: "a",
			},
		}
		change(o)
		return o
	}
	for _, test := range []struct {
		name   string
		change func(o *Observation)
		want   *Contrast
	}{
		{"as it should be", func(*Observation) {}, nil},
		{"another order", func(o *Observation) { o.Pick.Victims = []string{"default/v2", "default/v1"} }, nil},
		{"violations", func(o *Observation) { o.Pick.Violations = 2 }, nil},
		{"filters", func(o *Observation) { o.Filters = map[string]Verdict{"a": {Plugin: "None"}} }, nil},
		{"an error", func(o *Observation) { o.CycleError = "oops" }, &Contrast{Aspect: AspectOutcome, Want: VisiblePreempts, Got: VisibleError}},
		{"fits", func(o *Observation) { o.ScheduledTo, o.Pick = "a", nil }, &Contrast{Aspect: AspectOutcome, Want: VisiblePreempts, Got: VisibleFit}},
		{"nothing", func(o *Observation) { o.Pick = nil }, &Contrast{Aspect: AspectOutcome, Want: VisiblePreempts, Got: VisibleNothing}},
		{"node", func(o *Observation) { o.Pick = &Pick{Node: "b", Victims: []string{"default/w1", "default/w2"}} }, &Contrast{Aspect: AspectNode}},
		{"fewer victims", func(o *Observation) { o.Pick.Victims = o.Pick.Victims[:1] }, &Contrast{Aspect: AspectVictims, Want: VisibleMore, Got: VisibleFewer}},
		{"deletes", func(o *Observation) { o.Actuation.Deleted = o.Pick.Victims }, &Contrast{Aspect: AspectDeleted, Want: VisibleFewer, Got: VisibleMore}},
		{"marks", func(o *Observation) { o.Actuation.DisruptionTarget = nil }, &Contrast{Aspect: AspectMarked, Want: VisibleMore, Got: VisibleFewer}},
		{"withdraws", func(o *Observation) { o.Actuation.Cleared = nil }, &Contrast{Aspect: AspectWithdrawn, Want: VisibleMore, Got: VisibleFewer}},
		{"others", func(o *Observation) { o.Actuation.Cleared = []string{"default/x"} }, &Contrast{Aspect: AspectWithdrawn, Want: VisibleOther, Got: VisibleOther}},
		{"writes", func(o *Observation) { o.Actuation.Other = []string{"patch"} }, &Contrast{Aspect: AspectOther, Want: VisibleFewer, Got: VisibleMore}},
		{"claims", func(o *Observation) { o.Actuation.Deallocated = []string{"default/c"} }, &Contrast{Aspect: AspectClaims}},
		{"keeps", func(o *Observation) { o.Actuation.Nomination = NominationKept }, &Contrast{Aspect: AspectNomination, Want: "set", Got: "kept"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := Decide(c, Documented())
			require.NoError(t, err)
			o := answer(test.change)
			assert.Equal(t, test.want, d.AdmitsVisible(o))
			if test.want != nil {
				assert.False(t, SameVisibly(c, o, answer(func(*Observation) {})))
			}
		})
	}
}

// TestVisibleNomination: to clear the nomination that a pod does not have is to keep
// it.
func TestVisibleNomination(t *testing.T) {
	cleared := &Observation{Actuation: &Actuation{Nomination: NominationCleared}}
	kept := &Observation{Actuation: &Actuation{Nomination: NominationKept}}
	helpless := aCluster(aPod("p", 9, cpu("2")), aNode("n", "1"))
	nominee := aCluster(aPod("p", 9, cpu("2"), nominated("n")), aNode("n", "1"))
	for _, test := range []struct {
		cluster *Cluster
		want    *Contrast
	}{{helpless, nil}, {nominee, &Contrast{Aspect: AspectNomination, Want: "cleared", Got: "kept"}}} {
		d, err := Decide(test.cluster, Documented())
		require.NoError(t, err)
		assert.Nil(t, d.AdmitsVisible(cleared))
		assert.Equal(t, test.want, d.AdmitsVisible(kept))
		assert.Equal(t, test.want == nil, SameVisibly(test.cluster, cleared, kept))
	}
}

// TestVisibleFit: any of the nodes that the pod fits on will do, and no other.
func TestVisibleFit(t *testing.T) {
	d, err := Decide(aCluster(aPod("p", 9, cpu("1")), aNode("a", "1"), aNode("b", "1"), aNode("c", "0")), Documented())
	require.NoError(t, err)
	assert.Nil(t, d.AdmitsVisible(&Observation{ScheduledTo: "a"}))
	assert.Nil(t, d.AdmitsVisible(&Observation{ScheduledTo: "b"}))
	assert.Equal(t, &Contrast{Aspect: AspectNode}, d.AdmitsVisible(&Observation{ScheduledTo: "c"}))
}

// TestVisibleManyOrders: where there are too many orders of equally important pods,
// an answer that one of them leads to is admitted all the same, and of any other
// it is not known.
func TestVisibleManyOrders(t *testing.T) {
	c := aCluster(aPod("p", 9, cpu("1")), aNode("n", "9"))
	for i := range 9 {
		c.Pods = append(c.Pods, aPod(string(rune('a'+i)), 1, cpu("1"), on("n"), app(string(rune('a'+i)))))
		c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, aBudget(string(rune('a'+i)), 1, forApp(string(rune('a'+i)))))
	}
	d, err := Decide(c, Documented())
	require.NoError(t, err)
	exact, _ := d.Exact()
	require.False(t, exact)
	answer := func(victims ...string) *Observation { return &Observation{Pick: &Pick{Node: "n", Victims: victims}} }
	assert.Nil(t, d.AdmitsVisible(answer("default/a")))
	assert.Nil(t, d.AdmitsVisible(answer("default/f")))
	assert.Equal(t, &Contrast{Aspect: AspectVictims, Want: VisibleFewer, Got: VisibleMore, Undecided: true}, d.AdmitsVisible(answer("default/a", "default/i")))
}
