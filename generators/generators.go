// Package generators makes clusters for the scheduler and the model to disagree
// about: small, valid, and leaning to where decisions about preemption are hard.
// Nodes are just full, and often near twins of one another, so that the choice
// between them is close.
//
// Every cluster first draws the few features that it has, and then uses them
// much, so that rare features meet each other.
//
// The objects are as the API server would store them: admitting them again
// changes nothing.
package generators

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/preemptcheck/preemptcheck/generators/devices"
	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/generators/groups"
	"github.com/preemptcheck/preemptcheck/generators/volumes"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// Cluster generates clusters. They shrink to fewer nodes, fewer pods and plainer
// features.
func Cluster() *rapid.Generator[*model.Cluster] {
	return rapid.Custom(func(t *rapid.T) *model.Cluster {
		return generate(draw.FromRapid(t), nil, false)
	})
}

// FromSeed returns the cluster of that number: the same on every machine, and
// much cheaper than drawing from Cluster.
func FromSeed(seed uint64) *model.Cluster { return FromSeedWith(seed, nil) }

// FromSeedWith is FromSeed with some feature gates that are not drawn: the scheduler has
// them so in each cluster. Calls at the API are asynchronous in fewer of them: many releases do not
// know how. With model.GateWorkload on all clusters have pod groups, and with
// model.GateComposite on composite ones; off, none has.
func FromSeedWith(seed uint64, gates map[string]bool) *model.Cluster {
	return generate(draw.FromSeed(seed), gates, false)
}

// OfAnyPreemptor is FromSeedWith, but in some clusters with pod groups the preemptor is one of them.
func OfAnyPreemptor(seed uint64, gates map[string]bool) *model.Cluster {
	return generate(draw.FromSeed(seed), gates, true)
}

// Ungrouped is FromSeed without pod groups, for schedulers that do not know them.
func Ungrouped(seed uint64) *model.Cluster {
	return FromSeedWith(seed, map[string]bool{model.GateWorkload: false})
}

// FromBytes returns the cluster that the bytes spell, one for each choice, for
// fuzzers that change bytes and see what comes of it. All bytes spell a cluster:
// where they end, the rest is as plain as can be.
func FromBytes(data []byte) *model.Cluster {
	return generate(draw.FromBytes(data), nil, false)
}

func generate(s draw.Source, gates map[string]bool, gangs bool) *model.Cluster {
	last, history, extending, doubling, migrating, configuring, hosts, sharing := draw.Apart(s, 0), draw.Apart(s, 1), draw.Apart(s, 2), draw.Apart(s, 3), draw.Apart(s, 4), draw.Apart(s, 5), draw.Apart(s, 6), draw.Apart(s, 7)
	g := &generator{Source: s, features: drawFeatures(s)}
	count := draw.Weighted(s, 2, 6, 24, 27, 20, 13, 8) // wild clusters are no emptier
	if g.wild {
		g.Source = draw.Skewed(s)
	}
	g.drawNodes(count)
	c := &model.Cluster{Nodes: make([]*v1.Node, len(g.nodes)), Pods: []*v1.Pod{}}
	for i := range g.nodes {
		c.Nodes[i] = renderNode(i, &g.nodes[i])
		for j := range g.nodes[i].pods {
			p := g.render(numbered("pod", len(c.Pods)), &g.nodes[i].pods[j])
			p.Spec.NodeName = NodeName(i)
			c.Pods = append(c.Pods, p)
		}
	}
	if g.drifted {
		g.drift(c.Nodes, c.Pods)
	}
	c.PodDisruptionBudgets = g.drawBudgets(c.Pods)
	c.Preemptor = g.preemptor()
	if g.claims {
		c.Extra = append(c.Extra, devices.Claims(devices.Cluster{
			Source: g.Source, Nodes: c.Nodes, SomeNode: g.someNode, Zones: g.nodeLabels, Preemptor: c.Preemptor, Bound: c.Pods})...)
	}
	c.Pods = append(c.Pods, g.waiting(c.Preemptor)...)
	if g.volumes {
		c.Extra = append(c.Extra, g.storageObjects()...)
	}
	if g.podAffinity {
		c.Extra = append(c.Extra, g.drawNamespaces()...)
	}
	c.Settings = g.drawSettings()
	if g.extended {
		c.Settings.Extenders = g.drawExtenders(c)
	}
	g.drawRareSettings(c)
	if g.claims {
		c.Extra = append(c.Extra, devices.Nominated(g.Source, c.Pods)...)
	}
	for _, b := range c.PodDisruptionBudgets {
		if g.Chance(4) { // the status lags behind
			b.Generation = 1
		}
	}
	if g.Chance(3) && g.bottleneck <= byGPU {
		g.enlarge(c)
	}
	g.goBeyond(c)
	g.unusual(c)
	g.double(doubling, c)
	if g.volumes && migrating.Chance(15) {
		volumes.Migrate(migrating, c)
	}
	giveHistory(history, c)
	groups.Draw(groups.Options{Source: last, Gates: gates, Gangs: gangs, MissingNode: missingNode, Terminate: Terminate}, c)
	if g.volumes && c.Preemptor != nil {
		volumes.Resize(history, c)
	}
	if len(gates) == 0 {
		dispatch(history, &c.Settings)
	}
	for gate, on := range gates {
		if on || !slices.Contains(offByDefault, gate) {
			groups.Set(c, gate, on)
		}
	}
	g.extendFurther(extending, c)
	devices.LoseClasses(extending, c.Extra)
	devices.Later(configuring, c.Extra)
	if c.Preemptor != nil {
		spellOut(configuring, c.Preemptor)
	}
	if len(gates) == 0 { // older schedulers read other configurations, and know other gates
		g.drawConfiguration(configuring, c)
	}
	g.takeFastPath(hosts, c, len(gates) > 0)
	devices.Last(hosts, c.Nodes, c.Extra)
	if devices.SkipOperations(hosts, c.Nodes, c.Extra) && hosts.Chance(60) && len(gates) == 0 && grouped(&c.Settings) {
		groups.Set(c, device.GateOptionalOperations, true)
	}
	if len(gates) == 0 {
		makeRoomForResizes(hosts, c)
	}
	if (gates[device.GateGroupClaims] || len(gates) == 0 && grouped(&c.Settings)) && groups.ShareClaims(sharing, c) {
		groups.Set(c, device.GateGroupClaims, true)
	}
	return c
}

// offByDefault are the feature gates that a cluster need not set for them to be off.
var offByDefault = []string{model.GateWorkload, model.GateComposite, model.GateTopology, "PodGroupPreemptionPolicy", device.GateOptionalOperations, device.GateGroupClaims}

// storageObjects makes the objects of what pods can mount.
func (g *generator) storageObjects() []runtime.Object {
	nodes, pods := make([]volumes.Node, len(g.nodes)), make([][]volumes.Pod, len(g.nodes))
	for i := range g.nodes {
		nodes[i], pods[i] = g.nodes[i].csi, g.nodes[i].mounts()
	}
	return g.mounts.Objects(nodes, pods)
}
