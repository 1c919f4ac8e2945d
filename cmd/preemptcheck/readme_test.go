package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var example = regexp.MustCompile("(?s)```\n\\$ (preemptcheck [^\n]*)\n(.*?)```")

// TestREADME: the examples in the README are what the commands print.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	examples := example.FindAllSubmatch(readme, -1)
	require.NotEmpty(t, examples)
	t.Chdir("../..")
	for _, e := range examples {
		_, out, _ := preemptcheck(t, "", strings.Fields(string(e[1]))[1:]...)
		require.Equal(t, string(e[2]), out, "%s", e[1])
	}
}
