package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// Of generated clusters, as a release stores them, little is left that it does not know.
func TestStored(t *testing.T) {
	for minor := 25; minor <= 37; minor++ {
		r, err := release.Parse(fmt.Sprintf("v1.%d.0", minor))
		require.NoError(t, err)
		before, after := 0, 0
		for seed := range uint64(500) {
			c := generators.FromSeedWith(seed, map[string]bool{model.GateWorkload: false})
			if len(r.Unknown(c)) > 0 {
				before++
			}
			r.Stored(c)
			left := r.Unknown(c)
			if len(left) > 0 {
				after++
			}
			for _, u := range left {
				require.True(t, u.Field == "amounts beyond 64 bits" || strings.HasPrefix(u.Object, "ResourceClaim ") || strings.HasPrefix(u.Object, "ResourceSlice ") ||
					strings.HasPrefix(u.Object, "DeviceClass "), "v1.%d, seed %d: %v", minor, seed, u)
			}
		}
		t.Logf("v1.%d: %d of 500 clusters have what it does not know, %d as it stores them", minor, before, after)
		if minor < 37 {
			require.Less(t, after, before)
		}
		require.Less(t, after, 50)
	}
}
