//go:build !k1.27

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// RunScorePlugins makes the first name win among nodes of equal score, where
// upstream draws lots.
func (r *recorder) RunScorePlugins(ctx context.Context, state cycleState, pod *v1.Pod, nodes []*v1.Node) (framework.PluginToNodeScores, *status) {
	scores, st := r.Framework.RunScorePlugins(ctx, state, pod, nodes)
	total := make([]int64, len(nodes))
	for _, list := range scores {
		for i := range list {
			total[i] += list[i].Score
		}
	}
	best := 0
	for i, n := range nodes {
		if total[i] > total[best] || total[i] == total[best] && n.Name < nodes[best].Name {
			best = i
		}
	}
	for _, list := range scores {
		list[best].Score++
		break
	}
	return scores, st
}

func withPercentageOfNodesToScore(percentage int32) upstream.Option {
	return upstream.WithPercentageOfNodesToScore(percentage)
}
