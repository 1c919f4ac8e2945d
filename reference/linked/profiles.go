package linked

import (
	"fmt"

	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// DefaultProfiles is the configuration upstream.New would use by itself
// (scheduler.go:301@v1.37.1), with the arguments of DefaultPreemption set.
func DefaultProfiles(minPercentage, minNumber int32) ([]config.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var cfg config.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &cfg, nil); err != nil {
		return nil, err
	}
	for _, pc := range cfg.Profiles[0].PluginConfig {
		if args, ok := pc.Args.(*config.DefaultPreemptionArgs); ok {
			args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute = minPercentage, minNumber
			return cfg.Profiles, nil
		}
	}
	return nil, fmt.Errorf("the default profile configures no %s", defaultpreemption.Name)
}
