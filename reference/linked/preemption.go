package linked

import (
	"context"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

// Preemption is the DefaultPreemption of a profile. One that a configuration has none in gets
// one that nobody asks, so that there is always one to watch.
func Preemption(ctx context.Context, profile framework.Framework) (*defaultpreemption.DefaultPreemption, error) {
	for _, p := range profile.EnqueueExtensions() {
		if plugin, is := p.(*defaultpreemption.DefaultPreemption); is {
			return plugin, nil
		}
	}
	args := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}
	return defaultpreemption.New(ctx, args, profile, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
}
