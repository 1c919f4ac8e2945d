package device

import (
	"testing"

	"github.com/stretchr/testify/require"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A policy may have just one valid value, steps that say nothing, or no least value, which is none then.
func TestConsumedByScarcePolicies(t *testing.T) {
	value := &resourcev1.CapacityRequestPolicy{Default: quantity("5"), ValidValues: []resource.Quantity{*quantity("5")}}
	stays := &resourcev1.CapacityRequestPolicy{Default: quantity("1"), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: quantity("1"), Step: quantity("0")}}
	noLeast := &resourcev1.CapacityRequestPolicy{Default: quantity("3"), ValidRange: &resourcev1.CapacityRequestPolicyRange{Step: quantity("3")}}
	for _, tt := range []struct {
		name      string
		policy    *resourcev1.CapacityRequestPolicy
		requested string
		want      string // "" is not admitted
	}{
		{"below the only value", value, "3", "5"},
		{"above the only value", value, "6", ""},
		{"steps of nothing", stays, "1500m", "1500m"},
		{"steps from zero", noLeast, "2", "3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			takes, admitted := consumed(&resourcev1.DeviceCapacity{Value: *quantity("10"), RequestPolicy: tt.policy}, quantity(tt.requested))
			require.Equal(t, tt.want != "", admitted)
			if admitted {
				require.Equal(t, milli(quantity(tt.want)), takes)
			}
		})
	}
}

// Thousandths are counted up to a limit; less than nothing is not modelled.
func TestMilli(t *testing.T) {
	for text, want := range map[string]amount{"1m": 1, "2": 2000, "-1": tooLarge, "1u": tooLarge, "72T": 72e15, "73T": tooLarge, "1E": tooLarge} {
		require.Equal(t, want, milli(quantity(text)), text)
	}
}
