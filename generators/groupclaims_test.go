package generators_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

// Claims of groups are drawn by name and from templates, shared by several pods or not, and behind entries without a claim; most such clusters
// are modelled.
func TestGroupClaims(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(6000) {
		c := generators.OfAnyPreemptor(seed, map[string]bool{model.GateWorkload: true, device.GateGroupClaims: true})
		group, ok := c.Group(c.PreemptorGroup).(*schedulingv1beta1.PodGroup)
		if !ok || len(group.Spec.ResourceClaims) == 0 {
			continue
		}
		count["all"]++
		if len(unmodelled.InGroup(c)) == 0 {
			count["modelled"]++
		}
		for _, of := range group.Spec.ResourceClaims {
			if of.ResourceClaimName != nil {
				count["named"]++
			} else {
				count["from a template"]++
			}
		}
		users, behind := 0, false
		for _, m := range c.Members() {
			none := false
			for i := range m.Spec.ResourceClaims {
				entry := &m.Spec.ResourceClaims[i]
				name, why := device.ClaimName(m, entry)
				none = none || name == "" && why == ""
				if device.GroupOf(c.Extra, c.Settings.FeatureGates, m, entry) != nil && m.Spec.NodeName == "" {
					users++
					behind = behind || none
				}
			}
		}
		if users > 1 {
			count["shared"]++
		}
		if behind {
			count["behind an entry without a claim"]++
		}
	}
	t.Log(count)
	for _, kind := range []string{"named", "from a template", "shared", "behind an entry without a claim"} {
		require.Greater(t, count[kind], count["all"]/20, kind)
	}
	require.Greater(t, count["all"], 40)
	require.Greater(t, count["modelled"], count["all"]/3)
}
