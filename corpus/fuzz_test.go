package corpus

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRead holds the loader to its promises: it never panics, and each case that it
// reads can be written and reads back as the same case.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/*.json", "cases/*.yaml", "timelines/*.yaml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files[:min(len(files), 8)] {
			text, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(text)
		}
	}
	f.Add(kubectlDump(1, 1, 1))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read(bytes.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		for _, c := range s.Cases[:min(len(s.Cases), 3)] {
			if len(c.Cluster.NotGiven) > 0 {
				require.ErrorContains(t, c.Write(io.Discard), "a case has to hold all that its preemptor depends on")
				continue
			}
			once := written(t, c)
			again := readOne(t, once)
			c.Name = fileName(c.Name)
			require.Empty(t, diffCases(c, again))
			require.Equal(t, once, written(t, again))
		}
	})
}
