package unmodelled_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

// A search for nodes may end early where there are more than 100, and matters where an extender is asked about what it found.
func TestChance(t *testing.T) {
	all := new(int32(100))
	for _, tt := range []struct {
		name     string
		nodes    int
		settings func(*model.Settings)
		want     bool
	}{
		{"more than enough", 101, nil, true},
		{"enough", 100, nil, false},
		{"extenders that filter nothing", 101, func(s *model.Settings) { s.Extenders = []model.Extender{{Preempt: &model.ExtenderPreempt{}}} }, false},
		{"an extender for a resource that nobody asks for", 101, func(s *model.Settings) { s.Extenders[0].ManagedResources = []string{"example.com/gpu"} }, false},
		{"only the second one filters", 101, func(s *model.Settings) { s.Extenders = append([]model.Extender{{}}, s.Extenders...) }, true},
		{"all are looked at", 101, func(s *model.Settings) { s.PercentageOfNodesToScore = all }, false},
	} {
		c := mk.Cluster(mk.Pod("p", 9), model.Settings{Extenders: []model.Extender{{Filter: &model.ExtenderFilter{}}}})
		if tt.settings != nil {
			tt.settings(&c.Settings)
		}
		for i := range tt.nodes {
			c.Nodes = append(c.Nodes, mk.Node(fmt.Sprint("n", i), "1"))
		}
		for range 2 {
			u := unmodelled.Chance(c)
			assert.Equal(t, tt.want, u.LeftToChance(), tt.name)
			assert.True(t, u.OnlySeen(), tt.name)
			// The same where a group is tried.
			c.Preemptor, c.PreemptorGroup, c.Pods = nil, "podgroup/default/g", []*v1.Pod{mk.Pod("m", 9, mk.Member("g"))}
			c.Extra = []runtime.Object{mk.Group("g", 9)}
		}
	}
}

// So may two volumes that are equally good for one of two claims.
func TestChanceOfVolumes(t *testing.T) {
	mounts := func(claim string) func(*v1.Pod) {
		return mk.MountsSource(claim, v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim}})
	}
	c := mk.Cluster(mk.Pod("p", 9, mounts("a"), mounts("b")), mk.Claim("a", mk.Unbound("later")), mk.Claim("b", mk.Unbound("later")),
		mk.Class("later", "", storagev1.VolumeBindingWaitForFirstConsumer), mk.Volume("v", mk.OfClass("later")))
	assert.Empty(t, unmodelled.Chance(c))
	c.Extra = append(c.Extra, mk.Volume("w", mk.OfClass("later")))
	assert.True(t, unmodelled.Chance(c).LeftToChance())
	assert.False(t, unmodelled.Chance(c).OnlySeen())
}
