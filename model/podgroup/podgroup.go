// Package podgroup is the scheduling cycle of a pod group, as KEP-4671, KEP-5710 and, of composite groups, KEP-6012 and, of topology
// constraints, KEP-5732 describe it: its members are placed one after another, each as a pod is by package model, and if too few of them
// fit, preemption is tried once, for all of them.
//
// Which of several nodes a member takes is left open, and with it which units have to go. So the package
// has no answer of its own: it has the steps, and package podgroups holds what a scheduler did
// against them.
package podgroup

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// GatePolicy is the feature gate by which the preemption policy of a group is that of the
// PodGroup, not that of its pods.
const GatePolicy = "PodGroupPreemptionPolicy"

// Algorithm holds the steps that another algorithm may replace.
type Algorithm struct {
	Waits    func(cy *Cycle) bool
	Fails    func(cy *Cycle) []string
	Topology func(cy *Cycle, t *Tree, in TopologyDomain) (all []TopologyDomain, failure string)
	Compare  func(cy *Cycle, among []Scheduled, gone []*unit.Unit) (failure string)
	Enough   func(cy *Cycle, t *Tree, placed int) bool
	Succeeds func(cy *Cycle, enough bool, placed int) bool
	Helped   func(cy *Cycle, p Pass) []Placement
	Eligible func(cy *Cycle) model.Eligibility
	Ongoing  func(cy *Cycle) bool
	Domain   func(cy *Cycle) (possible []*unit.Unit, failure string)
	World    func(cy *Cycle, member *v1.Pod, placed []Placement, gone []*unit.Unit) *model.Cluster
	Devices  func(cy *Cycle, trial *model.Cycle, at Placement) (wrong string)
	Written  func(cy *Cycle, before []Placement, at Placement, claim string) (a *resourcev1.AllocationResult, known bool)
	Reserved func(cy *Cycle, at Placement, claim string) bool
	User     func(cy *Cycle, at Placement, claim string) types.UID
	Again    func(cy *Cycle, member *v1.Pod, placed []Placement, gone []*unit.Unit) *model.Cluster
	Refused  func(cy *Cycle, placed []Placement, emptied, gone []*unit.Unit, from int) []Refusal
	Actuate  func(cy *Cycle, placed []Placement, victims []*unit.Unit) *model.Actuation
	Nominate func(cy *Cycle, member *v1.Pod, course Course) (node string)
}

// Documented is the algorithm of Kubernetes v1.37.1.
func Documented() *Algorithm {
	return &Algorithm{Waits: Waits, Fails: Fails, Topology: Topology, Compare: Compare, Enough: Enough, Succeeds: Succeeds,
		Helped: Helped, Eligible: Eligible, Ongoing: Ongoing, Domain: Domain, World: World, Devices: Devices, Written: Written, Reserved: Reserved, User: User, Again: Again, Refused: Refused, Actuate: Actuate, Nominate: Nominate}
}

// Placement is a member with a node.
type Placement struct {
	Pod  *v1.Pod
	Node string
	// Devices is what is allocated to the claims of the member that have no devices in the cluster, by the claim's key.
	Devices map[string]*resourcev1.AllocationResult
}

// Is tells whether two placements are of one member on one node.
func (at Placement) Is(other Placement) bool { return at.Pod == other.Pod && at.Node == other.Node }

// Cycle is the scheduling cycle of a pod group made ready. It is not for several goroutines at
// once.
type Cycle struct {
	*Algorithm
	// OfPods is by what a member is placed.
	OfPods  *model.Algorithm
	Cluster *model.Cluster
	// Root is the tree of the group. Members wait to be scheduled, Bound are those that are bound; in the cluster's order.
	Root           *Tree
	Members, Bound []*v1.Pod
	// First is the cycle of the first of the Members in the cluster as it is.
	First *model.Cycle
}

// Course is how far a cycle came that binds nobody.
type Course struct {
	Failed bool        // it ended in an error
	Asked  []string    // the members that a node was looked for in the cluster as it is
	First  []Placement // likewise: all that were placed
	Second []Placement // once all that may be preempted is gone: those that are helped
	// Preempts: what is in the way of Second is preempted.
	Preempts bool
}

// NewCycle makes a cluster whose preemptor is a PodGroup ready. The cluster must not be changed while the
// Cycle is used.
func (a *Algorithm) NewCycle(c *model.Cluster, ofPods *model.Algorithm) *Cycle {
	cy := &Cycle{Algorithm: a, OfPods: ofPods, Cluster: c}
	cy.Root = treeOf(c, c.Group(c.PreemptorGroup))
	for _, p := range c.Members() {
		if p.Spec.NodeName == "" {
			cy.Members = append(cy.Members, p)
		} else {
			cy.Bound = append(cy.Bound, p)
		}
	}
	cy.First = ofPods.NewCycle(cy.World(cy, cy.Members[0], nil, nil))
	return cy
}

// Priority is that of the group.
func (cy *Cycle) Priority() int32 { return cy.First.Preemptor.Priority }

// Waits tells whether the group is not tried yet: fewer pods, or groups that have enough of them, exist than have to be scheduled
// (docs: concepts/scheduling-eviction/gang-scheduling; KEP-4671, PreEnqueue; KEP-6012, "GangScheduling Plugin Changes").
func Waits(cy *Cycle) bool { return !cy.Root.admissible() }

// Fails are the reasons why the group is not scheduled at all; words of one of them are in the error. All its
// pods have to have its priority (KEP-5710, "Workload priority": "all pods … within PodGroup should have the
// same priority"), and share their preemption policy (same place: "all pods within PodGroup will have to share the same
// preemptionPolicy"), which with the gate PodGroupPreemptionPolicy is that of the group.
func Fails(cy *Cycle) (reasons []string) {
	all := slices.Concat(cy.Members, cy.Bound)
	policy := policyOf(all[0])
	if cy.Cluster.Settings.FeatureGates[GatePolicy] {
		policy = cy.policy()
	}
	if slices.ContainsFunc(all, func(p *v1.Pod) bool { return model.Priority(p) != cy.Priority() }) {
		reasons = append(reasons, "priority")
	}
	if slices.ContainsFunc(all, func(p *v1.Pod) bool { return policyOf(p) != policy }) {
		reasons = append(reasons, "preemption policy")
	}
	return reasons
}

// Eligible tells whether the group may preempt others: it may not if its policy is Never
// (scheduling/v1beta1/types.go, PodGroupSpec.PreemptionPolicy).
func Eligible(cy *Cycle) model.Eligibility {
	if cy.policy() == v1.PreemptNever {
		return model.Eligibility{Reason: "its preemptionPolicy is Never"}
	}
	return model.Eligibility{OK: true}
}

// policy is the preemption policy of the group: its own with the gate PodGroupPreemptionPolicy, or that
// which its pods share.
func (cy *Cycle) policy() v1.PreemptionPolicy {
	if !cy.Cluster.Settings.FeatureGates[GatePolicy] {
		return policyOf(cy.Members[0])
	}
	switch g := cy.Cluster.Group(cy.Cluster.PreemptorGroup).(type) {
	case *schedulingv1beta1.PodGroup:
		if g.Spec.PreemptionPolicy != nil {
			return v1.PreemptionPolicy(*g.Spec.PreemptionPolicy)
		}
	case *schedulingv1alpha3.CompositePodGroup:
		if g.Spec.PreemptionPolicy != nil {
			return v1.PreemptionPolicy(*g.Spec.PreemptionPolicy)
		}
	}
	return v1.PreemptLowerPriority
}

func policyOf(p *v1.Pod) v1.PreemptionPolicy {
	if p.Spec.PreemptionPolicy == nil {
		return v1.PreemptLowerPriority
	}
	return *p.Spec.PreemptionPolicy
}

// AsksOfDevices tells whether DynamicResources is asked first if preemption helps the group: it passes over composite groups, and those
// with a field for topology constraints (dynamicresources.go:1232@v1.37.1 and dynamicresources.go:1237@v1.37.1, PodGroupPostFilter).
func (cy *Cycle) AsksOfDevices() bool {
	g, plain := cy.Cluster.Group(cy.Cluster.PreemptorGroup).(*schedulingv1beta1.PodGroup)
	return plain && (g.Spec.SchedulingConstraints == nil || !cy.Cluster.Settings.FeatureGates[model.GateTopology])
}

// Ongoing tells whether pods that the group could preempt are still terminating by preemption where a member is
// nominated to: those are its victims, and it preempts no others meanwhile (KEP-4671, "Workload Scheduling
// Cycle": "initiating new preemptions is forbidden during this retry").
func Ongoing(cy *Cycle) bool {
	for _, m := range cy.Members {
		n := cy.First.Node(m.Status.NominatedNodeName)
		if n == nil {
			continue
		}
		for _, p := range n.Pods {
			if p.Priority < cy.Priority() && cy.OfPods.Awaited(p) {
				return true
			}
		}
	}
	return false
}

// Domain are the units that may be preempted: those of lower priority in the whole cluster (KEP-5710, "Preemption
// algorithm"), in the cluster's order. No documented rule has a failure.
func Domain(cy *Cycle) (possible []*unit.Unit, failure string) {
	for _, n := range cy.First.Nodes {
		for _, u := range cy.First.Units.On(n) {
			if cy.OfPods.MayPreempt(cy.First, u) && !slices.Contains(possible, u) {
				possible = append(possible, u)
			}
		}
	}
	return possible, ""
}

// World is the cluster in which a member is tried: those before it are placed, with the devices that were allocated for them, and
// units are gone. Nominations of the other members do not count: they are made anew in this cycle.
func World(cy *Cycle, member *v1.Pod, placed []Placement, gone []*unit.Unit) *model.Cluster {
	away := map[*v1.Pod]bool{member: true}
	for _, u := range gone {
		for _, p := range u.Pods {
			away[p.Pod] = true
		}
	}
	instead := make(map[*v1.Pod]*v1.Pod, len(cy.Members))
	for _, m := range cy.Members {
		waits := *m
		waits.Status.NominatedNodeName = ""
		instead[m] = &waits
	}
	for _, at := range placed {
		instead[at.Pod].Spec.NodeName = at.Node
	}
	world := *cy.Cluster
	world.Preemptor, world.Pods = member, make([]*v1.Pod, 0, len(cy.Cluster.Pods))
	for _, p := range cy.Cluster.Pods {
		if away[p] {
			continue
		}
		if other := instead[p]; other != nil {
			p = other
		}
		world.Pods = append(world.Pods, p)
	}
	world.Extra = withDevices(cy.Cluster.Extra, placed)
	return &world
}

// Again is the cluster in which a placed member is asked whether it still fits.
func Again(cy *Cycle, member *v1.Pod, placed []Placement, gone []*unit.Unit) *model.Cluster {
	return cy.World(cy, member, placed, gone)
}

// Refusal is which of the placed members does not fit on its node, and why.
type Refusal struct {
	At      int // -1: all fit
	Verdict *model.Verdict
}

// Refused is the first of the placed members, from one of them on, that does not fit on its node any more with the
// units back that were gone and are not gone now. Each is asked with those before it in place and those after it not
// there yet (KEP-5710, "In place victim reprieval"). emptied are the units without which the members were placed. By the
// documented rules there is one answer.
func Refused(cy *Cycle, placed []Placement, emptied, gone []*unit.Unit, from int) []Refusal {
	for i := from; i < len(placed); i++ {
		world := cy.CycleOf(cy.OfPods, cy.Again(cy, placed[i].Pod, placed[:i], gone), placed[:i], emptied, gone)
		if v := FitsAt(world, placed[i].Node); v != nil {
			return []Refusal{{At: i, Verdict: v}}
		}
	}
	return []Refusal{{At: -1}}
}

// CycleOf is the cycle of a member in a cluster from which the units emptied were taken, to which members came then, and
// to which those of the units that are not gone were given back.
func (cy *Cycle) CycleOf(a *model.Algorithm, c *model.Cluster, placed []Placement, emptied, gone []*unit.Unit) *model.Cycle {
	snapshot := model.NewSnapshot(c)
	move := func(u *unit.Unit, back bool) {
		for _, p := range u.Pods {
			if p.Node != nil {
				n := snapshot.Nodes[p.Node.Index]
				n.Moves = append(n.Moves, filter.Move{Pod: p, Back: back})
			}
		}
	}
	for _, u := range emptied {
		move(u, false)
	}
	for _, at := range placed {
		n := snapshot.Nodes[cy.First.Node(at.Node).Index]
		if came := slices.IndexFunc(n.Pods, func(p *filter.Pod) bool { return p.Key == model.Key(at.Pod) }); came >= 0 {
			n.Moves = append(n.Moves, filter.Move{Pod: n.Pods[came], Back: true})
		}
	}
	for _, u := range emptied {
		if !slices.Contains(gone, u) {
			move(u, true)
		}
	}
	return a.NewCycleOn(c, snapshot)
}

// FitsAt says why the preemptor does not fit on a node as it is, or nil if it does.
func FitsAt(cy *model.Cycle, node string) *model.Verdict {
	n, pre := cy.Node(node), &cy.PreFiltered
	switch {
	case pre.Rejection != nil:
		return pre.Rejection
	case pre.Excludes(n) && n != cy.NominatedFirst(cy):
		return cy.LeftOut(cy)
	}
	return cy.Fits(cy, n, n.View())
}

// Actuate is what preempting units for the placed members writes: as for a pod (model.Actuate), on the nodes of all
// of them.
func Actuate(cy *Cycle, placed []Placement, victims []*unit.Unit) *model.Actuation {
	var pods []*filter.Pod
	for _, u := range victims {
		pods = append(pods, u.Pods...)
	}
	a := cy.First.Evict(pods)
	seen := map[string]bool{}
	for _, at := range placed {
		if !seen[at.Node] {
			a.Cleared = append(a.Cleared, cy.First.Withdrawn(cy.First.Node(at.Node))...)
		}
		seen[at.Node] = true
	}
	slices.Sort(a.Cleared)
	return a
}

// Nominate is what becomes of the nomination of a member that is not bound: a member that units are preempted
// for has that of its node, and others lose theirs (KEP-4671, "Failure Handling": "any .status.nominatedNodeName
// entries set during the failed attempt (or from previous cycles) must be cleared").
func Nominate(_ *Cycle, member *v1.Pod, course Course) (node string) {
	if !course.Preempts {
		return ""
	}
	for _, at := range course.Second {
		if at.Pod == member {
			return at.Node
		}
	}
	return ""
}
