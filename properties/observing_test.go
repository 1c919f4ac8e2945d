package properties_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// manyPods are as many pods as it takes to have a cluster observed while the model decides.
const manyPods = 10_000

// crowded is checktest.Cluster with so many pods. Those that it has more are pending, and no
// part of an answer.
func crowded(pods int) *model.Cluster {
	c := checktest.Cluster()
	for len(c.Pods) < pods {
		c.Pods = append(c.Pods, checktest.Pod(fmt.Sprintf("crowd-%d", len(c.Pods)), 0, "1"))
	}
	return c
}

// signalling tells when it is asked.
type signalling struct {
	reference.System
	asked chan struct{}
}

func (s signalling) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	close(s.asked)
	return s.System.Observe(ctx, c)
}

// TestObservedWhileDecided: a large cluster is observed before the model has decided, and what
// comes of it is the same as of a small one, which is observed after that.
func TestObservedWhileDecided(t *testing.T) {
	system := checktest.Liar{System: checktest.System(t), Tell: checktest.Careless}
	var results []*properties.Result
	for _, pods := range []int{manyPods - 1, manyPods} {
		asked := make(chan struct{})
		checker := &properties.Checker{System: signalling{system, asked}, Decide: func(c *model.Cluster) (*answers.Set, error) {
			if pods == manyPods {
				select {
				case <-asked:
				case <-time.After(time.Minute):
					t.Error("the cluster is not observed meanwhile")
				}
			}
			return answers.Decide(c, answers.Documented())
		}}
		r, err := checker.Check(t.Context(), crowded(pods))
		require.NoError(t, err)
		results = append(results, r)
	}
	small, large := results[0], results[1]
	require.Equal(t, small.Observation, large.Observation)
	require.NotEmpty(t, large.Findings)
	require.Equal(t, small.Findings, large.Findings)
	require.Equal(t, small.Decision.Candidates(), large.Decision.Candidates())
}

// TestPanicWhileDecided: a system that panics is an error of each cluster, small or large, and
// not the end of the process.
func TestPanicWhileDecided(t *testing.T) {
	checker := &properties.Checker{System: checktest.Liar{System: checktest.System(t), Tell: func(*model.Cluster, *model.Observation) { panic("the system is out of order") }}}
	for _, pods := range []int{manyPods - 1, manyPods} {
		r, err := checker.Check(t.Context(), crowded(pods))
		require.Nil(t, r)
		require.ErrorContains(t, err, properties.OwnPanic+"the system is out of order\n")
		require.ErrorContains(t, err, "checktest.Liar.Observe", "its stack is told")
	}
}
