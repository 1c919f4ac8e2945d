package words_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/words"
)

func TestWords(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	require.Equal(t, "0 nodes, 1 node, 2 nodes", words.Plural(0, "node")+", "+words.Plural(1, "node")+", "+words.Plural(2, "node"))
	require.Equal(t, []float64{0, 25}, []float64{words.Percent(1, 0), words.Percent(1, 4)})
	for n, want := range map[int]string{1: "a", 2: "a or b", 3: "a, b or c", 4: "one of 4 nodes"} {
		require.Equal(t, want, words.AnyOf(names[:n]))
	}
	require.Equal(t, "a, b, c, d", words.Some(names, 4))
	require.Equal(t, "a, … (3 more)", words.Some(names, 1))
	require.Equal(t, "panic: x", words.FirstLine("panic: x\n\ngoroutine 1"))
	require.Equal(t, "v1-31-0-a-b", words.Slug("v1.31.0: a (B)."))
	require.Equal(t, strings.Repeat("word-", 19)+"word", words.Slug(strings.Repeat("Word ", 30)))

	var wrapped strings.Builder
	words.WriteWrapped(&wrapped, "  ", strings.Repeat("x", 60)+" "+strings.Repeat("y", 60)+" z")
	require.Equal(t, "  "+strings.Repeat("x", 60)+"\n  "+strings.Repeat("y", 60)+" z\n", wrapped.String())
}
