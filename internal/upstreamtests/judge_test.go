package upstreamtests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJudge(t *testing.T) {
	test := Test{File: "pkg/x/x_test.go", Name: "TestX", Fails: map[string]string{"the bug": "got 1"}}
	pkg := test.Package()
	output := event{"output", pkg, "TestX/the_bug", "    x_test.go:1: got 1, want 0\n"}
	bug, control := event{"fail", pkg, "TestX/the_bug", ""}, event{"pass", pkg, "TestX/control", ""}
	for name, c := range map[string]struct {
		events []event
		want   string
	}{
		"fails as it should":    {[]event{output, bug, control}, ""},
		"other tests fail":      {[]event{output, bug, control, {"fail", pkg, "TestY/a", ""}, {"fail", pkg, "TestX", ""}}, ""},
		"another TestX fails":   {[]event{output, bug, control, {"fail", pkg + "/y", "TestX/a", ""}}, ""},
		"is not built":          {[]event{{"build-fail", "", "", ""}, {"fail", "", "", ""}}, "it did not run"},
		"the finding is fixed":  {[]event{{"pass", pkg, "TestX/the_bug", ""}, control}, `"the_bug": pass`},
		"fails for another":     {[]event{{"output", pkg, "TestX/the_bug", "panic"}, bug, control}, `"the_bug" does not say "got 1"`},
		"the control fails":     {[]event{output, bug, {"fail", pkg, "TestX/control", ""}}, `"control": fail`},
		"there is no control":   {[]event{output, bug}, "no subtest passes"},
		"the subtest is gone":   {[]event{control}, `"the_bug" did not run`},
		"the subtest is passed": {[]event{{"skip", pkg, "TestX/the_bug", ""}, control}, `"the_bug": skip`},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge(test, c.events)
			if c.want == "" {
				assert.Empty(t, got)
			} else {
				assert.True(t, strings.HasPrefix(got, c.want), got)
			}
		})
	}
}

// The files are not built with this module: read them at least.
func TestSources(t *testing.T) {
	files, err := sources.ReadDir("testdata")
	require.NoError(t, err)
	used := map[string]bool{}
	for _, test := range Tests {
		used[test.SourceName()] = true
	}
	assert.Len(t, files, len(used), "a file without an entry")
	for _, test := range Tests {
		source, err := test.Source()
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), test.Finding, source, 0)
		require.NoError(t, err)
		var functions []string
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil { // methods of a fake collide with nothing
				functions = append(functions, f.Name.Name)
			}
		}
		assert.Equal(t, []string{test.Function()}, functions, test.Finding)
		assert.Contains(t, string(source), test.Scenario(), test.Finding)
		for subtest := range test.Fails {
			assert.Contains(t, string(source), `"`+subtest+`"`, test.Finding)
		}
		assert.True(t, strings.HasSuffix(test.File, "_test.go"), test.Finding)
	}
}
