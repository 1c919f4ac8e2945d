//go:build k1.27

package main

import upstream "k8s.io/kubernetes/pkg/scheduler"

func withPercentageOfNodesToScore(percentage int32) upstream.Option {
	return upstream.WithPercentageOfNodesToScore(&percentage)
}
