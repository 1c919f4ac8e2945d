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
	wild       bool // drawn at unusual odds
	bottleneck bottleneck
	ranks      []int32 // the priorities of bound pods
	twins      bool    // nodes are copies of one another with a field changed
	slack      bool    // some nodes may have room for the preemptor
	tight      [resources]bool
	forms      bool // init containers, sidecars, overhead, pod-level resources
	hostPorts  bool
	taints     bool
	compared   bool // taints and tolerations with numbers, and the gate that compares them
	nodeLabels bool // and what selects nodes by them
	drifted    bool // nodes are not any more what they were when their pods were placed
	small      bool // some nodes are smaller than the preemptor
	cordoned   bool // spec.unschedulable

	missingStart bool
	noPriority   bool // some pods of priority 0 have none
	namespaces   bool
	terminating  bool
	marked       bool // pods that carry DisruptionTarget and are not terminating
	resized      bool // in-place resizes under way
	budgets      bool
	unready      bool // pods that run and say they are not ready
	nominated    bool
	podAffinity  bool // and anti-affinity
	roomy        bool // only pod affinity keeps the preemptor from nodes
	others       bool // pods of another scheduler, and pods that just wait
	spread       bool // topology spread constraints
	volumes      bool // claims, disks, and what they are made of
	claims       bool // resource claims, and devices
	declared     bool // features that nodes declare, and pods need
	extended     bool // extenders
}

func drawFeatures(s source) features {
	flags := flags{s, s.chance(12)}
	f := features{
		wild:       flags.wild,
		bottleneck: bottleneck(weighted(s, 46, 14, 6, 9, 10, 6, 7, 2, 4, 2, 3)),
		ranks:      drawRanks(s),
		twins:      flags.chance(70),
		slack:      flags.chance(11),
		forms:      flags.chance(35),
		hostPorts:  flags.chance(13),
		taints:     flags.chance(18),
		nodeLabels: flags.chance(22),
		drifted:    flags.chance(6),
		small:      flags.chance(4),
		cordoned:   flags.chance(6),

		missingStart: flags.chance(12),
		noPriority:   flags.chance(20),
		namespaces:   flags.chance(25),
		terminating:  flags.chance(15),
		marked:       flags.chance(8),
		resized:      flags.chance(8),
		budgets:      flags.chance(65),
		unready:      flags.chance(6),
		nominated:    flags.chance(35),
		podAffinity:  flags.chance(10),
		others:       flags.chance(10),
		spread:       flags.chance(8),
		declared:     flags.chance(4),
		claims:       flags.chance(6),
		volumes:      flags.chance(9),
		extended:     flags.chance(10),
	}
	f.volumes = f.volumes || f.bottleneck >= byClaim
	if f.bottleneck == bySpread {
		f.spread = true
		f.taints = f.taints || s.chance(20)
		f.terminating = f.terminating || s.chance(20)
	}
	if f.claims && s.chance(65) { // it shows where there is room
		f.slack = true
	}
	if f.podAffinity { // it decides where there is room, and among nominated pods
		f.slack, f.nominated = f.slack || s.chance(50), f.nominated || s.chance(40)
		f.namespaces = f.namespaces || s.chance(20)
		f.roomy = flags.chance(50)
	}
	f.compared = f.taints && flags.chance(40)
	f.forms = f.forms || f.resized && s.chance(50)
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
	switch weighted(s, 89, 5, 4, 2) {
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
