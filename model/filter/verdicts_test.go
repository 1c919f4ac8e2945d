package filter_test

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// verdicts are what the documented plugins together say of a cluster's nodes.
func verdicts(preemptor *v1.Pod, objects ...any) map[string]*model.Verdict {
	cy := model.Documented().NewCycle(mk.Cluster(preemptor, objects...))
	verdicts, failure := cy.Filter(cy)
	if failure != "" {
		panic(failure)
	}
	return verdicts
}

// verdictOnN is the verdict on node n as text; "" if the preemptor fits there.
func verdictOnN(preemptor *v1.Pod, objects ...any) string {
	if failed := verdicts(preemptor, objects...)["n"]; failed != nil {
		return failed.String()
	}
	return ""
}
