package standin

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadPatch(t *testing.T) {
	for patch, want := range map[string]struct {
		disrupts, clears bool
		rest             []string
	}{
		`{"status":{"conditions":[{"type":"DisruptionTarget","status":"True"}]}}`:                                               {true, false, nil},
		`{"status":{"$setElementOrder/conditions":[{"type":"Ready"}],"conditions":[{"type":"DisruptionTarget","reason":"r"}]}}`: {true, false, nil},
		`{"status":{"nominatedNodeName":null}}`:                                                                                 {false, true, nil},
		`{"status":{"nominatedNodeName":null,"conditions":[{"type":"DisruptionTarget","status":"True"}]}}`:                      {true, true, nil},
		`{"status":{"nominatedNodeName":"n1"}}`:                                                                                 {false, false, []string{"nominatedNodeName"}},
		`{"status":{"nominatedNodeName":null,"phase":"Failed"}}`:                                                                {false, true, []string{"phase"}},
		`{"status":{"conditions":[{"type":"DisruptionTarget","status":"False"}]}}`:                                              {false, false, []string{"condition DisruptionTarget"}},
		`{"status":{"conditions":[{"type":"DisruptionTarget","$patch":"delete"}]}}`:                                             {false, false, []string{"condition DisruptionTarget"}},
		`{"status":{"conditions":[{"type":"DisruptionTarget","status":"True"},{"type":"Ready","status":"False"}]}}`:             {true, false, []string{"condition Ready"}},
		`{"metadata":{"labels":null},"status":{"nominatedNodeName":null}}`:                                                      {false, false, []string{`{"metadata":{"labels":null},"status":{"nominatedNodeName":null}}`}},
		`nonsense`: {false, false, []string{"nonsense"}},
	} {
		disrupts, clears, rest := readPatch([]byte(patch))
		slices.Sort(rest)
		require.Equal(t, want.disrupts, disrupts, patch)
		require.Equal(t, want.clears, clears, patch)
		require.Equal(t, want.rest, rest, patch)
	}
}
