package device_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// A claim of which a device failed is of no use, whatever is said of the others; one whose devices are ready is as any other.
func TestBindingConditions(t *testing.T) {
	const fails, notModelled = "DynamicResources (unresolvable)", "not modelled"
	type results = []resourcev1.DeviceRequestAllocationResult
	type statuses = []resourcev1.AllocatedDeviceStatus
	result := func(name, share string) resourcev1.DeviceRequestAllocationResult {
		r := resourcev1.DeviceRequestAllocationResult{Driver: "a", Pool: "a", Device: name, BindingConditions: []string{"Attached", "Checked"}, BindingFailureConditions: []string{"Lost", "Broken"}}
		if share != "" {
			r.ShareID = new(types.UID(share))
		}
		return r
	}
	status := func(name string, conditions ...string) resourcev1.AllocatedDeviceStatus {
		s := resourcev1.AllocatedDeviceStatus{Driver: "a", Pool: "a", Device: name}
		for _, c := range conditions {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue})
		}
		return s
	}
	ofShare := status("1", "Broken")
	ofShare.ShareID = new("other")
	notBroken := status("1", "Attached", "Checked")
	notBroken.Conditions = append(notBroken.Conditions, metav1.Condition{Type: "Broken", Status: metav1.ConditionFalse})
	long, lately := metav1.NewTime(time.Now().Add(-device.BindingTimeout-61*time.Minute)), metav1.NewTime(time.Now().Add(-device.BindingTimeout-59*time.Minute))
	coming, soon := metav1.NewTime(time.Now().Add(61*time.Minute)), metav1.NewTime(time.Now().Add(59*time.Minute))
	for _, tt := range []struct {
		name             string
		results          results
		statuses         statuses
		want, byUpstream string
		since            *metav1.Time
	}{
		{"no conditions", results{{Driver: "a", Pool: "a", Device: "1"}}, nil, "", "", nil},
		{"ready", results{result("1", "")}, statuses{status("1", "Attached", "Checked")}, "", "", nil},
		{"ready, and not broken", results{result("1", "")}, statuses{notBroken}, "", "", nil},
		{"one condition is open", results{result("1", "")}, statuses{status("1", "Attached")}, notModelled, notModelled, nil},
		{"nobody has said anything", results{result("1", "")}, nil, notModelled, notModelled, nil},
		{"one condition is open, in time", results{result("1", "")}, statuses{status("1", "Attached")}, "", "", &coming},
		{"nobody has said anything, hardly in time", results{result("1", "")}, nil, notModelled, notModelled, &soon},
		{"broken, in time", results{result("1", ""), result("2", "")}, statuses{status("2", "Broken")}, fails, "", &coming},
		{"broken", results{result("1", "")}, statuses{status("1", "Broken")}, fails, fails, nil},
		{"ready, and broken since", results{result("1", "")}, statuses{status("1", "Attached", "Checked", "Broken")}, fails, fails, nil},
		{"another device is broken", results{result("1", "")}, statuses{status("1", "Attached", "Checked"), status("2", "Broken")}, "", "", nil},
		{"another share is broken", results{result("1", "mine")}, statuses{ofShare}, notModelled, notModelled, nil},
		{"the first of two is broken", results{result("1", ""), result("2", "")}, statuses{status("1", "Lost")}, fails, fails, nil},
		{"the second of two is broken", results{result("1", ""), result("2", "")}, statuses{status("1", "Attached", "Checked"), status("2", "Lost")}, fails, fails, nil},
		{"the second of two is broken, the first not ready", results{result("1", ""), result("2", "")}, statuses{status("2", "Lost")}, fails, "", nil},
		{"two shares of one device", results{result("1", "a"), result("1", "b")}, statuses{status("1", "Lost")}, notModelled, notModelled, nil},
		{"one condition is open for too long", results{result("1", "")}, statuses{status("1", "Attached")}, fails, fails, &long},
		{"one condition is open, perhaps for too long", results{result("1", "")}, statuses{status("1", "Attached")}, notModelled, notModelled, &lately},
		{"the second of two is open for too long", results{result("1", ""), result("2", "")}, statuses{status("1", "Attached", "Checked")}, fails, fails, &long},
		{"ready for long", results{result("1", "")}, statuses{status("1", "Attached", "Checked")}, "", "", &long},
		{"no conditions for long", results{{Driver: "a", Pool: "a", Device: "1"}}, nil, "", "", &long},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}}
			claim.Status.Allocation, claim.Status.Devices = &resourcev1.AllocationResult{}, tt.statuses
			claim.Status.Allocation.Devices.Results, claim.Status.Allocation.AllocationTimestamp = tt.results, tt.since
			p := mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.ResourceClaims = []v1.PodResourceClaim{{ResourceClaimName: new("c")}} })
			for want, rules := range map[*string]*answers.Rules{&tt.want: answers.Documented(), &tt.byUpstream: release.With(answers.Documented(), release.FailureBehindUnready)} {
				d, err := answers.Decide(&model.Cluster{Nodes: []*v1.Node{mk.Node("n", "2")}, Preemptor: p, Extra: []runtime.Object{claim}}, rules)
				got := ""
				switch {
				case err != nil:
					got = notModelled
				case d.Verdicts["n"] != nil:
					got = d.Verdicts["n"].String()
				}
				assert.Equal(t, *want, got)
			}
		})
	}
}

// The default is 600 seconds (kube-scheduler/config/v1, DynamicResourcesArgs.BindingTimeout).
func TestBindingTimeout(t *testing.T) {
	require.Equal(t, 600*time.Second, device.BindingTimeout)
}

// What is said of a device of the same name, in another pool or of another driver, does not count.
func TestConditionsOfAnotherDevice(t *testing.T) {
	for _, tt := range []struct {
		driver, pool string
		fits         bool
	}{{"a", "b", true}, {"b", "a", true}, {"a", "a", false}} {
		p, n, claim, _, _ := claiming()
		claim.Status.Allocation = &resourcev1.AllocationResult{}
		claim.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Driver: "a", Pool: "a", Device: "1", BindingFailureConditions: []string{"Broken"}}}
		claim.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: tt.driver, Pool: tt.pool, Device: "1", Conditions: []metav1.Condition{{Type: "Broken", Status: metav1.ConditionTrue}}}}
		st, _ := device.DynamicResources{}.PreFilter(model.NewSnapshot(mk.Cluster(p, n, claim)))
		require.Equal(t, tt.fits, st.(*device.State).Verdicts[0] == nil, "%s/%s", tt.driver, tt.pool)
	}
}

// A device that is not ready is told of, also behind one that has no conditions, or is ready.
func TestSecondDeviceIsNotReady(t *testing.T) {
	for _, conditions := range [][]string{nil, {"Ready"}} {
		p, n, claim, _, _ := claiming()
		claim.Status.Allocation = &resourcev1.AllocationResult{}
		claim.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Driver: "a", Pool: "a", Device: "1", BindingConditions: conditions}, {Driver: "a", Pool: "a", Device: "2", BindingConditions: []string{"Ready"}}}
		claim.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: "a", Pool: "a", Device: "1", Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}}}}
		require.Equal(t, []string{"status.allocation.devices.results[1].bindingConditions"}, fieldsOf(mk.Cluster(p, n, claim)), conditions)
	}
}

// Devices have conditions by their slice, or by what was copied as they were allocated.
func TestConditional(t *testing.T) {
	_, _, claim, slice, class := claiming()
	slice.Spec.Devices = []resourcev1.Device{{Name: "d"}, {Name: "e", BindingConditions: []string{"Ready"}}, {Name: "f", BindingFailureConditions: []string{"Broken"}}}
	open := claim.DeepCopy()
	claim.Status.Allocation = &resourcev1.AllocationResult{}
	claim.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Driver: "a", Pool: "p", Device: "0", BindingConditions: []string{"Ready"}}, {Driver: "a", Pool: "p", Device: "1"}, {Driver: "a", Pool: "p", Device: "2", BindingConditions: []string{"Ready"}}}
	require.Equal(t, map[string]bool{"gpu.example.com/n/e": true, "a/p/0": true, "a/p/2": true}, device.Conditional([]runtime.Object{open, class, claim, slice}))
}
