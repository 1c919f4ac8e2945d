package linked

import (
	"fmt"

	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// DefaultProfiles is the configuration upstream.New would use by itself
// (scheduler.go:301@v1.37.1), with the arguments of DefaultPreemption set. With
// noConstraints, pods are not spread by default. The registered plugins are in it, too.
func DefaultProfiles(minPercentage, minNumber int32, noConstraints bool) ([]config.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var cfg config.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &cfg, nil); err != nil {
		return nil, err
	}
	found := false
	for _, pc := range cfg.Profiles[0].PluginConfig {
		switch args := pc.Args.(type) {
		case *config.DefaultPreemptionArgs:
			args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute = minPercentage, minNumber
			found = true
		case *config.PodTopologySpreadArgs:
			if noConstraints {
				args.DefaultingType, args.DefaultConstraints = config.ListDefaulting, nil
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("the default profile configures no %s", defaultpreemption.Name)
	}
	for i := range cfg.Profiles {
		addRegistered(&cfg.Profiles[i])
	}
	return cfg.Profiles, nil
}
