package dynamicresources

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	schedulingapi "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/kubernetes/test/utils/ktesting"
)

// The pod group has a claim, and its pod one of its own. An entry for which no claim was generated is ignored.
func TestPreBind_EntryWithoutClaim(t *testing.T) {
	shared := v1.PodResourceClaim{Name: "shared", ResourceClaimName: new("shared")}
	own := v1.PodResourceClaim{Name: "own", ResourceClaimName: new("own")}
	none := v1.PodResourceClaim{Name: "none", ResourceClaimTemplateName: new("template")}
	for _, tt := range []struct {
		name    string
		entries []v1.PodResourceClaim
		claim   string
		want    string
	}{
		{name: "the claim of the group alone", entries: []v1.PodResourceClaim{shared}, claim: "shared", want: "podgroups my-podgroup"},
		{name: "a claim of the pod behind that of the group", entries: []v1.PodResourceClaim{shared, own}, claim: "own", want: "pods my-pod"},
		{name: "the claim of the group before an entry without a claim", entries: []v1.PodResourceClaim{shared, none}, claim: "shared", want: "podgroups my-podgroup"},
		{name: "the claim of the group behind an entry without a claim", entries: []v1.PodResourceClaim{none, shared}, claim: "shared", want: "podgroups my-podgroup"},
		{name: "a claim of the pod behind both", entries: []v1.PodResourceClaim{none, shared, own}, claim: "own", want: "pods my-pod"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tCtx := ktesting.Init(t)
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
				features.DRAWorkloadResourceClaims: true,
				features.GenericWorkload:           true,
			})
			pod := st.MakePod().Name(podName).Namespace(namespace).UID(podUID).PodGroupName(podGroupName).PodResourceClaims(tt.entries...).Obj()
			pod.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "none"}}
			group := st.MakePodGroup().Name(podGroupName).Namespace(namespace).UID(types.UID(podGroupUID)).ResourceClaims(
				schedulingapi.PodGroupResourceClaim{Name: "shared", ResourceClaimName: new("shared")}).Obj()
			var claims []*resourceapi.ResourceClaim
			for i, name := range []string{"shared", "own"} {
				claim := st.MakeResourceClaim().Name(name).Namespace(namespace).Request(className).Obj()
				claim.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{
					Results: []resourceapi.DeviceRequestAllocationResult{{Request: "req-1", Driver: driver, Pool: nodeName, Device: []string{"instance-1", "instance-2"}[i]}}}}
				claims = append(claims, claim)
			}
			testCtx := setup(tCtx, nil, []*v1.Node{workerNode}, claims, []*resourceapi.DeviceClass{deviceClass}, []*schedulingapi.PodGroup{group}, []apiruntime.Object{},
				feature.Features{EnableDRADeviceBindingConditions: true, EnableDRAResourceClaimDeviceStatus: true, EnableDRASchedulerFilterTimeout: true,
					EnableDRAWorkloadResourceClaims: true, EnableDynamicResourceAllocation: true}, false, nil)
			nodeInfo := framework.NewNodeInfo()
			nodeInfo.SetNode(workerNode)
			state := framework.NewCycleState()
			if _, s := testCtx.p.PreFilter(tCtx, state, pod, []fwk.NodeInfo{nodeInfo}); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.Filter(tCtx, state, pod, nodeInfo); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.Reserve(tCtx, state, pod, nodeName); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			if s := testCtx.p.PreBind(tCtx, state, pod, nodeName); !s.IsSuccess() {
				t.Fatal(s.AsError())
			}
			stored, err := testCtx.client.ResourceV1().ResourceClaims(namespace).Get(tCtx, tt.claim, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			users := stored.Status.ReservedFor
			if len(users) != 1 {
				t.Fatalf("users of the claim: got %v, want one", users)
			}
			if got := users[0].Resource + " " + users[0].Name; got != tt.want {
				t.Errorf("the claim is reserved for %s, want %s", got, tt.want)
			}
		})
	}
}
