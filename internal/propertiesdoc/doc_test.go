package propertiesdoc

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
)

var update = flag.Bool("update", false, "write docs/properties.md anew")

const document = "../../docs/properties.md"

func TestDocumentIsUpToDate(t *testing.T) {
	got := Render()
	if *update {
		require.NoError(t, os.WriteFile(document, got, 0o644))
	}
	want, err := os.ReadFile(document)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", document, diff)
	}
}

// Every property that a checker checks has a row, and no cell of it is empty.
func TestEveryPropertyIsTold(t *testing.T) {
	rows := map[string]string{}
	for line := range strings.Lines(string(Render())) {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` | "); ok {
			rows[name] = rest
		}
	}
	everything := append(all.Properties(), properties.AllowedAnswer())
	assert.Len(t, rows, len(everything))
	for _, p := range everything {
		cells := strings.Split(strings.TrimSuffix(rows[p.Name], " |\n"), " | ")
		if assert.Len(t, cells, 4, p.Name) {
			assert.NotContains(t, cells, "", p.Name)
		}
	}
}
