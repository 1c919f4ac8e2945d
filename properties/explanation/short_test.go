package explanation_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
)

// TestLargeAnswersAreShort: 190 candidates with 30 victims each, and 20 nodes that are out for 20 reasons, take no more
// lines than ten of each do. With All nothing is cut.
func TestLargeAnswersAreShort(t *testing.T) {
	parts := []any{}
	for n := range 190 {
		name := fmt.Sprintf("node-%03d", n)
		parts = append(parts, mk.Node(name, "30", func(n *v1.Node) { n.Status.Allocatable["pods"] = mk.Resources("pods", "100")["pods"] }))
		for p := range 30 {
			parts = append(parts, mk.Pod(fmt.Sprintf("p-%d-%d", n, p), int32(p), mk.CPU("1"), mk.On(name), mk.Started(n)))
		}
	}
	for n := range 20 {
		parts = append(parts, mk.Node(fmt.Sprintf("out-%d", n), "30", func(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: "out", Effect: v1.TaintEffectNoSchedule}} }))
	}
	c := mk.Cluster(mk.Pod("comes", 1000, mk.CPU("29")), parts...)
	require.NoError(t, apiserver.Admit(c))
	r, err := checktest.Checker(t).Check(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, r.Decision.Candidates(), 190)

	var short, whole bytes.Buffer
	e := explanation.Of(r, 10)
	e.WriteText(&short)
	lines := strings.Count(short.String(), "\n")
	require.Less(t, lines, 100, short.String())
	require.Contains(t, short.String(), "… and 26 more (--all)", "victims of a node")
	require.Contains(t, short.String(), "more are not shown (--nodes)")
	require.Contains(t, short.String(), "%", "likelihoods")

	e = explanation.Of(r, 1000)
	e.All = true
	e.WriteText(&whole)
	require.NotContains(t, whole.String(), "--all")
	require.Greater(t, strings.Count(whole.String(), "\n"), 190*29)
}
