package page_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/page/lanes"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/story"
)

// A timeline has a lane for each pod, of how it stands, and one for the room of each node.
func TestLanes(t *testing.T) {
	life := sampleLife()
	told := story.Tell(life, nil)
	var out bytes.Buffer
	require.NoError(t, lanes.Write(&out, life, nil, told))
	root := parse(t, out.Bytes())
	var titles, moments, marks []string
	for n := range root.Descendants() {
		switch {
		case n.Data == "title" && class(n.Parent) == "blk":
			titles = append(titles, strings.ReplaceAll(text(n), "\n", ", "))
		case n.Data == "title" && strings.HasPrefix(class(n.Parent), "ev"):
			marks = append(marks, class(n.Parent))
		case n.Data == "li" && attribute(n, "data-x") != "":
			moments = append(moments, attribute(n, "data-x"))
		}
	}
	for _, want := range []string{
		"default/pp, its cycle", "default/pp, kept out of the queue", "default/pp, is bound to n1", "default/pp, on n1", "default/pp, its victims are being preempted", "default/pv, on n1", "default/pv, terminates",
		"n1, 1 of 2 cpu requested, default/pv", "n1, 0 of 2 cpu requested, no pods", "n1, 2 of 2 cpu requested, default/pp",
	} {
		require.Contains(t, titles, want)
	}
	require.Len(t, moments, len(told.Told))
	require.IsIncreasing(t, numbers(t, moments))
	require.Contains(t, marks, "ev call failed")
	require.Contains(t, out.String(), "It goes as promised.")
}
