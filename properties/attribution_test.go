package properties_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
)

// A known finding explains itself and hides no other of the same property.
func TestKnownFindingsHideNoOthers(t *testing.T) {
	c := checktest.Cluster()
	now := metav1.Now()
	c.Pods[0].DeletionTimestamp = &now // low, the victim: nothing is left to delete
	system := checktest.Checker(t).System
	checker := &properties.Checker{Properties: []properties.Property{invariant.LowerNominationsCleared}, System: checktest.Liar{System: system, Tell: func(_ *model.Cluster, o *model.Observation) {
		o.Actuation.Cleared = []string{"default/high"}
	}}}
	r, err := checker.Check(context.Background(), c)
	require.NoError(t, err)
	known := map[string][]string{}
	for _, f := range r.Findings {
		if f.Property != properties.Differential {
			known[f.About()] = f.Known
		}
	}
	assert.Equal(t, map[string][]string{"default/waiting": {"terminating-victims-keep-nominations"}, "default/high": nil}, known)
}
