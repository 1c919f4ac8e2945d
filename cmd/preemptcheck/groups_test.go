package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGroupsAreNotModelled: each command that reads clusters says so of one that asks about a
// pod group, and goes on.
func TestGroupsAreNotModelled(t *testing.T) {
	const gang, dump = "testdata/groups/gang.yaml", "testdata/groups/dump.yaml"
	const sentence = "PodGroup shop/g: preemptor: the scheduling of a pod group as a whole"
	const note = ": 1 pod group to be scheduled as a whole, with GenericWorkload on\n"
	for _, test := range []struct {
		args        []string
		out, errOut string
	}{
		{[]string{"check", gang}, "gang: not modelled", ""},
		{[]string{"check", gang}, sentence, ""},
		{[]string{"check", "-o", "json", gang}, sentence, ""},
		{[]string{"check", dump}, "0 passed, 0 failed, 2 not modelled, undecided or not run", note},
		{[]string{"check", dump, "--pod", "podgroup/shop/g"}, "podgroup/shop/g: not modelled", ""},
		{[]string{"explain", gang}, "", "not modelled: " + sentence},
		{[]string{"explain", dump, "--pod", "podgroup/shop/g"}, "", "not modelled: " + sentence},
		{[]string{"explain", dump}, "", "--pod: which of the 2 pending pods is meant? shop/web, podgroup/shop/g"},
		{[]string{"minimize", gang}, "", "not modelled: " + sentence},
	} {
		status, out, errOut := preemptcheck(t, "", test.args...)
		require.Equal(t, statusCouldNot, status, "%s: %s", test.args, errOut)
		require.Contains(t, out, test.out, test.args)
		require.Contains(t, errOut, test.errOut, test.args)
	}
}
