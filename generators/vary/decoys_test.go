package vary_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators/vary"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// TestDecoyed: with decoys each case of the corpus is one that the API server takes, and each of a pod is decided alike.
func TestDecoyed(t *testing.T) {
	s, err := corpus.Load("../../corpus/cases")
	require.NoError(t, err)
	for _, c := range s.Cases {
		before := c.Cluster.DeepCopy()
		decoyed := vary.Decoyed(c.Cluster)
		require.Empty(t, cmp.Diff(before, c.Cluster), "it shares something")
		require.NotEmpty(t, cmp.Diff(before, decoyed), c.Name)
		require.NoError(t, apiserver.Admit(decoyed), c.Name)
		if c.Cluster.Preemptor != nil {
			require.Equal(t, decides(c.Cluster), decides(decoyed), c.Name)
		}
	}
}

// decides tells what the specification allows for a cluster.
func decides(c *model.Cluster) string {
	s, err := answers.Decide(c, answers.Documented())
	if err != nil {
		return "not modelled"
	}
	text := fmt.Sprint(s.Fits, s.Errors, s.PostFilterError)
	for _, c := range s.Choices() {
		text += fmt.Sprintf("; %s: %v, %d violations, %s", c.Node, c.Outcome.Victims, len(c.Outcome.Violates), c.DecidedBy)
	}
	return text
}
