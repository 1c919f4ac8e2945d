package generators

import (
	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/generators/volumes"
)

// A plan is a cluster before it becomes API objects: small values that are
// cheap to copy and to vary.

// sizes are amounts of each resource, in units.
type sizes [resources]int

// node is a node's plan.
type node struct {
	room       sizes
	maxPods    int
	taints     []int // indices of taints
	level      int   // of levels, counted from 1; 0 is none
	zone       int   // 0 is no label; so for the next two
	disk       int
	generation int
	cordoned   bool
	csi        volumes.Node
	declares   int // index of declaredFeatures
	pods       []pod
}

// form is how a pod comes to request what it does.
type form int

const (
	oneContainer form = iota
	twoContainers
	initContainer // which requests as much as the others together
	sidecar
	sidecarThenInit
	overhead
	podLevel // spec.resources
	limits   // requests equal to limits
	formCount
)

// end is how far a pod's deletion has come.
type end int

const (
	alive end = iota
	terminating
	preempted // terminating, and marked as preempted by the scheduler
	marked    // marked, and not terminating
)

// resize is the state of a pod's in-place resize.
type resize int

const (
	notResized resize = iota
	shrinking         // the kubelet still allocates more than the pod requests
	growing           // it allocates less
	deferred          // it allocates less until there is room
	actuating         // it allocates what the pod requests, but more is still in effect
	infeasible        // it allocates less and will not do more
)

// pod is the plan of any pod but the preemptor, and most of the preemptor's.
type pod struct {
	size       sizes
	form       form
	priority   int32
	noPriority bool
	start      int // hours; -1 is missing
	labels     int // index of podLabels
	otherSpace bool
	hostPorts  []int // indices of ports
	end        end
	resize     resize
	volumes    []volumes.Volume
	unready    bool
	shuns      bool // has anti-affinity
}

// generator draws one cluster.
type generator struct {
	draw.Source
	features
	mounts volumes.Storage // what pods can mount; nothing without the feature
	need   sizes           // what the preemptor requests
	nodes  []node
	home   int // the node that hardly ever keeps the preemptor away for good
	left   int // how many more pods may be bound
}
