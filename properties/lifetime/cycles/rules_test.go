package cycles

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model/release"
)

// Quirks explain something together, also where one of them would spoil it.
func TestExplaining(t *testing.T) {
	all := []release.Quirk{"a", "b", "c"}
	for name, tt := range map[string]struct {
		needs, spoils []release.Quirk
		explaining    []release.Quirk
		least         []release.Quirk
	}{
		"all together":          {[]release.Quirk{"a"}, nil, all, []release.Quirk{"a"}},
		"two are needed":        {[]release.Quirk{"a", "c"}, nil, all, []release.Quirk{"a", "c"}},
		"one spoils it":         {[]release.Quirk{"a"}, []release.Quirk{"b"}, []release.Quirk{"a", "c"}, []release.Quirk{"a"}},
		"what is needed spoils": {[]release.Quirk{"a"}, []release.Quirk{"a"}, nil, nil},
		"one is missing":        {[]release.Quirk{"d"}, nil, nil, nil},
	} {
		explain := func(quirks []release.Quirk) bool {
			has := func(q release.Quirk) bool { return slices.Contains(quirks, q) }
			return !slices.ContainsFunc(tt.needs, func(q release.Quirk) bool { return !has(q) }) && !slices.ContainsFunc(tt.spoils, has)
		}
		require.Equal(t, tt.explaining, Explaining(all, explain), name)
		require.Equal(t, tt.least, LeastOf(Explaining(all, explain), explain), name)
	}
}
