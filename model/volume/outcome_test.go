package volume_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// filterTest is a situation in which one filter is asked, by itself, about node n.
type filterTest struct {
	name      string
	preemptor *v1.Pod
	objects   []any
	want      string // FilterRun.Outcome
}

// The outcomes.
const (
	passes = "passes"
	fails  = "fails"
	never  = "fails, unresolvable"
)

func testFilter(t *testing.T, plugin string, tests []filterTest) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, outcomeOn(t, plugin, test.preemptor, answers.Documented(), model.FilterRun{Change: model.Untouched}, test.objects...))
		})
	}
}

// outcomeOn asks a filter about node n after a change.
func outcomeOn(t *testing.T, plugin string, preemptor *v1.Pod, rules *answers.Rules, after model.FilterRun, objects ...any) string {
	t.Helper()
	alone, err := answers.NewFiltersAlone(mk.Cluster(preemptor, objects...), rules)
	require.NoError(t, err)
	after.Plugin, after.Node = plugin, "n"
	answer := alone.Answer(after)
	if answer.Error != "" {
		return "error"
	}
	return answer.Outcome()
}
