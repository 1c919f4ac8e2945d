package unmodelled_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

// All gates that are modelled are ones that some release does not know.
func TestGatesHaveReleases(t *testing.T) {
	for gate := range unmodelled.ModelledGates {
		c := mk.Cluster(mk.Pod("p", 9), model.Settings{FeatureGates: map[string]bool{gate: true}})
		assert.NotEmpty(t, vocabulary.Unknown(release.Releases()[0], c), gate)
	}
}
