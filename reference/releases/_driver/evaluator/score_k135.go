//go:build k1.35

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// RunScorePlugins makes the first name win among nodes of equal score, where
// upstream draws lots.
func (r *recorder) RunScorePlugins(ctx context.Context, state cycleState, pod *v1.Pod, nodes []nodeInfo) ([]fwk.NodePluginScores, *status) {
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
