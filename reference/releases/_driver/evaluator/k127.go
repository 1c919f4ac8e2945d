//go:build k1.27

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	upstream "k8s.io/kubernetes/pkg/scheduler"
)

func (r *recorder) RunScorePlugins(ctx context.Context, state cycleState, pod *v1.Pod, nodes []extendedNode) ([]nodePluginScores, *status) {
	scores, st := r.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if len(scores) > 0 {
		best := 0
		for i, s := range scores {
			if s.TotalScore > scores[best].TotalScore || s.TotalScore == scores[best].TotalScore && s.Name < scores[best].Name {
				best = i
			}
		}
		scores[best].TotalScore++
	}
	return scores, st
}

func withPercentageOfNodesToScore(percentage int32) upstream.Option {
	return upstream.WithPercentageOfNodesToScore(&percentage)
}
