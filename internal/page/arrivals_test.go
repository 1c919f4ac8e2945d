package page_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/properties/explanation/arrivals"
)

// The page of what comes tells who goes, what becomes of them, and what stays pending.
func TestArrivals(t *testing.T) {
	s := sampleArrivals()
	var out bytes.Buffer
	require.NoError(t, reports.Arrivals(&out, s))
	for _, want := range []string{
		"Deployment d/web, priority 9: 1 of 2 pods run.", "1 of 4", "✗ d/batch (1)", "1 pending",
		`<th scope="row">d/web-1</th><td>n1</td>`, `<th scope="row">d/web-2</th><td><span class="tag warn">pending</span></td>`,
		`<th scope="row">d/batch-1-again</th><td>d/batch-1</td>`, "2 pods pending in the cluster before are not tried meanwhile.", "1 pod beyond level 3 not tried.",
		"kube-scheduler v1 agrees in 2 of 3 cycles.",
	} {
		require.Contains(t, out.String(), want)
	}
	for range 600 {
		s.Arrivals = append(s.Arrivals, arrivals.Cycle{Pod: "d/many", Node: "n1"})
	}
	out.Reset()
	require.NoError(t, reports.Arrivals(&out, s))
	require.Contains(t, out.String(), "And 102 more: -o json holds all.")
}
