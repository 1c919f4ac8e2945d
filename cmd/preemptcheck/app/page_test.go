package app

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// Each command that prints pages prints one, with the exit status that it has otherwise, and the data that -o json
// prints.
func TestPages(t *testing.T) {
	campaign := t.TempDir()
	s := night()
	foundTwo(s)
	s.Findings[0].Case = "kind: no case"
	campaignIn(t, campaign, s)
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
		{[]string{"report", campaign}, 1, []string{"FOUND 2 new findings", "kind: no case", "Memory over 6 seconds", "floor"}, "verdict"},
	} {
		status, out, _ := preemptcheck(t, "", append(test.args, "-o", "html")...)
		require.Equal(t, test.status, status, test.args)
		root, err := html.Parse(strings.NewReader(out))
		require.NoError(t, err)
		pages := 0
		for n := range root.Descendants() {
			if n.Data == "script" && len(n.Attr) > 0 {
				pages++
				require.True(t, json.Valid([]byte(n.FirstChild.Data)), test.args)
				require.Contains(t, n.FirstChild.Data, `"`+test.data)
			}
		}
		require.Equal(t, 1, pages, test.args)
		for _, says := range test.says {
			require.Contains(t, out, says, test.args)
		}
	}
}
