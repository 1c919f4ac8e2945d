package release_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// Before 1.37 only containers that run on were resized.
func TestOccupiedEachDuringResize(t *testing.T) {
	const flag = "a pod that is resized takes the largest of what is desired, allocated and in effect, of all containers together"
	each := release.Algorithm(func(f release.Flag) bool { return f.Name != flag })
	// occupied is the CPU, in milliCPU, that a pod with an infeasible resize takes.
	occupied := func(rules *answers.Rules, init v1.Container) filter.Quantity {
		init.Name = "init"
		cy := rules.NewCycle(mk.Cluster(mk.Pod("preemptor", 9), mk.Node("n", "9"), mk.Pod("p", 0, mk.On("n"), func(p *v1.Pod) {
			p.Spec.InitContainers = []v1.Container{init}
			p.Status.InitContainerStatuses = []v1.ContainerStatus{{Name: "init", AllocatedResources: mk.Resources("cpu", "1"),
				Resources: &v1.ResourceRequirements{Requests: mk.Resources("cpu", "1")}}}
			p.Status.Conditions = []v1.PodCondition{{Type: v1.PodResizePending, Reason: v1.PodReasonInfeasible}}
		})))
		st, _ := filter.As[*filter.ResourcesState](cy.State("NodeResourcesFit"))
		needs := st.Needs[cy.Node("n").Pods[0].Index]
		assert.Len(t, needs, 1)
		return needs.Get(v1.ResourceCPU).RoundedUp()
	}
	assert.Equal(t, filter.Whole(1000), occupied(each, mk.Sidecar("cpu", "3")))
	assert.Equal(t, filter.Whole(3000), occupied(each, mk.Container("cpu", "3")))
	assert.Equal(t, filter.Whole(1000), occupied(answers.Documented(), mk.Container("cpu", "3")))
}
