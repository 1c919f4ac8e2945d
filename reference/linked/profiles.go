package linked

import (
	"fmt"

	configv1 "k8s.io/kube-scheduler/config/v1"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"

	"github.com/preemptcheck/preemptcheck/model"
)

// Configured is the configuration that the settings ask for: the one that they hold, or
// else the one that upstream.New would use by itself (scheduler.go:301@v1.37.1), with a
// profile for each that they name. The parallelism is 1 unless they ask for more: one worker
// makes the order of dry runs, and so an early stop, exact. The feature gates that it is
// for must be in force, as the default plugins depend on them.
func Configured(s model.Settings) (*config.KubeSchedulerConfiguration, error) {
	cfg, err := whole(s)
	if err != nil {
		return nil, err
	}
	if cfg.Parallelism = 1; s.Workers() != nil {
		cfg.Parallelism = *s.Workers()
	}
	for i := range cfg.Profiles {
		for _, pc := range cfg.Profiles[i].PluginConfig {
			if args, is := pc.Args.(*config.PodTopologySpreadArgs); is && s.NoDefaultConstraints {
				args.DefaultingType, args.DefaultConstraints = config.ListDefaulting, nil
			}
		}
	}
	return cfg, nil
}

func whole(s model.Settings) (*config.KubeSchedulerConfiguration, error) {
	if len(s.Configuration) > 0 {
		return decode(s.Configuration)
	}
	cfg, err := byDefault()
	if err != nil {
		return nil, err
	}
	addRegistered(&cfg.Profiles[0])
	first := cfg.Profiles[0].DeepCopy()
	if err := preempts(&cfg.Profiles[0], s.MinCandidateNodesPercentage, s.MinCandidateNodesAbsolute); err != nil {
		return nil, err
	}
	if p := s.SecondProfile; p != nil {
		first.SchedulerName = p.SchedulerName
		if err := preempts(first, p.MinCandidateNodesPercentage, p.MinCandidateNodesAbsolute); err != nil {
			return nil, err
		}
		cfg.Profiles = append(cfg.Profiles, *first)
	}
	if p := s.PercentageOfNodesToScore; p != nil {
		cfg.PercentageOfNodesToScore = p
	}
	return cfg, nil
}

func byDefault() (*config.KubeSchedulerConfiguration, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	cfg := &config.KubeSchedulerConfiguration{}
	return cfg, scheme.Scheme.Convert(&versioned, cfg, nil)
}

// preempts sets the arguments of DefaultPreemption, of which nil means the default.
func preempts(p *config.KubeSchedulerProfile, minPercentage, minNumber *int32) error {
	for _, pc := range p.PluginConfig {
		if args, is := pc.Args.(*config.DefaultPreemptionArgs); is {
			if minPercentage != nil {
				args.MinCandidateNodesPercentage = *minPercentage
			}
			if minNumber != nil {
				args.MinCandidateNodesAbsolute = *minNumber
			}
			return nil
		}
	}
	return fmt.Errorf("the default profile configures no %s", defaultpreemption.Name)
}

// Options are those that upstream.New gets of a configuration, as kube-scheduler itself gives
// them (cmd/kube-scheduler/app/server.go:434@v1.37.1, Setup).
func Options(cfg *config.KubeSchedulerConfiguration) []upstream.Option {
	return []upstream.Option{
		upstream.WithComponentConfigVersion(configv1.SchemeGroupVersion.String()),
		upstream.WithProfiles(cfg.Profiles...),
		upstream.WithFrameworkOutOfTreeRegistry(Registry()),
		upstream.WithParallelism(cfg.Parallelism),
		upstream.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		upstream.WithExtenders(cfg.Extenders...),
		upstream.WithPodInitialBackoffSeconds(cfg.PodInitialBackoffSeconds),
		upstream.WithPodMaxBackoffSeconds(cfg.PodMaxBackoffSeconds),
	}
}
