package fingerprint_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
)

// The findings about volumes are told apart by what is in play in their witnesses.
func TestVolumesTellFindingsApart(t *testing.T) {
	const claims = "claims, claims of others, claims for one pod"
	for finding, want := range map[string]string{
		"claim-of-other-namespace":      claims + ", several namespaces, higher priority",
		"claim-counted-once":            claims + ", higher priority",
		"nominated-claim-ignored":       "nominated pods, " + claims + ", higher priority",
		"attached-volume-counted-twice": "claims, claims for one pod, attach limits, attached volumes",
		"victim-volumes-stay-attached":  claims + ", attach limits, attached volumes",
		"foreign-ephemeral-claim":       "claims, ephemeral volumes, claims for one pod, attach limits, claims to be bound",
		"volume-node-fields":            "cordons, claims, claims for one pod, node affinity of volumes, node fields of volumes",
	} {
		s, err := corpus.Load("../cases/finding-" + finding + ".yaml")
		require.NoError(t, err)
		require.Equal(t, want, fingerprint.Identify(&properties.Finding{Kind: answers.KindFits}, s.Cases[0].Cluster).Shape, finding)
	}
}

// What is left without an aspect is a cluster that an API server stores, and it
// does not have that aspect any more.
func TestWithoutIsAdmitted(t *testing.T) {
	seen := map[string]int{}
	check := func(c *model.Cluster) {
		for name, plain := range fingerprint.Without(c) {
			seen[name]++
			require.NoError(t, apiserver.Admit(plain), "without %s", name)
			require.Nil(t, fingerprint.Strip(plain, name), name)
		}
		if slices.Contains(fingerprint.Shape(c), "claims to be bound") {
			seen["claims to be bound"]++
		}
	}
	s, err := corpus.Load("../cases/finding-volume-node-fields.yaml") // which are rare
	require.NoError(t, err)
	check(s.Cases[0].Cluster)
	for seed, clusters := uint64(0), 0; clusters < 40; seed++ {
		c := generators.FromSeed(seed)
		if len(c.Extra) == 0 {
			continue
		}
		clusters++
		require.NoError(t, apiserver.Admit(c))
		check(c)
	}
	for _, name := range []string{"claims", "claims of others", "ephemeral volumes", "disks", "claims for one pod", "claims to be bound",
		"attach limits", "attached volumes", "required drivers", "node affinity of volumes", "node fields of volumes", "zones of volumes",
		"selectors of claims", "selected nodes", "allowed topologies", "storage capacity"} {
		require.Positive(t, seen[name], name)
	}
	t.Log(seen)
}
