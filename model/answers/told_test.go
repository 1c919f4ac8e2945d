package answers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// What a scheduler says of devices is believed, and all else is the model's.
func TestTold(t *testing.T) {
	c := mk.Cluster(mk.Pod("p", 9, mk.CPU("1")), mk.Node("n", "1"), mk.Node("m", "1"), mk.Node("o", "1"),
		mk.Pod("on-n", 0, mk.CPU("1"), mk.On("n")), mk.Pod("on-m", 0, mk.CPU("1"), mk.On("m")))
	own := "own"
	c.Preemptor.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "a", ResourceClaimName: &own}}
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: own, Namespace: "default"}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "any",
		AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1, DerivedAttributes: []resourcev1.DeviceDerivedAttribute{{Name: "example.com/a"}}}}}
	c.Extra = append(c.Extra, claim)
	_, err := answers.Decide(c, answers.Documented())
	require.ErrorAs(t, err, new(model.Unmodelled))

	resources := model.Verdict{Plugin: "NodeResourcesFit"}
	devices := model.Verdict{Plugin: "DynamicResources", Unresolvable: true}
	o := &model.Observation{
		Filters:  map[string]model.Verdict{"n": resources, "m": resources, "o": devices},
		Eligible: &model.Eligibility{OK: true},
		DryRuns:  map[string]model.DryRun{"n": {Victims: []string{"default/on-n"}}, "m": {Failed: &devices}},
	}
	rules, ok := answers.Told(answers.Documented(), o)
	require.True(t, ok)
	d, err := answers.Decide(c, rules)
	require.NoError(t, err)
	assert.Equal(t, []string{"m", "n"}, d.PotentialNodes)
	_, failed := d.DryRunOn("m")
	assert.Equal(t, "DynamicResources", failed.Plugin)
	outcomes, _ := d.DryRunOn("n")
	require.Len(t, outcomes, 1)
	assert.Equal(t, []string{"default/on-n"}, outcomes[0].Victims)

	o.Filters = map[string]model.Verdict{"n": devices, "m": devices, "o": devices}
	d, err = answers.Decide(c, rules)
	require.NoError(t, err)
	assert.Equal(t, devices.Plugin, d.Verdicts["n"].Plugin, "also of nodes that would fail by another plugin first")
	c.NotGiven = []model.UnmodelledField{{Object: "dump"}}
	_, err = answers.Decide(c, rules)
	assert.ErrorAs(t, err, new(model.Unmodelled), "nothing else is believed")

	for _, unknown := range []*model.Observation{
		{CycleError: "oops", Filters: map[string]model.Verdict{}, ScheduledTo: "n"},
		{ScheduledTo: "n"},
		{Filters: map[string]model.Verdict{}},
		{Filters: map[string]model.Verdict{}, ScheduledTo: "n", DryRuns: map[string]model.DryRun{"n": {Error: "oops"}}},
		{Filters: map[string]model.Verdict{}, ScheduledTo: "n", Crash: &model.Crash{}},
	} {
		_, ok := answers.Told(answers.Documented(), unknown)
		assert.False(t, ok)
	}
}
