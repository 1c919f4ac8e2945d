package volume_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
)

func TestVolumeZone(t *testing.T) {
	labelled := func(pairs ...string) map[string]string {
		labels := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			labels[pairs[i]] = pairs[i+1]
		}
		return labels
	}
	n := func(pairs ...string) *v1.Node {
		return mk.Node("n", "9", func(n *v1.Node) { n.Labels = labelled(pairs...) })
	}
	volume := func(pairs ...string) *v1.PersistentVolume {
		return mk.Volume("c", func(pv *v1.PersistentVolume) { pv.Labels = labelled(pairs...) })
	}
	const zone, region, old, oldRegion = v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion
	p, c := mk.Pod("p", 9, mk.Mounts("c")), mk.Claim("c")
	first := mk.Volume("first", func(pv *v1.PersistentVolume) { pv.Labels = labelled(zone, "a") })
	m := mk.Node("m", "9", func(n *v1.Node) { n.Labels = labelled(zone, "b") })
	waits := mk.Class("wait", mk.Driver, storagev1.VolumeBindingWaitForFirstConsumer)
	testFilter(t, "VolumeZone", []filterTest{
		{"the same zone", p, []any{n(zone, "a"), c, volume(zone, "a")}, passes},
		{"another zone", p, []any{n(zone, "a"), c, volume(zone, "b")}, never},
		{"one of several zones", p, []any{n(zone, "a"), c, volume(zone, "b__a")}, passes},
		{"none of several zones", p, []any{n(zone, "c"), c, volume(zone, "b__a")}, never},
		{"a volume without a zone", p, []any{n(zone, "a"), c, volume()}, passes},
		{"a node without labels is in the only zone", p, []any{n(), c, volume(zone, "b")}, passes},
		{"a node with a region, but no zone", p, []any{n(region, "r"), c, volume(zone, "b")}, never},
		{"zone and region", p, []any{n(zone, "a", region, "r"), c, volume(zone, "a", region, "s")}, never},
		{"the old name on both", p, []any{n(old, "a"), c, volume(old, "a")}, passes},
		{"the old name on the volume", p, []any{n(zone, "a"), c, volume(old, "a")}, passes},
		{"the old name on the volume, another zone", p, []any{n(zone, "a"), c, volume(old, "b")}, never},
		{"the old name of the region", p, []any{n(region, "r"), c, volume(oldRegion, "s")}, never},
		{"the old name on the node", p, []any{n(old, "a"), c, volume(zone, "a")}, never},
		{"a label that names no zone", p, []any{n(zone, "a"), c, volume(zone, "b__")}, passes},
		{"the second volume is in another zone", mk.Pod("p", 9, mk.Mounts("first", "c")), []any{n(zone, "a"), mk.Claim("first"), first, c, volume(zone, "b")}, never},
		{"the second node is in another zone", p, []any{m, n(zone, "a"), c, volume(zone, "b")}, never},
		{"another zone, behind an ephemeral volume", mk.Pod("p", 9, mk.MountsOwn("own"), mk.Mounts("c")), []any{n(zone, "a"), c, volume(zone, "b")}, never},

		{"no claim", p, []any{n()}, never},
		{"no volume", p, []any{n(), c}, never},
		{"a claim that waits", p, []any{n(zone, "a"), mk.Claim("c", mk.Unbound("wait")), waits}, passes},
		{"a claim that does not wait", p, []any{n(zone, "a"), mk.Claim("c", mk.Unbound("now")), mk.Class("now", mk.Driver, storagev1.VolumeBindingImmediate)}, never},
		{"a claim without a class", p, []any{n(zone, "a"), mk.Claim("c", mk.Unbound(""))}, never},
		{"a claim of a class that does not exist", p, []any{n(zone, "a"), mk.Claim("c", mk.Unbound("wait"))}, never},
		{"an ephemeral volume is not looked at", mk.Pod("p", 9, mk.MountsOwn("own")), []any{n(zone, "a")}, passes},
	})
}
