package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGroups: each command that reads clusters takes one that asks about a pod group.
func TestGroups(t *testing.T) {
	const gang, dump = "testdata/groups/gang.yaml", "testdata/groups/dump.yaml"
	const note = ": 1 pod group to be scheduled as a whole, with GenericWorkload on\n"
	for _, test := range []struct {
		status      int
		args        []string
		out, errOut string
	}{
		{0, []string{"check", gang}, "preempts 1 for 2 members on node-1", ""},
		{0, []string{"check", "-o", "json", gang}, `"outcome": "preempts 1 for 2 members on node-1"`, ""},
		{2, []string{"check", dump}, "1 passed, 0 failed, 1 not modelled, undecided or not run", note},
		{0, []string{"check", dump, "--pod", "podgroup/shop/g"}, "preempts 1 for 2 members on node-1", ""},
		{0, []string{"explain", dump, "--pod", "podgroup/shop/g"}, "shop/a, shop/b are nominated to node-1", note},
		{2, []string{"explain", dump}, "", "--pod: which of the 2 pending pods is meant? shop/web, podgroup/shop/g"},
		{2, []string{"minimize", gang}, "", "nothing is found in it"},
		{0, []string{"check", "testdata/groups/waits.yaml"}, "waits for members: 1 of 2 exist", ""},
		{1, []string{"check", "testdata/groups/unexpected.yaml"}, "not expected, but allowed: shop/a on node-1, shop/b on node-1 with victims [shop/v] and 0 violations", ""},
		{1, []string{"check", "testdata/groups/unexpected.yaml"}, "expected, but not allowed: shop/a on node-1 with victims [shop/v] and 0 violations", ""},
	} {
		status, out, errOut := preemptcheck(t, "", test.args...)
		require.Equal(t, test.status, status, "%s: %s", test.args, errOut)
		require.Contains(t, out, test.out, test.args)
		require.Contains(t, errOut, test.errOut, test.args)
	}
}
