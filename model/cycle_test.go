package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

func namesOf(pods []*filter.Pod) (names []string) {
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return names
}

// A scheduler counts the pods that are bound, and the nominated ones of its own profiles, also where the node is gone; not those that just wait.
func TestKnown(t *testing.T) {
	s := model.NewSnapshot(mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1"), mk.Pod("waits", 1), mk.Pod("bound", 1, mk.On("n")),
		mk.Pod("nominated", 1, mk.Nominated("n")), mk.Pod("lost", 1, mk.On("gone")), mk.Pod("hopes", 1, mk.Nominated("gone")),
		mk.Pod("other", 1, mk.Nominated("n"), func(p *v1.Pod) { p.Spec.SchedulerName = "other" })))
	var known []string
	for _, p := range s.Known {
		known = append(known, p.Name)
	}
	assert.Equal(t, []string{"bound", "nominated", "lost", "hopes"}, known)
	assert.Equal(t, []string{"bound"}, namesOf(s.Nodes[0].Pods))
	assert.Equal(t, []string{"nominated"}, namesOf(s.Nodes[0].Nominated))
	assert.Equal(t, []string{"lost"}, namesOf(s.Homeless))
}

// The pods on a node are told apart by whether they may go. They are found by name, with those that go together.
func TestPodsOfANode(t *testing.T) {
	cy := model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 9), mk.WithGroups(), mk.Node("n", "1"), mk.Node("m", "1"), mk.Group("u", 0, mk.AsAWhole),
		mk.Pod("high", 9, mk.On("n")), mk.Pod("low", 8, mk.On("n")), mk.Pod("u1", 0, mk.On("n"), mk.Member("u")), mk.Pod("u2", 0, mk.On("n"), mk.Member("u")),
		mk.Pod("u3", 0, mk.On("m"), mk.Member("u")), mk.Pod("far", 0, mk.On("m"))))
	n := cy.Node("n")
	assert.Equal(t, []string{"low", "u1", "u2"}, namesOf(cy.PodsOn(n, true)))
	assert.Equal(t, []string{"high"}, namesOf(cy.PodsOn(n, false)))
	assert.Equal(t, []string{"u3", "low", "u1"}, namesOf(cy.PodsNamed("n", []string{"default/u3", "default/far", "default/low", "default/u1"})))
}

// The preemptor respects the room of pods of at least its priority.
func TestRespected(t *testing.T) {
	cy := model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1"),
		mk.Pod("lower", 8, mk.Nominated("n")), mk.Pod("equal", 9, mk.Nominated("n")), mk.Pod("higher", 10, mk.Nominated("n"))))
	assert.Equal(t, []string{"equal", "higher"}, namesOf(cy.Respected(cy.Node("n"))))
}

// The preemptor has to fit both beside the pods whose room it respects, and as long as they are not there.
func TestFitsBesideNominated(t *testing.T) {
	near := mk.Near(v1.LabelHostname, "x")
	for _, tt := range []struct {
		name      string
		nominated *v1.Pod
		change    func(*v1.Pod)
		failed    string
	}{
		{"the room of an equal", mk.Pod("q", 9, mk.CPU("1"), mk.Nominated("n")), mk.CPU("1"), "NodeResourcesFit"},
		{"that of a lower one", mk.Pod("q", 8, mk.CPU("1"), mk.Nominated("n")), mk.CPU("1"), ""},
		{"enough room for both", mk.Pod("q", 9, mk.Nominated("n")), mk.CPU("1"), ""},
		{"it has to be near an equal that is not there yet", mk.Pod("q", 9, mk.App("x"), mk.Nominated("n")), near, "InterPodAffinity"},
	} {
		node := mk.Node("n", "1", func(n *v1.Node) { n.Labels = map[string]string{v1.LabelHostname: "n"} })
		cy := model.Documented().NewCycle(mk.Cluster(mk.Pod("p", 9, tt.change), node, tt.nominated))
		failed := ""
		if v := model.Fits(cy, cy.Nodes[0], cy.Nodes[0].View()); v != nil {
			failed = v.Plugin
		}
		assert.Equal(t, tt.failed, failed, tt.name)
	}
}
