package story

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What happens again at another time is told once, and what happens to another pod is told by itself.
func TestFindingsAreToldOnce(t *testing.T) {
	var text strings.Builder
	writeFindings(&text, []string{"pod a is tried at 1.000s with 1 of 2", "pod a is tried at 2.500s with 1 of 2", "pod b1 waits", "pod b2 waits", "pod a is tried at 13.000s with 1 of 2"})
	require.Equal(t, `Not as promised: pod a is tried at 1.000s with 1 of 2
So 2 times more, at other times.
Not as promised: pod b1 waits
Not as promised: pod b2 waits
`, text.String())
}
