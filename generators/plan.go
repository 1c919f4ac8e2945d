package generators

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
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
	csi        csiNode
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
	volumes    []volume
	unready    bool
	shuns      bool // has anti-affinity
}

// storagePlan is what pods can mount: drawn before the nodes, rendered when the
// pods are known.
type storagePlan struct {
	// pvcs are the claims of the default namespace; those of the other one have
	// the same names.
	pvcs, otherPVCs []claim
	spare           []persistentVolume // not bound yet
	disk            kindOfVolume       // that pods name themselves, mostly
	inTree          bool               // some volumes are of in-tree plugins
	attachments     bool               // VolumeAttachments
	static          bool               // unbound claims need volumes that are there
	provisions      bool               // nodes have room for the preemptor, and its volume is still to be made
	prevents        bool               // pods do not go where the driver is missing
	driver          bool               // a CSIDriver, which may report how much storage is left
	objects         storageObjects
}

// claimState is how far the binding of a claim has come.
type claimState int

const (
	boundClaim      claimState = iota
	unboundClaim               // waits for what its class says
	missingClaim               // does not exist
	lostClaim                  // its volume is gone, and the controller knows
	deletedClaim               // bound, and being deleted
	preboundClaim              // names a volume, which is not known to be bound
	volumelessClaim            // bound to a volume that does not exist
)

// claim is the plan of a PersistentVolumeClaim.
type claim struct {
	state    claimState
	mode     int // index of accessModes
	class    int // index of classNames
	size     int // Gi
	volume   persistentVolume
	selected int // the node that it is to be provisioned on, plus one
	selects  bool
	block    bool
	beta     bool // names its class in the annotation
}

// volumeSource is what a PersistentVolume is made of.
type volumeSource int

const (
	csiVolume volumeSource = iota
	localVolume
	awsVolume
	gceVolume
)

// persistentVolume is the plan of a PersistentVolume.
type persistentVolume struct {
	source   volumeSource
	driver   int // index of drivers
	handle   int
	affinity int // index of affinities; from len(affinities) on, a node
	labels   int // index of volumeLabels
	size     int
	class    int
	mode     int
	ssd      bool // the label that claims select by
	phase    int  // index of phases, of spare ones
	taker    int  // the claim that a spare one is meant for, plus one
}

// maxClaims is the most claims that a namespace has.
const maxClaims = 8

// csiNode is the plan of a node's CSINode.
type csiNode struct {
	missing bool
	drivers [len(drivers)]csiLimit
	zones   int // which labels tell the zone
}

// csiLimit says how many volumes of a driver a node takes: 0 is any number, 1 is
// none. -1 is a node without the driver.
type csiLimit int

// volume is the plan of a volume of a pod.
type volume struct {
	source   kindOfVolume
	index    int // of the claim, the disk, or how an ephemeral volume's claim is
	readOnly bool
}

// kindOfVolume is what a volume is made of.
type kindOfVolume int

const (
	byClaimName kindOfVolume = iota // a persistentVolumeClaim
	ephemeral
	gceDisk // the first of the disks that a pod names itself
	awsDisk
	iscsiDisk
	rbdDisk
	azureDisk
	cinderDisk
	emptyDir // no filter looks at it
)

// The ways in which the claim of an ephemeral volume is: index of the volume.
const (
	ownedAndBound = iota
	ownedAndBoundToo
	ownedAndWaiting
	notOwned
	notCreated
)

// storageObjects are the objects that hang on pods.
type storageObjects struct {
	claims  []*v1.PersistentVolumeClaim
	volumes []*v1.PersistentVolume
}

// generator draws one cluster.
type generator struct {
	draw.Source
	features
	storagePlan
	need  sizes // what the preemptor requests
	nodes []node
	home  int // the node that hardly ever keeps the preemptor away for good
	left  int // how many more pods may be bound
}
