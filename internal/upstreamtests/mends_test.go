package upstreamtests

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJudgeMend(t *testing.T) {
	test := Test{Name: "TestX", File: "pkg/x/x_test.go", Fails: map[string]string{"the bug": "got 1"}}
	p := test.Package()
	bug, all := event{"pass", p, "TestX/the_bug", ""}, event{"pass", p, "", ""}
	for name, c := range map[string]struct {
		events []event
		want   string
	}{
		"mended":              {[]event{bug, {"pass", p, "TestX", ""}, {"skip", p, "TestY", ""}, all}, ""},
		"still fails":         {[]event{{"output", p, "TestX/the_bug", "got 1"}, {"fail", p, "TestX/the_bug", ""}}, p + " TestX/the_bug fails\ngot 1"},
		"breaks another":      {[]event{bug, {"output", p, "TestY", "got 2"}, {"fail", p, "TestY", ""}}, p + " TestY fails\ngot 2"},
		"is not built":        {[]event{{"build-output", p, "", "undefined"}, {"build-fail", p, "", ""}}, p + " fails\nundefined"},
		"is not run":          {[]event{all}, `"the bug" did not pass`},
		"dies before the end": {[]event{bug}, p + " did not pass"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, judgeMend(test, []string{p}, c.events)) })
	}
}

// A change belongs to a finding that has a test, and every patch to a change.
func TestPatches(t *testing.T) {
	files, err := patches.ReadDir("mends")
	require.NoError(t, err)
	assert.Len(t, files, len(Mends), "a patch without an entry")
	for finding := range Mends {
		patch, err := Patch(finding)
		require.NoError(t, err)
		assert.Contains(t, string(patch), "+++ b/", finding)
		_, ok := LookUp(finding)
		assert.True(t, ok, finding)
	}
}
