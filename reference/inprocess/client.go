package inprocess

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/releases/standin"
)

// deallocated names the claim that loses its allocation and all that it is reserved
// for, if that is what is written.
func deallocated(a clienttesting.Action) string {
	update, ok := a.(clienttesting.UpdateAction)
	if !ok || a.GetSubresource() != "status" {
		return ""
	}
	claim, ok := update.GetObject().(*resourcev1.ResourceClaim)
	if !ok || claim.Status.Allocation != nil || len(claim.Status.ReservedFor)+len(claim.Status.Devices) > 0 {
		return ""
	}
	return model.Key(claim)
}

// apiCacher stands in for the API dispatcher, through which a scheduler with the
// gate SchedulerAsyncAPICalls sends its patches: the request is the observation.
type apiCacher struct{ c *standin.Client }

func (a apiCacher) PatchPodStatus(pod *v1.Pod, conditions []*v1.PodCondition, info *fwk.NominatingInfo) (<-chan error, error) {
	if len(conditions) == 0 && info.Mode() == fwk.ModeOverride && info.NominatedNodeName == "" {
		a.c.AddCleared(model.Key(pod))
	} else {
		a.c.AddOther(fmt.Sprintf("patch %s: %d conditions, nomination %v", model.Key(pod), len(conditions), info))
	}
	return nil, nil
}

func (a apiCacher) BindPod(b *v1.Binding) (<-chan error, error) {
	a.c.AddOther("bind " + model.Key(b))
	return nil, nil
}

func (apiCacher) WaitOnFinish(context.Context, <-chan error) error { return nil }
