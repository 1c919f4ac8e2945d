package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/apptest"
)

// Each command about cases that prints pages prints one, with the exit status that it has otherwise, and the data that -o json
// prints.
func TestPages(t *testing.T) {
	for _, test := range []struct {
		args   []string
		status int
		says   []string
		data   string // a name in it
	}{
		{[]string{"explain", "testdata/cases/preempts.yaml"}, 0, []string{"Scheduling cycle", "agrees", "(decides)"}, "candidates"},
		{[]string{"explain", "testdata/cases/fits.yaml"}, 0, []string{"It fits without preemption on"}, "fitsOn"},
		{[]string{"explain", "testdata/cases/no-nodes.yaml"}, 0, []string{"There are no nodes"}, "pod"},
		{[]string{"explain", "testdata/cases/not-eligible.yaml"}, 0, []string{"It may not preempt"}, "eligible"},
		{[]string{"explain", "../../../corpus/cases/finding-empty-selector.yaml"}, 0, []string{"disagrees", "What is allowed, and what the scheduler did", "which is not allowed"}, "reference"},
		{[]string{"explain", "../../../corpus/cases/finding-members-stay-nominated.yaml"}, 0, []string{"Scheduling cycle of a group"}, "group"},
		{[]string{"explain", "../../../corpus/timelines/kubernetes-106780.yaml"}, 0, []string{"Timeline", "It goes as promised.", "3.5 of 4 cpu"}, "Told"},
		{[]string{"check", "testdata/cases"}, 1, []string{"failed", "Table of cases"}, "cases"},
		{[]string{"findings", "--class", "crash"}, 0, []string{"Kept back"}, ""},
		{[]string{"findings", "empty-selector"}, 0, []string{"The smallest cluster", "A budget with an empty selector"}, ""},
	} {
		status, out, _ := preemptcheck(t, "", append(test.args, "-o", "html")...)
		require.Equal(t, test.status, status, test.args)
		require.Contains(t, apptest.DataOfPage(t, out), `"`+test.data, test.args)
		for _, says := range test.says {
			require.Contains(t, out, says, test.args)
		}
	}
}
