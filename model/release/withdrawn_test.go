package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// errorOf is the error that ends the cycle, or the dry run on the first node.
func errorOf(d *answers.Set) any {
	if len(d.PotentialNodes) > 0 {
		if _, failed := d.DryRunOn(d.PotentialNodes[0]); failed != nil {
			return failed.Error
		}
	}
	return strings.Join(d.Errors, ", ")
}

// TestWithdrawnQuirks: what the documentation says, and what a quirk that the linked
// release no longer has makes of it.
func TestWithdrawnQuirks(t *testing.T) {
	sidecarWithPort := func(p *v1.Pod) {
		c := mk.Sidecar("cpu", "0")
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
		quirk, with    release.Quirk
		cluster        *model.Cluster
		ask            func(*answers.Set) any
		documented, on any
	}{
		{
			quirk: release.VictimsUnsorted,
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("2")), mk.Node("n", "2"), mk.Budget("b", 0, mk.ForApp("x")),
				mk.Pod("low", 1, mk.CPU("1"), mk.On("n"), mk.App("x")), mk.Pod("high", 2, mk.CPU("1"), mk.On("n"))),
			ask: victimsOn("n"), documented: []string{"default/high", "default/low"}, on: []string{"default/low", "default/high"},
		},
		{
			quirk:   release.VictimStatusOverwritten,
			cluster: mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Pod("v", 1, mk.CPU("1"), mk.On("n"))),
			ask: func(d *answers.Set) any {
				wrote := d.Preempts(d.Choices()[0])
				wrote.Other = []string{"patch default/v [status]: phase, startTime"}
				return d.Admits(&model.Observation{Pick: &model.Pick{Node: "n", Victims: []string{"default/v"}}, Actuation: wrote}) == nil
			},
			documented: false, on: true,
		},
		{
			quirk:   release.SidecarPortsForgotten,
			cluster: mk.Cluster(mk.Pod("p", 9, port), mk.Node("n", "1"), mk.Pod("v", 1, mk.On("n"), sidecarWithPort)),
			ask:     verdictOn("n"), documented: "NodePorts", on: "fits",
		},
		{
			quirk:   release.MissingNodeIsError,
			cluster: mk.Cluster(mk.Pod("p", 9, oneOf([]string{"n"}, []string{"gone"})), mk.Node("n", "1")),
			ask:     errorOf, documented: "", on: `nodeinfo not found for node name "gone"`,
		},
		{
			quirk:   release.OneTermConflicts,
			cluster: mk.Cluster(mk.Pod("p", 9, oneOf([]string{"n"}, []string{"n", "m"})), mk.Node("n", "1")),
			ask:     verdictOn("n"), documented: "fits", on: "NodeAffinity (unresolvable)",
		},
		{
			quirk: release.HostNamesAreNodeNames,
			cluster: mk.Cluster(mk.Pod("p", 9, mk.Mounts("c")), mk.Node("n", "1", host("h")),
				mk.Claim("c"), mk.Volume("c", mk.ReachedFrom(v1.LabelHostname, "h"))),
			ask: verdictOn("n"), documented: "fits", on: "VolumeBinding (unresolvable)",
		},
		{
			// Just NodeAffinity and, by the other quirk, VolumeBinding name nodes.
			quirk: release.NoNodeLeftIsTried, with: release.HostNamesAreNodeNames,
			cluster: mk.Cluster(mk.Pod("p", 9, oneOf([]string{"m"}), mk.Mounts("c")), mk.Node("m", "1", host("m")), mk.Node("n", "1", host("n")), mk.Pod("v", 1, mk.On("m")),
				mk.Claim("c"), mk.Volume("c", mk.ReachedFrom(v1.LabelHostname, "n"))),
			ask: errorOf, documented: "", on: "from cycleState: not found",
		},
		{
			quirk: release.AllocatedClaimFailsScore,
			cluster: mk.Cluster(mk.Pod("p", 9, uses("a", "b")), mk.Node("n", "1"), mk.Node("m", "1"),
				claim("a", &resourcev1.AllocationResult{}), claim("b", nil)),
			ask: errorOf, documented: "", on: "is smaller than number of claims",
		},
	}
	for _, tt := range tests {
		t.Run(string(tt.quirk), func(t *testing.T) {
			rules := answers.Documented()
			if tt.with != "" {
				rules = release.With(rules, tt.with)
			}
			d, err := answers.Decide(tt.cluster, rules)
			require.NoError(t, err)
			assert.Equal(t, tt.documented, tt.ask(d), "as documented")
			d, err = answers.Decide(tt.cluster, release.With(rules, tt.quirk))
			require.NoError(t, err)
			assert.Equal(t, tt.on, tt.ask(d), "with the quirk")
		})
	}
}

// One node that fits is not scored, and claims that are all allocated, or all not,
// do not fail the score.
func TestAllocatedClaimFailsScoreOfSeveralNodes(t *testing.T) {
	rules := release.With(answers.Documented(), release.AllocatedClaimFailsScore)
	claim := func(name string, allocation *resourcev1.AllocationResult) *resourcev1.ResourceClaim {
		return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Status: resourcev1.ResourceClaimStatus{Allocation: allocation}}
	}
	a, b := "a", "b"
	p := mk.Pod("p", 9, func(p *v1.Pod) {
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: a, ResourceClaimName: &a}, {Name: b, ResourceClaimName: &b}}
	})
	allocated := &resourcev1.AllocationResult{}
	for _, c := range []*model.Cluster{
		mk.Cluster(p, mk.Node("n", "1"), claim(a, allocated), claim(b, nil)),
		mk.Cluster(p, mk.Node("n", "1"), mk.Node("m", "1"), claim(a, allocated), claim(b, allocated)),
		mk.Cluster(p, mk.Node("n", "1"), mk.Node("m", "1"), claim(a, nil), claim(b, nil)),
	} {
		d, err := answers.Decide(c, rules)
		require.NoError(t, err)
		assert.Empty(t, d.Errors)
		assert.NotEmpty(t, d.Fits)
	}
}

// A node that an extender leaves out without a word has no status before 1.32, and
// before that was read as a no, preemption was tried there.
func TestOmittedNodes(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9), mk.Node("n", "1"), mk.Pod("v", 1, mk.On("n")),
		model.Settings{Extenders: []model.Extender{{Name: "e", Filter: &model.ExtenderFilter{Omits: []string{"n"}}}}})
	silent := &model.Observation{Filters: map[string]model.Verdict{}}
	for r, want := range map[release.Release]struct{ tried, silent bool }{
		{26, 0}: {tried: true, silent: true}, {31, 0}: {silent: true}, {32, 13}: {}, release.Linked: {},
	} {
		d, err := answers.Decide(c, r.Rules())
		require.NoError(t, err)
		assert.Equal(t, want.tried, len(d.PotentialNodes) > 0, r)
		dis := d.Admits(silent)
		assert.Equal(t, want.silent, dis == nil || dis.Stage != model.StageFilter, r)
	}
}
