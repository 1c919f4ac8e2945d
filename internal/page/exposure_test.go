package page_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/properties/exposure"
)

// The page of exposure has the share of each workload that could go, and its budgets by a sign.
func TestExposure(t *testing.T) {
	r := sampleExposure()
	var out bytes.Buffer
	require.NoError(t, reports.Exposure(&out, r))
	var rows, widths, tags []string
	for n := range parse(t, out.Bytes()).Descendants() {
		switch {
		case n.Data == "tr" && attribute(n, "data-class") != "":
			rows = append(rows, attribute(n, "data-class"))
		case n.Data == "rect" && class(n) == "p3":
			widths = append(widths, attribute(n, "width"))
		case n.Data == "span" && attribute(n, "class") != "" && class(n) != "" && n.Parent.Data == "p":
			tags = append(tags, class(n)+" "+text(n))
		}
	}
	require.Equal(t, []string{"budget can be violated", "by a finding", "not preempted"}, rows)
	require.Equal(t, []string{"75.0%", "50.0%", "0.0%"}, widths)
	require.Equal(t, []string{"tag bad ✗ d/web", "tag good ✓ d/other", "tag warn ! d/cart"}, tags)
	for _, want := range []string{"2 of 3 workloads can be preempted.", "2 to 3 of 4", "can be violated by high, by 1 on n2", "can be violated by a finding: a-finding", "d/p takes up to 1 on n1, and so would 2 more", "2 preempted, 0 pending if n1 is lost", "a note"} {
		require.Contains(t, out.String(), want)
	}

	for range reports.MaxExposed {
		r.Workloads = append(r.Workloads, &exposure.Workload{Name: "many"})
	}
	out.Reset()
	require.NoError(t, reports.Exposure(&out, r))
	require.Contains(t, out.String(), "And 3 workloads more")
}
