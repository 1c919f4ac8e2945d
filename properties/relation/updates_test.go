package relation

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// forgetful keeps its first node as it was before an update.
type forgetful struct{ reference.StressSystem }

func (f forgetful) ObserveUnder(ctx context.Context, c *model.Cluster, under reference.Circumstances) (*model.Observation, error) {
	c = c.DeepCopy()
	c.Nodes[0].Status.Allocatable = v1.ResourceList{v1.ResourcePods: resource.MustParse("0")}
	return f.StressSystem.ObserveUnder(ctx, c, under)
}

// broken panics at updates.
type broken struct{ reference.StressSystem }

func (broken) ObserveUnder(context.Context, *model.Cluster, reference.Circumstances) (*model.Observation, error) {
	return &model.Observation{Crash: &model.Crash{Kind: model.Panic, Message: "oops", Where: "cache.go:1"}}, nil
}

func TestUpdatesAgree(t *testing.T) {
	system := checktest.System(t).(reference.StressSystem)
	for seed := range uint64(testsize.Times(1000)) {
		s := checktest.Subject(t, system, generators.FromSeed(seed))
		findings, err := UpdatesAgree.Findings(s)
		require.NoError(t, err, "seed %d", seed)
		findings = slices.DeleteFunc(findings, func(f properties.Finding) bool { return len(f.Known) > 0 })
		require.Empty(t, findings, "seed %d", seed)
	}
	require.Equal(t, []string{"an update of a node is forgotten", "an update ends in a panic"}, UpdatesAgree.Lies)
	for _, lying := range []reference.System{forgetful{system}, broken{system}} {
		findings, err := UpdatesAgree.Findings(checktest.Subject(t, lying, checktest.Cluster()))
		require.NoError(t, err)
		require.NotEmpty(t, findings)
	}
}
