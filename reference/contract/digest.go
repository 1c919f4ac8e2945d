package contract

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/davecgh/go-spew/spew"
)

// dump writes everything that a value holds, unexported fields included.
var dump = spew.ConfigState{Indent: " ", DisableMethods: true, DisablePointerAddresses: true, DisableCapacities: true, SortKeys: true, SpewKeys: true}

// digest is a line for each of the things that Filter must not change: the pod, the snapshot, and the nodes of the state.
func (x *session) digest(st *state) string {
	var lines []string
	add := func(name string, v any) {
		lines = append(lines, fmt.Sprintf("%s %x", name, sha256.Sum256([]byte(dump.Sdump(v)))))
	}
	add("pod", x.preemptor)
	add("snapshot", x.snapshot)
	if st != nil {
		for _, name := range slices.Sorted(maps.Keys(st.nodes)) {
			add("node "+name, st.nodes[name])
		}
	}
	return strings.Join(lines, "\n")
}
