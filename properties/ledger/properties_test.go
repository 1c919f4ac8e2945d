package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// The ledger names only properties that there are, and each once; and each quirk has
// an entry.
func TestLedgerNamesProperties(t *testing.T) {
	names := map[string]bool{}
	for _, p := range all.Properties() {
		assert.False(t, names[p.Name], "two properties %s", p.Name)
		names[p.Name] = true
	}
	ids := map[string]bool{}
	for _, e := range ledger.Linked() {
		assert.False(t, ids[e.ID], "two findings %s", e.ID)
		ids[e.ID] = true
		assert.True(t, e.Quirk != "" || len(e.Properties) > 0, "nothing recognises %s", e.ID)
		for i, p := range e.Properties {
			assert.NotContains(t, e.Properties[:i], p, "%s names it twice", e.ID)
			assert.True(t, names[p], "%s breaks %s, which is no property", e.ID, p)
		}
	}
	for _, quirk := range release.Quirks() {
		e, ok := ledger.LookUp(string(quirk))
		assert.True(t, ok && e.Quirk == quirk, "nothing tells about %s", quirk)
	}
}
