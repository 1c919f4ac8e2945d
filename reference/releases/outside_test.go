package releases

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

// The hook is called first, whatever the release's Preempt takes.
func TestWithHook(t *testing.T) {
	text, err := WithHook("package preemption\n\nfunc (ev *Evaluator) Preempt(ctx context.Context,\n\tm Reader) error {\n\treturn nil\n}\n")
	require.NoError(t, err)
	require.Contains(t, text, "m Reader) error {\n\tHook(ev)\n\treturn nil\n}\n")
	require.Equal(t, 1, strings.Count(text, "var Hook = func(*Evaluator) {}"))
	_, err = WithHook("package preemption\n")
	require.ErrorContains(t, err, "has no Evaluator.Preempt")
}

// All edits fit the sources that they are for, in each minor release.
func TestWalkCalls(t *testing.T) {
	for minor := OldestEvaluator; minor <= 37; minor++ {
		files := map[string]string{}
		require.NoError(t, WalkCalls(minor, func(name string, content []byte) error {
			require.NotContains(t, files, name)
			files[name] = string(content)
			return nil
		}))
		require.Contains(t, files, "main.go")
		require.Contains(t, files, "outside/api.go")
		require.Contains(t, files["reference/contract/upstream.go"], "Delete", minor)
	}
}

func TestWalkOutside(t *testing.T) {
	files := map[string]bool{}
	require.NoError(t, WalkOutside(func(name string, _ []byte) error {
		require.NotContains(t, files, name)
		files[name] = true
		return nil
	}))
	for _, name := range []string{"outside.go", "outside/outside.go", "k132.go", "main.go", "reference/releases/wire/wire.go"} {
		require.Contains(t, files, name)
	}
	require.Contains(t, Tags(25), "k1.24,k1.25")
	require.NotContains(t, Tags(25), "k1.26")
}

func TestWithPriorityClasses(t *testing.T) {
	class := &schedulingv1.PriorityClass{}
	c := &model.Cluster{PriorityClasses: []*schedulingv1.PriorityClass{class}, Extra: []runtime.Object{&v1.Namespace{}}}
	require.Equal(t, []runtime.Object{class, &v1.Namespace{}}, WithPriorityClasses(c).Extra)
	require.Len(t, c.Extra, 1)
}
