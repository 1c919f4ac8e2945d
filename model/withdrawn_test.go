package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errorOf is the error that ends the cycle, or the dry run on the first node.
func errorOf(d *Decision) any {
	if len(d.PotentialNodes) > 0 {
		if _, failed := d.DryRunOn(d.PotentialNodes[0]); failed != nil {
			return failed.Error
		}
	}
	return d.Error
}

// TestWithdrawnQuirks: what the documentation says, and what a quirk that the linked
// release no longer has makes of it.
func TestWithdrawnQuirks(t *testing.T) {
	sidecarWithPort := func(p *v1.Pod) {
		c := sidecar("cpu", "0")
		c.Ports = []v1.ContainerPort{{HostPort: 80}}
		p.Spec.InitContainers = []v1.Container{c}
	}
	port := func(p *v1.Pod) { p.Spec.Containers = []v1.Container{{Ports: []v1.ContainerPort{{HostPort: 80}}}} }
	oneOf := func(terms ...[]string) func(*v1.Pod) { // names of nodes, which one node has to have at once
		return func(p *v1.Pod) {
			s := &v1.NodeSelector{}
			for _, names := range terms {
				term := v1.NodeSelectorTerm{}
				for _, name := range names {
					term.MatchFields = append(term.MatchFields, v1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{name}})
				}
				s.NodeSelectorTerms = append(s.NodeSelectorTerms, term)
			}
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: s}}
		}
	}
	host := func(name string) func(*v1.Node) { return labelled(v1.LabelHostname, name) }
	claim := func(name string, allocation *resourcev1.AllocationResult) *resourcev1.ResourceClaim {
		return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Status: resourcev1.ResourceClaimStatus{Allocation: allocation}}
	}
	uses := func(claims ...string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			for _, c := range claims {
				p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: c, ResourceClaimName: &c})
			}
		}
	}
	tests := []struct {
		quirk, with    Quirk
		cluster        *Cluster
		ask            func(*Decision) any
		documented, on any
	}{
		{
			quirk: VictimsUnsorted,
			cluster: aCluster(aPod("p", 9, cpu("2")), aNode("n", "2"), aBudget("b", 0, forApp("x")),
				aPod("low", 1, cpu("1"), on("n"), app("x")), aPod("high", 2, cpu("1"), on("n"))),
			ask: victimsOn("n"), documented: []string{"default/high", "default/low"}, on: []string{"default/low", "default/high"},
		},
		{
			quirk:   VictimStatusOverwritten,
			cluster: aCluster(aPod("p", 9, cpu("1")), aNode("n", "1"), aPod("v", 1, cpu("1"), on("n"))),
			ask: func(d *Decision) any {
				wrote := d.Preempts(d.Choices()[0])
				wrote.Other = []string{"patch default/v [status]: phase, startTime"}
				return d.q.admitsNomination(&Observation{Actuation: wrote}, d.Preempts(d.Choices()[0])) == nil
			},
			documented: false, on: true,
		},
		{
			quirk:   SidecarPortsForgotten,
			cluster: aCluster(aPod("p", 9, port), aNode("n", "1"), aPod("v", 1, on("n"), sidecarWithPort)),
			ask:     verdictOn("n"), documented: "NodePorts", on: "fits",
		},
		{
			quirk:   MissingNodeIsError,
			cluster: aCluster(aPod("p", 9, oneOf([]string{"n"}, []string{"gone"})), aNode("n", "1")),
			ask:     errorOf, documented: "", on: "there is no node gone",
		},
		{
			quirk:   OneTermConflicts,
			cluster: aCluster(aPod("p", 9, oneOf([]string{"n"}, []string{"n", "m"})), aNode("n", "1")),
			ask:     verdictOn("n"), documented: "fits", on: "NodeAffinity (unresolvable)",
		},
		{
			quirk: HostNamesAreNodeNames,
			cluster: withExtra(aCluster(aPod("p", 9, mounts("c")), aNode("n", "1", host("h"))),
				aClaim("c"), aVolume("c", reachedFrom(v1.LabelHostname, "h"))),
			ask: verdictOn("n"), documented: "fits", on: "VolumeBinding (unresolvable)",
		},
		{
			// Just NodeAffinity and, by the other quirk, VolumeBinding name nodes.
			quirk: NoNodeLeftIsTried, with: HostNamesAreNodeNames,
			cluster: withExtra(aCluster(aPod("p", 9, oneOf([]string{"m"}), mounts("c")), aNode("m", "1", host("m")), aNode("n", "1", host("n")), aPod("v", 1, on("m"))),
				aClaim("c"), aVolume("c", reachedFrom(v1.LabelHostname, "n"))),
			ask: errorOf, documented: "", on: "a plugin has no state, as it was not asked before any node was looked at",
		},
		{
			quirk: AllocatedClaimFailsScore,
			cluster: withExtra(aCluster(aPod("p", 9, uses("a", "b")), aNode("n", "1"), aNode("m", "1")),
				claim("a", &resourcev1.AllocationResult{}), claim("b", nil)),
			ask: errorOf, documented: "", on: "scoring fails",
		},
	}
	for _, tt := range tests {
		t.Run(string(tt.quirk), func(t *testing.T) {
			rules := Documented()
			if tt.with != "" {
				rules = rules.With(tt.with)
			}
			d, err := Decide(tt.cluster, rules)
			require.NoError(t, err)
			assert.Equal(t, tt.documented, tt.ask(d), "as documented")
			d, err = Decide(tt.cluster, rules.With(tt.quirk))
			require.NoError(t, err)
			assert.Equal(t, tt.on, tt.ask(d), "with the quirk")
		})
	}
}

// One node that fits is not scored, and claims that are all allocated, or all not,
// do not fail the score.
func TestAllocatedClaimFailsScoreOfSeveralNodes(t *testing.T) {
	rules := Documented().With(AllocatedClaimFailsScore)
	claim := func(name string, allocation *resourcev1.AllocationResult) *resourcev1.ResourceClaim {
		return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Status: resourcev1.ResourceClaimStatus{Allocation: allocation}}
	}
	a, b := "a", "b"
	p := aPod("p", 9, func(p *v1.Pod) {
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: a, ResourceClaimName: &a}, {Name: b, ResourceClaimName: &b}}
	})
	allocated := &resourcev1.AllocationResult{}
	for _, c := range []*Cluster{
		withExtra(aCluster(p, aNode("n", "1")), claim(a, allocated), claim(b, nil)),
		withExtra(aCluster(p, aNode("n", "1"), aNode("m", "1")), claim(a, allocated), claim(b, allocated)),
		withExtra(aCluster(p, aNode("n", "1"), aNode("m", "1")), claim(a, nil), claim(b, nil)),
	} {
		d, err := Decide(c, rules)
		require.NoError(t, err)
		assert.Empty(t, d.Error)
		assert.NotEmpty(t, d.Fits)
	}
}

// A node that an extender leaves out without a word has no status before 1.32, and
// before that was read as a no, preemption was tried there.
func TestOmittedNodes(t *testing.T) {
	c := aCluster(aPod("p", 9), aNode("n", "1"), aPod("v", 1, on("n")),
		Settings{Extenders: []Extender{{Name: "e", Filter: &ExtenderFilter{Omits: []string{"n"}}}}})
	silent := &Observation{Filters: map[string]Verdict{}}
	for release, want := range map[Release]struct{ tried, silent bool }{
		{26, 0}: {tried: true, silent: true}, {31, 0}: {silent: true}, {32, 13}: {}, Linked: {},
	} {
		d, err := Decide(c, release.Rules())
		require.NoError(t, err)
		assert.Equal(t, want.tried, len(d.PotentialNodes) > 0, release)
		assert.Equal(t, want.silent, d.admitsFilters(silent) == nil, release)
	}
}
