package generators

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// drawn are the features of clusters, one map a cluster.
func drawn(clusters int) []map[string]bool {
	all := make([]map[string]bool, clusters)
	for seed := range all {
		f := reflect.ValueOf(drawFeatures(draw.FromSeed(uint64(seed))))
		all[seed] = map[string]bool{}
		for i := range f.NumField() {
			if f.Field(i).Kind() == reflect.Bool {
				all[seed][f.Type().Field(i).Name] = f.Field(i).Bool()
			}
		}
	}
	return all
}

// TestFeaturesMeet: any two features meet within so many clusters, also with any
// third one absent.
func TestFeaturesMeet(t *testing.T) {
	const clusters = 5000
	features := drawn(clusters)
	var names []string
	for name := range features[0] {
		names = append(names, name)
	}
	require.Greater(t, len(names), 20)
	least := clusters
	for _, a := range names {
		for _, b := range names {
			if a >= b {
				continue
			}
			meet, without := 0, map[string]int{}
			for _, f := range features {
				if !f[a] || !f[b] {
					continue
				}
				meet++
				for _, c := range names {
					if !f[c] {
						without[c]++
					}
				}
			}
			require.Greaterf(t, meet, clusters/250, "clusters with %s and %s", a, b)
			for _, c := range names {
				// A feature that is part of another is there with it.
				if c != a && c != b && !implied[c][a] && !implied[c][b] {
					require.Positivef(t, without[c], "clusters with %s and %s and without %s", a, b, c)
				}
			}
			least = min(least, meet)
		}
	}
	t.Logf("every two of %d features meet in %d of %d clusters at least", len(names), least, clusters)
}

// implied names features that others cannot do without.
var implied = map[string]map[string]bool{
	"taints":      {"compared": true},
	"podAffinity": {"roomy": true},
}

// TestFewFeatures: most clusters are still about few things.
func TestFewFeatures(t *testing.T) {
	few := 0
	for _, f := range drawn(2000) {
		on := 0
		for _, is := range f {
			if is {
				on++
			}
		}
		if on <= 8 {
			few++
		}
	}
	require.Greater(t, few, 2000*7/10, "clusters with at most 8 features")
}
