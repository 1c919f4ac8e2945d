package release

import (
	"cmp"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// maxScore is the most that a node may score, and 0 the least
// (MaxNodeScore).
const maxScore = 100

// InvalidScore is in the error of a cycle in which a score is out of range
// (runtime/framework.go:1405@v1.37.1, RunScorePlugins).
const InvalidScore = "returns an invalid score"

// invalidScores are the errors of the plugins that score resources, in all releases. Those of other plugins are none of this.
var invalidScores = []string{
	`"NodeResourcesFit" ` + InvalidScore, `"NodeResourcesBalancedAllocation" ` + InvalidScore, `"NodeResourcesLeastAllocated" ` + InvalidScore,
}

// scoresWrapAround: a node's score, of amounts that leave 64 bits, is beyond its range,
// and the cycle ends in an error. Nodes are scored if there is a choice: as many of those that fit as are looked for, in
// their order (schedule_one.go:779@v1.37.1, findNodesThatPassFilters).
func scoresWrapAround(d *model.Decision) {
	if len(d.Fits) < 2 {
		return
	}
	fits := slices.SortedFunc(slices.Values(d.Fits), func(a, b string) int { return cmp.Compare(d.Cycle.Node(a).Index, d.Cycle.Node(b).Index) })
	fits = fits[:min(len(fits), model.NodesToFind(d.Cycle.Settings.PercentageOfNodesToScore, len(d.Cycle.Nodes)))]
	if slices.ContainsFunc(fits, func(name string) bool { return scoresBeyondRange(d.Cycle.Preemptor.Pod, d.Cycle.Node(name)) }) {
		*d = model.Decision{Cycle: d.Cycle, Errors: slices.Clone(invalidScores)}
	}
}

// domainScoresWrapAround: so is the score of a topology domain, with the amounts of all its nodes
// (noderesources/resource_allocation.go:505@v1.37.1, scorePlacement).
func domainScoresWrapAround(r *answers.Rules) {
	r.OfGroups.Compare = func(cy *podgroup.Cycle, among []podgroup.Scheduled, gone []*unit.Unit) string {
		if slices.ContainsFunc(among, func(d podgroup.Scheduled) bool { return domainBeyondRange(cy, d, gone) }) {
			return invalidScores[0]
		}
		return ""
	}
}

func domainBeyondRange(cy *podgroup.Cycle, d podgroup.Scheduled, gone []*unit.Unit) bool {
	score, resources := int64(0), int64(0)
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
		requested, allocatable := int64(0), int64(0)
		for _, at := range d.Placed {
			if d.Has(at.Node) {
				requested += requests(at.Pod, atLeast, name)
			}
		}
		for _, n := range cy.First.Nodes {
			own := asInt64(n.Status.Allocatable, name)
			if own == 0 || !d.Has(n.Name) {
				continue
			}
			allocatable += own
			for _, p := range n.Pods {
				if !slices.ContainsFunc(gone, func(u *unit.Unit) bool { return slices.Contains(u.Pods, p) }) {
					requested += requests(p.Pod, atLeast, name)
				}
			}
		}
		if allocatable != 0 {
			score, resources = score+min(requested, allocatable)*maxScore/allocatable, resources+1
		}
	}
	return resources > 0 && (score/resources < 0 || score/resources > maxScore)
}

// scoresBeyondRange tells whether the node's score for its resources is beyond the range:
// that for what is left of them (noderesources/least_allocated.go:30@v1.37.1, leastResourceScorer), or that
// for their balance (noderesources/balanced_allocation.go:204@v1.37.1, balancedResourceScorer).
func scoresBeyondRange(preemptor *v1.Pod, n *filter.Node) bool {
	var huge bool
	lists := []v1.ResourceList{n.Status.Allocatable}
	for _, p := range append([]*filter.Pod{{Pod: preemptor}}, n.Pods...) {
		lists = append(lists, resourcehelper.PodRequests(p.Pod, resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}))
	}
	for _, list := range lists {
		huge = huge || AnyHuge(list)
	}
	if !huge {
		return false
	}
	var left, resources int64
	var before, after []float64 // the shares that are requested
	bestEffort := true
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
		allocatable := asInt64(n.Status.Allocatable, name)
		own := requests(preemptor, nil, name)
		bestEffort = bestEffort && own == 0
		if allocatable == 0 {
			continue
		}
		resources++
		assumed, requested := requests(preemptor, atLeast, name), int64(0)
		for _, p := range n.Pods {
			assumed += requests(p.Pod, atLeast, name)
			requested += requests(p.Pod, nil, name)
		}
		if assumed <= allocatable {
			left += (allocatable - assumed) * maxScore / allocatable
		}
		share := func(amount int64) float64 { return min(1, float64(amount)/float64(allocatable)) }
		before, after = append(before, share(requested)), append(after, share(requested+own))
	}
	beyond := func(score int64) bool { return score < 0 || score > maxScore }
	return resources > 0 && beyond(left/resources) || !bestEffort && beyond(maxScore/2+(maxScore/2+balance(after)-balance(before))/2)
}

// atLeast is what a container without a request is taken to request when nodes are
// scored (pkg/scheduler/util/pod_resources.go:29@v1.37.1, DefaultMilliCPURequest).
var atLeast = v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("200Mi")}

func requests(p *v1.Pod, missing v1.ResourceList, name v1.ResourceName) int64 {
	return asInt64(resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true, NonMissingContainerRequests: missing,
	}), name)
}

// balance is the higher the less the shares differ.
func balance(shares []float64) int64 {
	deviation := 0.0
	if len(shares) == 2 {
		deviation = math.Abs(shares[0]-shares[1]) / 2
	}
	return int64((1 - deviation) * maxScore)
}
