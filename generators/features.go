package generators

import (
	"math"
	"slices"

	"github.com/preemptcheck/preemptcheck/generators/draw"
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

func drawFeatures(s draw.Source) features {
	swarm := draw.NewSwarm(s)
	f := features{
		wild:       swarm.Wild,
		bottleneck: bottleneck(draw.Weighted(s, 46, 14, 6, 9, 10, 6, 7, 2, 4, 2, 3)),
		ranks:      drawRanks(s),
		twins:      swarm.Chance(70),
		slack:      swarm.Chance(11),
		forms:      swarm.Chance(35),
		hostPorts:  swarm.Chance(13),
		taints:     swarm.Chance(18),
		nodeLabels: swarm.Chance(22),
		drifted:    swarm.Chance(6),
		small:      swarm.Chance(4),
		cordoned:   swarm.Chance(6),

		missingStart: swarm.Chance(12),
		noPriority:   swarm.Chance(20),
		namespaces:   swarm.Chance(25),
		terminating:  swarm.Chance(15),
		marked:       swarm.Chance(8),
		resized:      swarm.Chance(8),
		budgets:      swarm.Chance(65),
		unready:      swarm.Chance(6),
		nominated:    swarm.Chance(35),
		podAffinity:  swarm.Chance(10),
		others:       swarm.Chance(10),
		spread:       swarm.Chance(8),
		declared:     swarm.Chance(4),
		claims:       swarm.Chance(8),
		volumes:      swarm.Chance(9),
		extended:     swarm.Chance(10),
	}
	f.volumes = f.volumes || f.bottleneck >= byClaim
	if f.bottleneck == bySpread {
		f.spread = true
		f.taints = f.taints || s.Chance(20)
		f.terminating = f.terminating || s.Chance(20)
	}
	if f.claims && s.Chance(65) { // it shows where there is room
		f.slack = true
	}
	if f.podAffinity { // it decides where there is room, and among nominated pods
		f.slack, f.nominated = f.slack || s.Chance(50), f.nominated || s.Chance(40)
		f.namespaces = f.namespaces || s.Chance(20)
		f.roomy = swarm.Chance(50)
	}
	f.compared = f.taints && swarm.Chance(40)
	f.forms = f.forms || f.resized && s.Chance(50)
	for r := range f.tight {
		f.tight[r] = s.Chance(12)
	}
	if f.bottleneck == byVolume { // where it is reached, there may be no room
		f.tight[cpu] = s.Chance(60)
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
func drawRanks(s draw.Source) []int32 {
	palette := palettes[draw.Weighted(s, 45, 20, 10, 15, 10)]
	return palette[:1+draw.Weighted(s, 12, 38, 32, 18)]
}

// preemptorPriority is mostly above all ranks.
func preemptorPriority(s draw.Source, ranks []int32) int32 {
	top := slices.Max(ranks)
	switch draw.Weighted(s, 89, 5, 4, 2) {
	case 0:
		if top > math.MaxInt32-10 {
			return math.MaxInt32
		}
		return top + int32(draw.Pick(s, 1, 10))
	case 1:
		return top
	case 2:
		return ranks[s.Intn(len(ranks))]
	default:
		return math.MaxInt32
	}
}
