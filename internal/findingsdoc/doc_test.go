package findingsdoc

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

var update = flag.Bool("update", false, "write docs/findings.md anew")

const (
	document = "../../docs/findings.md"
	cases    = "../../corpus/cases"
)

func TestDocumentIsUpToDate(t *testing.T) {
	system := inprocess.New()
	t.Cleanup(func() { assert.NoError(t, system.Close()) })
	got, err := Render(context.Background(), properties.LedgerOfAll(), system, cases)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(document, got, 0o644))
	}
	want, err := os.ReadFile(document)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", document, diff)
	}
}

func TestEntryThatLacksSomething(t *testing.T) {
	system := inprocess.New()
	t.Cleanup(func() { assert.NoError(t, system.Close()) })
	for name, test := range map[string]struct {
		change func(e *properties.LedgerEntry)
		want   string
	}{
		"no test":       {func(e *properties.LedgerEntry) { e.ID = "new" }, "finding new: there is no test for it in internal/upstreamtests"},
		"no witness":    {func(e *properties.LedgerEntry) { e.Witness = "no-such-case" }, "no-such-case.yaml"},
		"wrong witness": {func(e *properties.LedgerEntry) { e.Witness = "basic-preemption" }, "finding empty-selector: the witness no longer shows it"},
	} {
		t.Run(name, func(t *testing.T) {
			entry, ok := properties.LookUp("empty-selector")
			require.True(t, ok)
			test.change(&entry)
			_, err := Render(context.Background(), []properties.LedgerEntry{entry}, system, cases)
			require.ErrorContains(t, err, test.want)
		})
	}
}
