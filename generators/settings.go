package generators

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

func (g *generator) drawSettings() (settings model.Settings) {
	if g.Chance(12) {
		// Few pairs, for a system may have to build a scheduler for each.
		shortlist := draw.Pick(g.Source, [2]int32{10, 1}, [2]int32{10, 2}, [2]int32{60, 1})
		if g.Chance(5) {
			shortlist = [2]int32{10, 0} // valid, and rounds to no candidates
		}
		settings.MinCandidateNodesPercentage, settings.MinCandidateNodesAbsolute = &shortlist[0], &shortlist[1]
	}
	if g.Chance(15) {
		settings.FeatureGates = map[string]bool{model.GateAsyncPreemption: false}
	}
	if g.compared && settings.FeatureGates == nil && settings.MinCandidateNodesAbsolute == nil && g.Chance(75) {
		settings.FeatureGates = map[string]bool{filter.GateTaintComparison: true}
	}
	return settings
}

// drawRareSettings draws those that a system has to build a scheduler for, of
// which it keeps few: just one beside each other.
func (g *generator) drawRareSettings(c *model.Cluster) {
	s := &c.Settings
	rare := g.Chance(10) // drawn in any case, so that plain settings shrink to none
	if s.MinCandidateNodesAbsolute != nil && g.Chance(75) {
		s.DryRunOffset = new(int32(g.Intn(len(c.Nodes) + 1)))
	}
	if s.FeatureGates != nil || !rare {
		return
	}
	switch g.Intn(6) {
	case 0:
		s.Parallelism = new(int32(16))
	case 1:
		s.FeatureGates = idleGates()
	case 2:
		s.FeatureGates = map[string]bool{"SchedulerAsyncAPICalls": true}
	case 3:
		s.NoDefaultConstraints = true
	default:
		// The pods of another scheduler are then its own.
		s.SecondProfile = &model.Profile{SchedulerName: otherScheduler, MinCandidateNodesPercentage: new(int32(10)), MinCandidateNodesAbsolute: new(int32(1))}
		s.MinCandidateNodesPercentage, s.MinCandidateNodesAbsolute = nil, nil
		if g.Chance(60) {
			c.Preemptor.Spec.SchedulerName = otherScheduler
		}
	}
}

// dispatch lets API calls go through a dispatcher in some clusters whose settings are plain: few others do.
func dispatch(s draw.Source, settings *model.Settings) {
	if s.Chance(6) && plain(settings) { // drawn in any case, so that what is drawn later stays when a cluster is shrunk
		settings.FeatureGates = map[string]bool{"SchedulerAsyncAPICalls": true}
	}
}

// takeFastPath has terms about hosts counted in another way in some clusters where pods have affinity to others, and
// whose settings are plain. In a few of these two nodes have the name of one host.
func (g *generator) takeFastPath(s draw.Source, c *model.Cluster, pinned bool) {
	if !g.podAffinity || !s.Chance(15) {
		return
	}
	if len(c.Nodes) > 1 && s.Chance(25) {
		metav1.SetMetaDataLabel(&c.Nodes[0].ObjectMeta, v1.LabelHostname, c.Nodes[1].Name)
	}
	if !pinned && plain(&c.Settings) {
		c.Settings.FeatureGates = map[string]bool{fastPath: true}
	}
}

// makeRoomForResizes lets the scheduler make room for pods whose resize is deferred, in some clusters whose settings are plain and that
// have no such pod: what becomes of those is not modelled.
func makeRoomForResizes(s draw.Source, c *model.Cluster) {
	if s.Chance(6) && plain(&c.Settings) && c.Preemptor != nil {
		if c.Settings.FeatureGates = map[string]bool{filter.GateResizePreemption: true}; unmodelled.MakesRoomForResizes(c) {
			c.Settings.FeatureGates = nil
		}
	}
}

const fastPath = "InterPodAffinityHostnameFastPath"

// plain tells whether a system needs no scheduler of its own for the settings.
func plain(s *model.Settings) bool {
	return len(s.Configuration) == 0 && s.FeatureGates == nil && s.MinCandidateNodesAbsolute == nil && s.Parallelism == nil && s.SecondProfile == nil && !s.NoDefaultConstraints
}

// grouped tells whether the settings are plain, but for the gates of groups, if any.
func grouped(s *model.Settings) bool {
	other := *s
	other.FeatureGates = nil
	for gate := range s.FeatureGates {
		if !slices.Contains(offByDefault, gate) {
			return false
		}
	}
	return plain(&other)
}

// idleGates are the gates that change no decision, known findings aside: off, but for the one that has terms about hosts counted in
// another way.
func idleGates() map[string]bool {
	gates := map[string]bool{}
	for _, gate := range unmodelled.IdleGates() {
		gates[gate] = gate == fastPath
	}
	return gates
}

// otherScheduler is not the default scheduler's name.
const otherScheduler = "other-scheduler"

// drawExtenders draws one extender or two. They filter only nodes with room for the
// preemptor, so some node may get it.
func (g *generator) drawExtenders(c *model.Cluster) []model.Extender {
	extenders := make([]model.Extender, 1+draw.Weighted(g.Source, 50, 50))
	managed := []string{"example.com/gpu", "example.com/fpga"} // the preemptor may ask for the first
	for i := range extenders {
		e := &extenders[i]
		e.Name = numbered("extender", i)
		if g.Chance(18) {
			// No two extenders may manage the same resource.
			at := min(draw.Weighted(g.Source, 60, 40), len(managed)-1)
			e.ManagedResources = []string{managed[at]}
			managed = slices.Delete(managed, at, at+1)
		}
		e.Ignorable, e.NodeCacheCapable = g.Chance(50), g.Chance(40)
		if g.Chance(45) {
			if len(c.Nodes) > 0 && g.Chance(30) {
				at := g.Intn(len(c.Nodes))
				c.Nodes[at] = g.emptied(at)
			}
			e.Filter = &model.ExtenderFilter{
				Fails:    g.Chance(12),
				Rejects:  g.someNodes(45),
				Excludes: g.someNodes(26),
				Omits:    g.someNodes(12),
			}
		}
		if e.Filter == nil || g.Chance(70) {
			e.Preempt = g.drawExtenderPreempt()
		}
		if i > 0 && extenders[0].Preempt != nil && extenders[0].Preempt.Nothing && g.Chance(60) {
			e.Preempt = &model.ExtenderPreempt{Fails: model.PreemptError} // which nobody should see, as there is nothing left to ask about
		}
	}
	return extenders
}

func (g *generator) drawExtenderPreempt() *model.ExtenderPreempt {
	p := &model.ExtenderPreempt{}
	switch draw.Weighted(g.Source, 61, 20, 5, 14) {
	case 1:
		p.Drops = g.someNodes(40)
	case 2:
		p.Nothing = true
	case 3:
		p.Fails = draw.Pick(g.Source, model.PreemptError, model.PreemptUnknownNode, model.PreemptUnknownPod)
	}
	empties := g.Chance(4) // all that it changes, which is an error of the extender
	for _, name := range g.someNodes(80) {
		change := model.VictimChange{Node: name, Reverses: g.Chance(72)}
		if empties {
			change.Keeps = new(int32)
		} else if g.Chance(57) {
			change.Keeps = new(int32(draw.Weighted(g.Source, 5, 80, 15))) // none is an error of the extender
		}
		if g.Chance(25) {
			change.Violations = new(int64(g.Intn(3)))
		}
		p.Changes = append(p.Changes, change)
	}
	return p
}

// emptied is a node with room for everything.
func (g *generator) emptied(at int) *v1.Node {
	n := g.nodes[at]
	n.maxPods = mostPods
	for r := range n.room {
		n.room[r] = plenty
	}
	return renderNode(at, &n)
}

// someNodes draws each node's name with a chance.
func (g *generator) someNodes(percent int) (names []string) {
	for i := range g.nodes {
		if g.Chance(percent) {
			names = append(names, NodeName(i))
		}
	}
	return names
}
