package relation

import (
	"math/rand/v2"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/properties"
)

var settingStartTimes = relation{
	name: "setting-start-times",
	promise: "A pod without a start time starts now. So it makes no difference if it has one that is later than all others, and the same for all such pods; " +
		"provided that no pod starts in the future.",
	source: "doc comment of GetPodStartTime (util/utils.go:51@v1.37.1)",
	lies:   []string{"pods without a start are counted"},
	vary: func(s *properties.Subject, _ *rand.Rand) *variation {
		latest, missing := metav1.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), false
		for _, p := range s.Cluster.Pods {
			switch {
			case p.Spec.NodeName == "":
			case p.Status.StartTime == nil:
				missing = true
			case latest.Before(p.Status.StartTime):
				latest = *p.Status.StartTime
			}
		}
		if !missing || latest.After(time.Now().Add(-2*time.Hour)) {
			return nil
		}
		start := metav1.NewTime(latest.Add(time.Hour))
		return &variation{cluster: withPods(s.Cluster, func(p *v1.Pod) {
			if p.Spec.NodeName != "" && p.Status.StartTime == nil {
				p.Status.StartTime = &start
			}
		})}
	},
}
