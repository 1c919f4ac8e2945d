package corpus

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

func readOne(t testing.TB, text string) *Case {
	t.Helper()
	s, err := Read(strings.NewReader(text), "test.yaml")
	require.NoError(t, err)
	require.Len(t, s.Cases, 1)
	return s.Cases[0]
}

func written(t testing.TB, c *Case) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, c.Write(&b))
	return b.String()
}

func testdata(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

func diffCases(a, b *Case) string {
	return cmp.Diff(a, b, cmpopts.IgnoreFields(Case{}, "File"))
}

func TestWriteGolden(t *testing.T) {
	c := readOne(t, testdata(t, "start-time.yaml"))
	got := written(t, c)
	golden := filepath.Join("testdata", "start-time.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	require.Equal(t, testdata(t, "start-time.golden"), got)
	again := readOne(t, got)
	require.Empty(t, diffCases(c, again))
	require.Equal(t, got, written(t, again))
}
