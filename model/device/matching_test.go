package device

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	resourcev1 "k8s.io/api/resource/v1"
)

// What is found agrees with trying all devices for all requests, whatever is withheld.
func TestMatchingTriesEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	keepers := []func(admin, other int) bool{
		withinClaim,
		func(admin, other int) bool { return admin <= other },
		func(admin, other int) bool { return admin >= other },
		func(int, int) bool { return true },
	}
	effects := []resourcev1.DeviceTaintEffect{resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute}
	answers := map[string]int{}
	for range 20000 {
		var offered []offer
		for range r.IntN(5) {
			o := offer{driver: fmt.Sprint(r.IntN(2)), taken: r.IntN(3) == 0}
			if r.IntN(4) == 0 {
				o.taints = []resourcev1.DeviceTaint{{Key: fmt.Sprint(r.IntN(2)), Value: fmt.Sprint(r.IntN(2)), Effect: effects[r.IntN(2)]}}
			}
			offered = append(offered, o)
		}
		var wishes []wish
		for claim := range 1 + r.IntN(3) {
			for range 1 + r.IntN(2) {
				w := wish{claim: claim + 1, count: 1 + r.IntN(2), admin: r.IntN(2) == 0}
				if r.IntN(2) == 0 {
					w.driver = fmt.Sprint(r.IntN(2))
				}
				if r.IntN(3) == 0 {
					w.tolerations = []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
					if r.IntN(2) == 0 {
						w.tolerations[0].Effect = effects[r.IntN(2)]
					}
					if r.IntN(2) == 0 {
						w.tolerations[0] = resourcev1.DeviceToleration{Operator: resourcev1.DeviceTolerationOpEqual, Key: fmt.Sprint(r.IntN(2)), Value: fmt.Sprint(r.IntN(2))}
					}
				}
				wishes = append(wishes, w)
			}
		}
		of := r.IntN(len(keepers))
		want := tryAll(offered, wishes, keepers[of], nil)
		require.Equal(t, want, newMatching(offered, wishes, keepers[of]).complete(), "%v for %v, keeper %d", offered, wishes, of)
		answers[fmt.Sprint(of, want)]++
	}
	for of := range keepers {
		for _, answer := range []bool{true, false} {
			require.Greater(t, answers[fmt.Sprint(of, answer)], 300)
		}
	}
}

// Devices are not alike if their taints differ in one thing: one of them is tolerated.
func TestMatchingOfTaints(t *testing.T) {
	const schedule, execute = resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute
	always := func(int, int) bool { return true }
	for _, taints := range [][2]resourcev1.DeviceTaint{
		{{Key: "k", Value: "v", Effect: schedule}, {Key: "k", Value: "v", Effect: execute}},
		{{Key: "k", Value: "v", Effect: schedule}, {Key: "k", Value: "w", Effect: schedule}},
		{{Key: "k", Value: "v", Effect: schedule}, {Key: "l", Value: "v", Effect: schedule}},
	} {
		var offered []offer
		wishes := []wish{{claim: 1, count: 1, admin: true}, {claim: 2, count: 1}}
		for i, taint := range taints {
			offered = append(offered, offer{taints: []resourcev1.DeviceTaint{taint}})
			wishes[1-i].tolerations = []resourcev1.DeviceToleration{{Key: taint.Key, Operator: resourcev1.DeviceTolerationOpEqual, Value: taint.Value, Effect: taint.Effect}}
		}
		require.True(t, tryAll(offered, wishes, always, nil), taints)
		require.True(t, newMatching(offered, wishes, always).complete(), taints)
	}
}

// Not all ways are tried where they come to the same: of devices that are alike, and where nothing but administration is wanted.
func TestMatchingTriesNoMore(t *testing.T) {
	asked := 0
	keeper := func(admin, other int) bool { asked++; return admin == other }
	wishes := []wish{{claim: 1, count: 6, admin: true}, {claim: 1, count: 7}}
	require.False(t, newMatching(make([]offer, 12), wishes, keeper).complete())
	require.Less(t, asked, 200, "devices that are alike")

	wishes = []wish{{claim: 1, count: 6, admin: true}, {claim: 2, count: 13, admin: true}}
	require.Empty(t, newMatching(make([]offer, 12), wishes, withinClaim).first, "nothing is withheld from another wish")
	require.False(t, newMatching(make([]offer, 12), wishes, withinClaim).complete())
}

// given is a device that a wish has got.
type given struct {
	w  *wish
	at int
}

func tryAll(offered []offer, wishes []wish, withholds func(admin, other int) bool, got []given) bool {
	placed := len(got)
	for i := range wishes {
		w := &wishes[i]
		if placed -= w.count; placed >= 0 {
			continue
		}
	devices:
		for at := range offered {
			if !offered[at].serves(w) {
				continue
			}
			for _, g := range got {
				distinct := g.w.claim == w.claim || !g.w.admin && !w.admin ||
					g.w.admin && !w.admin && withholds(g.w.claim, w.claim) || w.admin && !g.w.admin && withholds(w.claim, g.w.claim)
				if g.at == at && distinct {
					continue devices
				}
			}
			if tryAll(offered, wishes, withholds, append(got[:len(got):len(got)], given{w, at})) {
				return true
			}
		}
		return false
	}
	return true
}
