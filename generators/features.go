package generators

import (
	"math"
	"slices"
)

// resource numbers the resources that pods request.
type resource int

const (
	cpu resource = iota
	memory
	storage
	gpu
	resources // how many there are
)

// bottleneck is what the nodes run out of.
type bottleneck int

const (
	byCPU bottleneck = iota
	byMemory
	byStorage
	byGPU
	byPodCount
	byHostPort
	bySpread // too many alike in a topology domain
	byClaim  // a claim that is for one pod alone
	byVolumeLimit
	byDisk   // a disk that one pod can have at a time
	byVolume // a volume that few nodes reach
)

// features is what a cluster is made of: drawn first, so that a cluster has few
// features and uses each of them much.
type features struct {
	bottleneck bottleneck
	ranks      []int32 // the priorities of bound pods
	twins      bool    // nodes are copies of one another with a field changed
	slack      bool    // some nodes may have room for the preemptor
	tight      [resources]bool
	forms      bool // init containers, sidecars, overhead, pod-level resources
	hostPorts  bool
	taints     bool
	nodeLabels bool // and what selects nodes by them
	small      bool // some nodes are smaller than the preemptor
	cordoned   bool // spec.unschedulable

	missingStart bool
	noPriority   bool // some pods of priority 0 have none
	namespaces   bool
	terminating  bool
	marked       bool // pods that carry DisruptionTarget and are not terminating
	resized      bool // in-place resizes under way
	budgets      bool
	nominated    bool
	podAffinity  bool // and anti-affinity
	roomy        bool // only pod affinity keeps the preemptor from nodes
	others       bool // pods of another scheduler, and pods that just wait
	spread       bool // topology spread constraints
	volumes      bool // claims, disks, and what they are made of
}

func drawFeatures(s source) features {
	f := features{
		bottleneck: bottleneck(weighted(s, 42, 12, 6, 8, 8, 7, 9, 2, 4, 2, 4)),
		ranks:      drawRanks(s),
		twins:      s.chance(70),
		slack:      s.chance(25),
		forms:      s.chance(35),
		hostPorts:  s.chance(13),
		taints:     s.chance(18),
		nodeLabels: s.chance(22),
		small:      s.chance(8),
		cordoned:   s.chance(6),

		missingStart: s.chance(12),
		noPriority:   s.chance(20),
		namespaces:   s.chance(25),
		terminating:  s.chance(15),
		marked:       s.chance(8),
		resized:      s.chance(8),
		budgets:      s.chance(65),
		nominated:    s.chance(35),
		podAffinity:  s.chance(12),
		others:       s.chance(10),
		spread:       s.chance(8),
		volumes:      s.chance(5),
	}
	f.volumes = f.volumes || f.bottleneck >= byClaim
	if f.bottleneck == bySpread {
		f.spread = true
		f.taints = f.taints || s.chance(20)
		f.terminating = f.terminating || s.chance(20)
	}
	if f.podAffinity { // it decides where there is room, and among nominated pods
		f.slack, f.nominated = f.slack || s.chance(50), f.nominated || s.chance(40)
		f.namespaces = f.namespaces || s.chance(20)
		f.roomy = s.chance(50)
	}
	for r := range f.tight {
		f.tight[r] = s.chance(12)
	}
	if f.bottleneck == byVolume { // where it is reached, there may be no room
		f.tight[cpu] = s.chance(60)
	}
	return f
}

// palettes are the priorities that pods of one cluster have. The second is near
// the lowest priority, where one more victim hardly adds to the sum of
// priorities; the third ends in the two system classes.
var palettes = [][]int32{
	{0, 1, 2, 5},
	{math.MinInt32, math.MinInt32 + 3, math.MinInt32 + 1, math.MinInt32 + 2},
	{0, 1_000_000_000, 2_000_000_000, 2_000_001_000},
	{-1, 0, -10, 1000},
	{-1, math.MinInt32, 0, 2_000_000_000},
}

// drawRanks draws which priorities bound pods have: few, for many ties.
func drawRanks(s source) []int32 {
	palette := palettes[weighted(s, 45, 20, 10, 15, 10)]
	return palette[:1+weighted(s, 12, 38, 32, 18)]
}

// preemptorPriority is mostly above all ranks.
func preemptorPriority(s source, ranks []int32) int32 {
	top := slices.Max(ranks)
	switch weighted(s, 84, 8, 5, 3) {
	case 0:
		if top > math.MaxInt32-10 {
			return math.MaxInt32
		}
		return top + int32(pick(s, 1, 10))
	case 1:
		return top
	case 2:
		return ranks[s.intn(len(ranks))]
	default:
		return math.MaxInt32
	}
}
