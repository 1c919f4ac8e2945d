// Package volumes gives a generated cluster storage, and pods volumes of it.
package volumes

import (
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
)

// Lack is what the preemptor has to preempt pods for.
type Lack int

const (
	// Other is anything but volumes.
	Other Lack = iota
	// Claim is a claim that is for one pod alone.
	Claim
	// Limit is how many volumes a node takes.
	Limit
	// Disk is a disk that one pod can have at a time.
	Disk
	// Reach is a volume that few nodes reach.
	Reach
)

// Options say what storage is drawn for.
type Options struct {
	Lack Lack
	// Provision: a claim of the preemptor may wait for its volume though the nodes lack room.
	Provision bool
	// OtherNamespace is the second of the two namespaces, and InOther: it has claims, too.
	OtherNamespace string
	InOther        bool
	// NodeName is the name of a node.
	NodeName func(i int) string
	// Deleted is when claims were deleted.
	Deleted time.Time
}

// Storage is what pods can mount: drawn before the nodes, rendered when the
// pods are known.
type Storage struct {
	draw.Source
	Options
	// pvcs are the claims of the default namespace; those of the other one have
	// the same names.
	pvcs, otherPVCs []claim
	spare           []persistentVolume // not bound yet
	disk            kindOfVolume       // that pods name themselves, mostly
	inTree          bool               // some volumes are of in-tree plugins
	attachments     bool               // VolumeAttachments
	static          bool               // unbound claims need volumes that are there
	Provisions      bool               // nodes have room for the preemptor, and its volume is still to be made
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

func numbered(name string, i int) string { return name + "-" + strconv.Itoa(i) }

// maxClaims is the most claims that a namespace has.
const maxClaims = 8

// Node is the plan of a node's CSINode.
type Node struct {
	missing bool
	drivers [len(drivers)]csiLimit
	zones   int // which labels tell the zone
}

// csiLimit says how many volumes of a driver a node takes: 0 is any number, 1 is
// none. -1 is a node without the driver.
type csiLimit int

// Pod is what a bound pod mounts.
type Pod struct {
	Other   bool // in the other namespace
	Volumes []Volume
}

// Volume is the plan of a volume of a pod.
type Volume struct {
	source   kindOfVolume
	index    int // of the claim, the disk, or how an ephemeral volume's claim is
	readOnly bool
	// elsewhere: an image of Ceph is in another pool, or has other monitors.
	elsewhere int
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
