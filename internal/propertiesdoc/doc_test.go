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
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
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
	rows := map[string]string{} // by kind and name: a name may be there for answers and for timelines
	for line := range strings.Lines(string(Render())) {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` | "); ok {
			rows[name+ofTimelines(strings.Contains(rest, " | lifetime | "))] = rest
		}
	}
	everything := append(all.Properties(), properties.AllowedAnswer())
	var told []string
	for _, p := range everything {
		told = append(told, p.Name)
	}
	for _, p := range lifetime.All() {
		told = append(told, p.Name+ofTimelines(true))
	}
	for _, r := range variation.All() {
		told = append(told, r.Name)
	}
	assert.Len(t, rows, len(told))
	for _, name := range told {
		cells := strings.Split(strings.TrimSuffix(rows[name], " |\n"), " | ")
		if assert.Len(t, cells, 4, name) {
			assert.NotContains(t, cells, "", name)
		}
	}
}

func ofTimelines(is bool) string {
	if is {
		return " of timelines"
	}
	return ""
}
